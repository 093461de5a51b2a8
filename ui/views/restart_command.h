/// Undoes a reset: the lanes that were trained before come back, and go again on redo.
#pragma once

#include "ui/session/session_controller.h"

#include <QUndoCommand>

namespace mantissa {

class RestartCommand : public QUndoCommand
{
public:
    RestartCommand(SessionController* controller, ExperimentDocument document, const QString& text)
        : QUndoCommand(text)
        , m_controller(controller)
        , m_document(std::move(document))
    {
    }

    void redo() override
    {
        if (m_serial == 0) {
            m_controller->restart(m_document);
            m_serial = m_controller->restartSerial();
        } else {
            swap();
        }
    }

    void undo() override { swap(); }

private:
    void swap()
    {
        // Only the newest restart's lanes are still there.
        if (m_controller->canUndoReset() && m_controller->restartSerial() == m_serial) {
            m_controller->undoReset();
        } else {
            setObsolete(true);
        }
    }

    SessionController* m_controller;
    ExperimentDocument m_document;
    std::uint64_t m_serial = 0; ///< 0: not done yet
};

} // namespace mantissa
