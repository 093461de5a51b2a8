/// What a finished run is reported as: JSON, or a table with a row per lane.
#pragma once

#include "app/cli/output.h"
#include "engine/train/run_observer.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mantissa::cli {

struct LaneResult
{
    std::optional<std::int64_t> run; ///< database id
    std::string lane;
    RunSummary summary;
    double flushed = 0; ///< mean share of gradient elements flushed to zero; NaN where not measured
};

Json resultJson(const std::string& experiment, const std::vector<LaneResult>& results);
std::string resultTable(const std::vector<LaneResult>& results);

/// Averages what the summary does not hold. Read it when the session is over.
class LaneTally : public RunObserver
{
public:
    void stepsRecorded(std::span<const StepRecord> records) override;

    [[nodiscard]] double meanFlushed(std::uint32_t lane) const;

private:
    struct Sum
    {
        double total = 0;
        std::int64_t count = 0;
    };

    std::map<std::uint32_t, Sum> m_flushed;
};

} // namespace mantissa::cli
