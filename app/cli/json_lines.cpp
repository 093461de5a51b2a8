#include "app/cli/json_lines.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace mantissa::cli {

JsonLines::JsonLines(const std::string& path, std::string what)
    : m_path(path)
    , m_what(std::move(what))
    , m_file(path == "-" ? stdout : std::fopen(path.c_str(), "w"))
{
    if (m_file == nullptr) {
        throw Error(ErrorCode::Io, fmt::format("cannot write {} to {}: {}", m_what, path, std::strerror(errno)));
    }
}

JsonLines::~JsonLines()
{
    if (m_file != stdout) {
        std::fclose(m_file);
    }
}

void JsonLines::write(const nlohmann::ordered_json& line)
{
    if (failed()) {
        return;
    }
    const std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
    if (std::fwrite(text.data(), 1, text.size(), m_file) != text.size()) {
        m_error = errno != 0 ? errno : EIO;
    }
}

std::string JsonLines::problem() const
{
    return failed()
        ? fmt::format("cannot write {} to {}: {}", m_what, m_path == "-" ? "stdout" : m_path, std::strerror(m_error))
        : std::string();
}

void JsonLines::finish()
{
    if (!failed() && std::fflush(m_file) != 0) {
        m_error = errno != 0 ? errno : EIO;
    }
}

} // namespace mantissa::cli
