/// A sweep: one experiment trained with many settings. Its file is documented in experiments/README.md, "Sweeps".
#pragma once

#include "engine/store/sweep_point.h"
#include "engine/train/experiment.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// What a sweep may come to: points times lanes.
inline constexpr std::size_t mostSweepRuns = 4096;

struct Sweep
{
    std::string name;
    std::string text; ///< Markdown
    Experiment experiment; ///< with the lanes that are trained, without expectations
    std::vector<SweepPoint> points; ///< in the order of the file; the last setting of the grid changes fastest

    [[nodiscard]] std::size_t runCount() const { return points.size() * experiment.lanes.size(); }
};

/// Reads a sweep and checks every one of its points. Throws Error (InvalidArgument) naming the JSON path, the value
/// and, for an unknown key, the nearest valid one; (Io) where the experiment's file can't be read. `source` names the
/// file in messages, paths in it start at `directory`; `mostRuns` is what it may come to.
Sweep parseSweep(std::string_view text, const std::string& source, const std::filesystem::path& directory,
    std::size_t mostRuns = mostSweepRuns);
/// A sweep without a name is called as its file.
Sweep loadSweep(const std::filesystem::path& file);

/// The document of a sweep over some lanes of the experiment that parseSweep() reads, wherever it lies: `grid` as
/// there, paths of data made absolute.
nlohmann::json composeSweep(const std::string& name, const Experiment& experiment,
    const std::vector<std::string>& lanes, const nlohmann::json& grid);

/// What is trained at a point.
Experiment experimentAt(const Sweep& sweep, const SweepPoint& point);

} // namespace mantissa
