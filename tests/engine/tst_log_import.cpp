// A log becomes runs of the database: what it tells and nothing else, restarts resolved, growth followed.
#include "engine/core/error.h"
#include "engine/store/run_comparison.h"
#include "engine/store/run_export.h"
#include "log_files.h"

#include <cmath>
#include <sstream>

using namespace mantissa;
using logtest::complaintOf;
using logtest::contents;
using logtest::Logs;

namespace {

std::filesystem::path fixture(const char* name)
{
    return std::string(MANTISSA_SOURCE_DIR "/tests/fixtures/import/") + name;
}

QByteArray rows(int first, int end, const std::function<QByteArray(int)>& row)
{
    QByteArray text;
    for (int step = first; step < end; ++step) {
        text += QByteArray::number(step) + ',' + row(step) + '\n';
    }
    return text;
}

QByteArray number(double value)
{
    return QByteArray::number(value, 'g', 17);
}

std::vector<std::int64_t> stepsOf(const std::vector<StepRecord>& records)
{
    std::vector<std::int64_t> steps;
    std::ranges::transform(records, std::back_inserter(steps), &StepRecord::step);
    return steps;
}

bool mentions(const std::vector<std::string>& notes, const char* words)
{
    return std::ranges::any_of(
        notes, [words](const std::string& note) { return note.find(words) != std::string::npos; });
}

/// Reads a log, and how it became runs.
std::vector<ImportedRun> runsOf(const std::filesystem::path& file, const LogImportOptions& options = {})
{
    LogImport log(file, options);
    while (log.readOn(1000)) { }
    log.settle();
    return log.runs();
}

} // namespace

class TestLogImport : public QObject
{
    Q_OBJECT

private slots:

    void anEventFileBecomesARunThatKnowsWhatItKnows()
    {
        const Logs logs;
        const auto ids = logs.import(fixture("torch.tfevents"));
        QCOMPARE(ids.size(), 1U);
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        const RunInfo run = store.run(ids[0]).value();
        QCOMPARE(run.lane, "torch");
        QCOMPARE(run.steps, 60);
        QVERIFY(run.imported && run.imported->knows("loss") && run.imported->knows("scale")
            && !run.imported->knows("flushed"));
        QCOMPARE(run.imported->format, "tfevents");
        QVERIFY(run.policy.empty() && run.scaler.empty());
        QCOMPARE(run.startedUnixSeconds, 1.7e9);
        // The scale is halved behind infinite gradients, so which steps were skipped is certain.
        QCOMPARE(run.skippedSteps, 4);
        QVERIFY(run.imported->knows("skipped") && run.imported->knows("found_inf"));
        const auto records = store.records(ids[0]);
        for (const StepRecord& record : records) {
            const std::int64_t step = record.step;
            QCOMPARE(record.skipped, step <= 2 || step == 40);
            QCOMPARE(record.loss, double {static_cast<float>(std::exp(-static_cast<double>(step) / 50) + 0.1)});
            QCOMPARE(record.lossFinite, true);
            QVERIFY(std::isnan(record.flushed) && std::isnan(record.gradMax) && std::isnan(record.timeMs.forwardMs));
        }
        QVERIFY(!mentions(runsOf(fixture("torch.tfevents"))[0].notes, "came for a step"));
        const RunColumns columns = store.columns(ids[0]);
        QCOMPARE(columns.step.size(), 60U);
        QVERIFY(std::isinf(columns.gradNorm[40]) && std::isnan(columns.gradNormClipped[40]));
        QCOMPARE(columns.lossFinite.size(), 60U);
    }

    void aRunWithoutSettingsIsNeverReplayedComparedByThemOrExportedAsIfKnown()
    {
        const Logs logs;
        const auto a = logs.import(logs.write("a.csv", "step,loss\n0,2\n1,1\n"))[0];
        const auto b = logs.import(logs.write("b.csv", "step,loss\n0,2.5\n1,1.5\n"))[0];
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        QVERIFY(complaintOf([&] { (void)store.replayExperiment(a); }).contains("was imported from"));
        const RunComparison comparison = compareRuns(store, a, b);
        QVERIFY(comparison.settings.empty());
        QCOMPARE(comparison.steps.lossA, (std::vector<double> {2, 1}));
        QCOMPARE(comparison.steps.gap(1), 0.5);
        std::ostringstream json;
        exportJson(json, store, std::vector {a});
        const auto exported = nlohmann::json::parse(json.str())["runs"][0];
        QVERIFY(
            exported["skipped_steps"].is_null() && exported["policy"].is_null() && exported["imported"].is_object());
        QVERIFY(exported["records"][0]["skipped"].is_null() && exported["records"][0]["scale"].is_null());
        QCOMPARE(exported["records"][0]["loss"], nlohmann::json(2.0));
        std::ostringstream csv;
        exportCsv(csv, store, std::vector {a});
        QVERIFY(QString::fromStdString(csv.str()).contains(QString("\n%1,a,0,2,nan,nan,nan,nan,1,nan").arg(a)));
    }

    void sparseRowsOfOneStepAreOneRecord()
    {
        // As Lightning's CSVLogger writes them.
        const Logs logs;
        const auto file = logs.write("metrics.csv",
            "epoch,lr-AdamW,step,train_loss,val_acc,val_loss\n,0.001,49,,,\n0,,49,1.5,,\n0,,99,,0.75,1.25\n,0.0005,99,,"
            ",\n0,,99,1.25,,\n");
        const auto ids = logs.import(file);
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        const auto records = store.records(ids.at(0));
        QCOMPARE(stepsOf(records), (std::vector<std::int64_t> {49, 99}));
        QCOMPARE(records[0].loss, 1.5);
        QCOMPARE(records[0].lr, 0.001);
        QVERIFY(std::isnan(records[0].validationLoss));
        QCOMPARE(records[1].loss, 1.25);
        QCOMPARE(records[1].lr, 0.0005);
        QCOMPARE(records[1].validationLoss, 1.25);
        QCOMPARE(records[1].validationAccuracy, 0.75);
        const RunColumns columns = store.columns(ids.at(0));
        QCOMPARE(columns.validations.size(), 1U);
        QCOMPARE(columns.validations[0].step, 99);
        QCOMPARE(store.run(ids[0])->validationLoss, 1.25);
    }

    void aRestartKeepsWhatWasMadeAgain()
    {
        const Logs logs;
        const auto ids = logs.import(fixture("runs"));
        QCOMPARE(ids.size(), 2U);
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        const auto amp = store.records(ids[0]);
        QCOMPARE(store.run(ids[0])->lane, "amp");
        QCOMPARE(amp.size(), 60U);
        QCOMPARE(amp[29].loss, double {static_cast<float>(2.0 / 30)});
        QCOMPARE(amp[30].loss, double {static_cast<float>(2.0 / 31 + 1)});
        const auto events = store.events(ids[0]);
        QCOMPARE(events.size(), 1U);
        QCOMPARE(events[0].kind, EventKind::Resumed);
        QCOMPARE(events[0].step, 30);
        QVERIFY(store.events(ids[1]).empty());
    }

    void whatARestartHasNotReachedAgainIsDropped()
    {
        const Logs logs;
        const auto row = [](int step) { return number(2 + step); };
        const auto file
            = logs.write("a.csv", "step,loss\n" + rows(0, 100, row) + rows(60, 80, [](int) { return "1"; }));
        const auto runs = runsOf(file);
        QCOMPARE(runs.at(0).lastStep, 79);
        QVERIFY(mentions(runs[0].notes, "begun again at step 60, having reached 99"));
        QVERIFY(mentions(runs[0].notes, "40 values dropped"));
    }

    void rowsInNoOrderAreSortedAndTheLaterOfTwoKept()
    {
        const Logs logs;
        const auto file = logs.write("a.csv", "step,loss\n5,5\n1,1\n9,9\n0,0\n3,3\n1,7\n2,2\n");
        const auto ids = logs.import(file);
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        const auto records = store.records(ids.at(0));
        QCOMPARE(stepsOf(records), (std::vector<std::int64_t> {0, 1, 2, 3, 5, 9}));
        QCOMPARE(records[1].loss, 7.0);
        QVERIFY(store.events(ids[0]).empty());
        const auto runs = runsOf(file);
        QVERIFY(mentions(runs[0].notes, "no order"));
        QVERIFY(mentions(runs[0].notes, "1 value came for a step that had one"));
    }

    void everyFiftiethStepTakesFewRowsOfTheDatabaseAndComesBack()
    {
        const Logs logs;
        QByteArray text = "{\"log_history\": [";
        for (int step = 50; step <= 50 * 3000; step += 50) {
            text += (step == 50 ? "" : ", ") + QByteArray("{\"step\": ") + QByteArray::number(step)
                + ", \"loss\": 1.5, \"learning_rate\": 0.001, \"grad_norm\": 2, \"epoch\": 1.0}";
        }
        const auto ids
            = logs.import(logs.write("trainer_state.json", text + ", {\"step\": 150000, \"train_runtime\": 5}]}"));
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        const auto records = store.records(ids.at(0));
        QCOMPARE(records.size(), 3000U);
        QCOMPARE(records.back().step, 150000);
        QCOMPARE(store.columns(ids[0]).step, stepsOf(records));
        QVERIFY(QFileInfo(QString::fromStdString(logs.database().string())).size() < 200'000);
    }

    void valuesThatAreMissingAreNaNAndALossThatIsNaNIsNotFinite()
    {
        const Logs logs;
        const auto ids = logs.import(logs.write("a.jsonl",
            "{\"step\": 0, \"loss\": 1, \"scale\": 8}\n{\"step\": 1, \"loss\": NaN}\n{\"step\": 2, \"scale\": 4, "
            "\"lr\": NaN}\n"));
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        const auto records = store.records(ids.at(0));
        QVERIFY(!records[1].lossFinite && std::isnan(records[1].loss) && std::isnan(records[1].scale));
        QVERIFY(records[2].lossFinite && std::isnan(records[2].loss));
        QVERIFY(!store.run(ids[0])->imported->knows("lr"));
        QCOMPARE(store.run(ids[0])->finalScale, 4.0);
    }

    void aPersonsChoiceOfColumnsHolds()
    {
        const Logs logs;
        const auto file = logs.write("a.csv", "it,ce,loss,scale\n0,1,10,4\n1,2,20,4\n");
        const auto runs = runsOf(file, {.columns = {{LogField::Loss, "ce"}, {LogField::Scale, ""}}});
        QVERIFY(runs[0].source.knows("loss") && !runs[0].source.knows("scale"));
        const QString complaint = complaintOf([&] { runsOf(file, {.columns = {{LogField::Loss, "los"}}}); });
        QVERIFY2(complaint.contains("no column \"los\"") && complaint.contains("loss"), qPrintable(complaint));
    }

    void aColumnOfNamesMakesRuns()
    {
        const Logs logs;
        const auto ids = logs.import(
            logs.write("m.jsonl",
                "{\"lane\": \"FP32\", \"step\": 0, \"loss\": 1}\n{\"lane\": \"AMP\", \"step\": 0, \"loss\": 2}\n"
                "{\"lane\": \"FP32\", \"step\": 1, \"loss\": 3}\n"),
            {.name = "mine"});
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        QCOMPARE(ids.size(), 2U);
        QCOMPARE(store.run(ids[0])->lane, "mine: FP32");
        QCOMPARE(store.run(ids[0])->steps, 2);
        QCOMPARE(store.run(ids[1])->lane, "mine: AMP");
    }

    void ourOwnExportsComeBack()
    {
        const Logs logs;
        const auto first = logs.import(logs.write("a.csv", "step,loss,scale,skipped\n0,2,8,1\n1,nan,4,0\n2,1.5,4,0\n"));
        for (const char* format : {"again.csv", "again.json"}) {
            std::ostringstream text;
            {
                const RunStore store(logs.database(), StoreAccess::ReadOnly);
                QString(format).endsWith("csv") ? exportCsv(text, store, first) : exportJson(text, store, first);
            }
            const auto again = logs.import(logs.write(format, QByteArray::fromStdString(text.str())));
            const RunStore store(logs.database(), StoreAccess::ReadOnly);
            const auto a = store.records(first[0]);
            const auto b = store.records(again.at(0));
            QCOMPARE(b.size(), a.size());
            for (std::size_t i = 0; i < a.size(); ++i) {
                QVERIFY(a[i].loss == b[i].loss || (std::isnan(a[i].loss) && std::isnan(b[i].loss)));
                QCOMPARE(b[i].lossFinite, a[i].lossFinite);
                QCOMPARE(b[i].skipped, a[i].skipped);
                QCOMPARE(b[i].scale, a[i].scale);
            }
            QVERIFY(!store.run(again[0])->imported->knows("lr"));
        }
    }

    void skipsAreDerivedOnlyWhereTheyAreCertain_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QList<int>>("skipped");
        QTest::addColumn<bool>("isKnown");
        const QList<int> none;
        QTest::newRow("the scale before the step, the gradient says which")
            << QByteArray("step,scale,grad_norm\n0,8,1\n1,8,inf\n2,4,1\n3,4,nan\n4,2,1\n") << QList<int> {1, 3} << true;
        QTest::newRow("the scale behind the step")
            << QByteArray("step,scale,grad_norm\n0,8,1\n1,4,inf\n2,4,1\n3,2,inf\n4,2,1\n") << QList<int> {1, 3} << true;
        QTest::newRow("nothing says which of two")
            << QByteArray("step,scale,loss\n0,8,1\n1,8,1\n2,4,1\n") << none << false;
        QTest::newRow("not every step") << QByteArray("step,scale,grad_norm\n0,8,1\n10,8,inf\n20,4,1\n") << none
                                        << false;
        QTest::newRow("two halvings at once")
            << QByteArray("step,scale,grad_norm\n0,8,1\n1,8,inf\n2,2,1\n") << none << false;
        QTest::newRow("the gradient disagrees once")
            << QByteArray("step,scale,grad_norm\n0,8,1\n1,8,inf\n2,4,1\n3,4,1\n4,2,1\n") << none << false;
        QTest::newRow("the scale never falls")
            << QByteArray("step,scale,grad_norm\n0,8,1\n1,8,inf\n2,8,1\n") << none << false;
        QTest::newRow("found_inf beside a scale")
            << QByteArray("step,scale,found_inf\n0,8,0\n1,8,1\n2,4,False\n") << QList<int> {1} << true;
        QTest::newRow("found_inf alone") << QByteArray("step,loss,found_inf\n0,8,0\n1,8,1\n2,4,0\n") << none << false;
        QTest::newRow("a count of every step")
            << QByteArray("step,loss,skipped_steps\n0,8,0\n1,8,1\n2,4,1\n3,4,2\n") << QList<int> {1, 3} << true;
        QTest::newRow("a count now and then")
            << QByteArray("step,loss,skipped_steps\n0,8,0\n10,8,1\n20,4,1\n30,4,5\n") << none << false;
    }

    void skipsAreDerivedOnlyWhereTheyAreCertain()
    {
        QFETCH(QByteArray, text);
        QFETCH(QList<int>, skipped);
        QFETCH(bool, isKnown);
        const Logs logs;
        const auto ids = logs.import(logs.write("a.csv", text));
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        const RunInfo run = store.run(ids.at(0)).value();
        QCOMPARE(run.imported->knows("skipped"), isKnown);
        QCOMPARE(run.skippedSteps, isKnown ? skipped.size() : -1);
        for (const StepRecord& record : store.records(ids[0])) {
            QCOMPARE(record.skipped, skipped.contains(static_cast<int>(record.step)));
        }
    }

    void aGrowingLogGoesOnInTheSameRun()
    {
        const Logs logs;
        const auto file = logs.write("a.csv", "step,loss,val_loss\n0,2,\n1,1.5,\n2,1.2");
        RunWriter writer(logs.database());
        LogImport log(file, {.follows = true});
        while (log.readOn()) { }
        log.settle();
        log.write(writer);
        const RunId id = writer.runOf(0);
        const auto stored = [&] {
            writer.flush();
            return RunStore(logs.database(), StoreAccess::ReadOnly).records(id);
        };
        QCOMPARE(stored().size(), 2U); // the last row may not be whole
        QCOMPARE(RunStore(logs.database(), StoreAccess::ReadOnly).run(id)->status, RunStatus::Running);
        QCOMPARE(log.poll(writer), 0);
        Logs::append(file, "5\n3,1,\n2,,0.75\n");
        QCOMPARE(log.poll(writer), 3);
        const auto records = stored();
        QCOMPARE(stepsOf(records), (std::vector<std::int64_t> {0, 1, 2, 3}));
        QCOMPARE(records[2].loss, 1.25);
        QCOMPARE(records[2].validationLoss, 0.75); // came later, for the step before
        QCOMPARE(RunStore(logs.database(), StoreAccess::ReadOnly).run(id)->steps, 4);
        QVERIFY(RunStore(logs.database(), StoreAccess::ReadOnly).run(id)->imported->knows("validation_loss"));
        log.end(writer);
        QCOMPARE(RunStore(logs.database(), StoreAccess::ReadOnly).run(id)->status, RunStatus::Finished);
        QCOMPARE(RunStore(logs.database(), StoreAccess::ReadOnly).run(id)->finalLoss, 1.0);
    }

    void aLogThatGoesBackOrIsReplacedIsToBeImportedAgain()
    {
        const Logs logs;
        const auto row = [](int) { return QByteArray("1"); };
        for (const bool replaces : {false, true}) {
            const auto file = logs.write("a.csv", "step,loss\n" + rows(0, 50, row));
            RunWriter writer(logs.database());
            LogImport log(file, {.follows = true});
            while (log.readOn()) { }
            log.settle();
            log.write(writer);
            if (replaces) {
                logs.write("a.csv", "");
                QCOMPARE(log.poll(writer), 0);
                QVERIFY(!log.isStale()); // it is being written
                logs.write("a.csv", "step,loss\n");
                log.poll(writer);
                QVERIFY(!log.isStale());
                logs.write("a.csv", "step,loss\n0,1\n");
            } else {
                Logs::append(file, rows(30, 32, row));
            }
            log.poll(writer);
            QVERIFY(log.isStale());
            log.end(writer, "begun anew");
        }
    }

    void longLogsAreReadInPieces()
    {
        const Logs logs;
        const int count = 120'000;
        QByteArray text = "step,loss,scale\n";
        for (int step = 0; step < count; ++step) {
            text += QByteArray::number(step) + ",1.5,65536\n";
        }
        const auto ids = logs.import(logs.write("long.csv", text));
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        QCOMPARE(store.columns(ids.at(0)).step.size(), static_cast<std::size_t>(count));
    }

    void logsWithNothingToTakeAreRefused()
    {
        const Logs logs;
        QVERIFY(complaintOf([&] { runsOf(logs.write("a.csv", "a,b\nx,y\n")); }).contains("no row of numbers"));
        QVERIFY(complaintOf([&] { runsOf(logs.write("b.csv", "a,b\n1,2\n")); }).contains("--map"));
        QVERIFY(
            complaintOf([&] { runsOf(logs.write("c.csv", "step,loss\n-1,2\n0.5,2\n1e300,1\n")); }).contains("--map"));
    }
};

QTEST_GUILESS_MAIN(TestLogImport)
#include "tst_log_import.moc"
