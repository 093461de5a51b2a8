// The layer view in its window, driven by keys and clicks. What it shows is compared with the session's samples.
#include "engine/core/error.h"
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/gradients/gradients_panel.h"
#include "ui/layers/layer_words.h"
#include "ui/layers/layers_panel.h"
#include "ui/plots/dashboard.h"
#include "ui/style/number_format.h"
#include "ui/views/lane_list.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/runs_view.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QImage>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include <algorithm>
#include <cmath>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr int patienceMs = 60'000;

const TensorSample* find(const StepSample& sample, TensorRole role, const std::string& tensor)
{
    const auto found = std::ranges::find_if(
        sample.tensors, [&](const TensorSample& each) { return each.role == role && each.tensor == tensor; });
    return found == sample.tensors.end() ? nullptr : &*found;
}

bool isSame(double a, double b)
{
    return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-12 * std::abs(b);
}

} // namespace

class TestLayersPanel : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();

    void cellsAreTheSessionsSamples();
    void followsTheRunAsItTrains();
    void aClickPutsTheCrosshairThere();
    void keysChooseLayerAndStep();
    void headersSortAndTheFilterFilters();
    void copiesTabSeparatedText();
    void enterShowsAMeasureStepByStep();
    void exportsPicturesAndNumbers();
    void saysWhyThereIsNothing();
    void lookNowLooksNow();
    void anFp32LaneHasNothingToCompare();
    void followsTheSelectedLane();
    void ledgerTellsSkipsAndTheirCause();
    void ledgerComesBackWithTheLanes();
    void aStoredRunIsLookedInto();

private:
    void open(const std::string& text, std::int64_t every = 10);
    void train(int steps);
    void choose(std::size_t lane);

    [[nodiscard]] LayersPanel* panel() const { return m_window->layers(); }

    [[nodiscard]] const LayerGrid& grid() const { return panel()->layers().grid(); }

    [[nodiscard]] std::size_t rowOf(const std::string& name) const;
    /// In the viewport.
    [[nodiscard]] QPoint cellAt(std::size_t row, std::size_t column) const;
    void press(Qt::Key key);

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
};

void TestLayersPanel::initTestCase()
{
    test::useOwnHome();
}

void TestLayersPanel::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::openWindow(*m_folder);
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void TestLayersPanel::cleanup()
{
    m_window.reset();
    m_folder.reset();
}

void TestLayersPanel::open(const std::string& text, std::int64_t every)
{
    m_window->controller()->setSampling({.every = every});
    const QString file = test::writeFileIn(*m_folder, QStringLiteral("experiment.json"), text);
    QVERIFY2(m_window->openFile(file), qPrintable(m_window->messageBar()->text()));
    QTRY_COMPARE_WITH_TIMEOUT(m_window->laneList()->lanes().size(), std::size_t {2}, patienceMs);
    QTest::keyClick(m_window.get(), Qt::Key_7, Qt::ControlModifier);
    QVERIFY(panel()->isVisible());
}

void TestLayersPanel::train(int steps)
{
    m_window->controller()->runSteps(steps);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->controller()->status()->step >= steps, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller()->isRunning(), patienceMs);
}

void TestLayersPanel::choose(std::size_t lane)
{
    m_window->laneList()->select(m_window->laneList()->lanes().at(lane));
}

std::size_t TestLayersPanel::rowOf(const std::string& name) const
{
    const auto found = std::ranges::find(grid().rows(), name);
    if (found == grid().rows().end()) {
        qFatal("no row %s", name.c_str());
    }
    return static_cast<std::size_t>(found - grid().rows().begin());
}

QPoint TestLayersPanel::cellAt(std::size_t row, std::size_t column) const
{
    const QRect cells = panel()->table()->cellsOf(row);
    const double left = HeatPainter::left(column, grid().columns(), cells.width());
    const double right = HeatPainter::left(column + 1, grid().columns(), cells.width());
    return {cells.left() + static_cast<int>((left + right) / 2), cells.center().y()};
}

void TestLayersPanel::press(Qt::Key key)
{
    QTest::keyClick(panel()->table(), key);
}

void TestLayersPanel::cellsAreTheSessionsSamples()
{
    open(smallExperimentText());
    train(45);
    panel()->setGrouping(LayerGrouping::Tensors);
    for (const std::size_t lane : {0U, 1U}) {
        choose(lane);
        const auto& samples = m_window->controller()->samples(m_window->laneList()->lanes().at(lane));
        QTRY_COMPARE_WITH_TIMEOUT(samples.size(), std::size_t {5}, patienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {5}, patienceMs);
        QTRY_COMPARE(grid().sample(4), samples[4]);
        for (std::size_t column = 0; column < samples.size(); ++column) {
            const StepSample& sample = *samples[column];
            QCOMPARE(grid().step(column), static_cast<std::int64_t>(column) * 10);
            for (const std::string name : {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}) {
                const auto value = [&](LayerMeasure measure) { return grid().value(rowOf(name), column, measure); };
                const TensorSample& scaled = *find(sample, TensorRole::Scaled, name);
                const TensorSample& update = *find(sample, TensorRole::Update, name);
                const auto share = [&scaled](std::uint64_t count) {
                    return static_cast<double>(count) / static_cast<double>(scaled.elements);
                };
                QVERIFY(isSame(value(LayerMeasure::GradientNorm), find(sample, TensorRole::Unscaled, name)->norm));
                QVERIFY(isSame(value(LayerMeasure::Flushed), share(scaled.census.flushed)));
                QVERIFY(isSame(value(LayerMeasure::Subnormal), share(scaled.census.subnormal)));
                QVERIFY(isSame(value(LayerMeasure::Overflowed), share(scaled.census.overflowed)));
                QVERIFY(isSame(value(LayerMeasure::UpdateRatio), update.ratio));
                QVERIFY(isSame(value(LayerMeasure::BelowHalfUlp), update.belowHalfUlp));
                QVERIFY(isSame(value(LayerMeasure::Unmoved), update.unmoved));
                QVERIFY(lane == 0 ? std::isnan(value(LayerMeasure::Cosine))
                                  : std::abs(value(LayerMeasure::Cosine) - scaled.cosine) < 1e-9);
                QVERIFY(lane == 0 ? std::isnan(value(LayerMeasure::RelativeError))
                                  : std::abs(value(LayerMeasure::RelativeError) - scaled.relativeError) < 1e-9);
            }
            const TensorSample& activation = *find(sample, TensorRole::Activation, "act1");
            QVERIFY(isSame(grid().value(rowOf("act1"), column, LayerMeasure::Dead), activation.dead));
            QVERIFY(isSame(grid().value(rowOf("act1"), column, LayerMeasure::ActivationLargest), activation.largest));
        }
    }
    // The table shows the newest step until another is chosen.
    QCOMPARE(panel()->layers().column(), std::size_t {4});
}

void TestLayersPanel::followsTheRunAsItTrains()
{
    open(smallExperimentText(100'000));
    m_window->controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(grid().columns() > 3, patienceMs);
    const std::size_t before = grid().columns();
    QTRY_VERIFY_WITH_TIMEOUT(grid().columns() > before, patienceMs);
    QCOMPARE(panel()->layers().column() + 1, grid().columns());
    // A chosen step stays, whatever comes.
    const QPoint place = cellAt(rowOf("fc1"), 1);
    QTest::mouseClick(panel()->table()->viewport(), Qt::LeftButton, {}, place);
    const std::int64_t step = grid().step(panel()->layers().column());
    const std::size_t then = grid().columns();
    QTRY_VERIFY_WITH_TIMEOUT(grid().columns() > then, patienceMs);
    QCOMPARE(grid().step(panel()->layers().column()), step);
    m_window->controller()->pause();
}

void TestLayersPanel::aClickPutsTheCrosshairThere()
{
    open(smallExperimentText());
    train(45);
    choose(1);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {5}, patienceMs);
    QSignalSpy cursor(m_window->dashboard(), &Dashboard::cursorMoved);
    const std::size_t row = rowOf("fc2");
    QTest::mouseClick(panel()->table()->viewport(), Qt::LeftButton, {}, cellAt(row, 2));
    QCOMPARE(cursor.size(), 1);
    QCOMPARE(cursor.front().front().toLongLong(), 20);
    QVERIFY(m_window->dashboard()->isFollowing());
    QCOMPARE(panel()->layers().column(), std::size_t {2});
    QCOMPARE(panel()->table()->currentRow(), std::optional(row));
    const double norm = grid().value(row, 2, LayerMeasure::GradientNorm);
    const LayerTableModel& model = panel()->layers();
    const QModelIndex cell = model.index(static_cast<int>(row), LayerTableModel::columnOf(LayerMeasure::GradientNorm));
    QCOMPARE(cell.data().toString(), formatValue(norm));
    QVERIFY2(panel()->cellText().startsWith(
                 QStringLiteral("fc2 at step 20: the norm of the gradient is %1").arg(formatValue(norm))),
        qPrintable(panel()->cellText()));
    QVERIFY(panel()->funnel()->headingText().contains(QStringLiteral("step 20")));
    // The pointer reads without choosing.
    QTest::mouseMove(panel()->table()->viewport(), cellAt(rowOf("fc1"), 1));
    QTRY_VERIFY(panel()->cellText().startsWith(QStringLiteral("fc1 at step 10: ")));
    QCOMPARE(panel()->layers().column(), std::size_t {2});
    QCOMPARE(cursor.size(), 1);
}

void TestLayersPanel::keysChooseLayerAndStep()
{
    open(smallExperimentText());
    train(45);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {5}, patienceMs);
    QCOMPARE(QApplication::focusWidget(), panel()->table());
    QSignalSpy steps(panel(), &LayersPanel::stepChosen);
    press(Qt::Key_Left);
    press(Qt::Key_Left);
    QCOMPARE(steps.back().front().toLongLong(), 20);
    press(Qt::Key_Right);
    QCOMPARE(steps.back().front().toLongLong(), 30);
    press(Qt::Key_Home);
    QCOMPARE(panel()->layers().column(), std::size_t {0});
    press(Qt::Key_End);
    QCOMPARE(panel()->layers().column(), std::size_t {4});
    press(Qt::Key_Down);
    QVERIFY(panel()->table()->currentRow().has_value());
    press(Qt::Key_Down);
    QVERIFY(panel()->cellText().startsWith(QStringLiteral("fc2 at step 40")));
    press(Qt::Key_P);
    QCOMPARE(panel()->table()->shownRows().front(), rowOf("fc2"));
    press(Qt::Key_P);
    QCOMPARE(panel()->table()->shownRows().front(), rowOf("fc1"));
}

void TestLayersPanel::headersSortAndTheFilterFilters()
{
    open(smallExperimentText());
    train(25);
    panel()->setGrouping(LayerGrouping::Tensors);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {3}, patienceMs);
    QHeaderView* header = panel()->table()->horizontalHeader();
    const int column = LayerTableModel::columnOf(LayerMeasure::GradientNorm);
    const auto values = [this] {
        std::vector<double> norms;
        for (const std::size_t row : panel()->table()->shownRows()) {
            norms.push_back(grid().value(row, panel()->layers().column(), LayerMeasure::GradientNorm));
        }
        return norms;
    };
    const QPoint place(header->sectionViewportPosition(column) + header->sectionSize(column) / 2, header->height() / 2);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, place);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, place);
    const std::vector<double> first = values();
    QCOMPARE(first.size(), std::size_t {4});
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, place);
    std::vector<double> second = values();
    QVERIFY(std::ranges::is_sorted(first) != std::ranges::is_sorted(second));
    std::ranges::reverse(second);
    QCOMPARE(first, second);
    QTest::keyClicks(panel()->filterField(), QStringLiteral("fc2 bias"));
    QCOMPARE(panel()->table()->shownRows(), std::vector {rowOf("fc2.bias")});
}

void TestLayersPanel::copiesTabSeparatedText()
{
    open(smallExperimentText());
    train(25);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {3}, patienceMs);
    panel()->table()->setFocus();
    QTest::keyClick(panel()->table(), Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 3);
    QVERIFY(lines.at(0).startsWith(QStringLiteral("step\tLayer\tGradient norm\tFlushed")));
    QCOMPARE(lines.at(1),
        QStringLiteral("20\tfc1\t%1\t%2")
            .arg(formatExact(grid().value(rowOf("fc1"), 2, LayerMeasure::GradientNorm)),
                formatExact(grid().value(rowOf("fc1"), 2, LayerMeasure::Flushed))));
}

void TestLayersPanel::enterShowsAMeasureStepByStep()
{
    open(smallExperimentText());
    train(15);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {2}, patienceMs);
    LayerTable* table = panel()->table();
    table->setCurrentIndex(table->order()->index(0, LayerTableModel::columnOf(LayerMeasure::Flushed)));
    QTest::keyClick(table, Qt::Key_Return);
    QCOMPARE(panel()->layers().measure(), LayerMeasure::Flushed);
    QCOMPARE(panel()->measureCombo()->currentText(), titleOf(LayerMeasure::Flushed));
    QVERIFY(table->isColumnHidden(LayerTableModel::columnOf(LayerMeasure::Dead)));
    panel()->setMeasure(LayerMeasure::Dead);
    QVERIFY(!table->isColumnHidden(LayerTableModel::columnOf(LayerMeasure::Dead)));
    QCOMPARE(table->shownRows(), std::vector {rowOf("act1")});
}

void TestLayersPanel::exportsPicturesAndNumbers()
{
    open(smallExperimentText());
    train(45);
    choose(1);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {5}, patienceMs);
    const QString png = m_folder->filePath(QStringLiteral("layers.png"));
    panel()->exportTo(png);
    const QImage image(png);
    QVERIFY(image.width() > 1000 && image.height() > 100);
    const QString pdf = m_folder->filePath(QStringLiteral("layers.pdf"));
    panel()->exportTo(pdf);
    QFile document(pdf);
    QVERIFY(document.open(QIODevice::ReadOnly));
    QVERIFY(document.readAll().startsWith("%PDF"));
    const QString csv = m_folder->filePath(QStringLiteral("layers.csv"));
    panel()->exportTo(csv);
    QFile numbers(csv);
    QVERIFY(numbers.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = numbers.readAll().trimmed().split('\n');
    QCOMPARE(lines.size(), 1 + 5 * 2);
    QCOMPARE(lines.at(0), QByteArray("lane,step,layer,gradient_norm"));
    QCOMPARE(lines.at(4),
        "FP16 AMP,10,fc2," + formatExact(grid().value(rowOf("fc2"), 1, LayerMeasure::GradientNorm)).toLatin1());
    QVERIFY_THROWS_EXCEPTION(Error, panel()->exportTo(QStringLiteral("/nowhere/layers.png")));
    panel()->copyPicture();
    QVERIFY(!QApplication::clipboard()->image().isNull());
}

void TestLayersPanel::saysWhyThereIsNothing()
{
    QVERIFY(panel()->emptyText().contains(QStringLiteral("Ctrl+O")));
    open(smallExperimentText(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(panel()->emptyText().contains(QStringLiteral("switched off")), patienceMs);
    auto* switchOn = [this]() -> QPushButton* {
        for (auto* button : panel()->findChildren<QPushButton*>()) {
            if (button->text().startsWith(QStringLiteral("Look at every"))) {
                return button;
            }
        }
        return nullptr;
    }();
    QVERIFY(switchOn != nullptr && switchOn->isVisible());
    QTest::mouseClick(switchOn, Qt::LeftButton);
    QCOMPARE(m_window->controller()->sampling().every, std::int64_t {50});
    QTRY_VERIFY(panel()->emptyText().contains(QStringLiteral("one step in 50")));
    QVERIFY(!switchOn->isVisible());
    train(1);
    QTRY_VERIFY_WITH_TIMEOUT(panel()->emptyText().isEmpty(), patienceMs);
}

void TestLayersPanel::lookNowLooksNow()
{
    open(smallExperimentText(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(panel()->lookButton()->isVisible() && panel()->lookButton()->isEnabled(), patienceMs);
    QTest::mouseClick(panel()->lookButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {1}, patienceMs);
    QVERIFY(panel()->emptyText().isEmpty());
    QCOMPARE(grid().step(0), std::int64_t {0});
}

void TestLayersPanel::anFp32LaneHasNothingToCompare()
{
    open(smallExperimentText());
    train(15);
    choose(0);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {2}, patienceMs);
    panel()->setMeasure(LayerMeasure::Cosine);
    QVERIFY(panel()->emptyText().contains(QStringLiteral("FP32 itself")));
    QVERIFY(!panel()->lookButton()->isVisible());
    QVERIFY(panel()->funnel()->headingText().contains(QStringLiteral("nothing is lost")));
    panel()->setMeasure(LayerMeasure::Saturated);
    QVERIFY(panel()->emptyText().contains(QStringLiteral("neither sigmoid nor tanh")));
    choose(1);
    QVERIFY(!panel()->emptyText().isEmpty());
    panel()->setMeasure(LayerMeasure::Cosine);
    QVERIFY(panel()->emptyText().isEmpty());
    const auto& stages = panel()->funnel()->stages();
    QVERIFY(std::ranges::any_of(stages, [](const auto& stage) { return stage.kind == SurvivalKind::Raw; }));
}

void TestLayersPanel::followsTheSelectedLane()
{
    open(smallExperimentText());
    train(15);
    QTest::keyClick(m_window.get(), Qt::Key_2);
    const std::uint32_t second = m_window->laneList()->lanes().at(1);
    QCOMPARE(panel()->laneCombo()->currentData().value<std::uint32_t>(), second);
    QTRY_VERIFY(grid().columns() > 0);
    QCOMPARE(grid().sample(0)->lane, second);
    QSignalSpy chosen(panel(), &LayersPanel::laneChosen);
    panel()->laneCombo()->setFocus();
    QTest::keyClick(panel()->laneCombo(), Qt::Key_Up);
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(m_window->laneList()->selected().value(), m_window->laneList()->lanes().at(0));
    QCOMPARE(grid().sample(0)->lane, m_window->laneList()->lanes().at(0));
}

void TestLayersPanel::ledgerTellsSkipsAndTheirCause()
{
    std::string text = smallExperimentText();
    const std::string usual = R"("init_scale": 1024)";
    text.replace(text.find(usual), usual.size(), R"("init_scale": 16777216)");
    open(text);
    train(60);
    const std::uint32_t lane = m_window->laneList()->lanes().at(1);
    choose(1);
    const LaneFacts& facts = m_window->controller()->facts(lane);
    QVERIFY(facts.skipped > 0 && facts.skipped < 60);
    const SkipLedger& ledger = panel()->ledger(lane);
    const LedgerCount count = ledger.count(0, 59);
    QCOMPARE(count.skipped, facts.skipped);
    QCOMPARE(count.taken, 60 - facts.skipped);
    QVERIFY(count.backedOff > 0);
    QCOMPARE(ledger.nextSkip(0), facts.firstSkip);
    QCOMPARE(ledger.scheduleLead(), facts.skipped);
    const Event* cause = ledger.causeOf(facts.firstSkip);
    QVERIFY(cause != nullptr);
    QCOMPARE(cause->step, facts.firstSkip);
    QVERIFY(!cause->path.empty());
    QVERIFY(ledgerStepsText(ledger, facts.firstSkip, facts.firstSkip).contains(QString::fromStdString(cause->text)));

    QSignalSpy cursor(m_window->dashboard(), &Dashboard::cursorMoved);
    LedgerStrip* strip = panel()->ledgerStrip();
    QTest::mouseClick(strip, Qt::LeftButton, {}, QPoint(strip->xOf(30), strip->height() / 2));
    QCOMPARE(cursor.size(), 1);
    QCOMPARE(cursor.front().front().toLongLong(), 30);
    QCOMPARE(grid().step(panel()->layers().column()), std::int64_t {30});
    QTest::keyClick(strip, Qt::Key_Left);
    QCOMPARE(cursor.back().front().toLongLong(), ledger.skipBefore(30));
    QTest::keyClick(strip, Qt::Key_Home);
    QCOMPARE(cursor.back().front().toLongLong(), 0);
}

void TestLayersPanel::ledgerComesBackWithTheLanes()
{
    open(smallExperimentText());
    train(40);
    m_window->actionNamed(QStringLiteral("reset"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->controller()->status() && m_window->controller()->status()->step == 0, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(!panel()->emptyText().isEmpty(), patienceMs);
    QVERIFY(panel()->ledger(m_window->laneList()->lanes().at(1)).empty());
    m_window->dashboard()->undoStack()->undo();
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->controller()->status() && m_window->controller()->status()->step == 40, patienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(
        panel()->ledger(m_window->laneList()->lanes().at(1)).lastStep(), std::int64_t {39}, patienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(grid().columns(), std::size_t {4}, patienceMs);
}

/// What was sampled is read back from the database, and shown in place of the lane, in both tabs.
void TestLayersPanel::aStoredRunIsLookedInto()
{
    open(smallExperimentText());
    train(40);
    choose(1);
    const std::uint32_t lane = m_window->laneList()->lanes().at(1);
    const std::vector<SamplePtr> live = m_window->controller()->samples(lane);
    QVERIFY(live.size() >= 4);
    const RunId run = m_window->controller()->writer()->runOf(lane);
    m_window->controller()->writer()->flush();

    // Another session, whose lanes have not trained.
    m_window->controller()->reset();
    QTRY_VERIFY_WITH_TIMEOUT(grid().columns() == 0, patienceMs);
    emit m_window->runsView()->lookRequested(run);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->gradients()->plot()->content().has_value(), patienceMs);
    QVERIFY(m_window->gradients()->isVisible());
    QVERIFY(m_window->gradients()->plot()->content()->heldName.contains(QStringLiteral("(run %1)").arg(run)));
    QVERIFY(!m_window->gradients()->applyButton()->isEnabled());
    QVERIFY(m_window->gradients()->applyButton()->toolTip().contains(QStringLiteral("stored run")));

    QTest::keyClick(m_window.get(), Qt::Key_7, Qt::ControlModifier);
    QCOMPARE(grid().columns(), live.size());
    const std::size_t fc1 = rowOf("fc1");
    for (std::size_t column = 0; column < grid().columns(); ++column) {
        const TensorSample* const stored = find(*grid().sample(column), TensorRole::Unscaled, "fc1.weight");
        const TensorSample* const seen = find(*live[column], TensorRole::Unscaled, "fc1.weight");
        QCOMPARE(grid().step(column), live[column]->step);
        QCOMPARE(stored->norm, seen->norm);
        QCOMPARE(stored->exponents, seen->exponents);
        QVERIFY(grid().value(fc1, column, LayerMeasure::GradientNorm) > 0);
    }

    // Another lane ends it.
    choose(0);
    QTRY_VERIFY_WITH_TIMEOUT(grid().columns() == 0, patienceMs);

    // One that was never looked at is said to be so.
    m_window->controller()->setSampling({});
    train(10);
    const RunId blind = m_window->controller()->writer()->runOf(lane);
    emit m_window->runsView()->lookRequested(blind);
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->statusBar()->currentMessage().contains(QStringLiteral("was looked at tensor by tensor")), patienceMs);
}

QTEST_MAIN(TestLayersPanel)
#include "tst_layers_panel.moc"
