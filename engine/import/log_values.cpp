#include "engine/import/log_values.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace mantissa {

namespace {

/// A log with fewer rows between two steps back is not one of a run that was begun again, but in no order.
constexpr std::size_t leastRowsOfALife = 8;
constexpr std::size_t mostSeams = 1000;

template <typename T> void reorder(std::vector<T>& values, const std::vector<std::size_t>& order)
{
    std::vector<T> sorted;
    sorted.reserve(order.size());
    for (const std::size_t at : order) {
        sorted.push_back(values[at]);
    }
    values = std::move(sorted);
}

} // namespace

void LogValues::add(LogField field, std::int64_t step, double value)
{
    Series& series = of(field);
    series.steps.push_back(step);
    series.values.push_back(value);
    series.rows.push_back(m_row);
}

const LogValues::Series& LogValues::leading() const
{
    for (const LogField field : {LogField::Loss, LogField::Scale, LogField::GradNorm}) {
        if (has(field)) {
            return of(field);
        }
    }
    return *std::ranges::max_element(m_series, {}, [](const Series& series) { return series.steps.size(); });
}

void LogValues::findSeams()
{
    const Series& series = leading();
    std::vector<std::size_t> back;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    std::int64_t reached = -1;
    bool reachesBelow = false;
    for (std::size_t i = 0; i < series.steps.size(); ++i) {
        if (i > 0 && series.steps[i] < series.steps[i - 1]) {
            back.push_back(i);
            reachesBelow = reachesBelow || series.steps[i] < lowest;
        }
        lowest = std::min(lowest, series.steps[i]);
    }
    m_wasUnsorted = reachesBelow || back.size() > mostSeams || back.size() * leastRowsOfALife > series.steps.size();
    if (m_wasUnsorted) {
        return;
    }
    auto file = m_fileRows.begin();
    auto nextBack = back.begin();
    for (std::size_t i = 0; i < series.steps.size(); ++i) {
        const bool isOfNextFile = file != m_fileRows.end() && series.rows[i] >= *file;
        const bool isBack = nextBack != back.end() && *nextBack == i;
        while (file != m_fileRows.end() && series.rows[i] >= *file) {
            ++file;
        }
        nextBack += isBack ? 1 : 0;
        if ((isBack || isOfNextFile) && i > 0) {
            m_seams.push_back({series.steps[i], reached, 0});
            m_seamRows.push_back(series.rows[i]);
            reached = series.steps[i];
        }
        reached = std::max(reached, series.steps[i]);
    }
}

void LogValues::settle(Series& series)
{
    const auto isDropped = [&](std::size_t i) {
        for (std::size_t seam = 0; seam < m_seams.size(); ++seam) {
            if (series.rows[i] < m_seamRows[seam] && series.steps[i] >= m_seams[seam].step) {
                ++m_seams[seam].dropped;
                return true;
            }
        }
        return false;
    };
    std::vector<std::size_t> order;
    const bool rises = std::ranges::adjacent_find(series.steps, std::greater_equal {}) == series.steps.end();
    if (!rises || !m_seams.empty()) {
        order.reserve(series.steps.size());
        for (std::size_t i = 0; i < series.steps.size(); ++i) {
            if (!isDropped(i)) {
                order.push_back(i);
            }
        }
        std::ranges::stable_sort(order, {}, [&series](std::size_t i) { return series.steps[i]; });
        std::vector<std::size_t> latest;
        latest.reserve(order.size());
        for (const std::size_t i : order) {
            if (!latest.empty() && series.steps[latest.back()] == series.steps[i]) {
                latest.back() = i;
                ++m_repeated;
            } else {
                latest.push_back(i);
            }
        }
        reorder(series.steps, latest);
        reorder(series.values, latest);
    }
    series.rows = {};
}

void LogValues::settle()
{
    findSeams();
    for (const LogField field : allLogFields()) {
        const std::uint64_t before = m_repeated;
        settle(of(field));
        // Several rows of one step have a time each.
        m_repeated = field == LogField::WallTime ? before : m_repeated;
    }
}

std::int64_t LogValues::firstStep() const
{
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Series& series : m_series) {
        first = series.steps.empty() ? first : std::min(first, series.steps.front());
    }
    return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
}

std::int64_t LogValues::lastStep() const
{
    std::int64_t last = -1;
    for (const Series& series : m_series) {
        last = series.steps.empty() ? last : std::max(last, series.steps.back());
    }
    return last;
}

void LogValues::replace(LogField field, std::vector<std::int64_t> steps, std::vector<double> values)
{
    of(field) = {std::move(steps), std::move(values), {}};
}

void LogValues::forEachStep(const std::function<void(std::int64_t, const Values&, const Present&)>& take) const
{
    std::array<std::size_t, logFieldCount> next {};
    constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
    while (true) {
        std::int64_t step = end;
        for (std::size_t field = 0; field < logFieldCount; ++field) {
            const Series& series = m_series[field];
            step = next[field] < series.steps.size() ? std::min(step, series.steps[next[field]]) : step;
        }
        if (step == end) {
            return;
        }
        Values values;
        values.fill(std::numeric_limits<double>::quiet_NaN());
        Present isPresent {};
        for (std::size_t field = 0; field < logFieldCount; ++field) {
            const Series& series = m_series[field];
            if (next[field] < series.steps.size() && series.steps[next[field]] == step) {
                values[field] = series.values[next[field]++];
                isPresent[field] = true;
            }
        }
        take(step, values, isPresent);
    }
}

} // namespace mantissa
