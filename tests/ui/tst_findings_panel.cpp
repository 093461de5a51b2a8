/// The findings on the selected lane: made of the stored run when training pauses, and gone when the fault is.
#include "tests/ui/small_experiment.h"
#include "ui/session/run_loader.h"
#include "ui/session/session_controller.h"
#include "ui/views/findings_panel.h"

#include <QTemporaryDir>
#include <QTest>

using namespace mantissa;
using mantissa::test::smallExperiment;

namespace {

constexpr int patienceMs = 60'000;

} // namespace

class TestFindingsPanel : public QObject
{
    Q_OBJECT

private slots:

    void faultsAreNamedWhenTrainingPauses()
    {
        const QTemporaryDir folder;
        const std::filesystem::path database = folder.filePath(QStringLiteral("runs.db")).toStdString();
        SessionController controller(database);
        RunLoader loader(database);
        FindingsPanel panel(&controller, &loader);
        connect(&controller, &SessionController::statusChanged, &panel, &FindingsPanel::follow);
        panel.show();
        controller.open(ExperimentDocument(smallExperiment(400)));
        QTRY_VERIFY_WITH_TIMEOUT(controller.status() && controller.status()->state == SessionState::Ready, patienceMs);
        const std::uint32_t amp = controller.status()->lanes.at(1).id;
        panel.setLane(amp);
        QVERIFY(panel.text().contains(QStringLiteral("once it has trained")));

        controller.set(amp, "clip", {{"order", "clip-then-unscale"}, {"max_norm", 2}});
        controller.runSteps(40);
        QTRY_VERIFY_WITH_TIMEOUT(panel.text().contains(QStringLiteral("threshold 2 acts as 2 /")), patienceMs);
        QVERIFY(panel.text().contains(QStringLiteral("Unscale first")));
        QVERIFY(panel.text().contains(QStringLiteral("problem")));

        controller.set(amp, "clip.order", "unscale-then-clip");
        controller.runSteps(40);
        // What was wrong stays said, with the steps that it lasted.
        QTRY_VERIFY_WITH_TIMEOUT(panel.text().contains(QStringLiteral("steps 0 to 39")), patienceMs);

        panel.setLane(controller.status()->lanes.at(0).id);
        QTRY_COMPARE_WITH_TIMEOUT(panel.text(), QStringLiteral("No finding: nothing here looks wrong."), patienceMs);
    }

    void withoutADatabaseItSaysSo()
    {
        SessionController controller {std::filesystem::path()};
        RunLoader loader {std::filesystem::path()};
        FindingsPanel panel(&controller, &loader);
        connect(&controller, &SessionController::statusChanged, &panel, &FindingsPanel::follow);
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
