/// A run of the database, read whole so that it can be diagnosed.
#pragma once

#include "engine/diagnose/run_facts.h"
#include "engine/store/run_store.h"

#include <vector>

namespace mantissa {

struct StoredRun
{
    LaneConfig config {}; ///< at the end of the records
    std::vector<StepRecord> records {};
    std::vector<Event> events {};
    std::optional<RunStatus> status {};
    std::vector<Sibling> siblings {};
    std::vector<SettingsSince> history {};
    std::vector<StepSample> samples {}; ///< some tens of them, spread over the run
    unsigned known = KnownAll; ///< Evidence: of an imported run what its log tells

    /// Valid as long as this is.
    [[nodiscard]] RunView view() const { return {config, records, events, status, siblings, history, samples, known}; }
};

/// Throws Error (InvalidArgument) if there is no such run, and what the store throws.
StoredRun readStoredRun(const RunStore& store, RunId id);

} // namespace mantissa
