#include "engine/train/checkpoint_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace mantissa {

namespace {

bool isWord(char letter)
{
    return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z')
        || (letter >= 'a' && letter <= 'z');
}

/// The beginning of a name, with a "-" for each run of what may not stand in a file's name everywhere.
std::string shortened(const std::string& name)
{
    constexpr std::size_t longest = 40;
    std::string out;
    for (const char letter : name) {
        if (isWord(letter)) {
            out += letter;
        } else if (out.empty() || out.back() != '-') {
            out += '-';
        }
        if (out.size() == longest) {
            break;
        }
    }
    return out;
}

} // namespace

std::filesystem::path checkpointsFolder(const std::filesystem::path& database)
{
    return database.empty() ? std::filesystem::path() : database.parent_path() / "checkpoints";
}

std::string sessionFolderName(const std::string& experiment)
{
    const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%d_%H-%M-%S}-{:03}_{}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
        now.time_since_epoch().count() % 1000, shortened(experiment));
}

} // namespace mantissa
