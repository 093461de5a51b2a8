/// The dashboard: loss, gradient norm, scale and, if asked for, the difference to a baseline lane, stacked on one step
/// axis, above a table that is legend and readout in one.
#pragma once

#include "engine/formats/dtype.h"
#include "engine/store/run_store.h"
#include "engine/train/step_record.h"

#include <QColor>
#include <QJsonObject>
#include <QString>
#include <QWidget>

#include <memory>
#include <optional>
#include <span>

class QUndoStack;

namespace mantissa {

/// How one lane is drawn.
struct LaneCurve
{
    quint64 key = 0; ///< live lanes: StepRecord::lane; stored runs: Dashboard::storedKey()
    QString name;
    QColor color; ///< as chosen; the plots darken or lighten it where the background needs that
    Qt::PenStyle style = Qt::SolidLine;
    bool live = true; ///< false: a stored run, drawn dashed and muted
    DType computeFormat = DType::Float32; ///< whose rounding the difference plot allows for
    bool knowsSkips = true; ///< false: an imported run whose log does not say which steps were skipped
};

/// What drawing costs, for the debug overlay: taking in data plus replotting, on the UI thread.
struct FrameTime
{
    double lastMs = 0;
    double maxMs = 0;
    quint64 frames = 0;
};

/// Use from the GUI thread. Data calls only store and mark: nothing is drawn before refresh(), which the owner calls
/// from a timer (60 Hz) and which does nothing when nothing changed or the widget is hidden.
class Dashboard : public QWidget
{
    Q_OBJECT

public:
    explicit Dashboard(QWidget* parent = nullptr);
    ~Dashboard() override;

    /// The key of a stored run; never equal to that of a live lane.
    static constexpr quint64 storedKey(RunId run) { return (quint64 {1} << 32U) + static_cast<quint64>(run); }

    static constexpr RunId runOf(quint64 key) { return static_cast<RunId>(key - (quint64 {1} << 32U)); }

    // --- lanes; calls that name an unknown key do nothing ---
    void addLane(const LaneCurve& lane); ///< at the end of the list; an existing key is updated
    void updateLane(const LaneCurve& lane);
    void removeLane(quint64 key);
    [[nodiscard]] QList<quint64> laneKeys() const;
    [[nodiscard]] bool isLaneVisible(quint64 key) const;

    // --- data ---
    /// Records of live lanes, oldest first per lane. A step that a lane has already passed starts it anew from there
    /// (reset). Records of lanes that were not added are ignored.
    void append(std::span<const StepRecord> records);
    /// All data of a stored run; taken in piecemeal by refresh(), so that a million steps do not stall the window.
    void setColumns(quint64 key, RunColumns columns);
    /// Between which scales the lane's gradient fits into its format at a step; drawn on the scale plot while the lane
    /// is highlighted. 0 or infinity: no limit on that side.
    void addCorridor(quint64 key, qint64 step, double floor, double ceiling);
    /// A vertical line on all plots where something changed; `key` unset: it concerns all lanes.
    void addMark(std::optional<quint64> key, qint64 step, const QString& text);
    /// A mark with a word beside it: the lane was resumed here.
    void addSeam(quint64 key, qint64 step, const QString& text);
    /// The lane's curve ends here, at a marked point (diverged, failed); `reason` is shown when it is pointed at.
    void endLane(quint64 key, qint64 step, const QString& reason);
    /// Drops the lane's steps, marks and end from `firstDropped` on; 0 empties it.
    void truncateLane(quint64 key, qint64 firstDropped);
    /// Removes all lanes, marks and view history; the view fits again.
    void clear();

    /// The lane that the difference plot compares with; by default the first one.
    void setBaseline(quint64 key);
    [[nodiscard]] std::optional<quint64> baseline() const;
    /// The lane that StepRecord::baselineDistance is measured to (the session's first, the default). Weight distances
    /// are drawn only while it is the baseline.
    void setDistanceReference(quint64 key);
    /// The first step at which the lane's loss parts from the baseline's by more than rounding explains:
    /// |loss - baseline| > 4 u sqrt(step + 1) M, with u the unit roundoff of the coarser of both compute formats (FP16
    /// 2^-11, BF16 2^-8, FP32 2^-24) and M the baseline's largest finite |loss| so far; or one of them is not finite
    /// and the other is. Each step rounds afresh, so rounding alone drifts like the square root of the steps; a few
    /// roundings lie between weights and loss, hence 4. Known only while the difference plot is shown.
    [[nodiscard]] std::optional<qint64> partingStep(quint64 key) const;

    /// The step axis reaches at least this far while it follows, so that it does not move during a run of known length.
    /// 0: unknown.
    void setExpectedSteps(qint64 steps);
    /// Shown where the curves would be as long as there are none.
    void setEmptyText(const QString& text);

    // --- drawing ---
    /// Takes in what is waiting and asks for a redraw if something changed.
    void refresh();
    /// The largest share of its thread's time that refresh() may spend on curves that grow; it then draws less often,
    /// but at least twice a second. What a person does is always drawn at once. 1, as at first: no limit.
    void setDrawingShare(double share);
    [[nodiscard]] FrameTime frameTime() const;
    void resetFrameTime();

    // --- view ---
    /// Undo and redo of zoom, pan, fit, log, smoothing, difference; 100 deep.
    [[nodiscard]] QUndoStack* undoStack() const;
    [[nodiscard]] double smoothing() const;
    [[nodiscard]] bool isDifferenceVisible() const;
    [[nodiscard]] bool isFollowing() const; ///< no axis was taken over by the user
    /// Smoothing, log axes, difference, plot heights, table: to be remembered with the window's layout.
    [[nodiscard]] QJsonObject viewSettings() const;
    void setViewSettings(const QJsonObject& settings);
    /// What the plots show, in sentences, for screen readers.
    [[nodiscard]] QString summaryText() const;

    // --- export; all throw Error (Io) naming the file ---
    enum class CsvRange { Visible, All };
    void exportPng(const QString& file, double scale = 2) const;
    void exportPdf(const QString& file) const;
    void exportSvg(const QString& file) const;
    /// One line per lane and step: lane,step,loss,grad_norm,grad_norm_clipped,scale,skipped,validation_loss,
    /// validation_accuracy; the last two are empty where the lane was not judged. Full digits, C locale.
    void exportCsv(const QString& file, CsvRange range) const;

public slots:
    void setLaneVisible(quint64 key, bool visible);
    void isolateLane(quint64 key); ///< shows only this lane; once more: all
    void highlightLane(std::optional<quint64> key);
    void fit(); ///< all axes follow the data again
    void fitHeight(); ///< fits the y axes to the steps in view
    void zoomIn();
    void zoomOut();
    void toggleLog(); ///< of the plot under the pointer or with the cursor; loss otherwise
    void setSmoothing(double weight); ///< 0 (off) to 0.999
    void setDifferenceVisible(bool visible);
    void toggleDifference();
    void setFrameTimeVisible(bool visible); ///< the debug overlay
    void moveCursor(int steps); ///< the crosshair, by steps (or columns, where a pixel covers several)
    void hideCursor();
    void showStep(qint64 step); ///< the crosshair there, and the step axis moved if it does not reach it
    void copyPicture() const;
    void copyData() const; ///< the visible steps, tab-separated
    void showExportDialog();

signals:
    void laneVisibilityChanged(quint64 key, bool visible);
    void laneActivated(quint64 key); ///< its row was chosen
    void differenceVisibleChanged(bool visible);
    void smoothingChanged(double weight);
    void followingChanged(bool following);
    void cursorMoved(qint64 step);
    void notice(const QString& text); ///< something to say in the status bar

protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    class Private;
    std::unique_ptr<Private> d;
};

} // namespace mantissa
