#include "ui/views/live_change.h"

#include "engine/train/fault.h"
#include "ui/session/session_controller.h"

#include <QPointer>
#include <QUndoCommand>
#include <QUndoStack>

namespace mantissa {

namespace {

nlohmann::json parsed(const std::string& text)
{
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    return value.is_discarded() ? nlohmann::json() : value;
}

/// The merge patch that takes `patch` back from a document that was `before`.
nlohmann::json inverse(const nlohmann::json& patch, const nlohmann::json& before)
{
    if (!patch.is_object() || !before.is_object()) {
        return before;
    }
    nlohmann::json back = nlohmann::json::object();
    for (const auto& [key, value] : patch.items()) {
        back[key] = before.contains(key) ? inverse(value, before.at(key)) : nlohmann::json();
    }
    return back;
}

class LiveChange : public QUndoCommand
{
public:
    LiveChange(LiveChanges* changes, QString lane, const Event& event, const QString& words)
        : QUndoCommand(words)
        , m_changes(changes)
        , m_lane(std::move(lane))
        , m_path(event.path)
        , m_before(valueBefore(event))
        , m_after(parsed(event.after))
    {
    }

    void undo() override { set(m_before); }

    void redo() override
    {
        // The stack calls this when the command is pushed: the change has happened already.
        if (std::exchange(m_isNew, false)) {
            return;
        }
        set(m_after);
    }

private:
    void set(const nlohmann::json& value)
    {
        if (m_changes) {
            m_changes->set(m_lane, m_path, value);
        }
    }

    QPointer<LiveChanges> m_changes;
    QString m_lane;
    std::string m_path;
    nlohmann::json m_before;
    nlohmann::json m_after;
    bool m_isNew = true;
};

} // namespace

nlohmann::json valueBefore(const Event& change)
{
    return inverse(parsed(change.after), parsed(change.before));
}

LiveChanges::LiveChanges(SessionController* controller, QUndoStack* stack, QObject* parent)
    : QObject(parent)
    , m_controller(controller)
    , m_stack(stack)
{
    connect(controller, &SessionController::sessionReplaced, this, [this] { m_own.clear(); });
}

void LiveChanges::note(const Event& event, const QString& words)
{
    const bool isOwn = m_own.erase(event.command) > 0;
    const bool isByHand = event.kind == EventKind::Set && !event.scripted && event.command != 0;
    // The number of steps has its own way back in Setup; what a fault did cannot be taken back, only gone back from.
    if (isByHand && !isOwn && event.path != "steps" && faultNamed(event.path) == nullptr) {
        m_stack->push(new LiveChange(this, m_controller->laneName(event.lane), event, words));
    }
}

void LiveChanges::set(const QString& lane, const std::string& path, const nlohmann::json& value)
{
    const auto status = m_controller->status();
    for (const LaneStatus& candidate : status ? status->lanes : std::vector<LaneStatus> {}) {
        if (m_controller->laneName(candidate.id) == lane) {
            m_own.insert(m_controller->set(candidate.id, path, value));
        }
    }
}

} // namespace mantissa
