// The dialog that compares FP32 with AMP: it trains aside, shows what the
// protocol found, can be cancelled, and saves.
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/protocol/protocol_dialog.h"

#include <QComboBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <QtTest>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr int patienceMs = 60'000;

/// The field that a screen reader calls so.
template <typename Widget> Widget* named(const QWidget& dialog, const QString& name)
{
    for (Widget* widget : dialog.findChildren<Widget*>()) {
        if (widget->accessibleName() == name) {
            return widget;
        }
    }
    return nullptr;
}

QPushButton* button(const QWidget& dialog, const QString& text)
{
    for (QPushButton* candidate : dialog.findChildren<QPushButton*>()) {
        if (candidate->text().remove('&').startsWith(text)) {
            return candidate;
        }
    }
    return nullptr;
}

QByteArray contentsOf(const QString& file)
{
    QFile opened(file);
    return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
}

void compare(ProtocolDialog& dialog, int steps)
{
    QSignalSpy ended(&dialog, &ProtocolDialog::ended);
    named<QSpinBox>(dialog, "Steps")->setValue(steps);
    button(dialog, "Compare")->click();
    QVERIFY(!button(dialog, "Compare")->isEnabled());
    QVERIFY(ended.wait(patienceMs));
}

} // namespace

class TestProtocolDialog : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { useOwnHome(); }

    void opensFromTheRunMenuAndLeavesTheLanesAlone()
    {
        const QTemporaryDir folder;
        const auto window = openWindow(folder);
        window->openFile(writeFileIn(folder, "small.json", smallExperimentText()));
        QVERIFY(window->actionNamed("showProtocol")->text().contains("Compare FP32 with AMP"));
        window->actionNamed("showProtocol")->trigger();
        auto* dialog = window->findChild<ProtocolDialog*>();
        QVERIFY(dialog != nullptr);
        QCOMPARE(named<QComboBox>(*dialog, "Lane")->currentText(), QString("FP16 AMP"));
        QCOMPARE(named<QSpinBox>(*dialog, "Steps")->value(), 300);
        compare(*dialog, 120);
        QVERIFY(dialog->result() != nullptr);
        QCOMPARE(dialog->result()->runs.experiment, std::string("Small"));
        QCOMPARE(window->controller()->status()->step, std::int64_t {0});
    }

    void showsTheVerdictWithItsReasons()
    {
        ProtocolDialog dialog(smallExperiment(), "auto", false);
        dialog.show();
        QVERIFY(!button(dialog, "Save report")->isEnabled());
        compare(dialog, 150);
        const auto result = dialog.result();
        QVERIFY(result != nullptr);
        QCOMPARE(result->runs.steps, std::int64_t {150});
        QVERIFY2(named<QLabel>(dialog, "Verdict")->text().contains("Healthy"),
            qPrintable(named<QLabel>(dialog, "Verdict")->text()));
        const auto* checks = named<QTableWidget>(dialog, "Questions and answers");
        QCOMPARE(checks->rowCount(), static_cast<int>(result->checks.size()));
        for (int row = 0; row < checks->rowCount(); ++row) {
            QCOMPARE(checks->item(row, 2)->text(),
                QString::fromStdString(result->checks[static_cast<std::size_t>(row)].answer));
        }
        const auto* numbers = named<QTableWidget>(dialog, "Numbers");
        QVERIFY(numbers->rowCount() > 10);
        QVERIFY(checks->isVisible());
        QVERIFY(numbers->item(0, 1)->text().toDouble() > 0);
        QVERIFY(button(dialog, "Save report")->isEnabled());
        QVERIFY(button(dialog, "Compare")->isEnabled());
    }

    void aBrokenLaneIsAProblem()
    {
        Experiment experiment = smallExperiment();
        experiment.lanes[1]
            = withOverrides(experiment.lanes[1], {{"clip", {{"order", "clip-then-unscale"}, {"max_norm", 1}}}});
        ProtocolDialog dialog(experiment, "auto", false);
        compare(dialog, 120);
        QVERIFY(named<QLabel>(dialog, "Verdict")->text().contains("Problem"));
        const auto* findings = named<QTableWidget>(dialog, "Findings");
        QVERIFY(findings->rowCount() > 0);
        QVERIFY2(findings->item(0, 1)->text().contains("acts as 1 /"), qPrintable(findings->item(0, 1)->text()));
    }

    void repeatsWithSeeds()
    {
        ProtocolDialog dialog(smallExperiment(), "auto", false);
        named<QSpinBox>(dialog, "Seeds")->setValue(2);
        compare(dialog, 100);
        QCOMPARE(dialog.result()->runs.amp.size(), std::size_t {2});
        QVERIFY(dialog.result()->curves.usesSeeds);
    }

    void takesFp16WhereAllLanesAreFp32()
    {
        Experiment experiment = smallExperiment();
        experiment.lanes.pop_back();
        ProtocolDialog dialog(experiment, "auto", false);
        QVERIFY(!named<QComboBox>(dialog, "Lane")->isEnabled());
        compare(dialog, 100);
        QCOMPARE(dialog.result()->runs.amp.at(0).config.precision.policy, std::string("fp16"));
    }

    void savesAPageAPdfOfOnePageAndJson()
    {
        ProtocolDialog dialog(smallExperiment(), "auto", false);
        compare(dialog, 100);
        const QTemporaryDir folder;
        const auto save = [&](const char* name) {
            dialog.saveTo(folder.filePath(name));
            return contentsOf(folder.filePath(name));
        };
        const QByteArray page = save("r.html");
        QVERIFY(page.contains("<svg") && page.contains("FP32 against AMP: Small"));
        const QByteArray pdf = save("r.PDF");
        QVERIFY(pdf.startsWith("%PDF"));
        QCOMPARE(pdf.count("/Type /Page\n"), 1);
        QVERIFY(pdf.size() > 10000);
        const QJsonObject report = QJsonDocument::fromJson(save("r.json")).object();
        QCOMPARE(report["experiment"].toString(), QString("Small"));
        QVERIFY(report["checks"].toArray().size() >= 8);
        QVERIFY_EXCEPTION_THROWN(dialog.saveTo(folder.filePath("nowhere/r.html")), Error);
    }

    void cancelEndsItWithoutAResult()
    {
        ProtocolDialog dialog(smallExperiment(), "auto", false);
        QSignalSpy ended(&dialog, &ProtocolDialog::ended);
        named<QSpinBox>(dialog, "Steps")->setValue(1'000'000);
        button(dialog, "Compare")->click();
        QTRY_VERIFY(named<QProgressBar>(dialog, "Progress")->format().contains("FP32, seed 3 (1 of 2)"));
        button(dialog, "Cancel")->click();
        QVERIFY(ended.wait(patienceMs));
        QVERIFY(dialog.result() == nullptr);
        QVERIFY(named<QLabel>(dialog, "Verdict")->text().contains("Cancelled"));
        QVERIFY(button(dialog, "Compare")->isEnabled());
    }

    void closingWhileItTrainsEndsIt()
    {
        auto dialog = std::make_unique<ProtocolDialog>(smallExperiment(), "auto", false);
        named<QSpinBox>(*dialog, "Steps")->setValue(1'000'000);
        button(*dialog, "Compare")->click();
        QElapsedTimer clock;
        clock.start();
        dialog.reset();
        QVERIFY(clock.elapsed() < patienceMs / 2);
        QCoreApplication::processEvents(); // nothing comes for it any more
    }

    void saysWhatCannotBeTrained()
    {
        Experiment experiment = smallExperiment();
        for (LaneConfig& lane : experiment.lanes) {
            lane = withOverrides(lane, {{"data", {{"kind", "csv"}, {"path", "/nowhere/data.csv"}}}});
        }
        ProtocolDialog dialog(experiment, "auto", false);
        compare(dialog, 100);
        QVERIFY(dialog.result() == nullptr);
        QVERIFY2(named<QLabel>(dialog, "Verdict")->text().contains("/nowhere/data.csv"),
            qPrintable(named<QLabel>(dialog, "Verdict")->text()));
    }
};

QTEST_MAIN(TestProtocolDialog)
#include "tst_protocol_dialog.moc"
