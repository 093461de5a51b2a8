#include "ui/plots/view_state.h"

namespace mantissa {

namespace {
constexpr qint64 mergeWithinMs = 1000;
}

ViewCommand::ViewCommand(const QString& text, const ViewState& before, const ViewState& after, int kind, Apply apply)
    : QUndoCommand(text)
    , m_before(before)
    , m_after(after)
    , m_kind(kind)
    , m_apply(std::move(apply))
{
    m_age.start();
}

void ViewCommand::undo()
{
    m_apply(m_before);
    m_isApplied = false;
}

void ViewCommand::redo()
{
    if (!m_isApplied) {
        m_apply(m_after);
    }
    m_isApplied = true;
}

bool ViewCommand::mergeWith(const QUndoCommand* other)
{
    const auto* next = static_cast<const ViewCommand*>(other);
    if (m_age.elapsed() > mergeWithinMs) {
        return false;
    }
    m_after = next->m_after;
    m_age.restart();
    return true;
}

} // namespace mantissa
