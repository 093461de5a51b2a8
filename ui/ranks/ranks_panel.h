/// The "Ranks" tab: whether the ranks of a data-parallel lane agree, and on what they do not.
#pragma once

#include "ui/ranks/rank_chart.h"
#include "ui/session/session_controller.h"
#include "ui/style/lane_combo.h"

#include <QTimer>
#include <QWidget>

#include <map>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;

namespace mantissa {

class RanksPanel : public QWidget
{
    Q_OBJECT
public:
    explicit RanksPanel(SessionController* controller, QWidget* parent = nullptr);

    void setLanes(const std::vector<LaneChoice>& lanes);
    void setLane(std::uint32_t lane); ///< whose ranks are shown

    [[nodiscard]] RankChart* chart() const { return m_chart; }

    [[nodiscard]] LaneCombo* laneCombo() const { return m_lanes; }

    [[nodiscard]] QComboBox* measureCombo() const { return m_measure; }

    [[nodiscard]] QString sentence() const;

    /// PNG, PDF or SVG of the chart by suffix, or CSV of the ranks of all lanes. Throws Error (Io).
    void exportTo(const QString& file) const;

public slots:
    void copyPicture() const;
    void showExportDialog();

signals:
    void laneChosen(std::uint32_t lane);
    void stepChosen(qint64 step);
    void notice(const QString& text); ///< something to say in the status bar

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void follow();

    SessionController* m_controller;
    LaneCombo* m_lanes;
    QComboBox* m_measure;
    RankChart* m_chart;
    QLabel* m_words;
    QTimer m_timer; ///< numbers that change faster than this can't be read
    std::vector<LaneChoice> m_choices;
    std::optional<std::uint32_t> m_lane;
    std::map<std::uint32_t, RankHistory> m_histories;
};

} // namespace mantissa
