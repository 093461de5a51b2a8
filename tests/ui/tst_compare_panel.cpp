// Any two lanes or stored runs side by side, and other seeds trained to know the noise.
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/compare/compare_panel.h"
#include "ui/compare/comparison_words.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableWidget>
#include <QTest>

#include <limits>

using namespace mantissa;
using mantissa::test::openWindow;
using mantissa::test::smallExperimentText;

namespace {

constexpr int patienceMs = 60'000;

QString cellOf(const QTableWidget* table, const QString& what, int column)
{
    for (int row = 0; row < table->rowCount(); ++row) {
        if (table->item(row, 0)->text() == what) {
            return table->item(row, column)->text();
        }
    }
    return {};
}

} // namespace

class TestComparePanel : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { mantissa::test::useOwnHome(); }

    void verdictsFollowTheNoise()
    {
        RunComparison comparison;
        comparison.a.id = 1;
        comparison.a.lane = std::string("A");
        comparison.b.id = 2;
        comparison.b.lane = std::string("B");
        QVERIFY(verdictOf(comparison).contains(QStringLiteral("no step in common")));
        comparison.steps.first = {0};
        comparison.steps.lossA = {1.0};
        comparison.steps.lossB = {1.25};
        QVERIFY(verdictOf(comparison).startsWith(QStringLiteral("B (run 2) ends 0.25 above A (run 1), at 1.25.")));
        QVERIFY(verdictOf(comparison).contains(QStringLiteral("other seeds would tell")));
        comparison.noise = {0.5};
        QVERIFY(verdictOf(comparison).contains(QStringLiteral("No more than noise")));
        comparison.noise = {0.1};
        QVERIFY(verdictOf(comparison).contains(QStringLiteral("More than noise")));
        comparison.steps.lossB = {std::numeric_limits<double>::quiet_NaN()};
        QVERIFY(verdictOf(comparison).contains(QStringLiteral("not finite")));
        comparison.steps.lossB = {1.0};
        QVERIFY(verdictOf(comparison).contains(QStringLiteral("the same loss")));
    }

    void lanesAndRunsAreCompared()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        ComparePanel* panel = window->comparePanel();
        QVERIFY(window->openFile(test::writeFileIn(folder, QStringLiteral("e.json"), smallExperimentText())));
        SessionController* controller = window->controller();
        QTRY_VERIFY_WITH_TIMEOUT(
            controller->status() && controller->status()->state == SessionState::Ready, patienceMs);
        window->actionNamed(QStringLiteral("showCompare"))->trigger();
        QVERIFY(panel->isVisible());
        QVERIFY(panel->chart()->comparison() == nullptr);
        QVERIFY(panel->chart()->accessibleDescription().contains(QStringLiteral("as soon as both have trained")));
        QVERIFY(!panel->trainButton()->isEnabled());
        QVERIFY_THROWS_EXCEPTION(Error, panel->exportTo(folder.filePath(QStringLiteral("c.csv"))));

        controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(controller->status()->state == SessionState::Finished, patienceMs);
        const auto isWhole = [panel] {
            return panel->chart()->comparison() && panel->chart()->comparison()->steps.size() == 60
                && panel->chart()->comparison()->b.lane == "FP16 AMP";
        };
        QTRY_VERIFY_WITH_TIMEOUT(isWhole(), patienceMs);
        QCOMPARE(cellOf(panel->table(), QStringLiteral("precision.policy"), 1), QStringLiteral("fp32"));
        QCOMPARE(cellOf(panel->table(), QStringLiteral("precision.policy"), 2), QStringLiteral("fp16"));
        QCOMPARE(cellOf(panel->table(), QStringLiteral("steps"), 2), QStringLiteral("60"));
        QVERIFY(panel->verdict().contains(QStringLiteral("other seeds would tell")));

        // A place tells its step, and leads there.
        const QPoint place(static_cast<int>(panel->chart()->xOf(30)), panel->chart()->height() / 3);
        QVERIFY2(panel->chart()->textAt(place).startsWith(QStringLiteral("Step 30\n")),
            qPrintable(panel->chart()->textAt(place)));
        QSignalSpy steps(panel, &ComparePanel::stepChosen);
        QTest::mouseClick(panel->chart(), Qt::LeftButton, {}, place);
        QCOMPARE(steps.at(0).at(0).toLongLong(), 30LL);

        // Other seeds, trained here.
        panel->seedsField()->setValue(2);
        QTRY_VERIFY_WITH_TIMEOUT(panel->trainButton()->isEnabled(), patienceMs);
        panel->trainButton()->click();
        QTRY_VERIFY_WITH_TIMEOUT(panel->verdict().contains(QStringLiteral("noise")), patienceMs);
        const ComparisonPtr comparison = panel->chart()->comparison();
        QCOMPARE(comparison->otherSeeds.size(), std::size_t {2});
        QCOMPARE(comparison->pairs.size(), std::size_t {2});
        const RunStore store(controller->database(), StoreAccess::ReadOnly);
        QCOMPARE(store.runs().size(), std::size_t {6});
        QCOMPARE(store.run(comparison->otherSeeds.front())->seed, std::uint64_t {4}); // behind 3, the experiment's

        panel->copyTable();
        QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("precision.policy\tfp32\tfp16")));
        for (const char* name : {"c.png", "c.pdf", "c.svg", "c.csv"}) {
            const QString file = folder.filePath(QLatin1String(name));
            panel->exportTo(file);
            QVERIFY2(QFileInfo(file).size() > 0, name);
        }
        QFile csv(folder.filePath(QStringLiteral("c.csv")));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().trimmed().split('\n').size(), 61);

        // Stored runs can be chosen, with themselves too.
        panel->compare(RunId {1}, RunId {1});
        QTRY_VERIFY_WITH_TIMEOUT(panel->chart()->comparison() && panel->chart()->comparison()->b.id == 1, patienceMs);
        QVERIFY(panel->verdict().contains(QStringLiteral("the same loss")));
    }

    void trainingOtherSeedsCanBeCancelled()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        ComparePanel* panel = window->comparePanel();
        std::string text = smallExperimentText(20);
        QVERIFY(window->openFile(test::writeFileIn(folder, QStringLiteral("e.json"), text)));
        SessionController* controller = window->controller();
        QTRY_VERIFY_WITH_TIMEOUT(
            controller->status() && controller->status()->state == SessionState::Ready, patienceMs);
        window->actionNamed(QStringLiteral("showCompare"))->trigger();
        controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(controller->status()->state == SessionState::Finished, patienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(panel->trainButton()->isEnabled(), patienceMs);
        panel->seedsField()->setValue(16);
        panel->trainButton()->click();
        QCOMPARE(panel->trainButton()->text(), QStringLiteral("Cancel"));
        panel->trainButton()->click();
        QTRY_COMPARE_WITH_TIMEOUT(panel->trainButton()->text(), QStringLiteral("Train other seeds"), patienceMs);
        const RunStore store(controller->database(), StoreAccess::ReadOnly);
        QVERIFY(store.runs().size() < std::size_t {34});
    }

    void withoutADatabaseItSaysSo()
    {
        MainWindow::Options options;
        options.remembersState = false;
        MainWindow window(options);
        window.show();
        window.actionNamed(QStringLiteral("showCompare"))->trigger();
        QVERIFY(window.comparePanel()->chart()->accessibleDescription().contains(
            QStringLiteral("runs are not being stored")));
    }
};

QTEST_MAIN(TestComparePanel)
#include "tst_compare_panel.moc"
