#include "app/cli/number_arguments.h"

#include <cstdlib>
#include <string_view>

namespace mantissa::cli {

std::vector<std::string> withoutNumbersLikeOptions(int argc, char** argv)
{
    // Only there is a place for numbers that begin like this; options of other commands read theirs well.
    const bool format = argc > 1 && std::string_view(argv[1]) == "format";
    std::vector<std::string> arguments;
    for (int i = argc - 1; i > 0; --i) {
        std::string argument = argv[i];
        if (format && argument.size() > 1 && argument[0] == '-') {
            char* end = nullptr;
            std::strtod(argument.c_str(), &end);
            if (*end == '\0') {
                argument.insert(argument.begin(), ' ');
            }
        }
        arguments.push_back(std::move(argument));
    }
    return arguments;
}

} // namespace mantissa::cli
