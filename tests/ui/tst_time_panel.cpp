// Where the time of steps goes: what is kept adds up, however long the run, and the tab shows it for every lane.
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/plots/dashboard.h"
#include "ui/time/phase_words.h"
#include "ui/time/time_history.h"
#include "ui/time/time_panel.h"
#include "ui/views/lane_list.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QImage>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

using namespace mantissa;
using mantissa::test::openWindow;
using mantissa::test::smallExperimentText;

namespace {

constexpr int patienceMs = 60'000;

StepRecord recordOf(std::int64_t step, QRandomGenerator& random)
{
    StepRecord record;
    record.step = step;
    const auto ms = [&random] { return static_cast<float>(random.bounded(1000)) / 100; };
    record.timeMs = {.dataMs = 12,
        .waitMs = ms(),
        .forwardMs = ms(),
        .backwardMs = ms(),
        .unscaleMs = ms(),
        .clipMs = ms(),
        .optimizerMs = ms(),
        .instrumentsMs = ms(),
        .evaluationMs = ms()};
    return record;
}

} // namespace

class TestTimePanel : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { mantissa::test::useOwnHome(); }

    /// Nothing is lost when buckets are joined, and their number stays bounded.
    void whatIsKeptAddsUp()
    {
        QRandomGenerator random(7);
        TimeHistory history;
        double waited = 0;
        double all = 0;
        constexpr std::int64_t steps = 10'000;
        for (std::int64_t step = 0; step < steps; ++step) {
            const StepRecord record = recordOf(step, random);
            history.add(record);
            if (step == 0) {
                continue; // warms up
            }
            const PhaseTimes& t = record.timeMs;
            waited += t.waitMs;
            all += double {t.dataMs} + t.forwardMs + t.backwardMs + t.unscaleMs + t.clipMs + t.optimizerMs
                + t.instrumentsMs + t.evaluationMs;
            QVERIFY(history.buckets().size() <= TimeHistory::mostBuckets);
        }
        QCOMPARE(history.bucketSteps(), std::int64_t {32});
        std::int64_t kept = 0;
        for (const TimeHistory::Bucket& bucket : history.buckets()) {
            QCOMPARE(bucket.first % history.bucketSteps(), std::int64_t {0});
            kept += bucket.steps;
        }
        QCOMPARE(kept, steps);
        const PhaseMs mean = history.mean(0);
        QVERIFY(std::abs(mean[StepPhase::Wait] - waited / (steps - 1)) < 1e-6);
        QVERIFY(std::abs(mean.total() - all / (steps - 1)) < 1e-5); // 12 - waitMs rounds in FP32
    }

    void theLastStepsAreTheLastOnes()
    {
        TimeHistory history;
        for (std::int64_t step = 0; step < 100; ++step) {
            StepRecord record;
            record.step = step;
            record.timeMs.forwardMs = step < 90 ? 1.0F : 3.0F;
            history.add(record);
        }
        QCOMPARE(history.mean(10)[StepPhase::Forward], 3.0);
        QCOMPARE(history.mean(20)[StepPhase::Forward], 2.0);
        QCOMPARE(history.mean(0)[StepPhase::Forward], 119.0 / 99);
        QCOMPARE(history.mean(1000)[StepPhase::Forward], 119.0 / 99);
    }

    /// A lane that goes back replaces what it had.
    void goingBackForgets()
    {
        QRandomGenerator random(3);
        TimeHistory history;
        for (std::int64_t step = 0; step < 200; ++step) {
            history.add(recordOf(step, random));
        }
        history.add(recordOf(50, random));
        QCOMPARE(history.lastStep(), std::int64_t {50});
        QCOMPARE(history.buckets().size(), std::size_t {51});
        history.add(recordOf(0, random));
        QCOMPARE(history.buckets().size(), std::size_t {1});
    }

    void wordsSayWhatStandsOut()
    {
        PhaseTimes times;
        times.forwardMs = 0.5F;
        times.backwardMs = 0.25F;
        times.dataMs = 0.25F;
        times.waitMs = 0.25F;
        const QString text = sentenceOf({.lane = QStringLiteral("A"),
            .mean = PhaseMs(times),
            .casts = 7,
            .baseline = QStringLiteral("B"),
            .ratio = 1.5});
        for (const char* part : {"A: a step takes 1 ms, 1.5 times B", "Casts in it: 7", "25 % of it is waiting"}) {
            QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
        }
        QVERIFY(
            !sentenceOf({.lane = QStringLiteral("A"), .mean = PhaseMs(), .casts = 0}).contains(QStringLiteral("nan")));
        QCOMPARE(durationText(0.0123), QStringLiteral("12.3 \u00B5s"));
    }

    void theTabShowsEveryLane()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        TimePanel* panel = window->timePanel();
        QVERIFY(window->openFile(test::writeFileIn(folder, QStringLiteral("e.json"), smallExperimentText())));
        SessionController* controller = window->controller();
        QTRY_VERIFY_WITH_TIMEOUT(
            controller->status() && controller->status()->state == SessionState::Ready, patienceMs);
        window->actionNamed(QStringLiteral("showTime"))->trigger();
        QVERIFY(panel->isVisible());
        QVERIFY(panel->chart()->isEmpty());
        controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(controller->status()->state == SessionState::Finished, patienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(panel->times().rows().size(), std::size_t {2}, patienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!panel->chart()->isEmpty(), patienceMs);

        // The same numbers as the database has.
        controller->writer()->flush();
        const RunStore store(controller->database(), StoreAccess::ReadOnly);
        for (std::size_t lane = 0; lane < 2; ++lane) {
            const auto row = [panel, lane] { return panel->times().rows().at(lane); };
            const auto records = store.records(controller->writer()->runOf(row().lane));
            double forward = 0;
            for (const StepRecord& record : records) {
                forward += record.step == 0 ? 0 : record.timeMs.forwardMs; // the first one warms up
            }
            forward /= static_cast<double>(records.size() - 1);
            QTRY_VERIFY_WITH_TIMEOUT( // the table is filled a few times a second
                std::abs(row().summary.mean[StepPhase::Forward] - forward) < 1e-6 * forward, patienceMs);
            QVERIFY(row().summary.mean.total() > 0);
        }
        const LaneTimes fp16 = panel->times().rows().at(1);
        QVERIFY(fp16.summary.casts > 0);
        QCOMPARE(fp16.summary.baseline, QStringLiteral("FP32"));
        QVERIFY(fp16.summary.ratio > 0);

        // A row chooses the lane, there and in the window.
        QTest::mouseClick(panel->table()->viewport(), Qt::LeftButton, {},
            panel->table()->visualRect(panel->table()->model()->index(1, 0)).center());
        QCOMPARE(*window->laneList()->selected(), fp16.lane);
        QVERIFY(panel->sentence().startsWith(QStringLiteral("FP16 AMP: ")));

        // A bar tells its step, and leads there.
        const QPoint bar(static_cast<int>(panel->chart()->xOf(30) + 1), panel->chart()->height() / 2);
        QVERIFY2(panel->chart()->textAt(bar).contains(QStringLiteral("FP16 AMP, step 30")),
            qPrintable(panel->chart()->textAt(bar)));
        QSignalSpy steps(panel, &TimePanel::stepChosen);
        QTest::mouseClick(panel->chart(), Qt::LeftButton, {}, bar);
        QCOMPARE(steps.at(0).at(0).toLongLong(), 30LL);

        panel->spanCombo()->setCurrentIndex(2);
        emit panel->spanCombo()->activated(2);
        QCOMPARE(panel->times().rows().size(), std::size_t {2});

        panel->copyTable();
        QVERIFY(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("Lane\tms a step\t")));
        QCOMPARE(QGuiApplication::clipboard()->text().count(QLatin1Char('\n')), 3);
        for (const char* name : {"t.png", "t.pdf", "t.svg", "t.csv"}) {
            const QString file = folder.filePath(QLatin1String(name));
            panel->exportTo(file);
            QVERIFY2(QFileInfo(file).size() > 0, name);
        }
        QFile csv(folder.filePath(QStringLiteral("t.csv")));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = csv.readAll().trimmed().split('\n');
        QCOMPARE(lines.size(), 1 + 2 * 60);
        QVERIFY(lines.first().startsWith("lane,first_step,steps,forward_ms,"));
        QVERIFY_THROWS_EXCEPTION(Error, panel->exportTo(QStringLiteral("/no/such/folder/t.csv")));
    }
};

QTEST_MAIN(TestTimePanel)
#include "tst_time_panel.moc"
