// The runs browser: its table, its search, and that what a person does to a run ends up in the file.
#include "engine/store/run_store.h"
#include "store_fixture.h"
#include "ui/models/run_list_model.h"
#include "ui/views/runs_view.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>
#include <QUndoStack>
#include <QtTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <fstream>

using namespace mantissa;

namespace {

RunInfo infoOf(RunId id, double loss)
{
    RunInfo run;
    run.id = id;
    run.experimentName = "Digits";
    run.lane = "FP16 AMP";
    run.color = "#D55E00";
    run.status = RunStatus::Finished;
    run.policy = "fp16";
    run.scaler = "pytorch";
    run.steps = 1234567;
    run.finalLoss = loss;
    run.validationAccuracy = 0.97654321;
    run.finalScale = 32768;
    run.startedUnixSeconds = 1.7e9;
    run.endedUnixSeconds = 1.7e9 + 3723.5;
    run.tags = {"talk", "draft"};
    run.note = "first line\nsecond line";
    return run;
}

std::vector<RunInfo> threeRuns()
{
    return {infoOf(9, 0.5), infoOf(5, std::numeric_limits<double>::quiet_NaN()), infoOf(2, 0.123456789)};
}

} // namespace

class TestRunsView : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;

    [[nodiscard]] std::filesystem::path file() const { return m_folder->filePath("runs.db").toStdString(); }

    /// Two finished runs and an interrupted one; returns their ids in order.
    [[nodiscard]] QList<RunId> makeRuns() const
    {
        QList<RunId> ids;
        RunWriter writer(file());
        for (const std::uint32_t lane : {0U, 1U, 1U}) {
            writer.runStarted(storetest::startOf(lane, ids.size() == 1 ? "Spirals" : "Digits"));
            for (std::int64_t step = 0; step < 20; ++step) {
                const StepRecord record = storetest::recordAt(lane, step);
                writer.stepsRecorded(std::span(&record, 1));
            }
            if (ids.size() < 2) {
                RunSummary summary;
                summary.steps = 20;
                summary.finalLoss = ids.isEmpty() ? 0.25 : 0.75;
                summary.unixSeconds = 1.7e9 + 8;
                writer.runEnded(lane, summary);
            }
            ids << writer.runOf(lane);
        }
        return ids;
    }

    static QTableView* tableOf(const RunsView& view) { return view.findChild<QTableView*>(); }

    static void showLoaded(RunsView& view, int rows)
    {
        view.resize(1200, 400);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QTRY_COMPARE(tableOf(view)->model()->rowCount(), rows);
    }

    static void select(const RunsView& view, RunId run)
    {
        const QAbstractItemModel* model = tableOf(view)->model();
        for (int row = 0; row < model->rowCount(); ++row) {
            if (model->index(row, 0).data(RunListModel::SortRole).toLongLong() == run) {
                tableOf(view)->selectRow(row);
                return;
            }
        }
        QFAIL("the run is not listed");
    }

    static QString shownTexts(const RunsView& view)
    {
        QStringList texts;
        for (const QLabel* label : view.findChildren<QLabel*>()) {
            if (label->isVisible()) {
                texts << label->text();
            }
        }
        return texts.join('\n');
    }

private slots:

    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void theModelKeepsQtsRules()
    {
        RunListModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        RunListOrder order(&model);
        const QAbstractItemModelTester orderTester(&order, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setRuns({});
        model.setRuns(threeRuns());
        const QPersistentModelIndex kept = model.index(1, RunListModel::LossColumn);
        // One gone, one changed, two new: at the front, in the middle and at the end.
        RunInfo changed = infoOf(5, 0.75);
        changed.status = RunStatus::Failed;
        model.setRuns({infoOf(12, 1), infoOf(7, 1), changed, infoOf(1, 1)});
        QCOMPARE(model.rowCount(), 4);
        QCOMPARE(kept.row(), 2);
        QCOMPARE(kept.data(RunListModel::SortRole).toDouble(), 0.75);
        QCOMPARE(model.rowOf(7), 1);
        model.removeRuns({12, 1, 99});
        QCOMPARE(model.rowCount(), 2);
        order.setWords("nothing like it");
        QCOMPARE(order.rowCount(), 0);
        model.setRuns({});
        QCOMPARE(model.rowCount(), 0);
    }

    void aListAskedForWhileAnotherIsReadIsReadToo()
    {
        const QList<RunId> ids = makeRuns();
        RunArchive archive(file());
        QSignalSpy loaded(&archive, &RunArchive::loaded);
        archive.reload();
        RunStore(file()).setNote(ids.front(), "written meanwhile");
        archive.reload(); // the answer to the first call may have been read before
        QTRY_COMPARE(loaded.size(), 2);
        QTest::qWait(50);
        QCOMPARE(loaded.size(), 2);
        const auto runs = loaded.back().front().value<RunArchive::Runs>();
        QVERIFY(std::ranges::any_of(*runs, [](const RunInfo& run) { return run.note == "written meanwhile"; }));
    }

    void aListThatCouldNotBeReadIsReadAgain()
    {
        std::ofstream(file()) << "this is no database, and longer than a header of SQLite would be: "
                              << std::string(200, '.');
        RunArchive archive(file());
        QSignalSpy failed(&archive, &RunArchive::loadFailed);
        archive.reload();
        QTRY_COMPARE(failed.size(), 1);
        archive.reloadIfChanged();
        QTRY_COMPARE(failed.size(), 2);
    }

    void numbersAreShortAndTheirDetailIsFull_data()
    {
        QTest::addColumn<int>("column");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("detail");
        QTest::addColumn<QString>("copied");
        QTest::newRow("loss") << int(RunListModel::LossColumn) << "0.1235"
                              << "0.123456789"
                              << "0.123456789";
        QTest::newRow("accuracy") << int(RunListModel::AccuracyColumn) << "97.65 %"
                                  << "0.97654321"
                                  << "0.97654321";
        QTest::newRow("scale") << int(RunListModel::ScaleColumn) << "2^15"
                               << "2^15 (32,768)"
                               << "32768";
        QTest::newRow("steps") << int(RunListModel::StepsColumn) << "1,234,567"
                               << "1,234,567"
                               << "1234567";
        QTest::newRow("duration") << int(RunListModel::DurationColumn) << "1:02:03"
                                  << "3723.5"
                                  << "3723.5";
        QTest::newRow("policy") << int(RunListModel::PolicyColumn) << "FP16"
                                << "FP16"
                                << "fp16";
        QTest::newRow("tags") << int(RunListModel::TagsColumn) << "talk, draft"
                              << "talk, draft"
                              << "talk, draft";
        QTest::newRow("note") << int(RunListModel::NoteColumn) << "first line second line"
                              << "first line\nsecond line"
                              << "first line second line";
    }

    void numbersAreShortAndTheirDetailIsFull()
    {
        QFETCH(int, column);
        QFETCH(QString, text);
        QFETCH(QString, detail);
        QFETCH(QString, copied);
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        RunListModel model;
        model.setRuns({infoOf(2, 0.123456789)});
        const QModelIndex cell = model.index(0, column);
        QCOMPARE(cell.data(Qt::DisplayRole).toString(), text);
        QCOMPARE(cell.data(Qt::ToolTipRole).toString(), detail);
        QCOMPARE(cell.data(RunListModel::CopyRole).toString(), copied);
        QLocale::setDefault(QLocale::c());
    }

    void notANumberIsAWordAndSortsLast()
    {
        RunListModel model;
        model.setRuns(threeRuns());
        QCOMPARE(model.index(1, RunListModel::LossColumn).data().toString(), QString("NaN"));
        RunListOrder order(&model);
        const auto ids = [&] {
            QList<qint64> list;
            for (int row = 0; row < order.rowCount(); ++row) {
                list << order.index(row, 0).data(RunListModel::SortRole).toLongLong();
            }
            return list;
        };
        order.sort(RunListModel::LossColumn, Qt::AscendingOrder);
        QCOMPARE(ids(), (QList<qint64> {2, 9, 5}));
        order.sort(RunListModel::LossColumn, Qt::DescendingOrder);
        QCOMPARE(ids(), (QList<qint64> {9, 2, 5}));
    }

    void editingANoteThatWasNotChangedLeavesItsLines()
    {
        RunListModel model;
        model.setRuns(threeRuns());
        QSignalSpy notes(&model, &RunListModel::noteEdited);
        QSignalSpy tags(&model, &RunListModel::tagsEdited);
        const QModelIndex note = model.index(0, RunListModel::NoteColumn);
        QVERIFY(!model.setData(note, note.data(Qt::EditRole), Qt::EditRole));
        QCOMPARE(model.at(0).note, std::string("first line\nsecond line"));
        QVERIFY(model.setData(note, "better", Qt::EditRole));
        QCOMPARE(notes.size(), 1);
        QCOMPARE(notes[0][1].toString(), QString("first line\nsecond line"));
        const QModelIndex cell = model.index(0, RunListModel::TagsColumn);
        QVERIFY(!model.setData(cell, " talk ,draft,, talk", Qt::EditRole));
        QVERIFY(model.setData(cell, "a  b, c,a b", Qt::EditRole));
        QCOMPARE(tags.size(), 1);
        QCOMPARE(tags[0][2].toStringList(), (QStringList {"a b", "c"}));
        QVERIFY(!model.setData(model.index(0, RunListModel::LossColumn), "1", Qt::EditRole));
    }

    void anEmptyPlaceSaysHowToFillIt()
    {
        RunsView view(file());
        view.show();
        QTRY_VERIFY(shownTexts(view).contains("No runs yet. Train an experiment and it appears here."));
        QVERIFY(!std::filesystem::exists(file())); // looking does not make a database
        QVERIFY(!view.findChild<QAction*>("delete")->isEnabled());
    }

    void troubleIsToldInWords()
    {
        {
            const RunStore made(file());
        }
        SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 999");
        RunsView view(file());
        view.show();
        QTRY_VERIFY(shownTexts(view).contains("A newer Mantissa wrote the database"));
    }

    void searchFindsWordsInAnyColumn()
    {
        const auto ids = makeRuns();
        RunStore(file()).setTags(ids[0], {"Workshop"});
        RunStore(file()).setNote(ids[2], "overflow at step 7");
        RunsView view(file());
        showLoaded(view, 3);
        auto* search = view.findChild<QLineEdit*>();
        const auto found = [&](const char* words) {
            search->setText(words);
            return tableOf(view)->model()->rowCount();
        };
        QCOMPARE(found("workshop"), 1);
        QCOMPARE(found("OVERFLOW 7"), 1);
        QCOMPARE(found("fp16 spirals"), 1);
        QCOMPARE(found("interrupted"), 1);
        QCOMPARE(found("nowhere"), 0);
        QVERIFY(shownTexts(view).contains("No run matches “nowhere”."));
        QCOMPARE(found(""), 3);
        QVERIFY(tableOf(view)->isVisible());
    }

    void tagsAndNotesAreStoredAndUndone()
    {
        const auto ids = makeRuns();
        RunsView view(file());
        showLoaded(view, 3);
        QAbstractItemModel* model = tableOf(view)->model();
        QVERIFY(model->setData(model->index(0, RunListModel::TagsColumn), "talk, demo"));
        QVERIFY(model->setData(model->index(0, RunListModel::NoteColumn), "see the skips"));
        const RunStore store(file());
        QTRY_COMPARE(store.run(ids[2])->note, std::string("see the skips"));
        QCOMPARE(store.run(ids[2])->tags, (std::vector<std::string> {"talk", "demo"}));
        view.undoStack()->undo();
        QTRY_COMPARE(store.run(ids[2])->note, std::string());
        QTRY_COMPARE(model->index(0, RunListModel::NoteColumn).data().toString(), QString());
        QCOMPARE(model->index(0, RunListModel::TagsColumn).data().toString(), QString("talk, demo"));
    }

    void typingIntoACellSurvivesARefresh()
    {
        (void)makeRuns();
        RunsView view(file());
        showLoaded(view, 3);
        QTableView* table = tableOf(view);
        table->setCurrentIndex(table->model()->index(1, RunListModel::NoteColumn));
        table->edit(table->currentIndex());
        auto* editor = table->viewport()->findChild<QLineEdit*>();
        QVERIFY(editor != nullptr);
        editor->setText("half a sent");
        RunStore(file()).setTags(1, {"from elsewhere"});
        view.refresh();
        QTRY_COMPARE(table->model()->index(2, RunListModel::TagsColumn).data().toString(), QString("from elsewhere"));
        QCOMPARE(editor->text(), QString("half a sent"));
        QTest::keyClick(editor, Qt::Key_Return);
        QTRY_COMPARE(RunStore(file()).run(2)->note, std::string("half a sent"));
    }

    void deletingCanBeUndone()
    {
        const auto ids = makeRuns();
        RunsView view(file());
        showLoaded(view, 3);
        QSignalSpy show(&view, &RunsView::showRunRequested);
        view.setShown(ids[1], true);
        select(view, ids[1]);
        tableOf(view)->setFocus();
        QTest::keyClick(tableOf(view), Qt::Key_Delete);
        QCOMPARE(tableOf(view)->model()->rowCount(), 2);
        QCOMPARE(show.size(), 1); // its curves go too
        QCOMPARE(show[0][1].toBool(), false);
        QTRY_COMPARE(RunStore(file()).runs().size(), std::size_t {2});
        QToolButton* undo = nullptr;
        for (auto* button : view.findChildren<QToolButton*>()) {
            undo = button->isVisible() && button->text() == "Undo" ? button : undo;
        }
        QVERIFY(undo != nullptr);
        undo->click();
        QTRY_COMPARE(tableOf(view)->model()->rowCount(), 3);
        QCOMPARE(RunStore(file()).runs().size(), std::size_t {3});
        QVERIFY(!undo->isVisible());
    }

    void aDeletionThatFailsBringsTheRunBack()
    {
        const auto ids = makeRuns();
        RunsView view(file());
        showLoaded(view, 3);
        SQLite::Database other(file().string(), SQLite::OPEN_READWRITE);
        other.exec("BEGIN EXCLUSIVE");
        select(view, ids[0]);
        view.findChild<QAction*>("delete")->trigger();
        QCOMPARE(tableOf(view)->model()->rowCount(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(shownTexts(view).contains("locked"), 20'000);
        QTRY_COMPARE(tableOf(view)->model()->rowCount(), 3);
    }

    void curvesAndRepetitionsAreAskedFor()
    {
        const auto ids = makeRuns();
        RunsView view(file());
        showLoaded(view, 3);
        QSignalSpy show(&view, &RunsView::showRunRequested);
        QSignalSpy rerun(&view, &RunsView::rerunRequested);
        auto* showAction = view.findChild<QAction*>("showCurves");
        auto* rerunAction = view.findChild<QAction*>("rerun");
        QVERIFY(!showAction->isEnabled() && !rerunAction->isEnabled());
        select(view, ids[0]);
        rerunAction->trigger();
        QCOMPARE(rerun.size(), 1);
        QCOMPARE(rerun[0][0].toLongLong(), ids[0]);
        showAction->trigger();
        QCOMPARE(show.size(), 1);
        QCOMPARE(show[0][0].toLongLong(), ids[0]);
        QVERIFY(show[0][1].toBool() && showAction->isChecked());
        tableOf(view)->selectAll();
        QVERIFY(!rerunAction->isEnabled() && !showAction->isChecked());
        showAction->trigger(); // the other two
        QCOMPARE(show.size(), 3);
        showAction->trigger(); // all are shown: hides them
        QCOMPARE(show.size(), 6);
        QCOMPARE(show[5][1].toBool(), false);
        // The check mark of a row does the same.
        QAbstractItemModel* model = tableOf(view)->model();
        model->setData(model->index(0, RunListModel::RunColumn), Qt::Checked, Qt::CheckStateRole);
        QCOMPARE(show.size(), 7);
        QCOMPARE(model->index(0, RunListModel::RunColumn).data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
    }

    void rowsAreCopiedAsTabSeparatedText()
    {
        const auto ids = makeRuns();
        RunsView view(file());
        showLoaded(view, 3);
        QHeaderView* header = tableOf(view)->horizontalHeader();
        for (int column = RunListModel::PolicyColumn; column < RunListModel::ColumnCount; ++column) {
            header->setSectionHidden(column, column != RunListModel::LossColumn);
        }
        select(view, ids[0]);
        tableOf(view)->setFocus();
        QTest::keySequence(tableOf(view), QKeySequence::Copy);
        QCOMPARE(QGuiApplication::clipboard()->text(),
            QString("Run\tStatus\tLane\tExperiment\tFinal loss\n%1\tfinished\tFP32\tDigits\t0.25").arg(ids[0]));
        const QByteArray state = view.saveState();
        header->setSectionHidden(RunListModel::LossColumn, true);
        QVERIFY(view.restoreState(state));
        QVERIFY(!header->isSectionHidden(RunListModel::LossColumn));
    }

    void theHeaderMenuChoosesColumns()
    {
        (void)makeRuns();
        RunsView view(file());
        showLoaded(view, 3);
        QHeaderView* header = tableOf(view)->horizontalHeader();
        QTimer::singleShot(0, &view, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            QVERIFY(menu != nullptr);
            QCOMPARE(menu->actions().size(), qsizetype {RunListModel::ColumnCount});
            menu->actions()[RunListModel::ScalerColumn]->trigger();
            menu->close();
        });
        emit header->customContextMenuRequested({5, 5});
        QVERIFY(header->isSectionHidden(RunListModel::ScalerColumn));
        QVERIFY(!header->isSectionHidden(RunListModel::LaneColumn));
    }

    void selectedRunsAreExported()
    {
        const auto ids = makeRuns();
        RunsView view(file());
        showLoaded(view, 3);
        tableOf(view)->selectAll();
        const QString csv = m_folder->filePath("out.csv");
        view.exportSelected(csv, RunArchive::Format::Csv);
        QTRY_VERIFY(shownTexts(view).contains("Exported to " + csv));
        QFile written(csv);
        QVERIFY(written.open(QIODevice::ReadOnly));
        QCOMPARE(written.readAll().count('\n'), 1 + 3 * 20);
        QVERIFY(!QFile::exists(csv + ".part"));
        view.exportSelected(m_folder->filePath("nowhere/out.json"), RunArchive::Format::Json);
        QTRY_VERIFY(shownTexts(view).contains("could not be written"));
    }

    void theListFollowsALiveRun()
    {
        RunWriter writer(file());
        writer.runStarted(storetest::startOf(0));
        (void)writer.runOf(0);
        RunsView view(file());
        showLoaded(view, 1);
        const QModelIndex steps = tableOf(view)->model()->index(0, RunListModel::StepsColumn);
        QCOMPARE(steps.data().toString(), QString("0"));
        for (std::int64_t step = 0; step < 20; ++step) {
            const StepRecord record = storetest::recordAt(0, step);
            writer.stepsRecorded(std::span(&record, 1));
        }
        QTRY_COMPARE(steps.data().toString(), QString("20"));
        QCOMPARE(steps.siblingAtColumn(RunListModel::StatusColumn).data().toString(), QString("Running"));
    }

    void everyControlHasANameAndIsReachable()
    {
        RunsView view(file());
        for (const QToolButton* button : view.findChildren<QToolButton*>()) {
            if (qobject_cast<const QLineEdit*>(button->parent()) != nullptr) {
                continue; // Qt's own clear button inside the search field
            }
            QVERIFY(!button->text().isEmpty() || !button->accessibleName().isEmpty());
            QVERIFY(!button->toolTip().isEmpty());
        }
        QVERIFY(!view.findChild<QLineEdit*>()->accessibleName().isEmpty());
        QVERIFY(!tableOf(view)->accessibleName().isEmpty());
    }
};

QTEST_MAIN(TestRunsView)
#include "tst_runs_view.moc"
