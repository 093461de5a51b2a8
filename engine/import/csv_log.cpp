// Tables of texts: a header, then a row per step, or several sparse rows per step, as Lightning's CSVLogger writes
// them.
#include "engine/core/error.h"
#include "engine/data/csv_parser.h"
#include "engine/import/growing_file.h"
#include "engine/import/log_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace mantissa {

namespace {

constexpr std::size_t chunkBytes = std::size_t {256} << 10U;
constexpr std::size_t longestCell = std::size_t {1} << 20U;
constexpr std::size_t mostCells = 20'000;
constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";

char delimiterOf(std::string_view head)
{
    const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
    char best = ',';
    std::ptrdiff_t most = 0;
    for (const char delimiter : {'\t', ';', ','}) {
        const auto count = std::ranges::count(line, delimiter);
        if (count > most) {
            most = count;
            best = delimiter;
        }
    }
    return best;
}

/// The cells of one row.
class CellTexts
{
public:
    void add(std::string_view text)
    {
        m_text += text;
        m_ends.push_back(m_text.size());
    }

    void clear()
    {
        m_text.clear();
        m_ends.clear();
    }

    [[nodiscard]] std::size_t size() const { return m_ends.size(); }

    [[nodiscard]] std::string_view operator[](std::size_t cell) const
    {
        const std::size_t begin = cell == 0 ? 0 : m_ends[cell - 1];
        return std::string_view(m_text).substr(begin, m_ends[cell] - begin);
    }

    bool operator==(const CellTexts&) const = default;

private:
    std::string m_text;
    std::vector<std::size_t> m_ends;
};

/// What a place of the header means.
struct Place
{
    std::optional<std::uint32_t> column; ///< none: its cells are passed over
    std::optional<std::uint32_t> run; ///< none: of all runs in the row
};

class CsvLog : public LogReader
{
public:
    explicit CsvLog(const std::filesystem::path& path)
        : m_file(path)
        , m_parser(makeCsvParser(CSV_REPALL_NL))
    {
    }

    [[nodiscard]] std::string_view format() const override { return "csv"; }

    bool read(std::uint64_t mostBytes, const RowTaker& take) override
    {
        m_take = &take;
        for (std::uint64_t bytes = 0; bytes < mostBytes;) {
            m_chunk.resize(chunkBytes);
            const std::size_t got = m_file.read(std::as_writable_bytes(std::span(m_chunk)));
            if (got == 0) {
                return false;
            }
            std::string_view text(m_chunk.data(), got);
            if (bytes == 0 && m_file.position() == got) {
                text.remove_prefix(text.starts_with(byteOrderMark) ? byteOrderMark.size() : 0);
                csv_set_delim(m_parser.get(), static_cast<unsigned char>(delimiterOf(text)));
            }
            parse(text);
            bytes += got;
        }
        return true;
    }

    void finish(const RowTaker& take) override
    {
        m_take = &take;
        m_isLast = true;
        csv_fini(m_parser.get(), cellEnded, rowEnded, this);
        rethrow();
    }

    [[nodiscard]] std::uint64_t bytesRead() const override { return m_file.position(); }

    [[nodiscard]] std::uint64_t bytesThere() const override { return m_file.size(); }

    [[nodiscard]] bool wasReplaced() const override { return m_file.wasReplaced(); }

private:
    void parse(std::string_view text)
    {
        const std::size_t used = csv_parse(m_parser.get(), text.data(), text.size(), cellEnded, rowEnded, this);
        rethrow();
        if (used < text.size()) {
            throw Error(ErrorCode::OutOfMemory, fmt::format("{}: no memory left for a cell", m_file.path().string()));
        }
        if (csv_get_buffer_size(m_parser.get()) > longestCell) {
            refuse(fmt::format(
                "a cell holds more than {} MiB; does its quotation mark lack the second one?", longestCell >> 20U));
        }
    }

    [[noreturn]] void refuse(const std::string& what) const
    {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("{}, behind row {}: {}", m_file.path().string(), m_rows, what));
    }

    // libcsv calls back for each cell and row; an exception must not pass through its C code.
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

    void rethrow()
    {
        if (m_failure) {
            std::rethrow_exception(std::exchange(m_failure, nullptr));
        }
    }

    static void cellEnded(void* bytes, std::size_t size, void* log)
    {
        auto* self = static_cast<CsvLog*>(log);
        self->guarded([&] {
            if (self->m_cells.size() >= mostCells) {
                self->refuse(fmt::format("a row has more than {} cells", mostCells));
            }
            self->m_cells.add({static_cast<const char*>(bytes), size});
        });
    }

    static void rowEnded(int /*terminator*/, void* log)
    {
        auto* self = static_cast<CsvLog*>(log);
        self->guarded([&] {
            self->endRow();
            self->m_cells.clear();
        });
    }

    void endRow()
    {
        if (m_cells.size() == 0) {
            return; // an empty line, or the second half of CR LF
        }
        ++m_rows;
        if (m_places.empty()) {
            m_header = m_cells;
            readHeader();
            return;
        }
        if (m_cells == m_header) {
            note("header again", fmt::format("row {} is the header again: a run that was begun anew, perhaps", m_rows));
            return;
        }
        if (m_isLast && m_cells.size() < m_places.size()) {
            note("cut off", "the last row is cut off: left out");
            return;
        }
        if (m_cells.size() > m_places.size()) {
            note("too long",
                fmt::format("row {} has {} cells, the header {}: those behind are passed over", m_rows, m_cells.size(),
                    m_places.size()));
        }
        for (std::uint32_t run = 0; run < runs().size(); ++run) {
            takeRun(run);
        }
    }

    /// The cells of one run; most often there is one.
    void takeRun(std::uint32_t run)
    {
        bool hasOwn = false;
        m_row.clear();
        const std::size_t count = std::min(m_cells.size(), m_places.size());
        for (std::size_t i = 0; i < count; ++i) {
            const Place& place = m_places[i];
            if (!place.column || (place.run && *place.run != run) || isNothing(m_cells[i])) {
                continue;
            }
            const auto number = numberFrom(m_cells[i]);
            m_row.push_back({*place.column, number.value_or(std::numeric_limits<double>::quiet_NaN()),
                number.has_value(), m_cells[i]});
            hasOwn = hasOwn || place.run || !m_namesRuns;
        }
        if (hasOwn) {
            (*m_take)({run, {}, std::numeric_limits<double>::quiet_NaN(), m_row});
        }
    }

    /// "calm-fog-3 - train/loss" and its "__MIN" and "__MAX" of Weights & Biases' tables name run and column.
    void readHeader()
    {
        constexpr std::string_view between = " - ";
        std::size_t named = 0;
        for (std::size_t i = 0; i < m_cells.size(); ++i) {
            named += m_cells[i].find(between) != std::string_view::npos ? 1U : 0U;
        }
        m_namesRuns = named > 0 && named + 1 == m_cells.size();
        for (std::size_t i = 0; i < m_cells.size(); ++i) {
            std::string_view name = m_cells[i];
            Place place;
            if (const auto at = name.rfind(between); m_namesRuns && at != std::string_view::npos) {
                place.run = runNamed(name.substr(0, at));
                name = name.substr(at + between.size());
            }
            const bool isBound = m_namesRuns && (name.ends_with("__MIN") || name.ends_with("__MAX"));
            if (!isBound) {
                place.column = columnNamed(name.empty() ? fmt::format("column {}", i + 1) : std::string(name));
            }
            m_places.push_back(place);
        }
        if (!m_namesRuns) {
            runNamed("");
        }
    }

    GrowingFile m_file;
    CsvParser m_parser;
    std::string m_chunk;
    CellTexts m_cells;
    CellTexts m_header;
    std::vector<Place> m_places; ///< of the header
    std::vector<LogCell> m_row;
    std::exception_ptr m_failure;
    const RowTaker* m_take = nullptr;
    std::uint64_t m_rows = 0;
    bool m_namesRuns = false;
    bool m_isLast = false;
};

} // namespace

std::unique_ptr<LogReader> openCsv(const std::filesystem::path& file)
{
    return std::make_unique<CsvLog>(file);
}

} // namespace mantissa
