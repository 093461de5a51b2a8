/// --metrics: one JSON object per step and lane, as the steps happen.
#pragma once

#include "app/cli/json_lines.h"
#include "engine/train/run_observer.h"

#include <map>
#include <string>

namespace mantissa::cli {

/// Writes on the session's worker thread.
class MetricsFile : public RunObserver
{
public:
    explicit MetricsFile(JsonLines& lines);

    void runStarted(const RunStart& start) override;
    void ranksRecorded(std::span<const RankRecord> records) override;
    void stepsRecorded(std::span<const StepRecord> records) override;

private:
    JsonLines& m_lines;
    std::map<std::uint32_t, std::string> m_lanes;
    std::map<std::uint32_t, nlohmann::ordered_json> m_ranks; ///< of the step to come
};

} // namespace mantissa::cli
