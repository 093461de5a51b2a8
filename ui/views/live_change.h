/// Changes of a training lane's settings as a history: each can be taken back, which is a change like any other, an
/// event of the run.
#pragma once

#include "engine/train/event.h"

#include <QObject>

#include <nlohmann/json.hpp>

#include <set>

class QUndoStack;

namespace mantissa {

class SessionController;

/// The value to set at the event's path to be back before it. For a section, whose value is a merge patch, the patch
/// that undoes it.
nlohmann::json valueBefore(const Event& change);

class LiveChanges : public QObject
{
    Q_OBJECT
public:
    /// Changes go onto the stack, which may outlive this.
    LiveChanges(SessionController* controller, QUndoStack* stack, QObject* parent = nullptr);

    /// Puts the event onto the stack if a person made it: no script, no fault, not an undo itself.
    void note(const Event& event, const QString& words);

    /// For the stack's commands. The lane is found by its name, since a reset numbers lanes anew.
    void set(const QString& lane, const std::string& path, const nlohmann::json& value);

private:
    SessionController* m_controller;
    QUndoStack* m_stack;
    std::set<std::uint64_t> m_own; ///< commands of undo and redo whose events are still to come
};

} // namespace mantissa
