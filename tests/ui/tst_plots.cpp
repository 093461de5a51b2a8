#include "engine/core/error.h"
#include "ui/plots/dashboard.h"
#include "ui/plots/lane_table.h"
#include "ui/plots/panel_header.h"
#include "ui/plots/plot_canvas.h"
#include "ui/plots/smoothing.h"
#include "ui/style/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QUndoStack>
#include <QXmlStreamReader>

#include <cmath>
#include <limits>

using namespace mantissa;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

LaneCurve lane(quint64 key, const QString& name, DType format = DType::Float32)
{
    const int index = static_cast<int>(key % 100);
    return {key, name, laneColor(index, false), laneStyle(index), true, format};
}

StepRecord record(std::int64_t step, std::uint32_t laneId, double loss, double norm = 1, double scale = 1)
{
    StepRecord result;
    result.step = step;
    result.lane = laneId;
    result.loss = loss;
    result.gradNorm = norm;
    result.gradNormClipped = norm;
    result.scale = scale;
    result.baselineDistance = notANumber;
    return result;
}

/// A shown dashboard of two lanes with `steps` steps: loss 2 / (1 + step / 10) and 1 above that.
StepRecord judged(StepRecord record, double loss, double accuracy)
{
    record.validationLoss = loss;
    record.validationAccuracy = accuracy;
    return record;
}

struct Fixture
{
    explicit Fixture(int steps = 200)
    {
        dashboard.resize(900, 640);
        dashboard.addLane(lane(0, QStringLiteral("FP32")));
        dashboard.addLane(lane(1, QStringLiteral("FP16"), DType::Float16));
        std::vector<StepRecord> records;
        for (int step = 0; step < steps; ++step) {
            records.push_back(record(step, 0, loss(step), 1.0 / (1 + step)));
            records.push_back(record(step, 1, loss(step) + 1, 10.0 / (1 + step), 65536));
        }
        dashboard.append(records);
        dashboard.show();
        canvas = dashboard.findChild<PlotCanvas*>();
        table = dashboard.findChild<LaneTable*>();
        draw();
    }

    static double loss(int step) { return 2 / (1 + step / 10.0); }

    void draw()
    {
        dashboard.refresh();
        for (int i = 0; i < 3; ++i) {
            QApplication::processEvents(); // what was queued may queue more
        }
    }

    /// The table follows growing data ten times a second only.
    [[nodiscard]] QString settledCell(int row, LaneTableModel::Column column)
    {
        QTest::qWait(110);
        draw();
        return cell(row, column);
    }

    [[nodiscard]] QPoint at(Metric metric, double x, double y) const
    {
        const QRect area = canvas->plotArea(metric);
        return {area.left() + static_cast<int>(x * area.width()), area.top() + static_cast<int>(y * area.height())};
    }

    void drag(Qt::MouseButton button, const QPoint& from, const QPoint& to, Qt::KeyboardModifiers modifiers = {})
    {
        QTest::mousePress(canvas, button, modifiers, from);
        QTest::mouseMove(canvas, (from + to) / 2);
        sendMove(button, (from + to) / 2);
        sendMove(button, to);
        QTest::mouseRelease(canvas, button, modifiers, to);
    }

    void sendMove(Qt::MouseButtons buttons, const QPoint& to)
    {
        QMouseEvent move(QEvent::MouseMove, to, canvas->mapToGlobal(QPointF(to)), Qt::NoButton, buttons, {});
        QApplication::sendEvent(canvas, &move);
    }

    void wheel(const QPoint& position, int delta, Qt::KeyboardModifiers modifiers = {})
    {
        QWheelEvent event(position, canvas->mapToGlobal(QPointF(position)), {}, {0, delta}, Qt::NoButton, modifiers,
            Qt::NoScrollPhase, false);
        QApplication::sendEvent(canvas, &event);
    }

    [[nodiscard]] QString cell(int row, LaneTableModel::Column column) const
    {
        return table->model()->index(row, column).data().toString();
    }

    /// Whether a pixel close to `color` lies within `radius` of (step, value).
    [[nodiscard]] bool isInked(
        Metric metric, std::int64_t step, double value, const QColor& color, int radius, int tolerance = 140) const
    {
        const QImage image = canvas->grab().toImage();
        const int x0 = static_cast<int>(canvas->stepToPixel(step));
        const int y0 = static_cast<int>(canvas->valueToPixel(metric, value));
        for (int y = y0 - radius; y <= y0 + radius; ++y) {
            for (int x = x0 - radius; x <= x0 + radius; ++x) {
                if (!image.rect().contains(x, y)) {
                    continue;
                }
                const QColor pixel = image.pixelColor(x, y);
                if (std::abs(pixel.red() - color.red()) + std::abs(pixel.green() - color.green())
                        + std::abs(pixel.blue() - color.blue())
                    < tolerance) {
                    return true;
                }
            }
        }
        return false;
    }

    Dashboard dashboard;
    PlotCanvas* canvas = nullptr;
    LaneTable* table = nullptr;
};

} // namespace

class TstPlots : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase()
    {
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QApplication::setPalette(lightPalette());
    }

    void followsTheDataUntilSomeoneTakesOver()
    {
        Fixture f;
        QVERIFY(f.dashboard.isFollowing());
        QVERIFY(f.canvas->view().steps.lower <= 0 && f.canvas->view().steps.upper >= 199);
        QVERIFY(f.canvas->view()[Metric::Loss].range.upper >= 3);
        for (const auto* header : f.canvas->findChildren<PanelHeader*>()) {
            QVERIFY(!header->findChildren<QToolButton*>().last()->isEnabled());
        }
        f.wheel(f.at(Metric::Loss, 0.5, 0.5), 120);
        QVERIFY(!f.dashboard.isFollowing());
        const AxisRange taken = f.canvas->view().steps;
        f.dashboard.append(std::vector {record(5000, 0, 1)});
        f.draw();
        QCOMPARE(f.canvas->view().steps, taken);
        QTest::keyClick(f.canvas, Qt::Key_F);
        f.draw();
        QVERIFY(f.dashboard.isFollowing());
        QVERIFY(f.canvas->view().steps.upper >= 5000);
    }

    void axesDoNotBreatheWhileARunGrows()
    {
        Fixture f(1);
        int stepChanges = 0;
        int lossChanges = 0;
        ViewState before = f.canvas->view();
        for (int step = 1; step < 2000; ++step) {
            const double wobble = 0.05 * std::sin(step * 1.7);
            f.dashboard.append(std::vector {record(step, 0, 2 + wobble - step * 5e-4), record(step, 1, 2.5 + wobble)});
            f.dashboard.refresh();
            stepChanges += f.canvas->view().steps == before.steps ? 0 : 1;
            lossChanges += f.canvas->view()[Metric::Loss].range == before[Metric::Loss].range ? 0 : 1;
            before = f.canvas->view();
        }
        QVERIFY(stepChanges <= 20);
        QVERIFY(lossChanges <= 4);
    }

    void aRunOfKnownLengthKeepsItsAxis()
    {
        Fixture f(10);
        f.dashboard.setExpectedSteps(300);
        f.draw();
        QCOMPARE(f.canvas->view().steps, (AxisRange {0, 300}));
    }

    void draggingABoxZooms()
    {
        Fixture f;
        const QPoint from = f.at(Metric::Loss, 0.25, 0.25);
        const QPoint to = f.at(Metric::Loss, 0.5, 0.75);
        const double left = f.canvas->pixelToStep(from.x());
        const double right = f.canvas->pixelToStep(to.x());
        f.drag(Qt::LeftButton, from, to);
        QVERIFY(std::abs(f.canvas->view().steps.lower - left) < 0.5);
        QVERIFY(std::abs(f.canvas->view().steps.upper - right) < 0.5);
        const PanelView& loss = f.canvas->view()[Metric::Loss];
        QVERIFY(!loss.follows && loss.range.lower > 0.1 && loss.range.upper < 3);
        QVERIFY(f.canvas->view()[Metric::Scale].follows);
        QTest::mouseDClick(f.canvas, Qt::LeftButton, {}, f.at(Metric::Scale, 0.5, 0.5));
        QVERIFY(f.dashboard.isFollowing());
    }

    void aFlatBoxZoomsOneAxis()
    {
        Fixture f;
        f.drag(Qt::LeftButton, f.at(Metric::Loss, 0.2, 0.5), f.at(Metric::Loss, 0.6, 0.5));
        QVERIFY(!f.canvas->view().followsSteps);
        QVERIFY(f.canvas->view()[Metric::Loss].follows);
        f.dashboard.fit();
        const AxisRange steps = f.canvas->view().steps;
        f.drag(Qt::LeftButton, f.at(Metric::Loss, 0.4, 0.2), f.at(Metric::Loss, 0.4, 0.7));
        QCOMPARE(f.canvas->view().steps, steps);
        QVERIFY(!f.canvas->view()[Metric::Loss].follows);
    }

    void escapeDropsABox()
    {
        Fixture f;
        QTest::mousePress(f.canvas, Qt::LeftButton, {}, f.at(Metric::Loss, 0.2, 0.2));
        f.sendMove(Qt::LeftButton, f.at(Metric::Loss, 0.6, 0.6));
        QTest::keyClick(f.canvas, Qt::Key_Escape);
        QTest::mouseRelease(f.canvas, Qt::LeftButton, {}, f.at(Metric::Loss, 0.6, 0.6));
        QVERIFY(f.dashboard.isFollowing());
    }

    void wheelZoomsAtThePointer()
    {
        Fixture f;
        const QPoint pointer = f.at(Metric::GradientNorm, 0.7, 0.5);
        const double under = f.canvas->pixelToStep(pointer.x());
        const double size = f.canvas->view().steps.upper - f.canvas->view().steps.lower;
        f.wheel(pointer, 120);
        QVERIFY(std::abs(f.canvas->pixelToStep(pointer.x()) - under) < 1e-6);
        QVERIFY(f.canvas->view().steps.upper - f.canvas->view().steps.lower < 0.9 * size);
        QVERIFY(f.canvas->view()[Metric::GradientNorm].follows);

        f.dashboard.fit();
        const AxisRange steps = f.canvas->view().steps;
        const AxisRange norm = f.canvas->view()[Metric::GradientNorm].range;
        f.wheel(pointer, 120, Qt::ControlModifier);
        QCOMPARE(f.canvas->view().steps, steps);
        QVERIFY(f.canvas->view()[Metric::GradientNorm].range.upper < norm.upper);
        QVERIFY(f.canvas->view()[Metric::GradientNorm].range.lower > norm.lower);
    }

    void middleAndControlDragPan()
    {
        for (const bool control : {false, true}) {
            Fixture f;
            const double size = f.canvas->view().steps.upper - f.canvas->view().steps.lower;
            const double lower = f.canvas->view().steps.lower;
            f.drag(control ? Qt::LeftButton : Qt::MiddleButton, f.at(Metric::Loss, 0.75, 0.5),
                f.at(Metric::Loss, 0.5, 0.5), control ? Qt::ControlModifier : Qt::NoModifier);
            const AxisRange& now = f.canvas->view().steps;
            QVERIFY(std::abs(now.upper - now.lower - size) < 1e-6);
            QVERIFY(std::abs(now.lower - lower - 0.25 * size) < 0.01 * size);
        }
    }

    void dataStaysWithinReach()
    {
        Fixture f;
        for (int i = 0; i < 80; ++i) {
            f.wheel(f.at(Metric::Loss, 0.5, 0.5), -120);
        }
        QVERIFY(f.canvas->view().steps.upper - f.canvas->view().steps.lower <= 4 * 250);
        for (int i = 0; i < 200; ++i) {
            f.wheel(f.at(Metric::Loss, 0.5, 0.5), -120, Qt::ShiftModifier);
        }
        QVERIFY(f.canvas->view().steps.lower < 199);
        for (int i = 0; i < 200; ++i) {
            f.wheel(f.at(Metric::Loss, 0.5, 0.5), 120);
            f.wheel(f.at(Metric::Loss, 0.5, 0.5), 120, Qt::ControlModifier);
        }
        const ViewState& view = f.canvas->view();
        QVERIFY(view.steps.upper - view.steps.lower >= 1.99);
        QVERIFY(view[Metric::Loss].range.upper > view[Metric::Loss].range.lower);
        f.draw();
    }

    void viewChangesCanBeUndone()
    {
        Fixture f;
        const AxisRange whole = f.canvas->view().steps;
        f.drag(Qt::LeftButton, f.at(Metric::Loss, 0.2, 0.5), f.at(Metric::Loss, 0.6, 0.5));
        const AxisRange zoomed = f.canvas->view().steps;
        for (int i = 0; i < 5; ++i) {
            f.wheel(f.at(Metric::Loss, 0.5, 0.5), 120);
        }
        const AxisRange deeper = f.canvas->view().steps;
        QCOMPARE(f.dashboard.undoStack()->count(), 2); // the turns of the wheel count as one
        QTest::keyClick(f.canvas, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(f.canvas->view().steps, zoomed);
        QTest::keyClick(f.canvas, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(f.canvas->view().steps, whole);
        QVERIFY(f.dashboard.isFollowing());
        QTest::keyClick(f.canvas, Qt::Key_Y, Qt::ControlModifier);
        f.dashboard.undoStack()->redo();
        QCOMPARE(f.canvas->view().steps, deeper);
        QCOMPARE(f.dashboard.undoStack()->undoLimit(), 100);
    }

    void logAxisIsToggledAndRefusedPolitely()
    {
        Fixture f;
        f.sendMove(Qt::NoButton, f.at(Metric::Loss, 0.5, 0.5));
        QTest::keyClick(f.canvas, Qt::Key_L);
        f.draw();
        QVERIFY(f.canvas->view()[Metric::Loss].isLog);
        QVERIFY(f.canvas->view()[Metric::Loss].range.lower > 0);
        QTest::keyClick(f.canvas, Qt::Key_L);
        QVERIFY(!f.canvas->view()[Metric::Loss].isLog);

        Dashboard negative;
        negative.addLane(lane(0, QStringLiteral("FP32")));
        negative.append(std::vector {record(0, 0, -1), record(1, 0, 0)});
        negative.show();
        negative.refresh();
        const QSignalSpy notices(&negative, &Dashboard::notice);
        negative.toggleLog();
        QCOMPARE(notices.count(), 1);
        QVERIFY(!negative.findChild<PlotCanvas*>()->view()[Metric::Loss].isLog);
    }

    void zerosOnALogAxisLieOnTheLowerEdge()
    {
        Fixture f(50);
        std::vector<StepRecord> flushed;
        for (int step = 50; step < 200; ++step) {
            flushed.push_back(record(step, 0, 1, 0));
        }
        f.dashboard.append(flushed);
        f.draw();
        QVERIFY(f.canvas->note(Metric::GradientNorm).contains(QStringLiteral("lower edge")));
        QVERIFY(f.isInked(Metric::GradientNorm, 120, 0, laneColor(0, false), 2));
    }

    void crosshairReadsEveryLane()
    {
        Fixture f;
        const QSignalSpy moved(&f.dashboard, &Dashboard::cursorMoved);
        const QPoint pointer(static_cast<int>(std::lround(f.canvas->stepToPixel(50))),
            static_cast<int>(f.canvas->valueToPixel(Metric::Loss, Fixture::loss(50) + 0.9)));
        f.sendMove(Qt::NoButton, pointer);
        QCOMPARE(moved.last().first().toLongLong(), 50);
        QCOMPARE(f.cell(0, LaneTableModel::Step), QStringLiteral("50"));
        QCOMPARE(f.cell(0, LaneTableModel::Loss), QStringLiteral("0.3333"));
        QCOMPARE(f.cell(1, LaneTableModel::Loss), QStringLiteral("1.333"));
        QCOMPARE(f.cell(1, LaneTableModel::Scale), QStringLiteral("2^16 (65,536)"));
        QVERIFY(f.table->model()->index(1, 0).data(Qt::FontRole).value<QFont>().bold());
        QVERIFY(!f.table->model()->index(0, 0).data(Qt::FontRole).value<QFont>().bold());
        QTest::keyClick(f.canvas, Qt::Key_Right);
        QCOMPARE(f.cell(0, LaneTableModel::Step), QStringLiteral("51"));
        QTest::keyClick(f.canvas, Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(f.cell(0, LaneTableModel::Step), QStringLiteral("41"));
        QTest::keyClick(f.canvas, Qt::Key_Home);
        QCOMPARE(f.cell(0, LaneTableModel::Step), QStringLiteral("0"));
        QTest::keyClick(f.canvas, Qt::Key_Escape);
        QCOMPARE(f.cell(0, LaneTableModel::Step), QStringLiteral("199"));
    }

    void movingTheCrosshairDrawsNoCurve()
    {
        Fixture f;
        f.sendMove(Qt::NoButton, f.at(Metric::Loss, 0.1, 0.5)); // its first appearance gives it a layer of its own
        QApplication::processEvents();
        const auto frames = f.dashboard.frameTime().frames;
        for (int x = 0; x < 50; ++x) {
            f.sendMove(Qt::NoButton, f.at(Metric::Loss, 0.2 + x * 0.01, 0.5));
        }
        QApplication::processEvents();
        QCOMPARE(f.dashboard.frameTime().frames, frames);
    }

    void tableSorts()
    {
        Fixture f;
        f.sendMove(Qt::NoButton,
            QPoint(static_cast<int>(f.canvas->stepToPixel(50)),
                static_cast<int>(f.canvas->valueToPixel(Metric::Loss, Fixture::loss(50) + 1))));
        using Model = LaneTableModel;
        f.table->sortBy(Model::Order::ByColumn, Model::Lane);
        QCOMPARE(f.cell(0, Model::Lane), QStringLiteral("FP16"));
        f.table->sortBy(Model::Order::ByColumn, Model::Loss, Qt::DescendingOrder);
        QCOMPARE(f.cell(0, Model::Lane), QStringLiteral("FP16"));
        f.table->sortBy(Model::Order::ByColumn, Model::Loss);
        QCOMPARE(f.cell(0, Model::Lane), QStringLiteral("FP32"));
        f.table->sortBy(Model::Order::Nearest);
        QCOMPARE(f.cell(0, Model::Lane), QStringLiteral("FP16"));
        f.table->sortBy(Model::Order::AsAdded);
        QCOMPARE(f.cell(0, Model::Lane), QStringLiteral("FP32"));
    }

    void tableModelKeepsItsPromises()
    {
        LaneTableModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        std::vector<LaneRow> rows(3);
        rows[0].loss = notANumber;
        rows[1].loss = 2;
        rows[2].loss = 1;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].key = i;
            rows[i].name = QString::number(i);
        }
        model.setRows(rows);
        model.sort(LaneTableModel::Loss, Qt::AscendingOrder);
        QCOMPARE(model.row(0).key, quint64 {2});
        QCOMPARE(model.row(2).key, quint64 {0}); // NaN last, whichever way
        model.sort(LaneTableModel::Loss, Qt::DescendingOrder);
        QCOMPARE(model.row(0).key, quint64 {1});
        QCOMPARE(model.row(2).key, quint64 {0});
        QCOMPARE(model.index(2, LaneTableModel::Loss).data().toString(), QStringLiteral("NaN"));
        model.setRows({});
        QCOMPARE(model.rowCount(), 0);
    }

    void legendHidesIsolatesAndHighlights()
    {
        Fixture f;
        const QSignalSpy changes(&f.dashboard, &Dashboard::laneVisibilityChanged);
        const QRect first = f.table->visualRect(f.table->model()->index(0, LaneTableModel::Lane));
        QTest::mouseClick(f.table->viewport(), Qt::LeftButton, {}, first.center());
        QVERIFY(!f.dashboard.isLaneVisible(0));
        QVERIFY(f.dashboard.isLaneVisible(1));
        QCOMPARE(changes.count(), 1);
        f.draw();
        QVERIFY(!f.isInked(Metric::Loss, 100, Fixture::loss(100), laneColor(0, false), 3));
        QTest::mouseClick(f.table->viewport(), Qt::LeftButton, {}, first.center());
        QVERIFY(f.dashboard.isLaneVisible(0));
        f.draw();
        QVERIFY(f.isInked(Metric::Loss, 100, Fixture::loss(100), laneColor(0, false), 3));

        f.dashboard.isolateLane(1);
        QVERIFY(!f.dashboard.isLaneVisible(0) && f.dashboard.isLaneVisible(1));
        f.dashboard.isolateLane(1);
        QVERIFY(f.dashboard.isLaneVisible(0) && f.dashboard.isLaneVisible(1));
        QTest::mouseDClick(f.table->viewport(), Qt::LeftButton, {}, first.center());
        QTest::qWait(QApplication::doubleClickInterval() + 10);
        f.dashboard.highlightLane(1);
        f.draw();
        QVERIFY(!f.isInked(Metric::Loss, 100, Fixture::loss(100), laneColor(0, false), 3));
    }

    void doubleClickOnALegendRowShowsItAlone()
    {
        Fixture f;
        const QRect first = f.table->visualRect(f.table->model()->index(0, LaneTableModel::Lane));
        // As a mouse sends it: press, release, double-click, release.
        QTest::mouseClick(f.table->viewport(), Qt::LeftButton, {}, first.center());
        QTest::mouseDClick(f.table->viewport(), Qt::LeftButton, {}, first.center());
        QVERIFY(f.dashboard.isLaneVisible(0));
        QVERIFY(!f.dashboard.isLaneVisible(1));
    }

    void notFiniteValuesAreVisibleAtTheLastFiniteHeight()
    {
        Fixture f(50);
        std::vector<StepRecord> broken;
        for (int step = 50; step < 200; ++step) {
            broken.push_back(record(step, 0, step < 100 ? infinity : notANumber, notANumber));
        }
        f.dashboard.append(broken);
        f.draw();
        const double height = Fixture::loss(49);
        QVERIFY(f.isInked(Metric::Loss, 52, height, laneColor(0, false), 6));
        QVERIFY(f.isInked(Metric::Loss, 150, height, laneColor(0, false), 8));
        QCOMPARE(f.settledCell(0, LaneTableModel::Loss), QStringLiteral("NaN"));
        QVERIFY(f.dashboard.summaryText().contains(QStringLiteral("Loss not finite in 150 step(s), first at step 50")));
    }

    void skippedStepsAreCrossedOnTheScale()
    {
        Fixture f(50);
        StepRecord skipped = record(50, 0, 1, infinity, 1024);
        skipped.skipped = true;
        f.dashboard.append(std::vector {skipped, record(51, 0, 1, 1, 512), record(199, 0, 1, 1, 512)});
        f.draw();
        QVERIFY(f.canvas->note(Metric::Scale).contains(QStringLiteral("skipped")));
        QVERIFY(f.isInked(Metric::Scale, 50, 1024, laneColor(0, false), 4));
        QCOMPARE(f.settledCell(0, LaneTableModel::Skipped), QStringLiteral("1"));
    }

    void scaleTicksReadAsPowersOfTwo()
    {
        Fixture f;
        const QCPAxis* axis = f.canvas->axisRects().at(2)->axis(QCPAxis::atLeft);
        QVERIFY(axis->tickVectorLabels().size() >= 3);
        for (const QString& label : axis->tickVectorLabels()) {
            QVERIFY2(label.startsWith(QStringLiteral("2^")), qPrintable(label));
        }
    }

    void changesAreMarkedOnAllPlots()
    {
        Fixture f;
        f.dashboard.addMark(1, 100, QStringLiteral("scale 65536 -> 1024"));
        f.dashboard.addMark(std::nullopt, 150, QStringLiteral("paused"));
        f.draw();
        const QPointF at(f.canvas->stepToPixel(100), f.at(Metric::Scale, 0.5, 0.5).y());
        QCOMPARE(f.canvas->decor()->textAt(at), QStringLiteral("step 100: FP16: scale 65536 -> 1024"));
        QVERIFY(f.canvas->decor()->textAt(at + QPointF(30, 0)).isEmpty());
        f.dashboard.setLaneVisible(1, false);
        f.draw();
        QVERIFY(f.canvas->decor()->textAt(at).isEmpty());
        f.dashboard.setLaneVisible(1, true);
        f.dashboard.truncateLane(1, 50);
        f.draw();
        QVERIFY(f.canvas->decor()->textAt(at).isEmpty());
    }

    void aSeamHasAWordBesideIt()
    {
        Fixture f;
        f.draw();
        const QPoint line(static_cast<int>(f.canvas->stepToPixel(100)), f.canvas->plotArea(Metric::Loss).top());
        const QRect beside(line + QPoint(8, 3), QSize(20, 8));
        const QImage before = f.canvas->grab(beside).toImage();
        f.dashboard.addSeam(1, 100, QStringLiteral("resumed from a file"));
        f.draw();
        QVERIFY(f.canvas->grab(beside).toImage() != before);
        const QPointF at(line.x(), f.at(Metric::Scale, 0.5, 0.5).y());
        QCOMPARE(f.canvas->decor()->textAt(at), QStringLiteral("step 100: FP16: resumed from a file"));
    }

    void anEndedLaneHasAMarkedEnd()
    {
        Fixture f;
        f.dashboard.endLane(1, 199, QStringLiteral("diverged at step 199: the loss is not finite"));
        f.draw();
        QVERIFY(f.dashboard.summaryText().contains(QStringLiteral("diverged at step 199")));
        QVERIFY(!f.settledCell(1, LaneTableModel::Loss).isEmpty());
        QVERIFY(f.table->model()->index(1, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("diverged")));
        QVERIFY(f.isInked(Metric::Loss, 199, Fixture::loss(199) + 1, laneColor(1, false), 6));
    }

    void differenceFlagsTheStepWhereLanesPart()
    {
        Dashboard dashboard;
        dashboard.addLane(lane(0, QStringLiteral("FP32")));
        dashboard.addLane(lane(1, QStringLiteral("FP16"), DType::Float16));
        dashboard.addLane(lane(2, QStringLiteral("BF16"), DType::BFloat16));
        dashboard.addLane(lane(3, QStringLiteral("twin")));
        std::vector<StepRecord> records;
        for (int step = 0; step < 100; ++step) {
            // M is 2, so FP16 is allowed 4 * 2^-11 * sqrt(step + 1) * 2 and BF16 eight times that.
            const double allowance = 4 * std::ldexp(1.0, -11) * std::sqrt(step + 1.0) * 2;
            const double loss = step == 0 ? 2 : 1;
            records.push_back(record(step, 0, loss));
            records.push_back(record(step, 1, loss + allowance * (step < 40 ? 0.99 : 1.01)));
            records.push_back(record(step, 2, loss - allowance * (step < 60 ? 7.9 : 8.1)));
            records.push_back(record(step, 3, loss));
        }
        dashboard.append(records);
        dashboard.show();
        dashboard.setDifferenceVisible(true);
        dashboard.refresh();
        QCOMPARE(dashboard.partingStep(1), std::optional<qint64>(40));
        QCOMPARE(dashboard.partingStep(2), std::optional<qint64>(60));
        QCOMPARE(dashboard.partingStep(3), std::optional<qint64>());
        QCOMPARE(dashboard.partingStep(0), std::optional<qint64>());
        dashboard.append(std::vector {record(100, 0, 1), record(100, 3, notANumber)});
        dashboard.refresh();
        QCOMPARE(dashboard.partingStep(3), std::optional<qint64>(100));
        dashboard.setBaseline(3);
        dashboard.refresh();
        QCOMPARE(dashboard.partingStep(0), std::optional<qint64>(100));
        QCOMPARE(dashboard.baseline(), std::optional<quint64>(3));
    }

    void differencePlotShowsGapAndDistance()
    {
        Fixture f(20);
        std::vector<StepRecord> records;
        for (int step = 20; step < 100; ++step) {
            StepRecord plain = record(step, 0, 1);
            StepRecord half = record(step, 1, 1.25);
            plain.baselineDistance = 0;
            half.baselineDistance = 0.01;
            records.push_back(plain);
            records.push_back(half);
        }
        f.dashboard.append(records);
        const QSignalSpy shown(&f.dashboard, &Dashboard::differenceVisibleChanged);
        QTest::keyClick(f.canvas, Qt::Key_D);
        f.draw();
        QCOMPARE(shown.count(), 1);
        QVERIFY(f.canvas->isShown(Metric::Difference));
        QCOMPARE(f.settledCell(1, LaneTableModel::Gap), QStringLiteral("0.2500"));
        QCOMPARE(f.cell(1, LaneTableModel::Distance), QStringLiteral("0.01000"));
        QVERIFY(f.isInked(Metric::Difference, 60, 0.25, laneColor(1, false), 3));
        QVERIFY(f.isInked(Metric::Difference, 60, 0.01, laneColor(1, false), 4, 300)); // dots are half blended
        f.dashboard.setBaseline(1); // distances were measured to the other lane
        f.draw();
        QVERIFY(!f.isInked(Metric::Difference, 60, 0.01, laneColor(1, false), 4, 300));
        f.dashboard.undoStack()->undo();
        QVERIFY(!f.dashboard.isDifferenceVisible());
    }

    void heldOutLossIsDrawnDottedAndReadOut()
    {
        Fixture f(100);
        QVERIFY(f.table->isColumnHidden(LaneTableModel::HeldOutLoss));
        std::vector<StepRecord> records;
        for (int step = 100; step < 200; ++step) {
            StepRecord trained = record(step, 0, 0.2);
            records.push_back(step % 20 == 19 ? judged(trained, 1.5, 0.75 + step / 1e4) : trained);
        }
        f.dashboard.append(records);
        f.draw();
        QCOMPARE(f.settledCell(0, LaneTableModel::HeldOutLoss), QStringLiteral("1.500"));
        QCOMPARE(f.cell(0, LaneTableModel::Accuracy), QStringLiteral("0.7699"));
        QCOMPARE(f.cell(1, LaneTableModel::HeldOutLoss), QStringLiteral("\u2013"));
        QVERIFY(!f.table->isColumnHidden(LaneTableModel::HeldOutLoss));
        QVERIFY(f.isInked(Metric::Loss, 150, 1.5, laneColor(0, false), 4, 300));
        QVERIFY(f.dashboard.summaryText().contains(QStringLiteral("Held-out loss 1.5")));
        // At a step between two of them, the earlier one holds.
        f.sendMove(Qt::NoButton, QPoint(static_cast<int>(std::lround(f.canvas->stepToPixel(138))), 100));
        f.draw();
        QCOMPARE(f.cell(0, LaneTableModel::Accuracy), QStringLiteral("0.7619"));
        f.dashboard.append(std::vector {record(110, 0, 0.2)}); // starts anew from there
        f.draw();
        QCOMPARE(f.settledCell(0, LaneTableModel::HeldOutLoss), QStringLiteral("\u2013"));

        RunColumns stored;
        for (int step = 0; step < 3; ++step) {
            stored.step.push_back(step);
            for (auto* column : {&stored.loss, &stored.gradNorm, &stored.gradNormClipped, &stored.scale}) {
                column->push_back(1);
            }
            stored.skipped.push_back(0);
        }
        stored.validations = {{1, 0.25, 0.5}};
        LaneCurve run = lane(7, QStringLiteral("stored"));
        run.key = Dashboard::storedKey(7);
        run.live = false;
        f.dashboard.addLane(run);
        f.dashboard.setColumns(run.key, stored);
        f.draw();
        f.dashboard.hideCursor();
        QCOMPARE(f.settledCell(2, LaneTableModel::HeldOutLoss), QStringLiteral("0.2500"));
    }

    void smoothingIsDebiasedAndKeepsTheRawCurve()
    {
        Fixture f(300);
        auto* weight = f.canvas->findChild<QDoubleSpinBox*>();
        weight->setValue(0.9);
        QCOMPARE(f.dashboard.smoothing(), 0.9);
        SeriesPyramid series;
        for (int step = 0; step < 300; ++step) {
            series.append(step, Fixture::loss(step));
        }
        f.sendMove(Qt::NoButton, QPoint(static_cast<int>(std::lround(f.canvas->stepToPixel(100))), 100));
        f.draw();
        bool ok = false;
        const double shown = f.cell(0, LaneTableModel::SmoothedLoss).toDouble(&ok);
        QVERIFY(ok);
        QVERIFY(std::abs(shown - smoothedAt(series, 100, 0.9)) < 1e-3);
        QVERIFY(f.isInked(Metric::Loss, 20, smoothedAt(series, 20, 0.9), laneColor(0, false), 3));
        QVERIFY(f.isInked(Metric::Loss, 20, Fixture::loss(20), blend(laneColor(0, false), Qt::white, 0.26), 3, 40));
        f.canvas->findChild<QSlider*>()->setValue(f.canvas->findChild<QSlider*>()->maximum());
        QCOMPARE(f.dashboard.smoothing(), 0.999);
        f.dashboard.undoStack()->undo();
        QCOMPARE(f.dashboard.smoothing(), 0.0);
    }

    void aResetLaneStartsAnew()
    {
        Fixture f;
        f.dashboard.append(std::vector {record(0, 0, 5)});
        f.draw();
        QCOMPARE(f.settledCell(0, LaneTableModel::Step), QStringLiteral("0"));
        QCOMPARE(f.cell(0, LaneTableModel::Loss), QStringLiteral("5.000"));
        QCOMPARE(f.cell(1, LaneTableModel::Step), QStringLiteral("199"));
    }

    void storedRunsAreTakenInPiecemeal()
    {
        Fixture f;
        const quint64 key = Dashboard::storedKey(7);
        LaneCurve curve = lane(3, QStringLiteral("run 7"));
        curve.key = key;
        curve.live = false;
        f.dashboard.addLane(curve);
        RunColumns columns;
        constexpr int steps = 100'000;
        for (int step = 0; step < steps; ++step) {
            columns.step.push_back(step);
            columns.loss.push_back(1);
            columns.gradNorm.push_back(2);
            columns.gradNormClipped.push_back(1);
            columns.scale.push_back(4);
            columns.skipped.push_back(step == 7);
        }
        f.dashboard.setColumns(key, columns);
        QTRY_VERIFY_WITH_TIMEOUT((f.draw(), f.cell(2, LaneTableModel::Step) == QStringLiteral("99,999")), 20000);
        QCOMPARE(f.cell(2, LaneTableModel::Skipped), QStringLiteral("1"));
        QCOMPARE(f.cell(2, LaneTableModel::Clipped), QStringLiteral("1.000"));
    }

    void nothingIsDrawnWithoutNeed()
    {
        Fixture f;
        f.draw();
        QTest::qWait(150); // the table's and the margins' late changes
        f.draw();
        const auto frames = f.dashboard.frameTime().frames;
        QVERIFY(frames > 0);
        QVERIFY(f.dashboard.frameTime().lastMs > 0 && f.dashboard.frameTime().maxMs >= f.dashboard.frameTime().lastMs);
        for (int i = 0; i < 20; ++i) {
            f.draw();
        }
        QCOMPARE(f.dashboard.frameTime().frames, frames);
        f.dashboard.hide();
        f.draw();
        const auto whenHidden = f.dashboard.frameTime().frames;
        f.dashboard.append(std::vector {record(200, 0, 1)});
        f.draw();
        QCOMPARE(f.dashboard.frameTime().frames, whenHidden);
        f.dashboard.show();
        f.draw();
        QVERIFY(f.dashboard.frameTime().frames > whenHidden);
        QCOMPARE(f.settledCell(0, LaneTableModel::Step), QStringLiteral("200"));
    }

    void picturesAreExported()
    {
        Fixture f;
        const QTemporaryDir folder;
        const QString png = folder.filePath(QStringLiteral("a.png"));
        f.dashboard.exportPng(png, 2);
        const QImage image(png);
        QCOMPARE(image.size(), f.canvas->size() * 2);
        const QString pdf = folder.filePath(QStringLiteral("a.pdf"));
        f.dashboard.exportPdf(pdf);
        QFile pdfFile(pdf);
        QVERIFY(pdfFile.open(QIODevice::ReadOnly));
        QVERIFY(pdfFile.readAll().startsWith("%PDF"));
        const QString svg = folder.filePath(QStringLiteral("a.svg"));
        f.dashboard.exportSvg(svg);
        QFile svgFile(svg);
        QVERIFY(svgFile.open(QIODevice::ReadOnly));
        QXmlStreamReader xml(&svgFile);
        bool hasLegend = false;
        while (!xml.atEnd()) {
            xml.readNext();
            hasLegend = hasLegend || (xml.isCharacters() && xml.text() == QStringLiteral("FP16"));
        }
        QVERIFY(!xml.hasError());
        QVERIFY(hasLegend);
        f.draw();
        for (const auto* header : f.canvas->findChildren<PanelHeader*>()) {
            QCOMPARE(header->isVisible(), header != f.canvas->header(Metric::Difference));
        }
    }

    void numbersAreExportedWithAllDigits()
    {
        Fixture f(3);
        f.dashboard.append(
            std::vector {judged(record(3, 0, 0.1, notANumber), 0.7, 0.5), record(3, 1, infinity, 1.0 / 3, 1024)});
        f.dashboard.updateLane(lane(1, QStringLiteral("FP16, \"bare\"")));
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("a.csv"));
        f.dashboard.exportCsv(file, Dashboard::CsvRange::All);
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = csv.readAll().split('\n');
        QCOMPARE(lines.size(), 10);
        QCOMPARE(lines[0],
            QByteArray("lane,step,loss,grad_norm,grad_norm_clipped,scale,skipped,validation_loss,validation_accuracy"));
        QCOMPARE(lines[4], QByteArray("FP32,3,0.1,nan,nan,1,0,0.7,0.5"));
        QCOMPARE(lines[8], QByteArray("\"FP16, \"\"bare\"\"\",3,inf,0.3333333333333333,0.3333333333333333,1024,0,,"));

        ViewState view = f.canvas->view();
        view.steps = {0.5, 2.5};
        view.followsSteps = false;
        f.canvas->setView(view);
        f.dashboard.copyData();
        const QStringList copied = QApplication::clipboard()->text().split(QLatin1Char('\n'));
        QCOMPARE(copied.size(), 6);
        QVERIFY(copied[1].startsWith(QStringLiteral("FP32\t1\t")));
    }

    void exportIntoNowhereSaysSo()
    {
        Fixture f;
        const QString file = QStringLiteral("/nowhere/at/all.png");
        for (const auto& write : {std::function<void()>([&] { f.dashboard.exportPng(file); }),
                 std::function<void()>([&] { f.dashboard.exportPdf(file); }),
                 std::function<void()>([&] { f.dashboard.exportCsv(file, Dashboard::CsvRange::All); })}) {
            try {
                write();
                QFAIL("no error");
            } catch (const Error& error) {
                QCOMPARE(error.code(), ErrorCode::Io);
                QVERIFY(QString::fromUtf8(error.what()).contains(file));
            }
        }
    }

    void controlCCopiesThePicture()
    {
        Fixture f;
        QTest::keyClick(f.canvas, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QApplication::clipboard()->image().size(), f.canvas->size() * 2);
        QCOMPARE(f.settledCell(0, LaneTableModel::Step), QStringLiteral("199"));
        QTest::keyClick(f.table, Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QApplication::clipboard()->text().startsWith(QStringLiteral("Lane\tStep\tLoss\t")));
        QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("\t65536\t")));
    }

    void coloursFollowThePalette()
    {
        Fixture f;
        QVERIFY(!f.canvas->colors().dark);
        f.dashboard.setPalette(darkPalette());
        f.draw();
        QVERIFY(f.canvas->colors().dark);
        const QImage image = f.canvas->grab().toImage();
        QCOMPARE(image.pixelColor(f.canvas->plotArea(Metric::Loss).center()), darkPalette().color(QPalette::Base));
    }

    void everyControlHasAName()
    {
        Fixture f;
        int controls = 0;
        for (const QWidget* widget : f.dashboard.findChildren<QWidget*>()) {
            if (widget->focusPolicy() == Qt::NoFocus || widget->parentWidget()->inherits("QAbstractSpinBox")
                || widget->parentWidget()->inherits("QAbstractItemView") || widget->inherits("QMenu")) {
                continue;
            }
            ++controls;
            QVERIFY2(!widget->accessibleName().isEmpty(), widget->metaObject()->className());
        }
        QVERIFY(controls >= 12);
        QVERIFY(f.dashboard.summaryText().contains(QStringLiteral("FP16: loss")));
    }

    void viewSettingsAreRemembered()
    {
        Fixture f;
        f.dashboard.setSmoothing(0.6);
        f.dashboard.setDifferenceVisible(true);
        f.dashboard.toggleLog();
        Fixture other;
        other.dashboard.setViewSettings(f.dashboard.viewSettings());
        QCOMPARE(other.dashboard.viewSettings(), f.dashboard.viewSettings());
        QCOMPARE(other.dashboard.smoothing(), 0.6);
        QVERIFY(other.canvas->isShown(Metric::Difference));
    }

    void lanesComeAndGo()
    {
        Fixture f;
        f.dashboard.removeLane(0);
        f.draw();
        QCOMPARE(f.dashboard.laneKeys(), QList<quint64> {1});
        f.dashboard.append(std::vector {record(200, 0, 1), record(200, 1, 1), record(200, 77, 1)});
        f.draw();
        f.dashboard.clear();
        f.draw();
        QVERIFY(f.dashboard.laneKeys().isEmpty());
        QCOMPARE(f.table->model()->rowCount(), 0);
        QVERIFY(f.dashboard.isFollowing());
        f.dashboard.setEmptyText(QStringLiteral("Space trains the four lanes"));
        f.draw();
        QVERIFY(f.dashboard.summaryText().contains(QStringLiteral("Space trains")));
    }

    void outliersDoNotSquashTheRest()
    {
        Fixture f;
        f.dashboard.append(std::vector {record(200, 1, 1e6)});
        f.draw();
        QVERIFY(f.canvas->view()[Metric::Loss].range.upper < 10);
        QVERIFY(f.canvas->note(Metric::Loss).contains(QStringLiteral("outliers")));
    }

    void aDivergingLaneDoesNotSquashTheOthers()
    {
        Fixture f;
        std::vector<StepRecord> records;
        for (int step = 200; step < 600; ++step) {
            records.push_back(record(step, 0, Fixture::loss(step)));
            records.push_back(record(step, 1, std::pow(1.1, step - 200)));
        }
        f.dashboard.append(records);
        f.draw();
        QVERIFY(f.canvas->view()[Metric::Loss].range.upper < 10);
        QVERIFY(f.canvas->note(Metric::Loss).contains(QStringLiteral("outliers")));
        // Alone, it is no outlier.
        f.dashboard.removeLane(0);
        f.draw();
        QVERIFY(f.canvas->view()[Metric::Loss].range.upper > 1e6);
    }

    void extremeValuesDoNoHarm()
    {
        Fixture f(1);
        const double values[] = {1e308, -1e308, 5e-324, 0, infinity, -infinity, notANumber, 1e-300};
        std::vector<StepRecord> records;
        for (int step = 1; step < 64; ++step) {
            const double value = values[step % 8];
            records.push_back(record(step, 0, value, value, value));
        }
        f.dashboard.append(records);
        f.dashboard.setDifferenceVisible(true);
        f.dashboard.setSmoothing(0.99);
        for (int i = 0; i < 2; ++i) {
            f.dashboard.toggleLog();
            f.draw();
            const PanelView& loss = f.canvas->view()[Metric::Loss];
            QVERIFY(std::isfinite(loss.range.lower) && std::isfinite(loss.range.upper));
            QVERIFY(loss.range.upper > loss.range.lower);
        }
    }
};

QTEST_MAIN(TstPlots)
#include "tst_plots.moc"
