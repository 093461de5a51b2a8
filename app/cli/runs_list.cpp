// mantissa-cli runs list
#include "app/cli/output.h"
#include "app/cli/runs_common.h"
#include "engine/store/run_export.h"

#include <fmt/format.h>

namespace mantissa::cli {

namespace {

std::vector<RunInfo> newestRuns(const RunsOptions& options)
{
    std::error_code ignored;
    if (options.database.empty() && !std::filesystem::exists(databaseOf(options), ignored)) {
        return {}; // nothing has run yet
    }
    std::vector<RunInfo> runs = openRuns(options).runs();
    if (options.limit > 0 && runs.size() > options.limit) {
        runs.resize(options.limit);
    }
    return runs;
}

} // namespace

int listRuns(const RunsOptions& options)
{
    const std::vector<RunInfo> runs = newestRuns(options);
    if (options.json) {
        Json list = Json::array();
        for (const RunInfo& run : runs) {
            list.push_back(runAsJson(run));
        }
        printJson({{"runs", list}});
        return exitDone;
    }
    Table table;
    table.addColumn("run");
    for (const char* title : {"started", "experiment", "lane", "status", "policy", "scaler"}) {
        table.addColumn(title, Table::Align::Left);
    }
    for (const char* title : {"steps", "final loss", "val. accuracy", "skipped", "steps/s"}) {
        table.addColumn(title);
    }
    for (const RunInfo& run : runs) {
        table.addRow({fmt::format("{}", run.id), timeText(run.startedUnixSeconds), run.experimentName, run.lane,
            statusText(run), run.policy.empty() ? "-" : run.policy, run.scaler.empty() ? "-" : run.scaler,
            fmt::format("{}", run.steps), shortNumber(run.finalLoss), percent(run.validationAccuracy), skipsText(run),
            rateText(run.stepsPerSecond)});
    }
    print(runs.empty() ? "no runs\n" : table.text());
    return exitDone;
}

} // namespace mantissa::cli
