/// What the next step of a lane would come to at every power of two as its scale: computed, not predicted.
#pragma once

#include "ui/session/session_controller.h"

#include <QTimer>
#include <QWidget>

#include <cstdint>
#include <future>
#include <optional>
#include <vector>

class QLabel;
class QPushButton;
class QTableWidget;

namespace mantissa {

class ScaleTable : public QWidget
{
    Q_OBJECT
public:
    explicit ScaleTable(SessionController* controller, QWidget* parent = nullptr);

    void setLane(std::optional<std::uint32_t> lane);
    /// Trains the lane's next step on a copy of it, once per scale from 2^0 to 2^24.
    void tryScales();

    [[nodiscard]] const std::vector<ScaleTrial>& trials() const { return m_trials; }

    [[nodiscard]] QTableWidget* table() const { return m_table; }

    /// What starts it, to be placed where there is room: the table itself shows once there is something in it.
    [[nodiscard]] QPushButton* button() const { return m_button; }

    /// Tab-separated, one row a scale, with every digit.
    [[nodiscard]] QString text() const;

signals:
    void exponentChosen(int exponent);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void look();
    void fill();
    void clear(const QString& why);

    SessionController* m_controller;
    QPushButton* m_button;
    QLabel* m_note;
    QTableWidget* m_table;
    QTimer m_timer;
    std::optional<std::uint32_t> m_lane;
    std::future<std::vector<ScaleTrial>> m_waiting;
    std::vector<ScaleTrial> m_trials;
};

} // namespace mantissa
