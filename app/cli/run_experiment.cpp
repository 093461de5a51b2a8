#include "app/cli/run_experiment.h"

#include "app/cli/command.h"
#include "engine/core/error.h"
#include "engine/core/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa::cli {

namespace {

std::vector<std::string> namesOf(const std::vector<LaneConfig>& lanes)
{
    std::vector<std::string> names;
    for (const LaneConfig& lane : lanes) {
        names.push_back(lane.name);
    }
    return names;
}

/// The lane's name as the file spells it: exact, or else the only one that differs in case alone.
std::string laneNamed(const std::string& wanted, const std::vector<std::string>& names)
{
    if (std::find(names.begin(), names.end(), wanted) != names.end()) {
        return wanted;
    }
    std::vector<std::string> similar;
    std::copy_if(names.begin(), names.end(), std::back_inserter(similar),
        [&](const std::string& name) { return editDistance(name, wanted) == 0; });
    if (similar.size() != 1) {
        throw BadInput(fmt::format("--lane: there is no lane \"{}\"; {}", wanted, suggestion(wanted, names)));
    }
    return similar.front();
}

void keepWanted(Experiment& experiment, const std::vector<std::string>& wanted)
{
    if (wanted.empty()) {
        return;
    }
    const std::vector<std::string> names = namesOf(experiment.lanes);
    std::vector<std::string> kept;
    for (const std::string& name : wanted) {
        kept.push_back(laneNamed(name, names));
    }
    keepLanes(experiment, kept);
}

/// What is no JSON is meant as a text: precision.policy=fp16 needs no quotes.
nlohmann::json valueFrom(const std::string& text)
{
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    return value.is_discarded() ? nlohmann::json(text) : value;
}

/// `options`: what asked for the changes, in messages.
void overrideAll(Experiment& experiment, const SettingChanges& changes, const std::string& options)
{
    try {
        changeLanes(experiment, changes);
    } catch (const Error& error) {
        throw BadInput(fmt::format("{}: {}", options, error.what()));
    }
}

} // namespace

std::pair<std::string, nlohmann::json> changeFrom(const std::string& assignment)
{
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw BadInput(fmt::format("--set {}: write PATH=VALUE, as in optimizer.lr=0.01", assignment));
    }
    return {assignment.substr(0, equals), valueFrom(assignment.substr(equals + 1))};
}

Experiment experimentFor(const RunOptions& options)
{
    Experiment experiment;
    try {
        experiment = loadExperiment(options.file);
    } catch (const Error& error) {
        throw BadInput(error.what());
    }
    keepWanted(experiment, options.lanes);
    SettingChanges changes;
    std::string given;
    for (const std::string& assignment : options.set) {
        changes.push_back(changeFrom(assignment));
        given += given.empty() ? "--set " : " --set ";
        given += assignment;
    }
    if (!changes.empty()) {
        overrideAll(experiment, changes, given);
    }
    for (const auto& [path, text] : {std::pair("steps", options.steps), std::pair("seed", options.seed)}) {
        if (!text.empty()) {
            overrideAll(experiment, {{path, valueFrom(text)}}, fmt::format("--{} {}", path, text));
        }
    }
    if (!options.weights.empty()) {
        // An experiment's own paths start at its file, those of a command line where the command is given.
        overrideAll(experiment,
            {{"model.weights", std::filesystem::absolute(options.weights).string()}, {"model.weights_hash", ""}},
            "--weights " + options.weights);
    }
    checkEvents(experiment.events, experiment.lanes, options.file);
    experiment.document = composeExperiment(experiment);
    return experiment;
}

} // namespace mantissa::cli
