/// The parts of the window that a lesson may lock or hide.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace mantissa {

enum class ControlGroup : std::uint8_t {
    Experiments, ///< opening another experiment: the list, the start page, the File menu, dropped files
    Setup, ///< the Setup panel
    Lanes, ///< adding, copying, removing lanes, and going back
    Settings, ///< what a lane's card sets: precision, scaler, clipping, rate
    Step, ///< the Step panel: order, switches, faults
    Gradients, ///< tabs
    Layers,
    Graph,
    Time,
    Ranks,
    Compare,
    Findings, ///< panels below
    Events,
    Runs,
    Code,
    Device, ///< device and speed in the run bar
    Tools, ///< the Tools menu
};

struct ControlGroupInfo
{
    ControlGroup group;
    std::string_view name; ///< as lesson files spell it: "setup"
};

std::span<const ControlGroupInfo> controlGroups();
std::string_view nameOf(ControlGroup group);

using ControlGroups = std::set<ControlGroup>;

} // namespace mantissa
