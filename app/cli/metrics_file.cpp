#include "app/cli/metrics_file.h"

#include "engine/store/run_export.h"

namespace mantissa::cli {

MetricsFile::MetricsFile(JsonLines& lines)
    : m_lines(lines)
{
}

void MetricsFile::runStarted(const RunStart& start)
{
    m_lanes[start.lane] = start.config.name;
}

void MetricsFile::ranksRecorded(std::span<const RankRecord> records)
{
    for (const RankRecord& record : records) {
        m_ranks[record.lane].push_back(rankAsJson(record));
    }
}

void MetricsFile::stepsRecorded(std::span<const StepRecord> records)
{
    for (const StepRecord& record : records) {
        nlohmann::ordered_json json = stepAsJson(record, m_lanes[record.lane]);
        // All that differs between two runs of one experiment stands in one place; the bytes stand in the summary.
        json["time_ms"]["wall"] = record.wallSeconds * 1000;
        json.erase("wall_seconds");
        json.erase("bytes");
        if (const auto ranks = m_ranks.find(record.lane); ranks != m_ranks.end()) {
            json["ranks"] = std::move(ranks->second);
            m_ranks.erase(ranks);
        }
        m_lines.write(json);
    }
}

} // namespace mantissa::cli
