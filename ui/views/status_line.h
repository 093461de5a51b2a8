/// The right end of the status bar: device and formats, data queue, memory by kind, the database, and on request the
/// time between UI frames.
#pragma once

#include "ui/session/session_controller.h"

#include <QElapsedTimer>
#include <QWidget>

class QLabel;
class QTimer;

namespace mantissa {

class StatusLine : public QWidget
{
    Q_OBJECT
public:
    explicit StatusLine(SessionController* controller, QWidget* parent = nullptr);

    void setFrameTimesVisible(bool isVisible);
    /// Called once per frame of the window's timer: the gap to the last call is how long the UI thread was busy.
    void noteFrame();

    [[nodiscard]] double worstFrameMs() const { return m_worstMs; }

    void resetWorstFrame() { m_worstMs = 0; }

private:
    void refresh();
    void showQueue(const SessionStatus& status);
    [[nodiscard]] static QString otherDevices(const SessionStatus& status);

    SessionController* m_controller;
    QLabel* m_frames;
    QLabel* m_database;
    QLabel* m_queue;
    QLabel* m_memory;
    QLabel* m_device;
    QTimer* m_timer;
    QElapsedTimer m_sinceFrame;
    double m_lastMs = 0;
    double m_worstMs = 0;
};

} // namespace mantissa
