#include "engine/lesson/control_group.h"

#include <array>

namespace mantissa {

namespace {

/// In the order of ControlGroup.
constexpr std::array table {
    ControlGroupInfo {ControlGroup::Experiments, "experiments"},
    ControlGroupInfo {ControlGroup::Setup, "setup"},
    ControlGroupInfo {ControlGroup::Lanes, "lanes"},
    ControlGroupInfo {ControlGroup::Settings, "settings"},
    ControlGroupInfo {ControlGroup::Step, "step"},
    ControlGroupInfo {ControlGroup::Gradients, "gradients"},
    ControlGroupInfo {ControlGroup::Layers, "layers"},
    ControlGroupInfo {ControlGroup::Graph, "graph"},
    ControlGroupInfo {ControlGroup::Time, "time"},
    ControlGroupInfo {ControlGroup::Ranks, "ranks"},
    ControlGroupInfo {ControlGroup::Compare, "compare"},
    ControlGroupInfo {ControlGroup::Findings, "findings"},
    ControlGroupInfo {ControlGroup::Events, "events"},
    ControlGroupInfo {ControlGroup::Runs, "runs"},
    ControlGroupInfo {ControlGroup::Code, "code"},
    ControlGroupInfo {ControlGroup::Device, "device"},
    ControlGroupInfo {ControlGroup::Tools, "tools"},
};

} // namespace

std::span<const ControlGroupInfo> controlGroups()
{
    return table;
}

std::string_view nameOf(ControlGroup group)
{
    return table.at(static_cast<std::size_t>(group)).name;
}

} // namespace mantissa
