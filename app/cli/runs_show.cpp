// mantissa-cli runs show
#include "app/cli/output.h"
#include "app/cli/runs_common.h"
#include "engine/store/run_comparison.h"
#include "engine/store/run_export.h"
#include "engine/store/store_names.h"

#include <fmt/format.h>

namespace mantissa::cli {

namespace {

std::string eventText(const Event& event)
{
    std::string text = fmt::format("  step {}: {}", event.step, nameOf(event.kind));
    if (event.kind == EventKind::Set) {
        text += fmt::format(
            " {} {} -> {}{}", event.path, event.before, event.after, event.scripted ? " (scripted)" : "");
    }
    const bool isFile
        = event.kind == EventKind::Checkpoint || event.kind == EventKind::Resumed || event.kind == EventKind::Weights;
    text += isFile || event.kind == EventKind::Watch ? " " + event.path : "";
    return text + (event.text.empty() ? "" : ": " + event.text) + '\n';
}

std::string summaryText(const RunInfo& run)
{
    std::string text = fmt::format("run {}: ", run.id);
    text += run.experimentName.empty() ? "" : run.experimentName + ", ";
    text += fmt::format("lane {}\n\n", run.lane);
    const auto add
        = [&](const char* name, const std::string& value) { text += fmt::format("  {:<22}{}\n", name, value); };
    add("status", statusText(run) + (run.message.empty() ? "" : ": " + run.message));
    add("started", timeText(run.startedUnixSeconds));
    add("ended", timeText(run.endedUnixSeconds));
    if (run.imported) {
        add("imported from", fmt::format("{} ({})", run.imported->file, run.imported->format));
    } else {
        add("device",
            fmt::format("{}, {}, {} threads ({} for this lane)", run.device, run.instructionSet, run.threads,
                run.threadsPerLane));
    }
    add("steps", fmt::format("{}", run.steps));
    add("final loss", shortNumber(run.finalLoss));
    add("validation loss", shortNumber(run.validationLoss));
    add("validation accuracy", percent(run.validationAccuracy));
    add("skipped steps", skipsText(run));
    add("final scale", shortNumber(run.finalScale));
    if (!run.imported) {
        add("steps per second", rateText(run.stepsPerSecond));
        add("initial weights", run.initialWeightsHash);
        add("final weights", run.weightsHash);
    }
    if (!run.note.empty()) {
        add("note", run.note);
    }
    return text;
}

} // namespace

int showRun(const RunsOptions& options)
{
    const RunStore store = openRuns(options);
    const RunInfo run = runNumber(store, options.runs.at(0));
    const auto settings = settingsOf(store, run.id);
    const std::vector<Event> events = store.events(run.id);
    if (options.json) {
        Json json = runAsJson(run);
        json["settings"] = Json::object();
        for (const auto& [path, value] : settings) {
            if (!value.is_null()) {
                json["settings"][path] = value;
            }
        }
        json["events"] = Json::array();
        for (const Event& event : events) {
            json["events"].push_back(eventAsJson(event));
        }
        if (!run.imported) {
            json["replay"] = replayCommand(options, run);
        }
        printJson(json);
        return exitDone;
    }
    std::string text = summaryText(run);
    text += run.imported ? "\nwhat the log tells (the settings are not known)\n" : "\nsettings\n";
    if (run.imported) {
        for (const auto& [field, from] : run.imported->fields) {
            text += fmt::format("  {:<26}{}\n", field, from);
        }
    }
    for (const auto& [path, value] : settings) {
        if (!value.is_null() && value != "") {
            text += fmt::format("  {:<26}{}\n", path, value.dump());
        }
    }
    text += "\nevents\n";
    for (const Event& event : events) {
        text += eventText(event);
    }
    print(run.imported ? text : text + "\nrepeat it with\n  " + replayCommand(options, run) + '\n');
    return exitDone;
}

} // namespace mantissa::cli
