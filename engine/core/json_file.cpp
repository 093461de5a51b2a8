#include "engine/core/json_file.h"

#include "engine/core/error.h"
#include "engine/core/json_text.h"

#include <fmt/format.h>

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
    std::string text(maxJsonBytes + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (stream.bad()) {
        throw Error(ErrorCode::Io, fmt::format("reading {} failed halfway", file.string()));
    }
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

} // namespace mantissa
