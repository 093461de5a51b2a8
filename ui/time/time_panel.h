/// The "Time" tab: where the lanes' time goes, phase by phase: side by side, and over the steps of one lane.
#pragma once

#include "engine/probe/gpu_meter.h"
#include "ui/session/session_controller.h"
#include "ui/style/lane_combo.h"
#include "ui/time/lane_times_model.h"
#include "ui/time/time_chart.h"

#include <QTimer>
#include <QWidget>

#include <map>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QSortFilterProxyModel;
class QTableView;

namespace mantissa {

class TimePanel : public QWidget
{
    Q_OBJECT
public:
    explicit TimePanel(SessionController* controller, QWidget* parent = nullptr);

    void setLanes(const std::vector<LaneChoice>& lanes);
    void setLane(std::uint32_t lane); ///< whose steps are shown

    [[nodiscard]] TimeChart* chart() const { return m_chart; }

    [[nodiscard]] QTableView* table() const { return m_table; }

    [[nodiscard]] const LaneTimesModel& times() const { return *m_times; }

    [[nodiscard]] QComboBox* spanCombo() const { return m_span; }

    [[nodiscard]] LaneCombo* laneCombo() const { return m_lanes; }

    [[nodiscard]] QString sentence() const;

    /// PNG, PDF or SVG of the chart by suffix, or CSV of all lanes' times. Throws Error (Io).
    void exportTo(const QString& file) const;

public slots:
    void copyPicture() const;
    void copyTable() const;
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
    void followTable();
    void followGpus();

    SessionController* m_controller;
    LaneCombo* m_lanes;
    QComboBox* m_span;
    LaneTimesModel* m_times;
    QSortFilterProxyModel* m_order;
    QTableView* m_table;
    TimeChart* m_chart;
    QLabel* m_words;
    QLabel* m_gpus; ///< hidden where there are none
    GpuMeter m_meter;
    QTimer m_timer; ///< numbers that change faster than this can't be read
    std::vector<LaneChoice> m_choices;
    std::optional<std::uint32_t> m_lane;
    std::map<std::uint32_t, TimeHistory> m_histories;
};

} // namespace mantissa
