#include "ui/plots/series_pyramid.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

namespace mantissa {

namespace {

bool sameBits(double a, double b)
{
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

} // namespace

void SeriesStats::add(double value, std::uint32_t times)
{
    last = value;
    if (!std::isfinite(value)) {
        notFinite += times;
        return;
    }
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    if (value > 0) {
        smallestPositive = std::min(smallestPositive, value);
    }
    sum += value * times;
    finite += times;
}

void SeriesStats::merge(const SeriesStats& later)
{
    minimum = std::min(minimum, later.minimum);
    maximum = std::max(maximum, later.maximum);
    smallestPositive = std::min(smallestPositive, later.smallestPositive);
    last = later.empty() ? last : later.last;
    sum += later.sum;
    finite += later.finite;
    notFinite += later.notFinite;
}

void SeriesPyramid::Chunk::append(std::uint16_t offset, double value)
{
    if (count == 0) {
        firstOffset = offset;
        constant = value;
    } else if (offsets.empty() && offset != firstOffset + count) {
        offsets.reserve(count + 1);
        for (std::uint32_t i = 0; i < count; ++i) {
            offsets.push_back(static_cast<std::uint16_t>(firstOffset + i));
        }
    }
    if (!offsets.empty()) {
        offsets.push_back(offset);
    }
    if (values.empty() && !sameBits(value, constant)) {
        values.assign(count, constant);
        for (std::uint32_t i = 0; i < count; ++i) {
            addToBlocks(constant, i);
        }
    }
    if (!values.empty()) {
        values.push_back(value);
        addToBlocks(value, count);
    }
    ++count;
    total.add(value);
}

void SeriesPyramid::Chunk::addToBlocks(double value, std::uint32_t index)
{
    if (index % smallBlock == 0) {
        by16.emplace_back();
        means16.emplace_back();
    }
    if (index % tinyBlock == 0) {
        newest4 = {};
        means4.emplace_back();
    }
    if (index % largeBlock == 0) {
        by256.emplace_back();
    }
    by16.back().add(value);
    means16.back() = static_cast<float>(by16.back().mean());
    newest4.add(value);
    means4.back() = static_cast<float>(newest4.mean());
    by256.back().add(value);
}

std::uint32_t SeriesPyramid::Chunk::indexOf(std::int64_t step) const
{
    const std::int64_t offset = step - base;
    if (offset <= firstOffset) {
        return 0;
    }
    if (offset >= chunkSteps) {
        return count;
    }
    if (offsets.empty()) {
        return static_cast<std::uint32_t>(std::min<std::int64_t>(offset - firstOffset, count));
    }
    const auto found = std::lower_bound(offsets.begin(), offsets.end(), static_cast<std::uint16_t>(offset));
    return static_cast<std::uint32_t>(found - offsets.begin());
}

void SeriesPyramid::Chunk::merge(std::uint32_t begin, std::uint32_t end, SeriesStats& into) const
{
    if (begin == 0 && end == count) {
        into.merge(total);
        return;
    }
    if (values.empty()) {
        if (begin < end) {
            into.add(constant, end - begin);
        }
        return;
    }
    while (begin < end) {
        if (begin % largeBlock == 0 && end - begin >= largeBlock) {
            into.merge(by256[begin / largeBlock]);
            begin += largeBlock;
        } else if (begin % smallBlock == 0 && end - begin >= smallBlock) {
            into.merge(by16[begin / smallBlock]);
            begin += smallBlock;
        } else {
            into.add(values[begin]);
            ++begin;
        }
    }
}

bool SeriesPyramid::append(std::int64_t step, double value)
{
    if (step < 0 || step > maximumStep || (!m_chunks.empty() && step <= lastStep())) {
        return false;
    }
    // One NaN for all, so that a diverged lane's endless NaN compresses whatever its payloads are.
    const double stored = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
    const std::int64_t base = step & ~(chunkSteps - 1);
    if (m_chunks.empty() || m_chunks.back().base != base) {
        m_chunks.emplace_back();
        m_chunks.back().base = base;
    }
    m_chunks.back().append(static_cast<std::uint16_t>(step - base), stored);
    noteRun(step, stored);
    ++m_count;
    return true;
}

void SeriesPyramid::noteRun(std::int64_t step, double value)
{
    if (std::isfinite(value)) {
        m_lastFinite = value;
        m_runOpen = false;
    } else if (m_runOpen && sameBits(m_runs.back().value, value)) {
        m_runs.back().last = step;
    } else {
        m_runs.push_back({step, step, value, m_lastFinite});
        m_runOpen = true;
    }
}

void SeriesPyramid::truncate(std::int64_t firstDropped)
{
    m_generation = nextGeneration();
    while (!m_chunks.empty() && m_chunks.back().base >= firstDropped) {
        m_count -= m_chunks.back().count;
        m_chunks.pop_back();
    }
    if (!m_chunks.empty() && m_chunks.back().stepAt(m_chunks.back().count - 1) >= firstDropped) {
        const Chunk old = std::move(m_chunks.back());
        m_chunks.pop_back();
        Chunk kept;
        kept.base = old.base;
        const std::uint32_t end = old.indexOf(firstDropped);
        for (std::uint32_t i = 0; i < end; ++i) {
            kept.append(static_cast<std::uint16_t>(old.stepAt(i) - old.base), old.valueAt(i));
        }
        m_count -= old.count - end;
        if (end > 0) {
            m_chunks.push_back(std::move(kept));
        }
    }
    while (!m_runs.empty() && m_runs.back().first >= firstDropped) {
        m_runs.pop_back();
    }
    if (!m_runs.empty() && m_runs.back().last >= firstDropped) {
        m_runs.back().last = m_chunks.empty() ? m_runs.back().first : lastStep();
    }
    m_runOpen = !m_runs.empty() && !m_chunks.empty() && m_runs.back().last == lastStep();
    const auto finite = m_chunks.empty() ? std::nullopt : lastFinite(lastStep());
    m_lastFinite = finite ? finite->value : std::numeric_limits<double>::quiet_NaN();
}

void SeriesPyramid::clear()
{
    *this = SeriesPyramid();
}

std::uint64_t SeriesPyramid::nextGeneration()
{
    static std::atomic<std::uint64_t> newest {0};
    return ++newest;
}

std::int64_t SeriesPyramid::firstStep() const
{
    return m_chunks.front().stepAt(0);
}

std::int64_t SeriesPyramid::lastStep() const
{
    return m_chunks.back().stepAt(m_chunks.back().count - 1);
}

std::size_t SeriesPyramid::bytes() const
{
    std::size_t sum = m_runs.capacity() * sizeof(NonFiniteRun) + m_chunks.capacity() * sizeof(Chunk);
    for (const Chunk& chunk : m_chunks) {
        sum += chunk.values.capacity() * sizeof(double) + chunk.offsets.capacity() * sizeof(std::uint16_t)
            + (chunk.by16.capacity() + chunk.by256.capacity()) * sizeof(SeriesStats)
            + (chunk.means16.capacity() + chunk.means4.capacity()) * sizeof(float);
    }
    return sum;
}

std::size_t SeriesPyramid::chunkFrom(std::int64_t step) const
{
    const auto found = std::partition_point(
        m_chunks.begin(), m_chunks.end(), [step](const Chunk& chunk) { return chunk.base + chunkSteps <= step; });
    return static_cast<std::size_t>(found - m_chunks.begin());
}

std::optional<double> SeriesPyramid::at(std::int64_t step) const
{
    const std::size_t c = chunkFrom(step);
    if (c == m_chunks.size()) {
        return std::nullopt;
    }
    const std::uint32_t index = m_chunks[c].indexOf(step);
    if (index == m_chunks[c].count || m_chunks[c].stepAt(index) != step) {
        return std::nullopt;
    }
    return m_chunks[c].valueAt(index);
}

std::optional<SeriesSample> SeriesPyramid::nearest(std::int64_t step) const
{
    if (m_chunks.empty()) {
        return std::nullopt;
    }
    std::optional<SeriesSample> after;
    std::size_t c = chunkFrom(step);
    std::uint32_t index = c < m_chunks.size() ? m_chunks[c].indexOf(step) : 0;
    if (c < m_chunks.size() && index == m_chunks[c].count) {
        ++c;
        index = 0;
    }
    if (c < m_chunks.size()) {
        after = SeriesSample {m_chunks[c].stepAt(index), m_chunks[c].valueAt(index)};
        if (after->step == step) {
            return after;
        }
    }
    if (c == 0 && index == 0) {
        return after;
    }
    const Chunk& chunk = index > 0 ? m_chunks[c] : m_chunks[c - 1];
    const std::uint32_t previous = (index > 0 ? index : chunk.count) - 1;
    const SeriesSample before {chunk.stepAt(previous), chunk.valueAt(previous)};
    return after && after->step - step < step - before.step ? after : before;
}

std::optional<SeriesSample> SeriesPyramid::lastFinite(std::int64_t step) const
{
    step = std::min(step, maximumStep);
    for (std::size_t c = std::min(chunkFrom(step) + 1, m_chunks.size()); c-- > 0;) {
        const Chunk& chunk = m_chunks[c];
        if (chunk.total.finite == 0) {
            continue;
        }
        for (std::uint32_t i = chunk.indexOf(step + 1); i-- > 0;) {
            if (std::isfinite(chunk.valueAt(i))) {
                return SeriesSample {chunk.stepAt(i), chunk.valueAt(i)};
            }
        }
    }
    return std::nullopt;
}

std::int64_t SeriesPyramid::stepBefore(std::int64_t step, std::uint64_t values) const
{
    if (m_chunks.empty()) {
        return step;
    }
    std::size_t c = chunkFrom(step);
    std::uint64_t index = c < m_chunks.size() ? m_chunks[c].indexOf(step) : 0;
    while (values > index && c > 0) {
        values -= index;
        --c;
        index = m_chunks[c].count;
    }
    return values > index ? firstStep() : m_chunks[c].stepAt(static_cast<std::uint32_t>(index - values));
}

std::int64_t SeriesPyramid::stepAfter(std::int64_t step) const
{
    for (std::size_t c = chunkFrom(step + 1); c < m_chunks.size(); ++c) {
        const std::uint32_t index = m_chunks[c].indexOf(step + 1);
        if (index < m_chunks[c].count) {
            return m_chunks[c].stepAt(index);
        }
    }
    return lastStep();
}

SeriesStats SeriesPyramid::stats(std::int64_t first, std::int64_t last) const
{
    SeriesStats result;
    last = std::min(last, maximumStep);
    for (std::size_t c = chunkFrom(first); c < m_chunks.size() && m_chunks[c].base <= last; ++c) {
        m_chunks[c].merge(m_chunks[c].indexOf(first), m_chunks[c].indexOf(last + 1), result);
    }
    return result;
}

void SeriesPyramid::columns(std::int64_t first, std::int64_t last, int log2Width, std::vector<SeriesColumn>& into) const
{
    into.clear();
    last = std::min(last, maximumStep);
    const std::int64_t width = std::int64_t {1} << log2Width;
    const std::int64_t begin = std::max<std::int64_t>(0, first) & ~(width - 1);
    for (std::size_t c = chunkFrom(begin); c < m_chunks.size(); ++c) {
        const Chunk& chunk = m_chunks[c];
        for (std::uint32_t i = chunk.indexOf(begin); i < chunk.count;) {
            const std::int64_t start = chunk.stepAt(i) & ~(width - 1);
            if (start > last) {
                return;
            }
            const std::uint32_t end = chunk.indexOf(start + width);
            if (into.empty() || into.back().first != start) {
                into.emplace_back().first = start;
            }
            SeriesColumn& column = into.back();
            chunk.merge(i, end, column.stats);
            column.lastStep = chunk.stepAt(end - 1);
            i = end;
        }
    }
}

void SeriesPyramid::samples(std::int64_t first, std::int64_t last, std::vector<SeriesSample>& into) const
{
    into.clear();
    forEach(first, last, [&into](std::int64_t step, double value) { into.push_back({step, value}); });
}

} // namespace mantissa
