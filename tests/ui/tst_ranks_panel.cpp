// The ranks of data-parallel lanes in the window: what is kept stays small and true, and the tab shows and exports it.
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/plots/dashboard.h"
#include "ui/ranks/rank_history.h"
#include "ui/ranks/ranks_panel.h"
#include "ui/views/lane_list.h"

#include <QComboBox>
#include <QFileInfo>
#include <QImage>
#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <limits>

using namespace mantissa;
using mantissa::test::openWindow;

namespace {

constexpr int patienceMs = 60'000;

constexpr const char* experimentText = R"({"mantissa": 1, "name": "ranks", "steps": 60,
    "data": {"kind": "digits", "batch": 16}, "model": {"kind": "mlp", "hidden": [8]},
    "scaler": {"family": "pytorch", "init_scale": 1024},
    "lanes": [{"name": "Four", "parallel": {"ranks": 4}}, {"name": "Drifting", "parallel": {"ranks": 2, "gradients": "local"}},
              {"name": "Alone"}],
    "events": [{"step": 30, "lane": "Four", "set": {"fault.at_rank": 2, "fault.gradient_inf": "fc1"}},
               {"step": 30, "lane": "Drifting", "set": {"fault.at_rank": 1, "fault.gradient_inf": "fc1"}}]})";

RankRecord recordOf(std::int64_t step, int rank)
{
    const bool isBad = step % 100 == 7 && rank == 1;
    return {.step = step,
        .rank = rank,
        .foundInf = isBad,
        .skipped = isBad,
        .scale = 1024,
        .gradNorm = isBad ? std::numeric_limits<double>::infinity() : 1.0 + rank,
        .flushed = 0.125,
        .distance = step % 10 == 0 ? 0.5 * rank : std::nan("")};
}

} // namespace

class TestRanksPanel : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { mantissa::test::useOwnHome(); }

    void whatIsKeptStaysSmallAndTrue()
    {
        RankHistory history;
        constexpr int steps = 5000;
        for (std::int64_t step = 0; step < steps; ++step) {
            history.add(recordOf(step, 0));
            history.add(recordOf(step, 1));
        }
        QVERIFY(history.buckets().size() <= RankHistory::mostBuckets);
        QCOMPARE(history.lastStep(), std::int64_t {steps - 1});
        QCOMPARE(history.ranks(), std::size_t {2});
        const RankHistory::Span first = history.total(0);
        const RankHistory::Span second = history.total(1);
        QCOMPARE(first.skipped, 0);
        QCOMPARE(second.skipped, steps / 100);
        QCOMPARE(second.notFinite, steps / 100);
        QCOMPARE(first.norm, 1.0);
        QCOMPARE(second.norm, 2.0); // the largest that is finite
        QCOMPARE(second.distance, 0.5);
        QCOMPARE(second.flushed, 0.125);
        history.add(recordOf(0, 0)); // a lane that starts anew replaces what it had
        QCOMPARE(history.buckets().size(), std::size_t {1});
        QCOMPARE(history.bucketSteps(), std::int64_t {1});
    }

    void theTabShowsTheRanks()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        RanksPanel* const panel = window->ranksPanel();
        window->actionNamed(QStringLiteral("showRanks"))->trigger();
        QVERIFY(panel->isVisible());
        QVERIFY(panel->chart()->isEmpty());
        QVERIFY(window->openFile(test::writeFileIn(folder, QStringLiteral("e.json"), experimentText)));
        SessionController* const controller = window->controller();
        QTRY_VERIFY_WITH_TIMEOUT(
            controller->status() && controller->status()->state == SessionState::Ready, patienceMs);
        controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(controller->status()->state == SessionState::Finished, patienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!panel->chart()->isEmpty(), patienceMs);
        const auto lane = [controller](std::size_t at) { return controller->status()->lanes.at(at).id; };

        window->laneList()->select(lane(0));
        for (const char* part :
            {"Four: 4 ranks.", "rank 2 in 1 steps", "same number of steps, 1", "the same weights"}) {
            QTRY_VERIFY2_WITH_TIMEOUT(
                panel->sentence().contains(QString::fromUtf8(part)), qPrintable(panel->sentence()), patienceMs);
        }
        window->laneList()->select(lane(1));
        for (const char* part : {"Drifting: 2 ranks.", "disagree on skipping: from 0 to 1",
                 "scales differ: from 512 to", "drifted apart"}) {
            QTRY_VERIFY2_WITH_TIMEOUT(
                panel->sentence().contains(QString::fromUtf8(part)), qPrintable(panel->sentence()), patienceMs);
        }

        // A place tells its step and ranks, and leads to the step.
        window->laneList()->select(lane(0));
        const QPoint place(static_cast<int>(panel->chart()->xOf(30) + 1), panel->chart()->height() / 2);
        const QString text = panel->chart()->textAt(place);
        QVERIFY2(text.contains(QStringLiteral("Four, step 30"))
                && text.contains(QStringLiteral("rank 2: gradient norm "
                                                "not finite")),
            qPrintable(text));
        QSignalSpy steps(panel, &RanksPanel::stepChosen);
        QTest::mouseClick(panel->chart(), Qt::LeftButton, {}, place);
        QCOMPARE(steps.at(0).at(0).toLongLong(), 30LL);

        // Filled for the rank whose gradient it was, hollow for those that learnt of it.
        const QImage image = panel->chart()->grab().toImage();
        const double ratio = image.devicePixelRatio();
        const auto inkAt = [&](std::size_t rank) {
            return image.pixelColor(static_cast<int>((panel->chart()->xOf(30) + panel->chart()->xOf(31)) / 2 * ratio),
                static_cast<int>(panel->chart()->markY(rank) * ratio));
        };
        QVERIFY(inkAt(2) != inkAt(0));
        QCOMPARE(inkAt(0), inkAt(3));

        for (const char* name : {"r.png", "r.pdf", "r.svg", "r.csv"}) {
            const QString file = folder.filePath(QLatin1String(name));
            panel->exportTo(file);
            QVERIFY2(QFileInfo(file).size() > 0, name);
        }
        QFile csv(folder.filePath(QStringLiteral("r.csv")));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().trimmed().split('\n').size(), 1 + 60 * 4 + 60 * 2);
        QVERIFY_THROWS_EXCEPTION(Error, panel->exportTo(QStringLiteral("/no/such/folder/r.csv")));

        // The other measure, and a lane without ranks, which says what to do.
        panel->measureCombo()->setCurrentIndex(1);
        emit panel->measureCombo()->activated(1);
        QVERIFY(!panel->chart()->isEmpty());
        window->laneList()->select(lane(2));
        QVERIFY(panel->chart()->isEmpty());
        QVERIFY(panel->chart()->accessibleDescription().contains(QStringLiteral("parallel.ranks")));
    }
};

QTEST_MAIN(TestRanksPanel)
#include "tst_ranks_panel.moc"
