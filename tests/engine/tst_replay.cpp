// A stored run is trained again from what the database holds of it, and ends with the same weights, bit for bit.
#include "engine/store/run_store.h"
#include "engine/train/session.h"
#include "random_hand.h"

#include <QTemporaryDir>
#include <QtTest>

#include <bit>
#include <fstream>
#include <map>
#include <random>

using namespace mantissa;

namespace {

constexpr const char* experimentText = R"({"mantissa": 1, "name": "knobs", "seed": 3, "steps": 60,
    "data": {"kind": "spirals", "batch": 32, "samples": 300}, "model": {"kind": "mlp", "hidden": [16, 16]},
    "lanes": [{"name": "FP32"},
        {"name": "FP16 AMP", "precision": {"policy": "fp16"}, "scaler": {"family": "pytorch", "growth_interval": 7}},
        {"name": "BF16", "precision": {"policy": "bf16"}, "optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9}}],
    "events": [{"step": 20, "lane": "FP16 AMP", "set": {"scaler.scale": 1024}},
        {"step": 50, "set": {"optimizer.lr": 0.0005}}]})";

constexpr const char* knobsText = R"({"mantissa": 1, "name": "three", "optimizer": {"lr": 0.004},
    "data": {"kind": "digits", "batch": 32}, "model": {"kind": "mlp", "hidden": [32], "dropout": 0.2},
    "lanes": [{"name": "fp32"},
              {"name": "fp16", "precision": {"policy": "fp16"}, "scaler": {"growth_interval": 7}},
              {"name": "bf16", "precision": {"policy": "bf16"}}]})";

/// Trains all of it, storing the runs.
void train(const Experiment& experiment, const std::filesystem::path& database)
{
    RunWriter writer(database);
    Session session(experiment, {.threads = 1, .observers = {&writer}});
    session.run();
    session.waitUntilIdle();
}

std::map<std::string, RunInfo> newestByLane(const RunStore& store)
{
    std::map<std::string, RunInfo> found;
    for (const RunInfo& run : store.runs()) {
        found.emplace(run.lane, run);
    }
    return found;
}

bool sameBits(double a, double b)
{
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Everything but times and the distance to a baseline that a lane on its own does not have.
bool sameNumbers(const StepRecord& a, const StepRecord& b)
{
    return a.step == b.step && sameBits(a.loss, b.loss) && sameBits(a.gradNorm, b.gradNorm)
        && sameBits(a.gradNormClipped, b.gradNormClipped) && sameBits(a.scale, b.scale) && sameBits(a.lr, b.lr)
        && sameBits(a.flushed, b.flushed) && sameBits(a.updateRatio, b.updateRatio) && a.skipped == b.skipped
        && a.growthTracker == b.growthTracker && a.batchHash == b.batchHash;
}

void writeFile(const std::filesystem::path& file, const std::string& bytes)
{
    std::ofstream(file, std::ios::binary) << bytes;
}

/// Sixty dark images of 2 by 2 pixels and ten classes, as MNIST's files hold them.
void writeImages(const std::filesystem::path& folder)
{
    using namespace std::string_literals;
    std::filesystem::create_directories(folder);
    std::string images = "\0\0\x08\x03\0\0\0\x3c\0\0\0\x02\0\0\0\x02"s;
    std::string labels = "\0\0\x08\x01\0\0\0\x3c"s;
    for (int i = 0; i < 60; ++i) {
        images
            += {static_cast<char>(i), static_cast<char>(i % 7), static_cast<char>(i % 10), static_cast<char>(99 - i)};
        labels += static_cast<char>(i % 10);
    }
    writeFile(folder / "train-images-idx3-ubyte", images);
    writeFile(folder / "train-labels-idx1-ubyte", labels);
}

} // namespace

class TestReplay : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    [[nodiscard]] std::filesystem::path file(const char* name) const
    {
        return m_folder.filePath(QString::fromUtf8(name)).toStdString();
    }

    void verifyReplays(const std::filesystem::path& database, std::size_t runs)
    {
        const RunStore store(database);
        const auto originals = store.runs();
        QCOMPARE(originals.size(), runs);
        for (const RunInfo& original : originals) {
            const std::filesystem::path again = database.string() + " again " + std::to_string(original.id);
            train(parseExperiment(store.replayExperiment(original.id).dump(), "replay"), again);
            const RunStore repeated(again);
            QCOMPARE(repeated.runs().size(), std::size_t {1});
            const RunInfo repetition = repeated.runs().front();
            QCOMPARE(repetition.lane, original.lane);
            const auto before = store.records(original.id);
            const auto after = repeated.records(repetition.id);
            QVERIFY(!before.empty());
            // A copied lane's records begin where it was copied, its replay at the beginning.
            const auto first = static_cast<std::size_t>(before.front().step);
            QCOMPARE(after.size(), first + before.size());
            for (std::size_t i = 0; i < before.size(); ++i) {
                QVERIFY2(sameNumbers(before[i], after[first + i]),
                    qPrintable(QString("%1, record %2").arg(original.lane.c_str()).arg(i)));
            }
            QCOMPARE(repetition.weightsHash, original.weightsHash);
        }
    }

    static void turnKnobs(const std::filesystem::path& database, std::uint64_t seed, bool isLong)
    {
        nlohmann::json document = nlohmann::json::parse(knobsText);
        document["steps"] = isLong ? 1'000'000 : 400;
        RunWriter writer(database);
        Session session(parseExperiment(document.dump(), "test"), {.observers = {&writer}});
        tests::RandomHand hand(session, seed);
        const int actions = isLong ? 150 : 60;
        for (int i = 0; i < actions; ++i) {
            hand.act();
            QTest::qWait(isLong ? i % 25 : 1); // from bursts of commands to some that come one by one
            QVERIFY(hand.look());
        }
        hand.finish(isLong);
        session.waitUntilIdle();
        QVERIFY(hand.look());
        QCOMPARE(session.status()->state, SessionState::Finished);
        writer.flush();
        QCOMPARE(writer.problem(), std::string());
    }

private slots:

    void anUntouchedRunRepeats()
    {
        train(parseExperiment(experimentText, "test"), file("untouched"));
        verifyReplays(file("untouched"), 3);
    }

    void knobsTurnedWhileItTrainsRepeat()
    {
        const std::filesystem::path database = file("knobs");
        {
            RunWriter writer(database);
            Session session(parseExperiment(experimentText, "test"), {.threads = 2, .observers = {&writer}});
            session.waitUntilIdle();
            const auto idOf = [&](const std::string& name) {
                for (const LaneStatus& lane : session.status()->lanes) {
                    if (lane.config->name == name) {
                        return lane.id;
                    }
                }
                return Event::allLanes;
            };
            const std::uint32_t amp = idOf("FP16 AMP");
            session.set(amp, "scaler.scale", 256); // before the first step
            session.runSteps(10);
            session.waitUntilIdle();
            session.set(amp, "scaler.scale", 4194304);
            session.set(amp, "optimizer.lr", 0.01);
            session.set(idOf("BF16"), "precision.policy", "fp16");
            session.runSteps(17);
            session.waitUntilIdle();
            session.set(amp, "scaler.frozen", true);
            session.set(idOf("FP32"), "optimizer.lr", 0.02);
            session.duplicateLane(amp, "copy");
            session.runSteps(5);
            session.waitUntilIdle();
            session.set(idOf("copy"), "optimizer.lr", 0.1);
            session.run();
            session.waitUntilIdle();
        }
        const RunStore store(database);
        QCOMPARE(store.runs().size(), std::size_t {4});
        for (const auto& [lane, original] : newestByLane(store)) {
            const std::filesystem::path again = database.string() + " again " + lane;
            train(parseExperiment(store.replayExperiment(original.id).dump(), "replay"), again);
            QCOMPARE(RunStore(again).runs().front().weightsHash, original.weightsHash);
        }
    }

    /// Short by default. MANTISSA_KNOB_SECONDS=60 turns knobs for a minute, in rounds that are stopped and replayed;
    /// the replays, one run at a time, take some minutes more, so QTEST_FUNCTION_TIMEOUT (ms) has to allow for them.
    void randomKnobsRepeat()
    {
        const double seconds = qEnvironmentVariable("MANTISSA_KNOB_SECONDS").toDouble();
        const bool isLong = seconds > 0;
        double spent = 0;
        std::size_t runs = 0;
        int rounds = 0;
        do {
            const std::uint64_t seed = std::random_device {}();
            qInfo() << "round" << rounds++ << "seed" << seed;
            const QTemporaryDir folder;
            const std::filesystem::path database = folder.filePath("runs.db").toStdString();
            QElapsedTimer timer;
            timer.start();
            turnKnobs(database, seed, isLong);
            spent += static_cast<double>(timer.elapsed()) / 1000;
            if (!QTest::currentTestFailed()) {
                const std::size_t stored = RunStore(database).runs().size();
                verifyReplays(database, stored);
                runs += stored;
            }
            if (QTest::currentTestFailed()) {
                return;
            }
        } while (spent < seconds);
        qInfo() << rounds << "rounds," << runs << "runs replayed";
    }

    void aStoppedRunRepeatsAsFarAsItWent()
    {
        const std::filesystem::path database = file("stopped");
        {
            RunWriter writer(database);
            Session session(parseExperiment(experimentText, "test"), {.threads = 1, .observers = {&writer}});
            session.runSteps(33);
            session.waitUntilIdle();
        }
        verifyReplays(database, 3);
    }

    void anExtendedRunRepeats()
    {
        const std::filesystem::path database = file("extended");
        {
            RunWriter writer(database);
            Session session(parseExperiment(experimentText, "test"), {.threads = 1, .observers = {&writer}});
            session.run();
            session.waitUntilIdle();
            session.extend(90);
            session.run();
            session.waitUntilIdle();
        }
        QCOMPARE(RunStore(database).runs().front().steps, std::int64_t {90});
        QCOMPARE(RunStore(database).runs().front().status, RunStatus::Finished);
        verifyReplays(database, 3);
    }

    void dataBesideTheExperimentFileIsFoundFromAnywhere()
    {
        const std::filesystem::path folder = file("elsewhere");
        writeImages(folder / "digits");
        nlohmann::json document = nlohmann::json::parse(experimentText);
        document["data"] = {{"kind", "mnist"}, {"path", "digits"}, {"batch", 16}};
        document["lanes"][2]["data"] = {{"path", "./digits/../digits"}};
        writeFile(folder / "experiment.json", document.dump());

        const std::filesystem::path database = file("data");
        const Experiment experiment = loadExperiment(folder / "experiment.json");
        train(experiment, database);
        verifyReplays(database, 3); // the working directory is another one

        // Only what is stored is absolute; a lane shows its setting as the file has it.
        const RunStore store(database);
        const std::string absolute = (folder / "digits").string();
        for (const RunInfo& run : store.runs()) {
            QCOMPARE(store.replayExperiment(run.id)["data"]["path"].get<std::string>(), absolute);
            QCOMPARE(store.experiment(run.id)["data"]["path"].get<std::string>(), absolute);
        }
        Session session(experiment, {});
        session.waitUntilIdle();
        QCOMPARE(session.status()->lanes.at(0).config->data.path, std::string("digits"));
    }
};

QTEST_GUILESS_MAIN(TestReplay)
#include "tst_replay.moc"
