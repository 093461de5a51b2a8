/// The Gradients tab in the real window: what it draws is what was sampled, and a scale that is dragged until the
/// gradient fits is applied and brings the lane to life.
#include "engine/probe/corridor.h"
#include "ui/gradients/gradients_panel.h"
#include "ui/gradients/scale_table.h"
#include "ui/plots/dashboard.h"
#include "ui/session/session_controller.h"
#include "ui/views/lane_list.h"
#include "ui/views/main_window.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace mantissa;

namespace {

constexpr int patienceMs = 120'000;

} // namespace

class TestGradientsPanel : public QObject
{
    Q_OBJECT

private slots:

    void init()
    {
        m_window = std::make_unique<MainWindow>(MainWindow::Options {{}, false});
        m_window->resize(1280, 800);
        m_window->show();
        QVERIFY(m_window->openFile(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments/default.json")));
        QTRY_VERIFY_WITH_TIMEOUT(stateIs(SessionState::Ready), patienceMs);
        m_window->actionNamed(QStringLiteral("showGradients"))->trigger();
    }

    void cleanup() { m_window.reset(); }

    void isEmptyInWordsBeforeTraining()
    {
        QVERIFY(!panel()->plot()->content());
        QVERIFY(panel()->plot()->accessibleDescription().contains(QStringLiteral("50 steps")));
        panel()->intervalField()->setValue(0);
        QVERIFY(panel()->plot()->accessibleDescription().contains(QStringLiteral("Look now")));
        QCOMPARE(controller()->sampling().every, 0);
        QVERIFY(!panel()->applyButton()->isEnabled());
    }

    void countingCanBeSwitchedOffWhileItTrains()
    {
        panel()->intervalField()->setValue(10);
        QVERIFY(panel()->countBox()->isChecked());
        panel()->countBox()->click();
        QVERIFY(!controller()->sampling().countsEveryStep);
        train(25);
        const auto newestIs = [this](bool counted) {
            const auto& last = controller()->facts(lane(1)).last;
            return last && std::isnan(last->flushed) != counted;
        };
        QVERIFY(newestIs(false));
        panel()->countBox()->click();
        train(5);
        QVERIFY(newestIs(true));
    }

    void drawsWhatWasSampled()
    {
        panel()->intervalField()->setValue(10);
        train(25);
        select(1);
        const SamplePtr newest = controller()->samples(lane(1)).back();
        QCOMPARE(newest->step, 20);
        std::uint64_t elements = 0;
        std::uint64_t lost = 0;
        for (const TensorSample& tensor : newest->tensors) {
            if (tensor.role == TensorRole::Scaled) {
                elements += tensor.elements;
                lost += tensor.census.flushed;
            }
        }
        QVERIFY(lost > 0);
        QCOMPARE(panel()->plot()->content()->held.elements, elements);
        QCOMPARE(panel()->plot()->content()->held.census.flushed, lost);
        QCOMPARE(panel()->plot()->content()->reference->elements, elements);

        panel()->showStep(14);
        QCOMPARE(panel()->stepSlider()->value(), 1);
        panel()->showTensor(TensorRole::Activation, QStringLiteral("act3"));
        const TensorSample& shown = panel()->plot()->content()->held;
        QCOMPARE(shown.tensor, std::string("act3"));
        QVERIFY(!panel()->plot()->content()->reference);
        QVERIFY(!panel()->scaleSlider()->isEnabled());
        panel()->showTensor(TensorRole::Scaled, QStringLiteral("fc2.weight"));
        QCOMPARE(panel()->plot()->content()->held.elements, 128U * 128U);
        QCOMPARE(panel()->tensorCombo()->currentText(), QStringLiteral("fc2.weight"));

        QTemporaryDir folder;
        panel()->exportTo(folder.filePath(QStringLiteral("a.png")));
        panel()->exportTo(folder.filePath(QStringLiteral("a.pdf")));
        panel()->exportTo(folder.filePath(QStringLiteral("a.csv")));
        QVERIFY(!QImage(folder.filePath(QStringLiteral("a.png"))).isNull());
        QFile csv(folder.filePath(QStringLiteral("a.csv")));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        std::uint64_t counted = 0;
        for (const QByteArray& line : csv.readAll().split('\n')) {
            const QList<QByteArray> cells = line.split(',');
            counted += cells.size() == 6 && cells[2] == "reference" ? cells[5].toULongLong() : 0;
        }
        const TensorSample& reference = *panel()->plot()->content()->reference;
        QCOMPARE(counted, reference.census.normal + reference.census.subnormal);
    }

    /// ui.md, the third person: two thirds of the gradient lie left of FP16's edge; the scale is dragged until they do
    /// not, applied, and the lane comes alive.
    void aDraggedScaleBringsTheFlatLaneToLife()
    {
        train(120);
        select(1);
        QVERIFY(controller()->laneStatus(lane(1))->config->scaler == std::nullopt);
        const double flat = lossOf(1);
        QVERIFY(flat > 2.2);
        HistogramPlot* plot = panel()->plot();
        const TensorSample reference = *plot->content()->reference;
        const Corridor corridor = corridorOf(reference, DType::Float16, 0.01);
        QVERIFY(corridor.exists() && corridor.floor > 1);
        const int wanted = static_cast<int>(std::log2(corridor.floor)) + 3;

        const int y = plot->height() / 2;
        const auto at = [&](int exponent) { return QPoint(static_cast<int>(plot->positionOf(exponent)), y); };
        const QPoint from = at(-20);
        const QPoint to = at(-20 + wanted);
        QTest::mousePress(plot, Qt::LeftButton, {}, from);
        QMouseEvent move(QEvent::MouseMove, to, plot->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(plot, &move);
        QTest::mouseRelease(plot, Qt::LeftButton, {}, to);
        QCOMPARE(panel()->scaleSlider()->value(), wanted);
        QVERIFY(forecast(reference, wanted, DType::Float16).flushed <= 0.01);
        QVERIFY2(
            panel()->forecastText().contains(QStringLiteral("overflows nowhere")), qPrintable(panel()->forecastText()));
        QCOMPARE(controller()->laneStatus(lane(1))->scale, 1.0); // nothing has happened yet

        QTest::mouseClick(panel()->applyButton(), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(controller()->laneStatus(lane(1))->scale, std::exp2(wanted), patienceMs);
        QCOMPARE(controller()->laneStatus(lane(1))->config->scaler->family, std::string("fixed"));
        QTRY_VERIFY_WITH_TIMEOUT(stateIs(SessionState::Paused), patienceMs);
        train(150);
        QVERIFY2(lossOf(1) < flat - 0.3, qPrintable(QString::number(lossOf(1))));
        QVERIFY(!panel()->applyButton()->isEnabled());
    }

    void keysMoveTheScaleAndEscapeGivesUp()
    {
        train(60);
        select(2);
        panel()->plot()->setFocus();
        const int present = panel()->scaleSlider()->value();
        QCOMPARE(present, 16);
        QTest::keyClick(panel()->plot(), Qt::Key_Right);
        QTest::keyClick(panel()->plot(), Qt::Key_Right);
        QCOMPARE(panel()->scaleSlider()->value(), 18);
        QVERIFY(panel()->applyButton()->isEnabled());
        QTest::keyClick(panel()->plot(), Qt::Key_Escape);
        QCOMPARE(panel()->scaleSlider()->value(), 16);
        QVERIFY(!panel()->applyButton()->isEnabled());
        panel()->tryExponent(40);
        QVERIFY(panel()->forecastText().contains(QStringLiteral("skipped")));
        select(0);
        panel()->tryExponent(3);
        QVERIFY(!panel()->applyButton()->isEnabled()); // FP32 rounds nothing
        QVERIFY(panel()->forecastText().contains(QStringLiteral("If it were FP16")));
    }

    void everyScaleIsTriedAndNothingChanges()
    {
        train(30);
        select(1);
        const auto before = controller()->laneStatus(lane(1))->batchHash;
        QTest::mouseClick(panel()->scaleTable()->button(), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(panel()->scaleTable()->trials().size(), 25U, patienceMs);
        const std::vector<ScaleTrial>& trials = panel()->scaleTable()->trials();
        QCOMPARE(panel()->scaleTable()->table()->rowCount(), 25);
        QVERIFY(trials.front().flushed > trials[12].flushed);
        QVERIFY(panel()->scaleTable()->table()->item(0, 0)->text().contains(QStringLiteral("now")));
        QCOMPARE(controller()->laneStatus(lane(1))->nextStep, 30);
        QCOMPARE(controller()->laneStatus(lane(1))->batchHash, before);
        QCOMPARE(panel()->scaleTable()->text().count(QLatin1Char('\n')), 26);
        emit panel()->scaleTable()->table()->cellActivated(10, 0);
        QCOMPARE(panel()->scaleSlider()->value(), 10);
        select(2);
        QCOMPARE(panel()->scaleTable()->table()->rowCount(), 0);
    }

    void theScalePlotShowsTheCorridor()
    {
        train(60);
        select(1);
        m_window->actionNamed(QStringLiteral("showDashboard"))->trigger();
        m_window->dashboard()->refresh();
        QTRY_VERIFY(m_window->dashboard()->summaryText().size() > 0);
        const QImage with = m_window->dashboard()->grab().toImage();
        select(0);
        m_window->dashboard()->refresh();
        QTest::qWait(200);
        QVERIFY(m_window->dashboard()->grab().toImage() != with);
    }

private:
    [[nodiscard]] SessionController* controller() const { return m_window->controller(); }

    [[nodiscard]] GradientsPanel* panel() const { return m_window->gradients(); }

    [[nodiscard]] bool stateIs(SessionState state) const
    {
        return controller()->status() && controller()->status()->state == state;
    }

    [[nodiscard]] std::uint32_t lane(std::size_t index) const { return m_window->laneList()->lanes()[index]; }

    void select(std::size_t index) { m_window->laneList()->select(lane(index)); }

    [[nodiscard]] double lossOf(std::size_t index) const { return controller()->facts(lane(index)).last->loss; }

    void train(std::int64_t steps)
    {
        const std::int64_t to = controller()->status()->step + steps;
        controller()->runSteps(steps);
        QTRY_VERIFY_WITH_TIMEOUT(controller()->status()->step >= to && stateIs(SessionState::Paused), patienceMs);
        controller()->poll();
    }

    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(TestGradientsPanel)
#include "tst_gradients_panel.moc"
