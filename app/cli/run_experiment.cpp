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

void keepLanes(Experiment& experiment, const std::vector<std::string>& wanted)
{
    if (wanted.empty()) {
        return;
    }
    const std::vector<std::string> names = namesOf(experiment.lanes);
    std::vector<std::string> kept;
    for (const std::string& name : wanted) {
        kept.push_back(laneNamed(name, names));
    }
    const auto isDropped
        = [&](const std::string& name) { return std::find(kept.begin(), kept.end(), name) == kept.end(); };
    std::erase_if(experiment.lanes, [&](const LaneConfig& lane) { return isDropped(lane.name); });
    std::erase_if(
        experiment.events, [&](const ScriptedEvent& event) { return !event.lane.empty() && isDropped(event.lane); });
    std::erase_if(experiment.watchpoints,
        [&](const Watchpoint& watchpoint) { return !watchpoint.lane.empty() && isDropped(watchpoint.lane); });
}

/// What is no JSON is meant as a text: precision.policy=fp16 needs no quotes.
nlohmann::json valueFrom(const std::string& text)
{
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    return value.is_discarded() ? nlohmann::json(text) : value;
}

/// Lanes differ in whether they have a scaler, and scalers in their parameters.
bool hasSetting(const LaneConfig& lane, const std::string& path)
{
    static const std::string scaler = "scaler.";
    if (!path.starts_with(scaler)) {
        return true;
    }
    const std::string key = path.substr(scaler.size());
    const bool isParameter = std::ranges::any_of(
        scalerFamilyTable(), [&](const ScalerFamily* family) { return findParameter(*family, key) != nullptr; });
    return lane.scaler && (!isParameter || findParameter(*findScalerFamily(lane.scaler->family), key) != nullptr);
}

/// Changes all lanes, at once since settings may need each other; the scaler only where there is or will be one that
/// has such a setting. `options`: what asked for it, in messages.
void overrideAll(Experiment& experiment, const Changes& changes, const std::string& options)
{
    const std::vector<LaneConfig> before = experiment.lanes;
    const bool addsScaler = std::ranges::any_of(
        changes, [](const auto& change) { return change.first == "scaler.family" || change.first == "scaler"; });
    for (LaneConfig& lane : experiment.lanes) {
        Changes fitting = changes;
        std::erase_if(fitting, [&](const auto& change) {
            const auto has = [&](const LaneConfig& other) { return hasSetting(other, change.first); };
            return !addsScaler && !has(lane) && std::ranges::any_of(before, has);
        });
        try {
            lane = withOverrides(lane, fitting);
        } catch (const Error& error) {
            throw BadInput(fmt::format("{}: {}", options, error.what()));
        }
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
    keepLanes(experiment, options.lanes);
    Changes changes;
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
