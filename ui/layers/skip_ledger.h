/// What the scaler did at each step of a lane: taken or skipped, scale grown or backed off. Millions of steps cost
/// little: only stretches of skipped steps and changes of the scale are kept.
#pragma once

#include "engine/store/run_store.h"
#include "engine/train/event.h"
#include "engine/train/step_record.h"
#include "ui/plots/step_runs.h"

#include <cstdint>
#include <map>
#include <set>

namespace mantissa {

/// Of the steps first .. last.
struct LedgerCount
{
    std::int64_t taken = 0;
    std::int64_t skipped = 0;
    std::int64_t grown = 0; ///< changes of the scale; they count for the first step with the new one
    std::int64_t backedOff = 0;
};

class SkipLedger
{
public:
    /// A step that was there already starts the ledger anew from it.
    void add(const StepRecord& record);
    void add(const Event& event); ///< of the lane
    /// Takes over the steps of a stored run; what events said stays.
    void setColumns(const RunColumns& columns);
    /// Whether a skipped step advances the lane's learning-rate schedule, until an event says otherwise.
    void setCountsSkipped(bool countsSkipped);

    [[nodiscard]] bool empty() const { return m_last < 0; }

    [[nodiscard]] std::int64_t firstStep() const { return m_first; }

    [[nodiscard]] std::int64_t lastStep() const { return m_last; }

    [[nodiscard]] LedgerCount count(std::int64_t first, std::int64_t last) const;

    [[nodiscard]] bool isSkipped(std::int64_t step) const { return m_skips.contains(step); }

    [[nodiscard]] std::int64_t nextSkip(std::int64_t step) const { return m_skips.next(step); } ///< -1: none

    [[nodiscard]] std::int64_t skipBefore(std::int64_t step) const { return m_skips.before(step); } ///< -1: none

    /// By how many steps the schedule is ahead of the optimizer.
    [[nodiscard]] std::int64_t scheduleLead() const;
    /// The newest Numerics event at or before the step, which names the op that numbers went wrong in; null if there is
    /// none. A lane tells a cause once, however often it comes back.
    [[nodiscard]] const Event* causeOf(std::int64_t step) const;

private:
    void append(std::int64_t step, double scale, bool isSkipped);
    void truncate(std::int64_t firstDropped);

    StepRuns m_skips;
    StepRuns m_grown;
    StepRuns m_backedOff;
    std::map<std::int64_t, bool> m_countsSkipped; ///< from this step on
    std::map<std::int64_t, Event> m_causes;
    std::set<std::int64_t> m_setScale; ///< steps at which a person or a script changed the scaler
    std::int64_t m_first = 0;
    std::int64_t m_last = -1;
    double m_scale = 0; ///< of m_last
};

} // namespace mantissa
