/// A change of formats on the op map: what it sends to the session, and how it is taken back.
#pragma once

#include "ui/graph/op_map.h"
#include "ui/session/session_controller.h"

#include <QUndoCommand>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace mantissa {

/// The setting that every change goes through; its values are merge patches.
inline constexpr const char* overridesPath = "precision.overrides";
/// What follows an op in the key of its sums' format.
inline constexpr std::string_view sumsSuffix = ".accumulate";

/// Patches of precision.overrides: one that changes something, one that brings back what was before.
struct FormatChange
{
    nlohmann::json change;
    nlohmann::json before;
};

/// For one op; `format` as in experiment files, none: no exception for it. `suffix`: sumsSuffix or nothing.
FormatChange changeOfOp(
    const OpMap& map, NodeIndex op, const std::optional<std::string>& format, std::string_view suffix = {});

/// For all ops of the kind, those included that have an exception of their own.
FormatChange changeOfKind(
    const OpMap& map, Op kind, const std::optional<std::string>& format, std::string_view suffix = {});

/// Applies a change to a lane; finds the lane by name, since a reset numbers lanes anew.
class FormatCommand : public QUndoCommand
{
public:
    FormatCommand(SessionController* controller, std::string lane, FormatChange change, const QString& text);
    void undo() override;
    void redo() override;

private:
    void send(const nlohmann::json& patch);

    SessionController* m_controller;
    std::string m_lane;
    FormatChange m_change;
};

} // namespace mantissa
