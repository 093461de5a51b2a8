/// The "Compare" tab: any two lanes or stored runs, in settings, results and curves, against the noise of other seeds.
#pragma once

#include "ui/compare/compare_chart.h"
#include "ui/session/run_loader.h"
#include "ui/session/session_controller.h"
#include "ui/style/lane_combo.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QTableWidget;

namespace mantissa {

class RunArchive;
class BackgroundRuns;

class ComparePanel : public QWidget
{
    Q_OBJECT
public:
    ComparePanel(SessionController* controller, RunLoader* loader, QWidget* parent = nullptr);
    ~ComparePanel() override;

    void setLanes(const std::vector<LaneChoice>& lanes);
    void compare(const RunOrLane& a, const RunOrLane& b);

    [[nodiscard]] CompareChart* chart() const { return m_chart; }

    [[nodiscard]] QTableWidget* table() const { return m_table; }

    [[nodiscard]] QComboBox* comboA() const { return m_a; }

    [[nodiscard]] QComboBox* comboB() const { return m_b; }

    [[nodiscard]] QSpinBox* seedsField() const { return m_seeds; }

    [[nodiscard]] QPushButton* trainButton() const { return m_train; }

    [[nodiscard]] QString verdict() const;

    /// PNG, PDF or SVG of the plots by suffix, or CSV of the common steps. Throws Error (Io, or InvalidArgument where
    /// there is no comparison).
    void exportTo(const QString& file) const;

public slots:
    void copyPicture() const;
    void copyTable() const;
    void showExportDialog();

signals:
    void stepChosen(qint64 step);
    void notice(const QString& text); ///< something to say in the status bar

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Choice
    {
        RunOrLane what;
        QString name;
        QColor color;
        Qt::PenStyle style = Qt::SolidLine;
    };

    void buildControls();
    void fillCombos();
    void follow();
    void look();
    void display(const ComparisonPtr& comparison);
    void showProblem(const QString& text);
    void trainSeeds();
    void updateTraining();
    [[nodiscard]] const Choice* chosen(const QComboBox* combo) const;
    [[nodiscard]] bool isLive(const Choice& choice) const;

    SessionController* m_controller;
    RunLoader* m_loader;
    RunArchive* m_archive;
    BackgroundRuns* m_seedRuns;
    QComboBox* m_a;
    QComboBox* m_b;
    QSpinBox* m_seeds;
    QPushButton* m_train;
    QProgressBar* m_progress;
    CompareChart* m_chart;
    QTableWidget* m_table;
    QLabel* m_verdict;
    QLabel* m_seedsWords;
    QTimer m_timer;
    std::vector<LaneChoice> m_laneChoices;
    std::vector<Choice> m_choices;
    std::vector<RunInfo> m_runs; ///< stored ones, newest first
    bool m_isChosen = false; ///< by a person: else the first two lanes are compared
    bool m_isLooking = false;
    bool m_isStale = true; ///< what is shown is not of what is chosen, or has grown
    std::int64_t m_lookedAt = -1; ///< the session's step when it was looked at last
    qint64 m_waitMs = 0; ///< until it is looked at again while it trains
    QElapsedTimer m_sinceLook;
};

} // namespace mantissa
