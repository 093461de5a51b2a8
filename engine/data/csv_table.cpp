#include "engine/data/csv_table.h"

#include "engine/core/error.h"
#include "engine/core/utf8.h"
#include "engine/data/csv_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>

namespace mantissa {

namespace {

constexpr std::uint64_t mostBytes = std::uint64_t {256} << 20U;
constexpr std::size_t mostColumns = 10'000;
constexpr std::size_t mostCells = 50'000'000;
constexpr std::size_t longestCell = std::size_t {1} << 20U;

const char* nameOf(char delimiter)
{
    return delimiter == ',' ? "comma" : delimiter == ';' ? "semicolon" : "tab";
}

/// How often `delimiter` stands outside of quotation marks, in each line of `head` that is not empty.
std::vector<std::size_t> countInLines(std::string_view head, char delimiter)
{
    std::vector<std::size_t> counts;
    std::size_t count = 0;
    bool isQuoted = false;
    bool isEmpty = true;
    for (const char byte : head) {
        if (!isQuoted && (byte == '\n' || byte == '\r')) {
            if (!isEmpty) {
                counts.push_back(count);
            }
            count = 0;
            isEmpty = true;
            continue;
        }
        isEmpty = false;
        isQuoted = isQuoted != (byte == '"');
        count += !isQuoted && byte == delimiter ? 1U : 0U;
    }
    // A line that the head cuts off would count too little.
    if (counts.empty() && !isEmpty) {
        counts.push_back(count);
    }
    return counts;
}

/// The delimiter that all lines have equally often; of several the one that stands in numbers and texts more rarely.
/// Without such a one the most frequent of the first line.
char findDelimiter(std::string_view head)
{
    char best = ',';
    std::size_t most = 0;
    for (const char delimiter : {'\t', ';', ','}) {
        const std::vector<std::size_t> counts = countInLines(head, delimiter);
        if (counts.empty() || counts.front() == 0) {
            continue;
        }
        if (std::ranges::all_of(counts, [&](std::size_t count) { return count == counts.front(); })) {
            return delimiter;
        }
        if (counts.front() > most) {
            most = counts.front();
            best = delimiter;
        }
    }
    return best;
}

} // namespace

/// libcsv calls back for each cell and row. An exception must not pass through its C code, so it waits until it
/// returns.
class CsvReader
{
public:
    explicit CsvReader(ByteSource& source)
        : m_source(source)
        , m_parser(makeCsvParser(CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL))
    {
    }

    CsvTable read()
    {
        std::array<unsigned char, std::size_t {64} << 10U> chunk {};
        std::uint64_t bytes = 0;
        for (std::size_t got = chunk.size(); got == chunk.size();) {
            got = m_source.read(chunk);
            std::string_view text(reinterpret_cast<const char*>(chunk.data()), got);
            if (bytes == 0) {
                constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
                text.remove_prefix(text.starts_with(byteOrderMark) ? byteOrderMark.size() : 0);
                m_delimiter = findDelimiter(text);
                csv_set_delim(m_parser.get(), static_cast<unsigned char>(m_delimiter));
            }
            bytes += got;
            if (bytes > mostBytes) {
                refuse(fmt::format("{} holds more than {} MiB; give a part of it", m_source.name(), mostBytes >> 20U));
            }
            parse(text);
        }
        finish();
        return std::move(m_table);
    }

private:
    [[noreturn]] static void refuse(const std::string& message) { throw Error(ErrorCode::InvalidArgument, message); }

    [[noreturn]] void refuseLine(const std::string& what) const
    {
        refuse(fmt::format("{}, line {}: {}", m_source.name(), m_cells == 0 ? m_line : m_rowLine, what));
    }

    void parse(std::string_view text)
    {
        const std::size_t used = csv_parse(m_parser.get(), text.data(), text.size(), cellEnded, rowEnded, this);
        rethrow();
        if (used < text.size()) {
            refuseBroken();
        }
        if (csv_get_buffer_size(m_parser.get()) > longestCell) {
            refuseLine(fmt::format(
                "a cell holds more than {} MiB; does its quotation mark lack the second one?", longestCell >> 20U));
        }
    }

    void finish()
    {
        const int code = csv_fini(m_parser.get(), cellEnded, rowEnded, this);
        rethrow();
        if (code != 0) {
            refuseLine("a quotation mark is opened and not closed until the end of the file");
        }
    }

    [[noreturn]] void refuseBroken() const
    {
        if (csv_error(m_parser.get()) == CSV_ENOMEM) {
            throw Error(ErrorCode::OutOfMemory, fmt::format("{}: no memory left for a cell", m_source.name()));
        }
        refuseLine("a quotation mark stands inside a cell; put the whole cell in quotation marks and double those "
                   "inside it");
    }

    void rethrow()
    {
        if (m_failure) {
            std::rethrow_exception(m_failure);
        }
    }

    template <typename Work> void guarded(Work work)
    {
        if (m_failure) {
            return;
        }
        try {
            work();
        } catch (...) {
            m_failure = std::current_exception();
        }
    }

    static void cellEnded(void* bytes, std::size_t size, void* reader)
    {
        auto* self = static_cast<CsvReader*>(reader);
        self->guarded([&] { self->addCell({static_cast<const char*>(bytes), size}); });
    }

    static void rowEnded(int terminator, void* reader)
    {
        auto* self = static_cast<CsvReader*>(reader);
        self->guarded([&] { self->endRow(terminator); });
    }

    void addCell(std::string_view cell)
    {
        if (m_cells == 0) {
            m_rowLine = m_line;
        }
        ++m_cells;
        if (m_cells > mostColumns) {
            refuseLine(fmt::format("more than {} cells; is it a table?", mostColumns));
        }
        if (m_table.m_ends.size() == mostCells) {
            refuse(fmt::format("{} has more than {} cells; give a part of it", m_source.name(), mostCells));
        }
        if (const auto at = findInvalidUtf8(cell)) {
            refuseLine(fmt::format("cell {} is not UTF-8: byte 0x{:02x} begins no character; save the file as UTF-8",
                m_cells, static_cast<unsigned char>(cell[*at])));
        }
        m_table.m_text += cell;
        m_table.m_ends.push_back(static_cast<std::uint32_t>(m_table.m_text.size()));
        m_line += static_cast<std::uint32_t>(std::ranges::count(cell, '\n'));
    }

    void endRow(int terminator)
    {
        if (m_cells == 0) {
            // An empty line, or the second half of CR LF.
            m_line += terminator == '\n' && m_lastTerminator == '\r' ? 0 : 1;
            m_lastTerminator = terminator;
            return;
        }
        if (m_table.rows() == 0) {
            m_table.m_columns = m_cells;
        }
        if (m_cells != m_table.m_columns) {
            refuseLine(
                fmt::format("the row has {} cells, but line {} has {}; the delimiter is a {}: texts that hold one "
                            "need quotation marks",
                    m_cells, m_table.line(0), m_table.m_columns, nameOf(m_delimiter)));
        }
        m_table.m_lines.push_back(m_rowLine);
        m_cells = 0;
        ++m_line;
        m_lastTerminator = terminator;
    }

    ByteSource& m_source;
    CsvParser m_parser;
    CsvTable m_table;
    std::exception_ptr m_failure;
    char m_delimiter = ',';
    std::size_t m_cells = 0; ///< of the row that is being read
    std::uint32_t m_rowLine = 1;
    std::uint32_t m_line = 1;
    int m_lastTerminator = 0;
};

std::string_view CsvTable::cell(std::size_t row, std::size_t column) const
{
    const std::size_t index = row * m_columns + column;
    const std::size_t begin = index == 0 ? 0 : m_ends[index - 1];
    return std::string_view(m_text).substr(begin, m_ends[index] - begin);
}

CsvTable readCsv(ByteSource& source)
{
    return CsvReader(source).read();
}

} // namespace mantissa
