/// Predict, then reveal: a room says which lane fails, when and why, before it sees the run; then what became of it.
#pragma once

#include "ui/predict/prediction.h"
#include "ui/session/run_loader.h"
#include "ui/session/session_controller.h"
#include "ui/style/lane_combo.h"

#include <QDialog>

#include <map>
#include <vector>

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace mantissa {

class PredictDialog : public QDialog
{
    Q_OBJECT
public:
    /// Asks about the lanes as they are now.
    PredictDialog(SessionController* controller, RunLoader* loader, const std::vector<LaneChoice>& lanes,
        QWidget* parent = nullptr);

    [[nodiscard]] QSpinBox* handsField(std::size_t lane) const { return m_hands[lane]; }

    [[nodiscard]] QSpinBox* noneField() const { return m_none; }

    [[nodiscard]] QSpinBox* stepField() const { return m_step; }

    [[nodiscard]] QComboBox* causeCombo() const { return m_cause; }

    [[nodiscard]] QPushButton* runButton() const { return m_run; }

    [[nodiscard]] QPushButton* revealButton() const { return m_reveal; }

    /// What is revealed; empty before.
    [[nodiscard]] QString revealed() const;

private:
    void build();
    void follow();
    void reveal();
    void showFates();
    [[nodiscard]] Prediction prediction() const;

    SessionController* m_controller;
    RunLoader* m_loader;
    std::vector<LaneChoice> m_lanes;
    std::vector<QSpinBox*> m_hands;
    QSpinBox* m_none;
    QSpinBox* m_step;
    QComboBox* m_cause;
    QPushButton* m_run;
    QPushButton* m_reveal;
    QLabel* m_said;
    bool m_isRevealing = false;
    std::map<std::uint32_t, LaneFate> m_fates;
};

} // namespace mantissa
