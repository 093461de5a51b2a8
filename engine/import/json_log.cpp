// Logs in JSON: an object a line, or one document with an array of objects.
#include "engine/core/error.h"
#include "engine/import/growing_file.h"
#include "engine/import/json_tokens.h"
#include "engine/import/log_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mantissa {

namespace {

constexpr std::size_t chunkBytes = std::size_t {256} << 10U;
constexpr std::size_t longestLine = std::size_t {16} << 20U;
constexpr std::uint64_t largestDocument = std::uint64_t {64} << 20U;
constexpr int deepest = 4;

/// What both kinds do with an object.
class JsonLog : public LogReader
{
protected:
    explicit JsonLog(const std::filesystem::path& path)
        : m_file(path)
    {
    }

    void takeObject(const nlohmann::json& object, std::uint32_t run, const RowTaker& take)
    {
        m_row.clear();
        addCells(object, {}, 0);
        take({run, {}, std::numeric_limits<double>::quiet_NaN(), m_row});
    }

public:
    [[nodiscard]] std::uint64_t bytesRead() const override { return m_file.position(); }

    [[nodiscard]] std::uint64_t bytesThere() const override { return m_file.size(); }

    [[nodiscard]] bool wasReplaced() const override { return m_file.wasReplaced(); }

private:
    void addCells(const nlohmann::json& object, const std::string& prefix, int depth)
    {
        for (const auto& [key, value] : object.items()) {
            const std::string name = prefix.empty() ? key : prefix + '/' + key;
            if (value.is_object()) {
                if (depth < deepest) {
                    addCells(value, name, depth + 1);
                }
            } else if (value.is_number()) {
                m_row.push_back({columnNamed(name), value.get<double>(), true});
            } else if (value.is_boolean()) {
                m_row.push_back({columnNamed(name), value.get<bool>() ? 1.0 : 0.0, true});
            } else if (value.is_string()) {
                const std::string_view text = value.get_ref<const std::string&>();
                const auto number = numberFrom(text);
                m_row.push_back({columnNamed(name), number.value_or(std::numeric_limits<double>::quiet_NaN()),
                    number.has_value(), text});
            }
        }
    }

    std::vector<LogCell> m_row;

protected:
    GrowingFile m_file;
};

class JsonLines : public JsonLog
{
public:
    explicit JsonLines(const std::filesystem::path& path)
        : JsonLog(path)
    {
        runNamed("");
    }

    [[nodiscard]] std::string_view format() const override { return "jsonl"; }

    bool read(std::uint64_t mostBytes, const RowTaker& take) override
    {
        for (std::uint64_t bytes = 0; bytes < mostBytes;) {
            const std::size_t before = m_text.size();
            m_text.resize(before + chunkBytes);
            const std::size_t got = m_file.read(std::as_writable_bytes(std::span(m_text)).subspan(before));
            m_text.resize(before + got);
            if (got == 0) {
                return false;
            }
            bytes += got;
            takeLines(before, take);
            if (m_text.size() > longestLine) {
                throw Error(ErrorCode::InvalidArgument,
                    fmt::format(
                        "{}, line {}: longer than {} MiB", m_file.path().string(), m_line + 1, longestLine >> 20U));
            }
        }
        return true;
    }

    void finish(const RowTaker& take) override
    {
        if (m_text.find_first_not_of(" \t\r\n") == std::string::npos) {
            return;
        }
        const nlohmann::json object = parseLogJson(m_text);
        if (object.is_object()) {
            takeObject(object, 0, take);
        } else {
            note("cut off", "the last line is cut off: left out");
        }
        m_text.clear();
    }

private:
    /// Whole lines; none ends before `searched`.
    void takeLines(std::size_t searched, const RowTaker& take)
    {
        std::size_t begin = 0;
        for (auto end = m_text.find('\n', searched); end != std::string::npos; end = m_text.find('\n', begin)) {
            takeLine(std::string_view(m_text).substr(begin, end - begin), take);
            begin = end + 1;
        }
        m_text.erase(0, begin);
    }

    void takeLine(std::string_view line, const RowTaker& take)
    {
        ++m_line;
        if (m_line == 1 && line.starts_with("\xEF\xBB\xBF")) {
            line.remove_prefix(3);
        }
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
            return;
        }
        const nlohmann::json object = parseLogJson(line);
        if (object.is_object()) {
            takeObject(object, 0, take);
        } else {
            note("no object", fmt::format("line {} is no JSON object: passed over", m_line));
        }
    }

    std::string m_text; ///< of the line that has not ended yet
    std::uint64_t m_line = 0;
};

class JsonDocument : public JsonLog
{
public:
    explicit JsonDocument(const std::filesystem::path& path)
        : JsonLog(path)
    {
        if (m_file.size() > largestDocument) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("{} is one JSON document of more than {} MiB: write one object per line instead",
                    path.string(), largestDocument >> 20U));
        }
    }

    [[nodiscard]] std::string_view format() const override { return "json"; }

    bool read(std::uint64_t /*mostBytes*/, const RowTaker& take) override
    {
        if (std::exchange(m_isRead, true)) {
            return false;
        }
        std::string text(static_cast<std::size_t>(m_file.size()), '\0');
        text.resize(m_file.read(std::as_writable_bytes(std::span(text))));
        const std::string_view body = text.starts_with("\xEF\xBB\xBF") ? std::string_view(text).substr(3) : text;
        takeDocument(parse(withQuotedNumbers(body)), take);
        return false;
    }

    void finish(const RowTaker& /*take*/) override { }

private:
    [[nodiscard]] nlohmann::json parse(const std::string& text) const
    {
        try {
            return nlohmann::json::parse(text);
        } catch (const nlohmann::json::parse_error& error) {
            const auto line = std::ranges::count(std::string_view(text).substr(0, error.byte), '\n') + 1;
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}, line {}: no JSON from here on; is the file whole?", m_file.path().string(), line));
        }
    }

    void takeDocument(const nlohmann::json& document, const RowTaker& take)
    {
        if (document.is_object() && document.contains("runs") && document["runs"].is_array()) {
            for (const nlohmann::json& run : document["runs"]) {
                if (run.is_object() && run.contains("records")) {
                    takeRows(run["records"], nameOf(run), take);
                }
            }
        } else if (document.is_object() && document.contains("log_history")) {
            takeRows(document["log_history"], "", take);
        } else if (document.is_object()) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("{} is a JSON document without log_history or runs: it is no log (an experiment is opened, "
                            "not imported)",
                    m_file.path().string()));
        } else {
            takeRows(document, "", take);
        }
    }

    /// As `runs export --format json` writes it.
    static std::string nameOf(const nlohmann::json& run)
    {
        const auto lane = run.find("lane");
        const auto id = run.find("id");
        const std::string name = lane != run.end() && lane->is_string() ? lane->get<std::string>() : "";
        return id != run.end() && id->is_number_integer() ? fmt::format("{} (run {})", name, id->get<std::int64_t>())
                                                          : name;
    }

    void takeRows(const nlohmann::json& rows, const std::string& run, const RowTaker& take)
    {
        if (!rows.is_array()) {
            return;
        }
        const std::uint32_t number = runNamed(run);
        for (const nlohmann::json& row : rows) {
            if (row.is_object()) {
                takeObject(row, number, take);
            } else {
                note("no object", "the array holds something that is no object: passed over");
            }
        }
    }

    bool m_isRead = false;
};

} // namespace

std::unique_ptr<LogReader> openJsonLines(const std::filesystem::path& file)
{
    return std::make_unique<JsonLines>(file);
}

std::unique_ptr<LogReader> openJsonDocument(const std::filesystem::path& file)
{
    return std::make_unique<JsonDocument>(file);
}

} // namespace mantissa
