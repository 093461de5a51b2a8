/// Training logs of all formats as rows of cells. A reader can be asked again when its file has grown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// A value of a row. What is empty or null in the file has no cell.
struct LogCell
{
    std::uint32_t column = 0; ///< LogReader::columns()
    double number = std::numeric_limits<double>::quiet_NaN();
    bool isNumber = false; ///< else `text` is all there is
    std::string_view text {}; ///< valid during the call
};

struct LogRow
{
    std::uint32_t run = 0; ///< LogReader::runs()
    std::optional<std::int64_t> step {}; ///< where the format has steps of its own
    double unixSeconds = std::numeric_limits<double>::quiet_NaN(); ///< where the format has times of its own
    std::span<const LogCell> cells;
    bool beginsFile = false; ///< the first row of a file that goes on from another
};

using RowTaker = std::function<void(const LogRow&)>;

class LogReader
{
public:
    virtual ~LogReader() = default;

    /// "tfevents", "csv", "jsonl", "json"
    [[nodiscard]] virtual std::string_view format() const = 0;
    /// Reads about `mostBytes` on, or to where the file ends for now. False: there is no more for now.
    /// Throws Error (InvalidArgument) for a file that cannot be meant, Error (Io) if reading fails.
    virtual bool read(std::uint64_t mostBytes, const RowTaker& take) = 0;
    /// Takes a last row that nothing ends, since nothing will follow.
    virtual void finish(const RowTaker& take) = 0;

    [[nodiscard]] virtual std::uint64_t bytesRead() const = 0;
    [[nodiscard]] virtual std::uint64_t bytesThere() const = 0;
    /// Whether the file was begun anew since: a reader of its own reads it then.
    [[nodiscard]] virtual bool wasReplaced() const = 0;

    /// Whether nothing can be read behind this place, since the file is damaged there.
    [[nodiscard]] virtual bool isDamaged() const { return false; }

    [[nodiscard]] const std::vector<std::string>& columns() const { return m_columns; } ///< so far

    [[nodiscard]] const std::vector<std::string>& runs() const { return m_runs; } ///< so far; "" if it has no name

    /// What a person should know of the file, each once: "line 17 is no JSON: passed over".
    [[nodiscard]] std::vector<std::string> notes() const;

protected:
    /// Throws Error (InvalidArgument) for too many.
    std::uint32_t columnNamed(std::string_view name);
    std::uint32_t runNamed(std::string_view name);
    /// The first note of its kind is kept, with the number of all.
    void note(const std::string& kind, const std::string& text);

private:
    struct Note
    {
        std::string kind;
        std::string text;
        std::uint64_t times = 0;
    };

    std::vector<std::string> m_columns;
    std::map<std::string, std::uint32_t, std::less<>> m_columnNumbers;
    std::vector<std::string> m_runs;
    std::map<std::string, std::uint32_t, std::less<>> m_runNumbers;
    std::vector<Note> m_notes;
};

/// A reader for the file, by its contents, or for a folder with event files of TensorBoard, anywhere below it.
/// Throws Error (InvalidArgument) that says what was found and what can be read; Error (Io).
std::unique_ptr<LogReader> openLog(const std::filesystem::path& path);

/// "0.5", "nan", "-Infinity", "1e-3", "True" as a number; nothing for another text.
std::optional<double> numberFrom(std::string_view text);
/// Whether a cell with this text has nothing in it: "", "None", "null", "N/A".
bool isNothing(std::string_view text);

} // namespace mantissa
