// Sweeps in the window: started, cancelled, chosen, sorted, narrowed down on an axis, shown among the lanes, exported.
#include "engine/sweep/sweep_run.h"
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/plots/dashboard.h"
#include "ui/sweep/result_color.h"
#include "ui/sweep/sweep_dialog.h"
#include "ui/sweep/sweep_panel.h"
#include "ui/views/message_bar.h"
#include "ui/views/runs_view.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <cmath>
#include <limits>

using namespace mantissa;
using mantissa::test::openWindow;
using mantissa::test::smallExperimentText;
using mantissa::test::writeFileIn;

namespace {

constexpr int patienceMs = 60'000;

std::string sweepText(const std::string& rest, int steps = 20)
{
    return R"({"mantissa_sweep": 1, "name": "Small sweep", "experiment": )" + smallExperimentText(steps) + rest + "}";
}

/// Three rates, two policies, one lane.
const std::string sixPoints = R"(, "lanes": ["FP32"], "grid": {"optimizer.lr": [0.0001, 0.001, 0.01],
    "precision.policy": ["fp32", "bf16"]})";

Sweep sweepOf(const std::string& rest, int steps = 20)
{
    return parseSweep(sweepText(rest, steps), "s.json", {});
}

/// A window whose database holds the sweep, at the Sweep tab.
std::unique_ptr<MainWindow> windowWith(const QTemporaryDir& folder, const Sweep& sweep)
{
    runSweep(
        sweep, {.database = folder.filePath(QStringLiteral("runs.db")).toStdString()}, [](const PointNews&) {},
        [] { return true; });
    auto window = openWindow(folder);
    window->leaveStart();
    window->actionNamed(QStringLiteral("showSweep"))->trigger();
    return window;
}

int columnOf(const SweepModel* model, const QString& title)
{
    for (int column = 0; column < model->columnCount(); ++column) {
        if (model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() == title) {
            return column;
        }
    }
    return -1;
}

std::size_t axisOf(const ParallelPlot* plot, const QString& title)
{
    for (std::size_t i = 0; i < plot->axes().size(); ++i) {
        if (plot->axes()[i].title == title) {
            return i;
        }
    }
    return 99;
}

QStringList columnTexts(const SweepPanel* panel, int column)
{
    QStringList texts;
    const QAbstractItemModel* rows = panel->table()->model();
    for (int row = 0; row < rows->rowCount(); ++row) {
        texts << rows->index(row, column).data().toString();
    }
    return texts;
}

} // namespace

class TestSweepPanel : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { mantissa::test::useOwnHome(); }

    void withoutASweepItSaysWhatToDo()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        window->leaveStart();
        window->actionNamed(QStringLiteral("showSweep"))->trigger();
        SweepPanel* panel = window->sweepPanel();
        QVERIFY(panel->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(
            panel->plot()->accessibleDescription().startsWith(QStringLiteral("No sweep yet.")), patienceMs);
        QVERIFY(!panel->table()->isVisible());
        QVERIFY_THROWS_EXCEPTION(Error, panel->exportTo(folder.filePath(QStringLiteral("s.csv"))));
    }

    void withoutADatabaseItSaysSo()
    {
        MainWindow::Options options;
        options.remembersState = false;
        MainWindow window(options);
        window.show();
        window.actionNamed(QStringLiteral("showSweep"))->trigger();
        QVERIFY(
            window.sweepPanel()->plot()->accessibleDescription().contains(QStringLiteral("runs are not being stored")));
        for (QPushButton* button : window.sweepPanel()->findChildren<QPushButton*>()) {
            QVERIFY(!button->isVisible() || !button->isEnabled());
        }
    }

    void aStoredSweepIsShownSortedAndNarrowedDown()
    {
        const QTemporaryDir folder;
        const Sweep sweep = sweepOf(sixPoints);
        const auto window = windowWith(folder, sweep);
        SweepPanel* panel = window->sweepPanel();
        QTRY_COMPARE_WITH_TIMEOUT(panel->model()->rowCount(), 6, patienceMs);
        QCOMPARE(panel->sweepField()->currentText(), QStringLiteral("Small sweep, 6 runs"));
        const QAbstractItemModelTester tester(
            panel->table()->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);

        // Sorted by a setting, and by a result.
        const int lr = columnOf(panel->model(), QStringLiteral("optimizer.lr"));
        QVERIFY(lr > 0);
        panel->table()->sortByColumn(lr, Qt::DescendingOrder);
        QCOMPARE(columnTexts(panel, lr).first(), QStringLiteral("0.01"));
        QCOMPARE(columnTexts(panel, lr).last(), QStringLiteral("0.0001"));
        const int loss = columnOf(panel->model(), QStringLiteral("Final loss"));
        panel->table()->sortByColumn(loss, Qt::AscendingOrder);
        double before = 0;
        for (int row = 0; row < 6; ++row) {
            const double value = panel->table()->model()->index(row, loss).data(SweepModel::SortRole).toDouble();
            QVERIFY(value >= before);
            before = value;
        }

        // Axes: numbers that span decades are logarithmic, texts are categories.
        ParallelPlot* plot = panel->plot();
        const std::size_t rate = axisOf(plot, QStringLiteral("optimizer.lr"));
        const std::size_t policy = axisOf(plot, QStringLiteral("precision.policy"));
        QVERIFY(plot->axes().at(rate).isLog);
        QVERIFY(!plot->axes().at(rate).hasCategories);
        QVERIFY(plot->axes().at(policy).hasCategories);
        QCOMPARE(plot->axes().at(policy).marks.size(), std::size_t {2});
        QVERIFY(axisOf(plot, QStringLiteral("Final loss")) < plot->axes().size());
        QTRY_COMPARE_WITH_TIMEOUT(panel->curves()->curves().size(), std::size_t {6}, patienceMs);
        QCOMPARE(panel->curves()->curves().front().points.step.size(), std::size_t {20});
        QVERIFY(panel->curves()->curves().front().color != panel->curves()->curves().back().color);

        // A drag along an axis keeps what passes there: in plot, table and curves.
        const auto at = [plot](std::size_t axis, double place) {
            const QPointF low = *plot->pointOf(0, axis);
            const QPointF high = *plot->pointOf(5, axis);
            return QPoint(static_cast<int>(low.x()), static_cast<int>(low.y() + place * (high.y() - low.y())));
        };
        QTest::mousePress(plot, Qt::LeftButton, {}, at(rate, 1.0) - QPoint(0, 6));
        QTest::mouseMove(plot, at(rate, 0.8));
        QTest::mouseMove(plot, at(rate, 0.4));
        QTest::mouseRelease(plot, Qt::LeftButton, {}, at(rate, 0.4));
        QCOMPARE(panel->table()->model()->rowCount(), 4);
        QVERIFY(!columnTexts(panel, lr).contains(QStringLiteral("0.0001")));
        QCOMPARE(panel->curves()->curves().size(), std::size_t {4});
        QVERIFY(plot->accessibleDescription().contains(QStringLiteral("4 of them kept")));
        // On a second axis too.
        plot->keep(policy, 0.0, 0.5);
        QCOMPARE(panel->table()->model()->rowCount(), 2);
        // A click on an axis drops it.
        QTest::mouseClick(plot, Qt::LeftButton, {}, at(rate, 0.9));
        QCOMPARE(panel->table()->model()->rowCount(), 3);
        plot->keepAll();
        QCOMPARE(panel->table()->model()->rowCount(), 6);

        // A click on a line selects the run, here and in the table.
        const QPointF a = *plot->pointOf(3, rate);
        const QPointF b = *plot->pointOf(3, policy);
        QTest::mouseClick(plot, Qt::LeftButton, {}, ((a + b) / 2).toPoint());
        QVERIFY(plot->selected());
        const std::size_t chosen = *plot->selected();
        const QModelIndex current = panel->table()->selectionModel()->selectedRows().at(0);
        QCOMPARE(current.siblingAtColumn(0).data().toInt(), panel->model()->table().rows[chosen].point.number);
        QVERIFY(plot->textAt(((a + b) / 2).toPoint()).contains(QStringLiteral("optimizer.lr: ")));
        // And the other way.
        panel->table()->selectRow(0);
        QCOMPARE(panel->model()->table().rows[*plot->selected()].point.number,
            panel->table()->model()->index(0, 0).data().toInt());

        // Another result colours them.
        const QColor colorBefore = panel->curves()->curves().front().color;
        panel->colorField()->setCurrentIndex(static_cast<int>(SweepResult::StepsPerSecond));
        QVERIFY(panel->curves()->curves().size() == 6);
        const bool isRecolored = std::ranges::any_of(
            panel->curves()->curves(), [&](const SweepCurves::Curve& curve) { return curve.color != colorBefore; });
        QVERIFY(isRecolored);

        // Texts and pictures.
        panel->copyTable();
        const QStringList copied = QGuiApplication::clipboard()->text().trimmed().split('\n');
        QCOMPARE(copied.size(), 7);
        QVERIFY(copied.first().startsWith(QStringLiteral("Point\toptimizer.lr\tprecision.policy\tStatus")));
        for (const char* name : {"s.png", "s.pdf", "s.svg", "s.csv"}) {
            const QString file = folder.filePath(QLatin1String(name));
            panel->exportTo(file);
            QVERIFY2(QFileInfo(file).size() > 0, name);
        }
        QFile csv(folder.filePath(QStringLiteral("s.csv")));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = csv.readAll().trimmed().split('\n');
        QCOMPARE(lines.size(), 7);
        QCOMPARE(lines.first(),
            QByteArray("run,point,optimizer.lr,precision.policy,status,final_loss,validation_loss,validation_accuracy,"
                       "skipped_steps,final_scale,steps_per_second"));
    }

    void theKeyboardReachesEverything()
    {
        const QTemporaryDir folder;
        const auto window = windowWith(folder, sweepOf(sixPoints));
        SweepPanel* panel = window->sweepPanel();
        QTRY_COMPARE_WITH_TIMEOUT(panel->model()->rowCount(), 6, patienceMs);
        ParallelPlot* plot = panel->plot();
        plot->setFocus();
        // Along the first axis, upward from its lower end.
        QTest::keyClick(plot, Qt::Key_Up);
        QVERIFY(plot->selected());
        QCOMPARE(plot->axes()[0].texts[*plot->selected()], QStringLiteral("0.0001"));
        QTest::keyClick(plot, Qt::Key_Up);
        QTest::keyClick(plot, Qt::Key_Up);
        QCOMPARE(plot->axes()[0].texts[*plot->selected()], QStringLiteral("0.001"));
        // What is kept begins at the selected run and grows.
        QTest::keyClick(plot, Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(panel->table()->model()->rowCount(), 4);
        QTest::keyClick(plot, Qt::Key_Down, Qt::ShiftModifier);
        QCOMPARE(panel->table()->model()->rowCount(), 6);
        QTest::keyClick(plot, Qt::Key_Escape);
        QVERIFY(!plot->keepsSome());
        QTest::keyClick(plot, Qt::Key_Right);
        QVERIFY2(plot->accessibleDescription().contains(QStringLiteral("Axis: precision.policy.")),
            qPrintable(plot->accessibleDescription()));
        QVERIFY(window->sweepPanel()->isVisible()); // Escape left nothing
    }

    void aRunIsShownAmongTheLanes()
    {
        const QTemporaryDir folder;
        const auto window = windowWith(folder, sweepOf(sixPoints));
        SweepPanel* panel = window->sweepPanel();
        QTRY_COMPARE_WITH_TIMEOUT(panel->model()->rowCount(), 6, patienceMs);
        const QAbstractItemModel* rows = panel->table()->model();
        const QModelIndex box = rows->index(2, 0);
        const RunId run = panel->model()->table().rows[2].run->id;
        QVERIFY(panel->table()->model()->setData(box, Qt::Checked, Qt::CheckStateRole));
        QTRY_VERIFY_WITH_TIMEOUT(window->dashboard()->laneKeys().contains(Dashboard::storedKey(run)), patienceMs);
        QCOMPARE(box.data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Checked));
        // With the keyboard away again.
        panel->table()->setCurrentIndex(box);
        emit panel->table()->activated(box);
        QVERIFY(!window->dashboard()->laneKeys().contains(Dashboard::storedKey(run)));
        QCOMPARE(box.data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Unchecked));
    }

    void asweepIsTrainedInTheBackgroundAndCancelled()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        QVERIFY(window->openFile(writeFileIn(folder, QStringLiteral("e.json"), smallExperimentText(20))));
        window->actionNamed(QStringLiteral("showSweep"))->trigger();
        SweepPanel* panel = window->sweepPanel();
        panel->startFile(writeFileIn(folder, QStringLiteral("s.json"), sweepText(sixPoints)));
        QVERIFY(panel->isTraining());
        QVERIFY(panel->cancelButton()->isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(!panel->isTraining(), patienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(panel->model()->rowCount(), 6, patienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(panel->curves()->curves().size(), std::size_t {6}, patienceMs);

        // The same file once more trains nothing; a long one is cancelled, and what it did is shown.
        panel->startFile(folder.filePath(QStringLiteral("s.json")));
        QTRY_VERIFY_WITH_TIMEOUT(!panel->isTraining(), patienceMs);
        QCOMPARE(RunStore(window->controller()->database(), StoreAccess::ReadOnly).runs().size(), std::size_t {6});
        panel->start(sweepOf(R"(, "lanes": ["FP32"], "grid": {"seed": [1, 2, 3]})", 1'000'000));
        QTRY_COMPARE_WITH_TIMEOUT(panel->sweepField()->count(), 2, patienceMs);
        panel->cancelButton()->click();
        QTRY_VERIFY_WITH_TIMEOUT(!panel->isTraining(), patienceMs);
        QCOMPARE(RunStore(window->controller()->database(), StoreAccess::ReadOnly).runs().size(), std::size_t {7});
        QVERIFY(!panel->cancelButton()->isVisible());
    }

    void whatIsWrongWithAFileIsTold()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        SweepPanel* panel = window->sweepPanel();
        QSignalSpy told(panel, &SweepPanel::problem);
        panel->startFile(writeFileIn(folder, QStringLiteral("s.json"), sweepText(R"(, "grid": {"sed": [1]})")));
        QVERIFY(!panel->isTraining());
        QCOMPARE(told.size(), 1);
        QVERIFY2(told.at(0).at(0).toString().contains(QStringLiteral("grid.sed is not a setting")),
            qPrintable(told.at(0).at(0).toString()));
        // A point that fails is told at the end, and the others are trained.
        panel->start(
            sweepOf(R"(, "lanes": ["FP32"], "list": [{"data": {"kind": "csv", "path": "/none.csv"}}, {"seed": 5}])"));
        QTRY_COMPARE_WITH_TIMEOUT(told.size(), 2, patienceMs);
        QVERIFY2(told.at(1).at(0).toString().startsWith(QStringLiteral("1 of 2 points failed")),
            qPrintable(told.at(1).at(0).toString()));
    }

    void aSweepIsBuiltFromTheOpenExperiment()
    {
        const QTemporaryDir folder;
        SweepDialog dialog(mantissa::test::smallExperiment(20));
        dialog.show();
        QVERIFY2(dialog.sweep().has_value(), qPrintable(dialog.message()));
        QCOMPARE(dialog.sweep()->points.size(), std::size_t {6});
        QCOMPARE(dialog.sweep()->runCount(), std::size_t {12});
        dialog.laneField()->setCurrentText(QStringLiteral("FP16 AMP"));
        QCOMPARE(dialog.sweep()->runCount(), std::size_t {6});
        dialog.settingField(2)->setCurrentText(QStringLiteral("scaler.family"));
        dialog.valuesField(2)->setText(QStringLiteral("none, pytorch"));
        // The lane's scaler has parameters that "none" does not have: dropped, as by a lane of another family.
        QVERIFY2(dialog.sweep().has_value(), qPrintable(dialog.message()));
        QCOMPARE(dialog.sweep()->points.size(), std::size_t {12});
        QVERIFY2(dialog.message().startsWith(QStringLiteral("12 points, 12 runs of 20 steps")),
            qPrintable(dialog.message()));
        dialog.saveTo(folder.filePath(QStringLiteral("saved.json")));
        QCOMPARE(loadSweep(folder.filePath(QStringLiteral("saved.json")).toStdString()).points, dialog.sweep()->points);

        dialog.settingField(2)->setCurrentText(QStringLiteral("seed"));
        QVERIFY(!dialog.startButton()->isEnabled());
        QCOMPARE(dialog.message(), QStringLiteral("seed is there twice."));
        dialog.settingField(2)->setCurrentText(QStringLiteral("sceler.family"));
        QVERIFY2(dialog.message().contains(QStringLiteral("is not a setting")), qPrintable(dialog.message()));
        dialog.settingField(2)->setCurrentText({});
        dialog.valuesField(1)->setText({});
        QVERIFY(dialog.message().contains(QStringLiteral("it must be a list of values")));
        dialog.valuesField(1)->setText(QStringLiteral("1"));
        QVERIFY(dialog.startButton()->isEnabled());
        QString many;
        for (int i = 0; i < 1025; ++i) {
            many += QString::number(i) + QLatin1Char(',');
        }
        many.chop(1);
        dialog.valuesField(1)->setText(many);
        QVERIFY(dialog.message().contains(QStringLiteral("at most 1024")));
        QCOMPARE(valuesFrom(QStringLiteral("fp16, 0.5 ,[1, 2")).size(), std::size_t {4});
        QCOMPARE(valuesFrom(QStringLiteral("[16, 16], [32]")).dump(), std::string("[[16,16],[32]]"));
    }

    void diverseTablesArePlacedAndDrawn()
    {
        // Runs that diverged, one without any result, a setting that half of them have, the same value everywhere.
        SweepTable table {"t", "id", {"variant", "optimizer.lr"}, {}};
        const auto add = [&table](double loss, const char* variant, std::optional<double> lr) {
            SweepRow row;
            row.point.number = static_cast<int>(table.rows.size()) + 1;
            row.point.variant = variant;
            if (lr) {
                row.point.settings["optimizer.lr"] = *lr;
            }
            row.run.emplace();
            row.run->id = row.point.number;
            row.run->steps = 5;
            row.run->finalLoss = loss;
            row.run->validationLoss = std::numeric_limits<double>::quiet_NaN();
            row.run->validationAccuracy = row.run->validationLoss;
            table.rows.push_back(row);
        };
        add(0.5, "a", 0.1);
        add(std::numeric_limits<double>::infinity(), "b", 0.2);
        add(std::numeric_limits<double>::quiet_NaN(), "c", std::nullopt);
        add(0.25, "a", 0.3);
        table.rows.push_back({{"t", "id", 5, 5, "d", nlohmann::json::object()}, "lane", std::nullopt});
        const std::vector<SweepAxis> axes = axesOf(table);
        QCOMPARE(axes.size(), std::size_t {3}); // the two and the loss: the other results are the same, or not known
        QVERIFY(axes[1].hasCategories); // since one has no rate
        const SweepAxis& loss = axes[2];
        QCOMPARE(loss.places[0], std::optional(1.0));
        QCOMPARE(loss.places[1], std::optional(SweepAxis::notFinite));
        QCOMPARE(loss.places[2], std::optional(SweepAxis::notFinite));
        QCOMPARE(loss.places[3], std::optional(0.0));
        QVERIFY(!loss.places[4]);
        const ResultRange range(table, SweepResult::FinalLoss);
        QVERIFY(!range.shares[1] && range.shares[0] == 1.0 && range.shares[3] == 0.0);
        ParallelPlot plot;
        plot.resize(600, 300);
        plot.show(table, range);
        QVERIFY(!plot.grab().isNull());
        // Nothing that is kept depends on an order of places.
        plot.keep(2, 0.5, -0.1);
        QVERIFY(!plot.isKept(0) && plot.isKept(3) && !plot.isKept(1) && !plot.isKept(4));
        SweepTable one {"t", "id", {}, {table.rows[0]}};
        plot.show(one, ResultRange(one, SweepResult::FinalLoss));
        QVERIFY(!plot.grab().isNull());
        const ThinCurve thin = thinned({}, 10);
        QVERIFY(thin.step.empty());
    }
};

QTEST_MAIN(TestSweepPanel)
#include "tst_sweep_panel.moc"
