// The experiments that ship: each is read, built and trained for two steps, whatever is added to the folder.
#include "engine/train/session.h"

#include <QDir>
#include <QtTest>

#include <cmath>
#include <map>

using namespace mantissa;

namespace {

class Summaries : public RunObserver
{
public:
    void runStarted(const RunStart& /*start*/) override { }

    void stepsRecorded(std::span<const StepRecord> steps) override
    {
        for (const StepRecord& record : steps) {
            firstLaneIsFinite = firstLaneIsFinite && (record.lane != 0 || std::isfinite(record.loss));
        }
    }

    void eventHappened(const Event& /*event*/) override { }

    void runEnded(std::uint32_t lane, const RunSummary& summary) override { ended[lane] = summary; }

    std::map<std::uint32_t, RunSummary> ended;
    bool firstLaneIsFinite = true; ///< others may be there to be seen breaking
};

} // namespace

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
        Summaries summaries;
        SessionOptions options;
        options.observers = {&summaries};
        Session session(std::move(experiment), options);
        session.run();
        session.waitUntilIdle();
        QCOMPARE(summaries.ended.size(), lanes);
        for (const auto& [lane, summary] : summaries.ended) {
            QVERIFY2(summary.status == RunStatus::Finished, summary.message.c_str());
        }
        QVERIFY(summaries.firstLaneIsFinite);
    }
};

QTEST_APPLESS_MAIN(TestShippedExperiments)
#include "tst_shipped_experiments.moc"
