/// A file of JSON objects, one a line, written as they come.
#pragma once

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdio>
#include <string>

namespace mantissa::cli {

/// A write that fails ends the writing; failed() then tells.
class JsonLines
{
public:
    /// "-" is stdout; `what` names the contents in messages ("the metrics"). Throws Error (Io) if the file cannot be
    /// created.
    JsonLines(const std::string& path, std::string what);
    ~JsonLines();
    JsonLines(const JsonLines&) = delete;
    JsonLines& operator=(const JsonLines&) = delete;

    void write(const nlohmann::ordered_json& line);

    /// Any thread may ask.
    [[nodiscard]] bool failed() const { return m_error != 0; }

    /// Why, in words; empty unless failed().
    [[nodiscard]] std::string problem() const;
    /// Writes what is buffered; call when all lines are there.
    void finish();

private:
    std::string m_path;
    std::string m_what;
    std::FILE* m_file = nullptr;
    std::atomic<int> m_error = 0; ///< errno
};

} // namespace mantissa::cli
