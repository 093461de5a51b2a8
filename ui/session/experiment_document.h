/// The experiment that is open: its lanes as they would be saved, the file it came from, and whether it was changed.
#pragma once

#include "engine/train/experiment.h"

#include <QString>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

class ExperimentDocument
{
public:
    ExperimentDocument() = default;
    explicit ExperimentDocument(Experiment experiment, std::filesystem::path file = {});

    /// The experiment with the present lanes, ready for a Session.
    [[nodiscard]] Experiment experiment() const;
    /// What Save writes: indented JSON with a final newline.
    [[nodiscard]] std::string text() const;
    /// Writes it in one move (temporary file, rename). Throws Error (Io).
    void save(const std::filesystem::path& file);

    [[nodiscard]] const std::vector<LaneConfig>& lanes() const { return m_experiment.lanes; }

    [[nodiscard]] const std::vector<Watchpoint>& watchpoints() const { return m_experiment.watchpoints; }

    [[nodiscard]] const std::string& name() const { return m_experiment.name; }

    [[nodiscard]] const std::string& description() const { return m_experiment.text; }

    [[nodiscard]] const std::filesystem::path& file() const { return m_file; }

    [[nodiscard]] bool isModified() const { return m_modified; }

    void setModified(bool modified) { m_modified = modified; }

    /// Replaces a setting in the lane at `index`; state such as "scaler.scale" leaves it unchanged.
    void set(std::size_t index, const std::string& path, const nlohmann::json& value);
    /// Renames a lane in the events, watchpoints and expectations too.
    void renameLane(std::size_t index, const std::string& name);
    void recolorLane(std::size_t index, const std::string& color);
    /// Settings for every lane, as parts of their documents: {"model.hidden", [64]}. Null removes one, so that its
    /// default holds. All or nothing; throws Error (InvalidArgument) for settings that do not go together.
    void setForAll(const std::vector<std::pair<std::string, nlohmann::json>>& values);
    /// On which the lane at `index` trains; "session": as all that name none. Throws Error (InvalidArgument).
    void setDevice(std::size_t index, const std::string& device);
    void setSteps(std::int64_t steps);
    void setWatchpoints(std::vector<Watchpoint> watchpoints);
    void addLane(const LaneConfig& config);
    void removeLane(std::size_t index);

private:
    Experiment m_experiment;
    std::filesystem::path m_file;
    bool m_modified = false;
};

} // namespace mantissa
