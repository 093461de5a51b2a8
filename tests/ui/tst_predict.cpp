// A room's guesses are held against what the run does.
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/predict/predict_dialog.h"
#include "ui/views/message_bar.h"

#include <QComboBox>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

using namespace mantissa;
using mantissa::test::openWindow;
using mantissa::test::smallExperimentText;

namespace {

constexpr int patienceMs = 60'000;

Finding problemAt(std::int64_t step, const char* rule, const char* title)
{
    Finding finding {.rule = rule, .severity = Severity::Problem, .title = title};
    finding.firstStep = step;
    finding.lastStep = step;
    return finding;
}

} // namespace

class TestPredict : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { mantissa::test::useOwnHome(); }

    void guessesAreHeldAgainstTheOutcome()
    {
        const LaneFate good {QStringLiteral("FP32"), {}};
        const LaneFate bad {QStringLiteral("FP16"), problemAt(12, "underflow_without_scaler", "It flushes.")};
        const Prediction guess {.hands = {3, 9}, .none = 8, .step = 10, .cause = FailureCause::Flushes};
        const QString text = revealOf(guess, {good, bad}).join(QLatin1Char('\n'));
        for (const char* part :
            {"FP32 trains.", "FP16 fails from step 12 on: It flushes.", "9 of 20 hands were for a lane that fails.",
                "It began 2 steps later than guessed.", "The cause was guessed: small gradients flush to zero."}) {
            QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
        }
        QVERIFY(revealOf({.hands = {3, 9}, .none = 8, .step = {}, .cause = {}}, {good, good})
                    .last()
                    .startsWith(QStringLiteral("8 of 20 hands saw")));
        QVERIFY(revealOf({.hands = {3, 0}, .none = 0, .step = {}, .cause = {}}, {good, bad})
                    .last()
                    .startsWith(QStringLiteral("Nobody saw it coming")));
        QCOMPARE(revealOf({.hands = {0, 0}, .none = 0, .step = {}, .cause = {}}, {good, good}).size(), 2); // not asked
        const QString wrong
            = revealOf({.hands = {0, 0}, .none = 0, .step = {}, .cause = FailureCause::Data}, {bad}).last();
        QVERIFY2(wrong.contains(QStringLiteral("the data are bad")) && wrong.contains(QStringLiteral("flush")),
            qPrintable(wrong));
    }

    /// Warnings are no failures; of problems the first in the list counts.
    void fatesFollowTheFindings()
    {
        Finding warning = problemAt(1, "clip_always", "w");
        warning.severity = Severity::Warning;
        QVERIFY(!fateOf(QStringLiteral("a"), {warning}).problem);
        QVERIFY(!fateOf(QStringLiteral("a"), {}).problem);
        const LaneFate fate
            = fateOf(QStringLiteral("a"), {warning, problemAt(7, "diverges", "p"), problemAt(2, "non_finite", "q")});
        QCOMPARE(fate.problem->title, std::string("p"));
    }

    void theDialogAsksRunsAndReveals()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        std::string text = smallExperimentText();
        text.replace(text.find("\"init_scale\": 1024"), 18, "\"init_scale\": 1e-9, \"frozen\": true");
        QVERIFY2(window->openFile(test::writeFileIn(folder, QStringLiteral("e.json"), text)),
            qPrintable(window->messageBar()->text()));
        SessionController* controller = window->controller();
        QTRY_VERIFY_WITH_TIMEOUT(
            controller->status() && controller->status()->state == SessionState::Ready, patienceMs);
        window->actionNamed(QStringLiteral("predict"))->trigger();
        auto* dialog = window->findChild<PredictDialog*>();
        QVERIFY(dialog != nullptr && dialog->isVisible());
        QVERIFY(!dialog->revealButton()->isEnabled());
        dialog->handsField(0)->setValue(2);
        dialog->handsField(1)->setValue(5);
        dialog->noneField()->setValue(1);
        dialog->stepField()->setValue(0);
        dialog->causeCombo()->setCurrentIndex(1);
        dialog->runButton()->click();
        QVERIFY(!dialog->handsField(1)->isEnabled()); // too late
        QTRY_VERIFY_WITH_TIMEOUT(controller->status()->state == SessionState::Finished, patienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(dialog->revealButton()->isEnabled(), patienceMs);
        QVERIFY(dialog->revealed().isEmpty());
        dialog->revealButton()->click();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->revealed().isEmpty(), patienceMs);
        for (const char* part : {"FP32 trains.", "FP16 AMP fails from step", "5 of 8 hands were for a lane that fails.",
                 "The cause was guessed"}) {
            QVERIFY2(dialog->revealed().contains(QString::fromUtf8(part)), qPrintable(dialog->revealed()));
        }

        // Other lanes end it.
        controller->reset();
        QTRY_VERIFY_WITH_TIMEOUT(window->findChild<PredictDialog*>() == nullptr, patienceMs);
    }
};

QTEST_MAIN(TestPredict)
#include "tst_predict.moc"
