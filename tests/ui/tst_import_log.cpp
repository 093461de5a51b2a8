// A training log becomes a stored run through the real window: dropped, its columns corrected, imported, drawn,
// diagnosed, watched.
#include "open_window.h"
#include "ui/import_log/import_dialog.h"
#include "ui/import_log/log_file.h"
#include "ui/plots/dashboard.h"
#include "ui/views/findings_panel.h"
#include "ui/views/message_bar.h"
#include "ui/views/runs_view.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDropEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QTableView>
#include <QTableWidget>
#include <QtTest>

using namespace mantissa;

namespace {

/// A scale that collapses from step 40 on, in columns whose names say little.
std::string collapse(int steps, int first = 0)
{
    std::string text = first == 0 ? "step,ce,amp,note\n" : "";
    for (int step = first; step < steps; ++step) {
        const double scale = std::ldexp(65536.0, step > 40 ? 40 - step : 0);
        text += std::to_string(step) + "," + std::to_string(2.0 - 0.001 * step) + ","
            + QByteArray::number(scale, 'g', 17).toStdString() + ",x\n";
    }
    return text;
}

} // namespace

class TestImportLog : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;

    [[nodiscard]] QString write(const QString& name, const std::string& text) const
    {
        return test::writeFileIn(*m_folder, name, text);
    }

    void drop(const QString& file)
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(file)});
        QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &event);
    }

    /// The open dialog, once it has looked into its log.
    [[nodiscard]] ImportDialog* dialog() const
    {
        auto* found = m_window->findChild<ImportDialog*>();
        if (found != nullptr && !QTest::qWaitFor([found] { return !found->summary().startsWith("Looking"); })) {
            return nullptr;
        }
        return found;
    }

    [[nodiscard]] std::vector<RunInfo> runs() const
    {
        if (!std::filesystem::exists(m_window->controller()->database())) {
            return {};
        }
        return RunStore(m_window->controller()->database(), StoreAccess::ReadOnly).runs();
    }

    [[nodiscard]] std::vector<RunInfo> importedRuns() const
    {
        std::vector<RunInfo> imported;
        for (const RunInfo& run : runs()) {
            if (run.imported) {
                imported.push_back(run);
            }
        }
        return imported;
    }

private slots:

    void initTestCase()
    {
        test::useOwnHome();
        QLocale::setDefault(QLocale::c());
    }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_window = test::openWindow(*m_folder);
        m_window->openFirst();
    }

    void cleanup()
    {
        m_window.reset();
        m_folder.reset();
    }

    void logsAreToldFromExperiments_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<bool>("isLog");
        QTest::newRow("csv") << "a.csv" << QByteArray() << true;
        QTest::newRow("events") << "events.out.tfevents.1.host" << QByteArray() << true;
        QTest::newRow("lines") << "a.jsonl" << QByteArray() << true;
        QTest::newRow("an experiment") << "a.json" << QByteArray("{\"mantissa\": 1, \"steps\": 3}") << false;
        QTest::newRow("broken json") << "a.json" << QByteArray("{\"name\": ") << false;
        QTest::newRow("trainer_state.json") << "a.json" << QByteArray("{\n\"epoch\": 1, \"log_history\": []}") << true;
        QTest::newRow("lines named json") << "a.json" << QByteArray("{\"step\": 0, \"loss\": 1}\n") << true;
    }

    void logsAreToldFromExperiments()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, text);
        QFETCH(bool, isLog);
        QCOMPARE(looksLikeLog(write(name, text.toStdString())), isLog);
    }

    void aDroppedLogIsCorrectedImportedDrawnListedAndDiagnosed()
    {
        drop(write("job.csv", collapse(200)));
        ImportDialog* asked = dialog();
        QVERIFY(asked != nullptr);
        QCOMPARE(asked->comboOf(LogField::Step)->currentText(), "step");
        QCOMPARE(asked->comboOf(LogField::Loss)->currentText(), "none");
        QCOMPARE(asked->preview()->rowCount(), 8);
        QCOMPARE(asked->preview()->item(1, 1)->text(), "1.999000");
        QVERIFY(!asked->importButton()->isEnabled()); // nothing is known yet
        asked->comboOf(LogField::Loss)->setCurrentText("ce");
        asked->comboOf(LogField::Scale)->setCurrentText("amp");
        QVERIFY(asked->importButton()->isEnabled());
        QVERIFY(asked->preview()->horizontalHeaderItem(2)->text().contains("Loss scale"));
        asked->nameField()->setText("the job");
        asked->importButton()->click();

        QTRY_COMPARE(importedRuns().size(), 1U);
        const RunInfo run = importedRuns().front();
        QCOMPARE(run.lane, "the job");
        QCOMPARE(run.steps, 200);
        QTRY_VERIFY(m_window->findChild<ImportDialog*>() == nullptr);
        const quint64 key = Dashboard::storedKey(run.id);
        QTRY_VERIFY(m_window->dashboard()->laneKeys().contains(key));
        QTRY_VERIFY(m_window->dashboard()->summaryText().contains("the job"));
        QTRY_VERIFY_WITH_TIMEOUT(m_window->findings()->text().contains("The scale falls without end"), 60'000);
        QTRY_VERIFY(m_window->runsView()->findChild<QTableView*>()->model()->rowCount() > 0);
        const auto* model = m_window->runsView()->findChild<QTableView*>()->model();
        QTRY_COMPARE(model->index(0, 1).data().toString(), "Imported");
        QVERIFY(model->index(0, 1).data(Qt::ToolTipRole).toString().contains("job.csv"));
        const QStringList unknown {model->index(0, 4).data().toString(), model->index(0, 9).data().toString()};
        QCOMPARE(unknown, QStringList({QString::fromUtf8("\u2013"), QString::fromUtf8("\u2013")}));
    }

    void anImportedRunCannotBeTrainedAgain()
    {
        m_window->openLogFile(write("a.csv", "step,loss\n0,1\n1,2\n"));
        QVERIFY(dialog() != nullptr);
        dialog()->importButton()->click();
        QTRY_COMPARE(importedRuns().size(), 1U);
        auto* table = m_window->runsView()->findChild<QTableView*>();
        QTRY_VERIFY(table->model()->rowCount() > 0);
        table->selectRow(0);
        const auto action = [this](const char* name) { return m_window->runsView()->findChild<QAction*>(name); };
        QTRY_VERIFY(action("findings")->isEnabled());
        QVERIFY(!action("rerun")->isEnabled() && !action("resume")->isEnabled() && !action("look")->isEnabled());
        action("findings")->trigger();
        QTRY_VERIFY(m_window->findings()->text().contains("nothing that the log tells looks wrong"));
    }

    void aColumnMeansOneThing()
    {
        m_window->openLogFile(write("a.csv", "step,loss,scale\n0,1,8\n1,2,8\n"));
        ImportDialog* asked = dialog();
        QVERIFY(asked != nullptr);
        asked->comboOf(LogField::Loss)->setCurrentText("scale");
        QCOMPARE(asked->comboOf(LogField::Scale)->currentText(), "none");
        QCOMPARE(asked->choices().at(LogField::Scale), "");
        QCOMPARE(asked->choices().at(LogField::Loss), "scale");
        asked->reject();
    }

    void aFileThatIsNoLogSaysWhy()
    {
        m_window->openLogFile(write("a.csv", "this is prose\n"));
        ImportDialog* asked = dialog();
        QVERIFY(asked != nullptr);
        QVERIFY(asked->summary().contains("has no cells"));
        QVERIFY(!asked->importButton()->isEnabled());
        asked->reject();
        QVERIFY(importedRuns().empty());
    }

    void aWatchedLogGrowsLiveAndGoesOnAsAnotherRunWhenItIsBegunAnew()
    {
        const QString file = write("live.csv", "step,loss\n0,2\n1,1.5\n");
        m_window->openLogFile(file);
        ImportDialog* asked = dialog();
        QVERIFY(asked != nullptr);
        asked->watchBox()->setChecked(true);
        asked->importButton()->click();
        QTRY_COMPARE(importedRuns().size(), 1U);
        const RunId run = importedRuns().front().id;
        QCOMPARE(importedRuns().front().status, RunStatus::Running);
        const auto append = [&file](const QByteArray& text) {
            QFile opened(file);
            QVERIFY(opened.open(QIODevice::Append));
            QCOMPARE(opened.write(text), text.size());
        };
        append("2,1.25\n3,1.125\n");
        QTRY_COMPARE_WITH_TIMEOUT(importedRuns().front().steps, 4, 20000);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->dashboard()->summaryText().contains("at step 3"), 20000);
        // Back to step 1: another run, from the beginning.
        append("1,9\n2,8\n");
        QTRY_COMPARE_WITH_TIMEOUT(importedRuns().size(), 2U, 20000);
        QTRY_COMPARE(
            RunStore(m_window->controller()->database(), StoreAccess::ReadOnly).run(run)->status, RunStatus::Finished);
        QMenu* watched = nullptr;
        for (QMenu* menu : m_window->findChildren<QMenu*>()) {
            watched = menu->title().contains("Watched") ? menu : watched;
        }
        QVERIFY(watched != nullptr);
        QCOMPARE(watched->actions().size(), 1);
        watched->actions().front()->trigger();
        QTRY_VERIFY(watched->isEmpty());
        QTRY_COMPARE(importedRuns().front().status, RunStatus::Finished);
    }

    void withoutADatabaseItSaysSo()
    {
        MainWindow window({.database = {}, .remembersState = false});
        window.openLogFile("a.csv");
        QVERIFY(window.messageBar()->text().contains("not being stored"));
        QVERIFY(window.findChild<ImportDialog*>() == nullptr);
    }
};

QTEST_MAIN(TestImportLog)
#include "tst_import_log.moc"
