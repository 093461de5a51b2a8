// The experiments that ship: each is read, built and trained for two steps, whatever is added to the folder.
#include "engine/train/session.h"
#include "tests/support/run_recorder.h"

#include <QDir>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace mantissa;

class TestShippedExperiments : public QObject
{
    Q_OBJECT

private slots:

    void trainsTwoSteps_data()
    {
        QTest::addColumn<QString>("file");
        const QDir folder(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments"));
        const QStringList names = folder.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name);
        QVERIFY(names.contains(QStringLiteral("default.json")));
        for (const QString& name : names) {
            QTest::newRow(qPrintable(name)) << folder.filePath(name);
        }
    }

    void trainsTwoSteps()
    {
        QFETCH(const QString, file);
        Experiment experiment = loadExperiment(file.toStdString());
        QVERIFY(!experiment.name.empty());
        QVERIFY2(experiment.text.find("**What to look at**") != std::string::npos, "the text says what to look at");
        for (LaneConfig& lane : experiment.lanes) {
            lane = withOverrides(lane, {{"steps", 2}, {"evaluation.samples", 64}});
        }
        const std::size_t lanes = experiment.lanes.size();
        RunRecorder recorder;
        SessionOptions options;
        options.observers = {&recorder};
        Session session(std::move(experiment), options);
        session.run();
        session.waitUntilIdle();
        QCOMPARE(recorder.summaries.size(), lanes);
        for (const auto& [lane, summary] : recorder.summaries) {
            QVERIFY2(summary.status == RunStatus::Finished, summary.message.c_str());
        }
        // Others may be there to be seen breaking.
        QVERIFY(std::ranges::all_of(
            recorder.records, [](const StepRecord& record) { return record.lane != 0 || std::isfinite(record.loss); }));
    }
};

QTEST_APPLESS_MAIN(TestShippedExperiments)
#include "tst_shipped_experiments.moc"
