/// Asks which lanes are to be trained by how many processes.
#pragma once

#include "engine/train/experiment.h"

#include <QDialog>
#include <QStringList>

#include <string>

class QLabel;
class QListWidget;
class QPushButton;
class QSpinBox;

namespace mantissa {

class RanksDialog : public QDialog
{
    Q_OBJECT
public:
    /// `obstacle` says why it cannot be done here; empty: it can.
    RanksDialog(Experiment experiment, const QString& selectedLane, const QString& obstacle, QWidget* parent = nullptr);

    [[nodiscard]] QSpinBox* ranks() const { return m_ranks; }

    [[nodiscard]] QListWidget* lanes() const { return m_lanes; }

    [[nodiscard]] QPushButton* startButton() const { return m_start; }

    /// Why it cannot be started as chosen; empty if it can.
    [[nodiscard]] QString problem() const;

signals:
    void chosen(int ranks, const std::string& experiment, const QStringList& lanes);

private:
    void check();
    [[nodiscard]] QStringList chosenLanes() const;

    Experiment m_experiment;
    QString m_obstacle;
    std::string m_text; ///< of what is chosen; empty if that cannot be
    QSpinBox* m_ranks;
    QListWidget* m_lanes;
    QLabel* m_problem;
    QPushButton* m_start;
};

} // namespace mantissa
