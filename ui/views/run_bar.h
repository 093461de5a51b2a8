/// The toolbar of a run: run and pause, single step, run N, stop, reset, speed, device, and where the run stands.
#pragma once

#include "ui/session/session_controller.h"

#include <QToolBar>

class QAction;
class QComboBox;
class QLabel;
class QSlider;
class QSpinBox;
class QTimer;

namespace mantissa {

class RunBar : public QToolBar
{
    Q_OBJECT
public:
    explicit RunBar(SessionController* controller, QWidget* parent = nullptr);

    [[nodiscard]] QAction* runAction() const { return m_run; }

    [[nodiscard]] QAction* stepAction() const { return m_step; }

    [[nodiscard]] QAction* runStepsAction() const { return m_runSteps; }

    [[nodiscard]] QAction* stopAction() const { return m_stop; }

    [[nodiscard]] QAction* resetAction() const { return m_reset; }

    [[nodiscard]] QSlider* speedSlider() const { return m_speed; }

    [[nodiscard]] QComboBox* deviceCombo() const { return m_device; }

    [[nodiscard]] QSpinBox* stepCount() const { return m_count; }

    /// Room for larger type: leaves out what a lecture hall does not need.
    void setPresenting(bool isPresenting);

signals:
    void resetWanted(); ///< the window makes it undoable
    void finishedRunWanted(); ///< Run was pressed although every lane is at its end

public slots:
    void toggleRun();

private:
    void makeActions();
    QWidget* makeRunSteps();
    QWidget* makeSpeed();
    QWidget* makeDevice();
    QWidget* makeFigures();
    void follow();
    void refreshFigures();
    void setSpeedPosition(int position);

    SessionController* m_controller;
    QAction* m_run;
    QAction* m_step;
    QAction* m_runSteps;
    QAction* m_stop;
    QAction* m_reset;
    QSpinBox* m_count = nullptr;
    QSlider* m_speed = nullptr;
    QLabel* m_speedText = nullptr;
    QComboBox* m_device = nullptr;
    QLabel* m_stepText = nullptr;
    QLabel* m_rateText = nullptr;
    QLabel* m_seedText = nullptr;
    QAction* m_deviceHolder = nullptr;
    QAction* m_stepsHolder = nullptr;
    QTimer* m_figureTimer = nullptr;
};

} // namespace mantissa
