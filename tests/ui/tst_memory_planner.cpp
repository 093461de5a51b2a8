// The planner dialog: its table says what the engine plans, follows every field, and explains what it cannot read.
#include "ui/style/number_format.h"
#include "ui/views/memory_planner_dialog.h"
#include "ui/views/number_field.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QtTest>

using namespace mantissa;

namespace {

constexpr int patienceMs = 60'000;
constexpr int bf16 = 2;
constexpr int fitsRow = 6;

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

QString shown(const MemoryPlannerDialog& dialog, int row, int column)
{
    return dialog.findChild<QTableWidget*>()->item(row, column)->text();
}

void retype(QLineEdit* field, const QString& text)
{
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, text);
    QTest::keyClick(field, Qt::Key_Return);
}

DecoderTraining smallDecoder()
{
    DecoderTraining training;
    training.shape = decoderOf(10'000'000, 32000, 256);
    training.batch = 4;
    training.policy = "bf16";
    return training;
}

void askForSmallDecoder(const MemoryPlannerDialog& dialog)
{
    retype(named<NumberField>(dialog, "Context"), "256");
    retype(named<NumberField>(dialog, "Batch"), "4");
    retype(named<QLineEdit>(dialog, "Parameters"), "10M");
}

} // namespace

class TestMemoryPlanner : public QObject
{
    Q_OBJECT

private slots:

    void showsWhatTheEnginePlansAndFollowsTheFields()
    {
        MemoryPlannerDialog dialog;
        dialog.show();
        QSignalSpy answered(&dialog, &MemoryPlannerDialog::answered);
        askForSmallDecoder(dialog);
        DecoderTraining training = smallDecoder();
        const auto expect = [&dialog](const DecoderTraining& wanted) {
            const MemoryBytes bytes = plannedBytes(wanted);
            QTRY_COMPARE_WITH_TIMEOUT(shown(dialog, 5, bf16), formatBytes(bytes.total()), patienceMs);
            QCOMPARE(shown(dialog, 0, bf16), formatBytes(bytes.weights));
            QCOMPARE(shown(dialog, 3, bf16), formatBytes(bytes.optimizer));
            QCOMPARE(shown(dialog, 4, bf16), formatBytes(bytes.activations));
        };
        QTRY_VERIFY_WITH_TIMEOUT(answered.size() > 0, patienceMs);
        expect(training);

        named<QComboBox>(dialog, "Optimizer")->setCurrentText("sgd");
        training.optimizer = "sgd";
        expect(training);
        for (QCheckBox* box : dialog.findChildren<QCheckBox*>()) {
            box->click();
        }
        training.fusedAttention = false;
        training.checkpointing = true;
        expect(training);
    }

    void saysWhetherItFits()
    {
        MemoryPlannerDialog dialog;
        dialog.show();
        retype(named<QLineEdit>(dialog, "Parameters"), "10M");
        QTRY_VERIFY_WITH_TIMEOUT(dialog.findChild<QTableWidget*>()->item(fitsRow, bf16) != nullptr
                && shown(dialog, fitsRow, bf16).contains("fits"),
            patienceMs);
        retype(named<QLineEdit>(dialog, "Parameters"), "70B");
        QTRY_VERIFY_WITH_TIMEOUT(shown(dialog, fitsRow, bf16).contains("times as much"), patienceMs);
        retype(named<NumberField>(dialog, "Device, GiB"), "1e6");
        QVERIFY(shown(dialog, fitsRow, bf16).contains("fits"));
    }

    void explainsWhatIsNoNumberOfParameters()
    {
        MemoryPlannerDialog dialog;
        dialog.show();
        for (const char* text : {"", "many", "7Q", "-3B", "99", "1e20", "nan"}) {
            auto* field = named<QLineEdit>(dialog, "Parameters");
            field->setText(text);
            QVERIFY2(named<QLabel>(dialog, "Assumptions")->text().contains("is not a number of parameters"), text);
        }
    }

    void copiesExactBytes()
    {
        MemoryPlannerDialog dialog;
        dialog.show();
        QSignalSpy answered(&dialog, &MemoryPlannerDialog::answered);
        askForSmallDecoder(dialog);
        const MemoryBytes bytes = plannedBytes(smallDecoder());
        QTRY_COMPARE_WITH_TIMEOUT(
            answered.isEmpty() ? QString() : shown(dialog, 5, bf16), formatBytes(bytes.total()), patienceMs);
        for (QPushButton* button : dialog.findChildren<QPushButton*>()) {
            if (button->text().contains("Copy")) {
                button->click();
            }
        }
        const QStringList lines = QApplication::clipboard()->text().split('\n');
        QCOMPARE(lines.value(0), QString("bytes\tfp32\tfp16\tbf16\tpure-bf16"));
        QCOMPARE(lines.value(6).section('\t', 3, 3), QString::number(bytes.total()));
    }

    void closingDoesNotWaitForAnAnswer()
    {
        auto dialog = std::make_unique<MemoryPlannerDialog>();
        retype(named<QLineEdit>(*dialog, "Parameters"), "1T");
        dialog.reset(); // the answer finds nobody; under sanitizers a use after free would show
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
    }
};

QTEST_MAIN(TestMemoryPlanner)
#include "tst_memory_planner.moc"
