/// One metric of one lane over steps: every value, plus summaries that make drawing a million steps as cheap as a
/// thousand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace mantissa {

/// What a stretch of values amounts to. The sums run over finite values only; NaN and infinity are counted apart.
struct SeriesStats
{
    double minimum = std::numeric_limits<double>::infinity();
    double maximum = -std::numeric_limits<double>::infinity();
    double smallestPositive = std::numeric_limits<double>::infinity();
    double sum = 0;
    double last = std::numeric_limits<double>::quiet_NaN(); ///< the newest value, finite or not
    std::uint32_t finite = 0;
    std::uint32_t notFinite = 0;

    void add(double value, std::uint32_t times = 1);
    void merge(const SeriesStats& later);

    /// NaN if no value is finite.
    [[nodiscard]] double mean() const { return sum / finite; }

    [[nodiscard]] bool empty() const { return finite == 0 && notFinite == 0; }
};

/// Values of the steps [first, first + 2^k), k given by the query.
struct SeriesColumn
{
    std::int64_t first = 0;
    std::int64_t lastStep = 0; ///< the last step in it that has a value
    SeriesStats stats;
};

struct SeriesSample
{
    std::int64_t step = 0;
    double value = 0;
};

/// Neighbouring values that are all NaN, or all infinity, or all -infinity.
struct NonFiniteRun
{
    std::int64_t first = 0;
    std::int64_t last = 0;
    double value = 0; ///< NaN, inf or -inf
    double heightBefore = 0; ///< the last finite value before it; NaN if there is none
};

/// Append-only. Steps need not be consecutive. Takes 13 bytes a value (consecutive steps), 15 with gaps, next to
/// nothing where a value repeats for thousands of steps; a gap costs nothing, however wide. Values lie in chunks of
/// 4,096 steps; each has summaries of 16 and of 256 values, so a query touches at most a few dozen numbers per column.
/// Columns are aligned to multiples of 2^k: the same steps fall into the same column in every frame, so a growing or
/// moving picture does not flicker.
class SeriesPyramid
{
public:
    static constexpr std::int64_t maximumStep = std::int64_t {1} << 52;

    /// False, and nothing changes, if `step` is negative, beyond maximumStep or not greater than lastStep().
    bool append(std::int64_t step, double value);
    /// Drops all steps from `firstDropped` on.
    void truncate(std::int64_t firstDropped);
    void clear();

    [[nodiscard]] bool empty() const { return m_chunks.empty(); }

    [[nodiscard]] std::int64_t firstStep() const; ///< not when empty()
    [[nodiscard]] std::int64_t lastStep() const; ///< not when empty()

    [[nodiscard]] std::uint64_t count() const { return m_count; }

    [[nodiscard]] std::size_t bytes() const;

    [[nodiscard]] std::optional<double> at(std::int64_t step) const;
    /// The value whose step is closest to `step` (the earlier of two); none when empty.
    [[nodiscard]] std::optional<SeriesSample> nearest(std::int64_t step) const;
    /// The last finite value at or before `step`.
    [[nodiscard]] std::optional<SeriesSample> lastFinite(std::int64_t step) const;
    /// The step that lies `values` values before the first one at or after `step`; firstStep() if there are fewer.
    [[nodiscard]] std::int64_t stepBefore(std::int64_t step, std::uint64_t values) const;

    /// The first step after `step` that has a value; lastStep() if there is none. Not when empty().
    [[nodiscard]] std::int64_t stepAfter(std::int64_t step) const;

    /// Over the steps first .. last, both included.
    [[nodiscard]] SeriesStats stats(std::int64_t first, std::int64_t last) const;
    /// The columns of 2^log2Width steps that touch first .. last and hold a value, in order.
    void columns(std::int64_t first, std::int64_t last, int log2Width, std::vector<SeriesColumn>& into) const;
    /// The values of first .. last, in order.
    void samples(std::int64_t first, std::int64_t last, std::vector<SeriesSample>& into) const;
    /// Calls visit(step, value) for each of first .. last, in order.
    template <typename Visitor> void forEach(std::int64_t first, std::int64_t last, Visitor visit) const;

    /// Calls visit(values, whether all are finite) for neighbouring stretches that together are first .. last, in
    /// order.
    template <typename Visitor> void forEachStretch(std::int64_t first, std::int64_t last, Visitor visit) const;

    /// How many values, as powers of two, may be taken together by forEachBlock().
    static constexpr int blockShifts[] = {4, 2};

    /// Calls visit(last step, mean) for stretches of up to 2^shift neighbouring values, one of blockShifts, that
    /// together cover first .. last; they may reach beyond both ends. The mean is a float, of the finite values; NaN if
    /// there are none.
    template <typename Visitor>
    void forEachBlock(std::int64_t first, std::int64_t last, int shift, Visitor visit) const;

    /// Differs from that of any other series; changes with every truncate() and clear(), not with append().
    [[nodiscard]] std::uint64_t generation() const { return m_generation; }

    [[nodiscard]] const std::vector<NonFiniteRun>& nonFiniteRuns() const { return m_runs; }

private:
    static constexpr std::uint32_t tinyBlock = 4;
    static constexpr std::uint32_t smallBlock = 16;
    static constexpr std::uint32_t largeBlock = 256;
    static constexpr int chunkShift = 12;
    static constexpr std::int64_t chunkSteps = std::int64_t {1} << chunkShift;

    struct Chunk
    {
        std::int64_t base = 0;
        std::uint32_t count = 0;
        std::uint16_t firstOffset = 0;
        std::vector<std::uint16_t> offsets; ///< empty while steps are consecutive
        std::vector<double> values; ///< empty while all are `constant`
        double constant = 0;
        std::vector<SeriesStats> by16;
        std::vector<float> means16; ///< apart, because smoothing reads all of them; as the next
        std::vector<float> means4;
        SeriesStats newest4; ///< of the last of them
        std::vector<SeriesStats> by256;
        SeriesStats total;

        void append(std::uint16_t offset, double value);
        void addToBlocks(double value, std::uint32_t index);
        [[nodiscard]] std::uint32_t indexOf(std::int64_t step) const; ///< of the first value at or after `step`

        [[nodiscard]] std::int64_t stepAt(std::uint32_t index) const
        {
            return base + (offsets.empty() ? firstOffset + index : offsets[index]);
        }

        [[nodiscard]] double valueAt(std::uint32_t index) const { return values.empty() ? constant : values[index]; }

        void merge(std::uint32_t begin, std::uint32_t end, SeriesStats& into) const;
    };

    [[nodiscard]] std::size_t chunkFrom(std::int64_t step) const; ///< the first chunk that ends after `step`
    void noteRun(std::int64_t step, double value);
    static std::uint64_t nextGeneration();

    std::vector<Chunk> m_chunks;
    std::vector<NonFiniteRun> m_runs;
    double m_lastFinite = std::numeric_limits<double>::quiet_NaN();
    bool m_runOpen = false; ///< the newest value belongs to the last of m_runs
    std::uint64_t m_count = 0;
    std::uint64_t m_generation = nextGeneration();
};

template <typename Visitor> void SeriesPyramid::forEach(std::int64_t first, std::int64_t last, Visitor visit) const
{
    last = std::min(last, maximumStep);
    for (std::size_t c = chunkFrom(first); c < m_chunks.size() && m_chunks[c].base <= last; ++c) {
        const Chunk& chunk = m_chunks[c];
        const std::uint32_t end = chunk.indexOf(last + 1);
        for (std::uint32_t i = chunk.indexOf(first); i < end; ++i) {
            visit(chunk.stepAt(i), chunk.valueAt(i));
        }
    }
}

template <typename Visitor>
void SeriesPyramid::forEachStretch(std::int64_t first, std::int64_t last, Visitor visit) const
{
    last = std::min(last, maximumStep);
    std::vector<double> repeated;
    for (std::size_t c = chunkFrom(first); c < m_chunks.size() && m_chunks[c].base <= last; ++c) {
        const Chunk& chunk = m_chunks[c];
        const std::uint32_t begin = chunk.indexOf(first);
        const std::uint32_t end = chunk.indexOf(last + 1);
        if (begin >= end) {
            continue;
        }
        std::span<const double> values(chunk.values);
        if (values.empty()) {
            repeated.assign(end, chunk.constant);
            values = repeated;
        }
        visit(values.subspan(begin, end - begin), chunk.total.notFinite == 0);
    }
}

template <typename Visitor>
void SeriesPyramid::forEachBlock(std::int64_t first, std::int64_t last, int shift, Visitor visit) const
{
    last = std::min(last, maximumStep);
    const std::uint32_t size = 1U << static_cast<unsigned>(shift);
    for (std::size_t c = chunkFrom(first); c < m_chunks.size() && m_chunks[c].base <= last; ++c) {
        const Chunk& chunk = m_chunks[c];
        const std::vector<float>& means = size == smallBlock ? chunk.means16 : chunk.means4;
        const std::uint32_t end = chunk.indexOf(last + 1);
        for (std::uint32_t i = chunk.indexOf(first) / size * size; i < end; i += size) {
            const std::uint32_t blockEnd = std::min(i + size, chunk.count);
            visit(chunk.stepAt(blockEnd - 1),
                chunk.values.empty() ? static_cast<float>(chunk.constant) : means[i / size]);
        }
    }
}

} // namespace mantissa
