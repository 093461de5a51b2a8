/// A set of steps, kept as stretches of neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace mantissa {

struct StepRun
{
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t before = 0; ///< steps in the stretches before it
};

/// Steps are added in increasing order.
class StepRuns
{
public:
    void append(std::int64_t step)
    {
        if (!m_runs.empty() && m_runs.back().last + 1 == step) {
            m_runs.back().last = step;
        } else {
            m_runs.push_back({step, step, m_count});
        }
        ++m_count;
    }

    void truncate(std::int64_t firstDropped)
    {
        while (!m_runs.empty() && m_runs.back().last >= firstDropped) {
            StepRun& run = m_runs.back();
            const std::int64_t kept = std::max<std::int64_t>(0, firstDropped - run.first);
            m_count -= run.last - run.first + 1 - kept;
            if (kept > 0) {
                run.last = firstDropped - 1;
                return;
            }
            m_runs.pop_back();
        }
    }

    /// The first step of the set at or after `step`; -1 if there is none.
    [[nodiscard]] std::int64_t next(std::int64_t step) const
    {
        const auto run = std::partition_point(
            m_runs.begin(), m_runs.end(), [step](const StepRun& candidate) { return candidate.last < step; });
        return run == m_runs.end() ? -1 : std::max(run->first, step);
    }

    /// The last step of the set before `step`; -1 if there is none.
    [[nodiscard]] std::int64_t before(std::int64_t step) const
    {
        const auto run = std::partition_point(
            m_runs.begin(), m_runs.end(), [step](const StepRun& candidate) { return candidate.first < step; });
        return run == m_runs.begin() ? -1 : std::min(std::prev(run)->last, step - 1);
    }

    [[nodiscard]] bool contains(std::int64_t step) const { return next(step) == step; }

    [[nodiscard]] std::int64_t count() const { return m_count; }

    /// Of the steps first .. last, both included.
    [[nodiscard]] std::int64_t count(std::int64_t first, std::int64_t last) const
    {
        return last < first ? 0 : countBefore(last + 1) - countBefore(first);
    }

private:
    [[nodiscard]] std::int64_t countBefore(std::int64_t step) const
    {
        const auto run = std::partition_point(
            m_runs.begin(), m_runs.end(), [step](const StepRun& candidate) { return candidate.last < step; });
        return run == m_runs.end() ? m_count : run->before + std::max<std::int64_t>(0, step - run->first);
    }

    std::vector<StepRun> m_runs;
    std::int64_t m_count = 0;
};

} // namespace mantissa
