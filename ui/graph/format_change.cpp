#include "ui/graph/format_change.h"

#include "engine/graph/op_def.h"

#include <algorithm>
#include <utility>

namespace mantissa {

namespace {

void put(FormatChange& change, const OpMap& map, const std::string& key, const std::optional<std::string>& format)
{
    const auto present = map.overrides().find(key);
    change.change[key] = format ? nlohmann::json(*format) : nlohmann::json();
    change.before[key] = present == map.overrides().end() ? nlohmann::json() : nlohmann::json(present->second);
}

} // namespace

FormatChange changeOfOp(
    const OpMap& map, NodeIndex op, const std::optional<std::string>& format, std::string_view suffix)
{
    FormatChange change;
    put(change, map, map.node(op).name + std::string(suffix), format);
    return change;
}

FormatChange changeOfKind(const OpMap& map, Op kind, const std::optional<std::string>& format, std::string_view suffix)
{
    FormatChange change;
    put(change, map, std::string(opDef(kind).name).append(suffix), format);
    for (const NodeIndex op : map.opsOfKind(kind)) {
        if (map.overrideOf(op, suffix)) {
            put(change, map, map.node(op).name + std::string(suffix), std::nullopt);
        }
    }
    return change;
}

FormatCommand::FormatCommand(SessionController* controller, std::string lane, FormatChange change, const QString& text)
    : QUndoCommand(text)
    , m_controller(controller)
    , m_lane(std::move(lane))
    , m_change(std::move(change))
{
}

void FormatCommand::undo()
{
    send(m_change.before);
}

void FormatCommand::redo()
{
    send(m_change.change);
}

void FormatCommand::send(const nlohmann::json& patch)
{
    const auto status = m_controller->status();
    if (!status) {
        setObsolete(true);
        return;
    }
    const auto lane = std::ranges::find_if(status->lanes,
        [this](const LaneStatus& candidate) { return m_controller->laneName(candidate.id).toStdString() == m_lane; });
    if (lane == status->lanes.end()) {
        setObsolete(true);
        return;
    }
    m_controller->set(lane->id, overridesPath, patch);
}

} // namespace mantissa
