#include "app/cli/run_result.h"

#include "engine/store/run_export.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace mantissa::cli {

namespace {

Json laneJson(const LaneResult& result)
{
    const RunSummary& s = result.summary;
    Json json = {{"id", nullptr}, {"lane", result.lane}, {"status", nameOf(s.status)}, {"message", s.message},
        {"steps", s.steps}, {"final_loss", exactNumber(s.finalLoss)}, {"min_loss", exactNumber(s.minLoss)},
        {"validation",
            {{"loss", exactNumber(s.validationLoss)}, {"accuracy", exactNumber(s.validationAccuracy)},
                {"perplexity", exactNumber(std::exp(s.validationLoss))}}},
        {"skipped_steps", s.skippedSteps}, {"first_skip", s.firstSkip}, {"final_scale", exactNumber(s.finalScale)},
        {"flushed", exactNumber(result.flushed)}, {"weights_hash", s.weightsHash},
        {"steps_per_second", exactNumber(s.stepsPerSecond)},
        {"bytes",
            {{"weights", s.bytes.weights}, {"copies", s.bytes.copies}, {"gradients", s.bytes.gradients},
                {"optimizer", s.bytes.optimizer}, {"activations", s.bytes.activations},
                {"workspace", s.bytes.workspace}}},
        {"casts_per_step", s.castsPerStep}};
    if (result.run) {
        json["id"] = *result.run;
    }
    return json;
}

} // namespace

Json resultJson(const std::string& experiment, const std::vector<LaneResult>& results)
{
    Json runs = Json::array();
    for (const LaneResult& result : results) {
        runs.push_back(laneJson(result));
    }
    return {{"experiment", experiment}, {"runs", runs}};
}

std::string resultTable(const std::vector<LaneResult>& results)
{
    Table table;
    table.addColumn("run");
    table.addColumn("lane", Table::Align::Left);
    table.addColumn("status", Table::Align::Left);
    for (const char* title :
        {"steps", "final loss", "val. accuracy", "skipped", "final scale", "steps/s", "memory", "flushed"}) {
        table.addColumn(title);
    }
    std::string messages;
    for (const LaneResult& result : results) {
        const RunSummary& s = result.summary;
        table.addRow({result.run ? fmt::format("{}", *result.run) : "-", result.lane, std::string(nameOf(s.status)),
            fmt::format("{}", s.steps), shortNumber(s.finalLoss), percent(s.validationAccuracy),
            fmt::format("{}", s.skippedSteps), shortNumber(s.finalScale), rateText(s.stepsPerSecond),
            bytesText(s.bytes.total()), percent(result.flushed)});
        if (!s.message.empty()) {
            messages += fmt::format("{}: {}\n", result.lane, s.message);
        }
    }
    return table.text() + messages;
}

void LaneTally::stepsRecorded(std::span<const StepRecord> records)
{
    for (const StepRecord& record : records) {
        if (!std::isnan(record.flushed)) {
            Sum& sum = m_flushed[record.lane];
            sum.total += record.flushed;
            ++sum.count;
        }
    }
}

double LaneTally::meanFlushed(std::uint32_t lane) const
{
    const auto found = m_flushed.find(lane);
    return found == m_flushed.end() ? std::numeric_limits<double>::quiet_NaN()
                                    : found->second.total / static_cast<double>(found->second.count);
}

} // namespace mantissa::cli
