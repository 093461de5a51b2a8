/// The findings on the selected lane: made of the stored run when training pauses, and gone when the fault is.
#include "tests/ui/small_experiment.h"
#include "ui/session/run_loader.h"
#include "ui/session/session_controller.h"
#include "ui/views/findings_panel.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>

using namespace mantissa;
using mantissa::test::smallExperiment;
using mantissa::test::smallExperimentText;

namespace {

constexpr int patienceMs = 60'000;

/// A panel beside a session that stores its runs.
struct Desk
{
    QTemporaryDir folder {};
    std::filesystem::path database = folder.filePath(QStringLiteral("runs.db")).toStdString();
    SessionController controller {database};
    RunLoader loader {database};
    FindingsPanel panel {&controller, &loader};

    Desk()
    {
        QObject::connect(&controller, &SessionController::statusChanged, &panel, qOverload<>(&FindingsPanel::follow));
        panel.show();
        controller.open(ExperimentDocument(smallExperiment(400)));
    }

    [[nodiscard]] bool isReady() const
    {
        return controller.status() && controller.status()->state == SessionState::Ready;
    }
};

} // namespace

class TestFindingsPanel : public QObject
{
    Q_OBJECT

private slots:

    void faultsAreNamedWhenTrainingPauses()
    {
        Desk desk;
        SessionController& controller = desk.controller;
        FindingsPanel& panel = desk.panel;
        QTRY_VERIFY_WITH_TIMEOUT(desk.isReady(), patienceMs);
        const std::uint32_t amp = controller.status()->lanes.at(1).id;
        panel.setLane(amp);
        QVERIFY(panel.text().contains(QStringLiteral("once it has trained")));

        controller.set(amp, "clip", {{"order", "clip-then-unscale"}, {"max_norm", 2}});
        controller.runSteps(40);
        QTRY_VERIFY_WITH_TIMEOUT(panel.text().contains(QStringLiteral("threshold 2 acts as 2 /")), patienceMs);
        QVERIFY(panel.text().contains(QStringLiteral("Unscale first")));
        QVERIFY(panel.text().contains(QStringLiteral("problem")));

        QTRY_VERIFY_WITH_TIMEOUT(controller.status()->step == 40, patienceMs); // it is found while it trains, too
        controller.set(amp, "clip.order", "unscale-then-clip");
        controller.runSteps(40);
        // What was wrong stays said, with the steps that it lasted.
        QTRY_VERIFY_WITH_TIMEOUT(panel.text().contains(QStringLiteral("steps 0 to 39")), patienceMs);

        panel.setLane(controller.status()->lanes.at(0).id);
        QTRY_COMPARE_WITH_TIMEOUT(panel.text(), QStringLiteral("No finding: nothing here looks wrong."), patienceMs);
    }

    void fixesMakeLanes()
    {
        Desk desk;
        SessionController& controller = desk.controller;
        FindingsPanel& panel = desk.panel;
        QTRY_VERIFY_WITH_TIMEOUT(desk.isReady(), patienceMs);
        const std::uint32_t amp = controller.status()->lanes.at(1).id;
        panel.setLane(amp);
        controller.set(amp, "clip", {{"order", "clip-then-unscale"}, {"max_norm", 2}});
        controller.runSteps(40);
        QTRY_VERIFY_WITH_TIMEOUT(panel.html().contains(QStringLiteral("href=\"fork:0\"")), patienceMs);
        QVERIFY(panel.html().contains(QStringLiteral("href=\"copy:0\"")));
        QVERIFY(panel.text().contains(QStringLiteral("unscale-then-clip")));
        QTRY_VERIFY_WITH_TIMEOUT(controller.status()->step == 40, patienceMs);

        panel.follow(QUrl(QStringLiteral("fork:0")));
        QTRY_COMPARE_WITH_TIMEOUT(controller.status()->lanes.size(), std::size_t {3}, patienceMs);
        const LaneStatus& fork = controller.status()->lanes.at(2);
        QCOMPARE(fork.config->name, std::string("FP16 AMP, fixed"));
        QCOMPARE(
            fork.initialWeightsHash, controller.laneStatus(amp)->initialWeightsHash); // from step 0, and catches up
        QCOMPARE(fork.config->clip.order, ClipOrder::UnscaleThenClip);

        panel.follow(QUrl(QStringLiteral("copy:0")));
        QTRY_COMPARE_WITH_TIMEOUT(controller.status()->lanes.size(), std::size_t {4}, patienceMs);
        const LaneStatus& copy = controller.status()->lanes.at(3);
        QCOMPARE(copy.nextStep, std::int64_t {40});
        QCOMPARE(copy.config->clip.order, ClipOrder::UnscaleThenClip);
        QCOMPARE(controller.laneStatus(amp)->config->clip.order, ClipOrder::ClipThenUnscale);
    }

    /// A step that broke is trained again from the state before it, and its cause is told.
    void aBrokenStepIsSearched()
    {
        Desk desk;
        SessionController& controller = desk.controller;
        FindingsPanel& panel = desk.panel;
        QTRY_VERIFY_WITH_TIMEOUT(desk.isReady(), patienceMs);
        const std::uint32_t amp = controller.status()->lanes.at(1).id;
        panel.setLane(amp);
        controller.runSteps(30);
        QTRY_VERIFY_WITH_TIMEOUT(controller.status()->step == 30, patienceMs);
        controller.set(amp, "fault.nan_sample", 1);
        controller.runSteps(10);
        QTRY_VERIFY_WITH_TIMEOUT(controller.status()->step == 40, patienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(panel.html().contains(QStringLiteral("href=\"blame:30\"")), patienceMs);
        const std::string before = controller.laneStatus(amp)->initialWeightsHash;
        panel.follow(QUrl(QStringLiteral("blame:30")));
        QTRY_VERIFY_WITH_TIMEOUT(
            panel.text().contains(QStringLiteral("sample 0 of the batch is not finite")), patienceMs);
        QVERIFY(panel.html().contains(QStringLiteral("href=\"op:")));
        QVERIFY(!panel.html().contains(QStringLiteral("href=\"mend:"))); // no format mends bad data
        QCOMPARE(controller.status()->step, std::int64_t {40});

        // A scale far too high: told, and the rest of the panel stays.
        controller.set(amp, "scaler.scale", 1e15);
        controller.runSteps(1);
        QTRY_VERIFY_WITH_TIMEOUT(controller.status()->step == 41, patienceMs);
        panel.follow(QUrl(QStringLiteral("blame:40")));
        QTRY_VERIFY_WITH_TIMEOUT(panel.text().contains(QStringLiteral("The scale is at fault")), patienceMs);
        panel.follow(QUrl(QStringLiteral("blame:4000")));
        QTRY_VERIFY_WITH_TIMEOUT(panel.text().contains(QStringLiteral("cannot go back to step 4000")), patienceMs);
    }

    void evidenceLeadsToItsPlace()
    {
        SessionController controller {std::filesystem::path()};
        RunLoader loader {std::filesystem::path()};
        FindingsPanel panel(&controller, &loader);
        QSignalSpy steps(&panel, &FindingsPanel::stepWanted);
        QSignalSpy ops(&panel, &FindingsPanel::opWanted);
        Finding finding {
            .rule = "x", .title = "t", .op = "fc1.out (linear, forward, fp16): 3 overflowed of 64 elements"};
        finding.firstStep = 12;
        finding.lastStep = 1500;
        finding.evidence = {{"since_step", 13}};
        const QString html = findingHtml(finding);
        for (const char* target : {"step:12", "step:1500", "step:13", "op:fc1.out"}) {
            QVERIFY2(html.contains(QStringLiteral("href=\"%1\"").arg(QLatin1String(target))), target);
            panel.follow(QUrl(QLatin1String(target)));
        }
        QCOMPARE(steps.size(), 3);
        QCOMPARE(steps.at(1).at(0).toLongLong(), 1500LL);
        QCOMPARE(ops.at(0).at(0).toString(), QStringLiteral("fc1.out"));
        QVERIFY(!html.contains(QStringLiteral("fork:"))); // no fix
    }

    /// A finding about a layer leads to where that layer is seen.
    void layersLeadToTheirPlace()
    {
        Desk desk;
        SessionController& controller = desk.controller;
        FindingsPanel& panel = desk.panel;
        std::string text = smallExperimentText();
        text.replace(text.find("\"seed\""), 0, "\"loss_weight\": 1e-12, ");
        controller.setSampling({.every = 5});
        controller.open(ExperimentDocument(parseExperiment(text, "t")));
        QTRY_VERIFY_WITH_TIMEOUT(desk.isReady(), patienceMs);
        panel.setLane(controller.status()->lanes.at(1).id);
        controller.runSteps(60);
        QTRY_VERIFY_WITH_TIMEOUT(panel.html().contains(QStringLiteral("href=\"layer:0\"")), patienceMs);
        QSignalSpy layers(&panel, &FindingsPanel::layerWanted);
        QSignalSpy gradients(&panel, &FindingsPanel::gradientWanted);
        panel.follow(QUrl(QStringLiteral("layer:0")));
        panel.follow(QUrl(QStringLiteral("gradient:0")));
        panel.follow(QUrl(QStringLiteral("layer:99"))); // a link of before
        QCOMPARE(layers.size(), 1);
        QVERIFY(layers.at(0).at(0).toString().startsWith(QStringLiteral("fc")));
        QCOMPARE(layers.at(0).at(1).value<LayerMeasure>(), LayerMeasure::RelativeError);
        QCOMPARE(gradients.at(0).at(0).toString(), layers.at(0).at(0).toString());
    }

    void withoutADatabaseItSaysSo()
    {
        SessionController controller {std::filesystem::path()};
        RunLoader loader {std::filesystem::path()};
        FindingsPanel panel(&controller, &loader);
        connect(&controller, &SessionController::statusChanged, &panel, qOverload<>(&FindingsPanel::follow));
        panel.show();
        controller.open(ExperimentDocument(smallExperiment()));
        QTRY_VERIFY_WITH_TIMEOUT(controller.status() && controller.status()->state == SessionState::Ready, patienceMs);
        panel.setLane(controller.status()->lanes.at(0).id);
        controller.runSteps(5);
        QTRY_VERIFY_WITH_TIMEOUT(panel.text().contains(QStringLiteral("runs are not being stored")), patienceMs);
    }

    /// Whatever is in a title must not become markup.
    void textIsNotMarkup()
    {
        Finding finding {.rule = "x", .title = "a < b & <i>c</i>", .advice = "<b>d</b>"};
        const QString html = findingHtml(finding);
        QVERIFY(html.contains(QStringLiteral("a &lt; b &amp; &lt;i&gt;c&lt;/i&gt;")));
        QVERIFY(html.contains(QStringLiteral("&lt;b&gt;d&lt;/b&gt;")));
    }
};

QTEST_MAIN(TestFindingsPanel)
#include "tst_findings_panel.moc"
