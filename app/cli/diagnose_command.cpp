// mantissa-cli diagnose
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/runs_common.h"
#include "engine/diagnose/diagnose.h"
#include "engine/diagnose/finding_json.h"
#include "engine/diagnose/stored_run.h"

#include <fmt/format.h>

#include <memory>

namespace mantissa::cli {

namespace {

std::string findingText(const Finding& finding)
{
    std::string text = fmt::format(
        "{} ({}, {})\n  {}\n", finding.rule, nameOf(finding.severity), nameOf(finding.confidence), finding.title);
    text += finding.layer.empty() ? "" : fmt::format("  layer {}\n", finding.layer);
    text += finding.op.empty() ? "" : fmt::format("  in {}\n", finding.op);
    if (finding.firstStep >= 0) {
        text += finding.firstStep == finding.lastStep
            ? fmt::format("  step {}\n", finding.firstStep)
            : fmt::format("  steps {} to {}\n", finding.firstStep, finding.lastStep);
    }
    for (const auto& [name, value] : finding.evidence.items()) {
        text += fmt::format(
            "  {}: {}\n", name, value.is_number_float() ? shortNumber(value.get<double>()) : value.dump());
    }
    text += "  -> " + finding.advice + '\n';
    for (const auto& [path, value] : finding.fix.items()) {
        text
            += fmt::format("  fix: --set '{}={}'\n", path, value.is_string() ? value.get<std::string>() : value.dump());
    }
    return text;
}

int diagnoseRun(const RunsOptions& options)
{
    const RunStore store = openRuns(options);
    const RunInfo info = runNumber(store, options.runs.at(0));
    const StoredRun run = readStoredRun(store, info.id);
    const std::vector<Finding> findings = diagnose(run.view());
    if (options.json) {
        Json json {{"run", info.id}, {"lane", info.lane}, {"steps", run.records.size()}, {"findings", Json::array()}};
        for (const Finding& finding : findings) {
            json["findings"].push_back(findingAsJson(finding));
        }
        printJson(json);
        return exitDone;
    }
    std::string text = fmt::format("run {}, lane {}, {} steps\n", info.id, info.lane, run.records.size());
    for (const Finding& finding : findings) {
        text += '\n' + findingText(finding);
    }
    print(findings.empty() ? text + "\nNothing to say: no finding.\n" : text);
    return exitDone;
}

} // namespace

void addDiagnoseCommand(CLI::App& app, Action& chosen)
{
    auto options = std::make_shared<RunsOptions>();
    CLI::App* command = app.add_subcommand("diagnose", "Say in plain words what is wrong with a stored run");
    command->add_option("run", options->runs, "Number of the run, as runs list prints it")->required()->expected(1);
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &chosen] { chosen = [options] { return diagnoseRun(*options); }; });
}

} // namespace mantissa::cli
