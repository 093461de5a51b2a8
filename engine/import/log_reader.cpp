#include "engine/import/log_reader.h"

#include "engine/core/error.h"
#include "engine/import/growing_file.h"
#include "engine/import/json_tokens.h"
#include "engine/import/log_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace mantissa {

namespace {

constexpr std::size_t mostColumns = 20'000;
constexpr std::size_t mostRuns = 1'000;
constexpr std::size_t headBytes = 4096;

std::string lower(std::string_view text)
{
    std::string result(text);
    std::ranges::transform(
        result, result.begin(), [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return result;
}

std::string_view trimmed(std::string_view text)
{
    const auto begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string readHead(const std::filesystem::path& path)
{
    GrowingFile file(path);
    std::string head(headBytes, '\0');
    head.resize(file.read(std::as_writable_bytes(std::span(head))));
    return head;
}

Error unreadable(const std::filesystem::path& path, const std::string& what)
{
    return {ErrorCode::InvalidArgument,
        fmt::format("{} {}. Logs that can be read: TensorBoard's event files or a folder of them, CSV with a header "
                    "line, JSON with one object per line, and the trainer_state.json of Hugging Face's Trainer.",
            path.string(), what)};
}

std::string withoutMark(std::string text)
{
    constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
    return text.starts_with(byteOrderMark) ? text.substr(byteOrderMark.size()) : text;
}

/// Whether the first line is a JSON object by itself.
bool isJsonLine(std::string_view head)
{
    const auto end = head.find('\n');
    std::string_view line = trimmed(head.substr(0, end));
    if (!line.empty() && line.back() == '\r') {
        line.remove_suffix(1);
    }
    if (line.find("\"log_history\"") != std::string_view::npos || line.starts_with("{\"runs\"")) {
        return false;
    }
    // A first line longer than the head is one of many fields rather than a document on one line.
    return (end == std::string_view::npos && head.size() >= headBytes / 2) || isJsonObject(line);
}

} // namespace

std::vector<std::string> LogReader::notes() const
{
    std::vector<std::string> texts;
    for (const Note& note : m_notes) {
        texts.push_back(note.times == 1 ? note.text : fmt::format("{} ({} like it in all)", note.text, note.times));
    }
    return texts;
}

std::uint32_t LogReader::columnNamed(std::string_view name)
{
    if (const auto known = m_columnNumbers.find(name); known != m_columnNumbers.end()) {
        return known->second;
    }
    if (m_columns.size() >= mostColumns) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("the log has more than {} columns: is it one of a training?", mostColumns));
    }
    const auto number = static_cast<std::uint32_t>(m_columns.size());
    m_columns.emplace_back(name);
    m_columnNumbers.emplace(name, number);
    return number;
}

std::uint32_t LogReader::runNamed(std::string_view name)
{
    if (const auto known = m_runNumbers.find(name); known != m_runNumbers.end()) {
        return known->second;
    }
    if (m_runs.size() >= mostRuns) {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("the log has more than {} runs; give a part of it", mostRuns));
    }
    const auto number = static_cast<std::uint32_t>(m_runs.size());
    m_runs.emplace_back(name);
    m_runNumbers.emplace(name, number);
    return number;
}

void LogReader::note(const std::string& kind, const std::string& text)
{
    const auto known = std::ranges::find(m_notes, kind, &Note::kind);
    if (known == m_notes.end()) {
        m_notes.push_back({kind, text, 1});
    } else {
        ++known->times;
    }
}

std::unique_ptr<LogReader> openLog(const std::filesystem::path& path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        return openEventFolder(path);
    }
    const std::string raw = readHead(path);
    if (raw.empty()) {
        throw unreadable(path, "is empty");
    }
    if (isEventFile(raw)) {
        return openEventFile(path);
    }
    const std::string head = withoutMark(raw);
    const auto begin = head.find_first_not_of(" \t\r\n");
    if (head.find('\0') != std::string::npos) {
        throw unreadable(
            path, raw.starts_with("\x1F\x8B") ? "is compressed; unpack it first" : "is no text and no event file");
    }
    if (raw.starts_with("\xFF\xFE") || raw.starts_with("\xFE\xFF") || raw.starts_with("\x1F\x8B")) {
        throw unreadable(path, "is not UTF-8; save it as that");
    }
    if (begin == std::string::npos) {
        throw unreadable(path, "has nothing but blanks at its beginning");
    }
    if (head[begin] == '{' && isJsonLine(std::string_view(head).substr(begin))) {
        return openJsonLines(path);
    }
    if (head[begin] == '{' || head[begin] == '[') {
        return openJsonDocument(path);
    }
    if (head.find_first_of(",;\t") == std::string::npos) {
        throw unreadable(path, "has no cells: no comma, semicolon or tab in its first lines");
    }
    return openCsv(path);
}

std::optional<double> numberFrom(std::string_view text)
{
    text = trimmed(text);
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    if (text.empty()) {
        return {};
    }
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, value);
    if (code == std::errc() && stop == end) {
        return value;
    }
    if (code == std::errc::result_out_of_range && stop == end) {
        // from_chars() leaves open which it was.
        const auto exponent = text.find_first_of("eE");
        const bool isTiny = exponent != std::string_view::npos && text.find('-', exponent) != std::string_view::npos;
        const double size = isTiny ? 0 : std::numeric_limits<double>::infinity();
        return text.front() == '-' ? -size : size;
    }
    const std::string word = lower(text);
    if (word == "true" || word == "false") {
        return word == "true" ? 1 : 0;
    }
    return {};
}

bool isNothing(std::string_view text)
{
    text = trimmed(text);
    constexpr std::array<std::string_view, 7> words {"", "none", "null", "na", "n/a", "<na>", "-"};
    return text.size() <= 4 && std::ranges::find(words, lower(text)) != words.end();
}

} // namespace mantissa
