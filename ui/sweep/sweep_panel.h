/// The "Sweep" tab: the points of a sweep as a table, parallel coordinates and curves, and the way to start one.
#pragma once

#include "engine/sweep/sweep_table.h"
#include "ui/models/run_archive.h"
#include "ui/sweep/parallel_plot.h"
#include "ui/sweep/sweep_curves.h"
#include "ui/sweep/sweep_model.h"

#include <QHash>
#include <QTimer>
#include <QWidget>

#include <optional>
#include <vector>

class QAction;
class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QSlider;
class QSplitter;
class QTableView;
class QToolButton;

namespace mantissa {

class BackgroundRuns;
class SessionController;
class SweepDialog;

/// Never touches the database on the GUI thread.
class SweepPanel : public QWidget
{
    Q_OBJECT
public:
    explicit SweepPanel(SessionController* controller, QWidget* parent = nullptr);
    ~SweepPanel() override;

    /// Trains what is not stored of it yet, in the background. Does nothing while another one trains.
    void start(const Sweep& sweep);
    /// Reads the file and starts it; what is wrong with it is told.
    void startFile(const QString& file);
    void choose(const QString& id); ///< of a sweep

    void setShown(RunId run, bool isShown);

    [[nodiscard]] bool isTraining() const;

    [[nodiscard]] QComboBox* sweepField() const { return m_sweeps; }

    [[nodiscard]] QComboBox* colorField() const { return m_color; }

    [[nodiscard]] QTableView* table() const { return m_table; }

    [[nodiscard]] SweepModel* model() const { return m_model; }

    [[nodiscard]] ParallelPlot* plot() const { return m_plot; }

    [[nodiscard]] SweepCurves* curves() const { return m_curves; }

    [[nodiscard]] QPushButton* cancelButton() const { return m_cancel; }

    /// PNG, PDF or SVG of both plots by suffix, or CSV of the table. Throws Error (Io, or InvalidArgument where there
    /// is no sweep).
    void exportTo(const QString& file) const;

public slots:
    void newSweep();
    void openSweep();
    void cancel();
    void copyPicture() const;
    void copyTable() const;
    void showExportDialog();

signals:
    void showRunRequested(mantissa::RunId run, bool isWanted);
    void notice(const QString& text); ///< something to say in the status bar
    void problem(const QString& why); ///< something to say until a person has read it

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void makeLayout();
    void makeTable();
    void showRuns(const RunArchive::Runs& runs);
    void fillSweeps();
    void showSweep();
    void showNothing();
    void showKept();
    void select(int row);
    void loadCurves();
    void toggleShown();
    void updateTraining();
    [[nodiscard]] const SweepTable* chosen() const;
    [[nodiscard]] SweepResult coloredBy() const;
    void paintPlots(QPainter& painter, const QSize& size) const;

    SessionController* m_controller;
    RunArchive* m_archive;
    SweepLoader* m_loader;
    BackgroundRuns* m_training;
    QComboBox* m_sweeps;
    QComboBox* m_color;
    QPushButton* m_new;
    QPushButton* m_open;
    QPushButton* m_cancel;
    QToolButton* m_export;
    QProgressBar* m_progress;
    QLabel* m_state;
    ParallelPlot* m_plot;
    SweepCurves* m_curves;
    QWidget* m_curveSide;
    QCheckBox* m_log;
    QSlider* m_smoothing;
    QTableView* m_table;
    SweepModel* m_model;
    SweepOrder* m_order;
    QTimer m_timer;
    std::vector<SweepTable> m_tables;
    QHash<RunId, ThinCurve> m_thin;
    QHash<RunId, std::int64_t> m_thinSteps; ///< that a curve was read, or asked for, with
    QString m_trouble;
    QString m_awaited; ///< id of a sweep to show as soon as it has a run
    bool m_isLoaded = false;
    bool m_isSelecting = false;
};

} // namespace mantissa
