#include "engine/core/json_file.h"

#include "engine/core/error.h"
#include "engine/core/json_text.h"

#include <fmt/format.h>

#include <array>
#include <fstream>

namespace mantissa {

std::string readJsonText(const std::filesystem::path& file, std::string_view what)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) {
        throw Error(ErrorCode::Io, fmt::format("{} is a folder; name {} in it", file.string(), what));
    }
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        throw Error(ErrorCode::Io,
            fmt::format("cannot read {}: {}", file.string(),
                std::filesystem::exists(file, ignored) ? "no permission" : "there is no such file"));
    }
    std::string text;
    std::array<char, 1U << 14U> part {};
    while (stream && text.size() <= maxJsonBytes) {
        stream.read(part.data(), part.size());
        text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    }
    if (stream.bad()) {
        throw Error(ErrorCode::Io, fmt::format("reading {} failed halfway", file.string()));
    }
    return text;
}

} // namespace mantissa
