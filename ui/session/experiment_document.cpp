#include "ui/session/experiment_document.h"

#include "engine/core/error.h"

#include <QFile>
#include <QSaveFile>

#include <utility>

namespace mantissa {

ExperimentDocument::ExperimentDocument(Experiment experiment, std::filesystem::path file)
    : m_experiment(std::move(experiment))
    , m_file(std::move(file))
{
}

Experiment ExperimentDocument::experiment() const
{
    Experiment result = m_experiment;
    result.document = composeExperiment(m_experiment);
    return result;
}

std::string ExperimentDocument::text() const
{
    return experiment().document.dump(2) + "\n";
}

void ExperimentDocument::save(const std::filesystem::path& file)
{
    const QString name = QString::fromStdString(file.string());
    QSaveFile target(name);
    const std::string content = text();
    const bool isWritten = target.open(QIODevice::WriteOnly)
        && target.write(content.data(), static_cast<qint64>(content.size())) == static_cast<qint64>(content.size())
        && target.commit();
    if (!isWritten) {
        throw Error(ErrorCode::Io,
            file.string() + ": cannot be written: " + target.errorString().toStdString()
                + ". Choose another folder with Save As.");
    }
    m_file = file;
    m_experiment.directory = file.parent_path();
    m_modified = false;
}

void ExperimentDocument::set(std::size_t index, const std::string& path, const nlohmann::json& value)
{
    m_experiment.lanes.at(index) = withSetting(m_experiment.lanes.at(index), path, value);
    m_modified = true;
}

void ExperimentDocument::setDevice(std::size_t index, const std::string& device)
{
    const nlohmann::json value = device == "session" ? nlohmann::json() : nlohmann::json(device);
    m_experiment.lanes.at(index) = withOverrides(m_experiment.lanes.at(index), {{"device", value}});
    m_modified = true;
}

void ExperimentDocument::renameLane(std::size_t index, const std::string& name)
{
    LaneConfig& lane = m_experiment.lanes.at(index);
    const std::string before = lane.name;
    lane.name = name;
    lane.document["name"] = name;
    for (ScriptedEvent& event : m_experiment.events) {
        if (event.lane == before) {
            event.lane = name;
        }
    }
    for (Watchpoint& watchpoint : m_experiment.watchpoints) {
        if (watchpoint.lane == before) {
            watchpoint.lane = name;
        }
    }
    for (nlohmann::json& expectation : m_experiment.expect) {
        for (const char* side : {"left", "right"}) {
            if (expectation.contains(side) && expectation[side].is_object()
                && expectation[side].value("lane", std::string()) == before) {
                expectation[side]["lane"] = name;
            }
        }
    }
    m_modified = true;
}

void ExperimentDocument::recolorLane(std::size_t index, const std::string& color)
{
    LaneConfig& lane = m_experiment.lanes.at(index);
    lane.color = color;
    lane.document["color"] = color;
    m_modified = true;
}

void ExperimentDocument::setForAll(const std::vector<std::pair<std::string, nlohmann::json>>& values)
{
    std::vector<LaneConfig> lanes;
    for (const LaneConfig& lane : m_experiment.lanes) {
        lanes.push_back(withOverrides(lane, values));
    }
    m_experiment.lanes = std::move(lanes);
    m_modified = true;
}

void ExperimentDocument::setSteps(std::int64_t steps)
{
    for (LaneConfig& lane : m_experiment.lanes) {
        lane.steps = steps;
        lane.document["steps"] = steps;
    }
    m_modified = true;
}

void ExperimentDocument::setWatchpoints(std::vector<Watchpoint> watchpoints)
{
    m_experiment.watchpoints = std::move(watchpoints);
    m_modified = true;
}

void ExperimentDocument::addLane(const LaneConfig& config)
{
    m_experiment.lanes.push_back(config);
    m_modified = true;
}

void ExperimentDocument::removeLane(std::size_t index)
{
    const std::string name = m_experiment.lanes.at(index).name;
    m_experiment.lanes.erase(m_experiment.lanes.begin() + static_cast<std::ptrdiff_t>(index));
    // An event, watchpoint or expectation of a lane that is gone would make the saved file invalid.
    std::erase_if(m_experiment.events, [&name](const ScriptedEvent& event) { return event.lane == name; });
    std::erase_if(
        m_experiment.watchpoints, [&name](const Watchpoint& watchpoint) { return watchpoint.lane == name; });
    m_experiment.expect = composeExperiment(m_experiment).at("expect");
    m_modified = true;
}

} // namespace mantissa
