// A stored run is trained again from what the database holds of it, and ends with the same weights, bit for bit.
#include "engine/store/run_store.h"
#include "engine/train/session.h"

#include <QTemporaryDir>
#include <QtTest>

#include <bit>
#include <fstream>
#include <map>

using namespace mantissa;

namespace {

constexpr const char* experimentText = R"({"mantissa": 1, "name": "knobs", "seed": 3, "steps": 60,
    "data": {"kind": "spirals", "batch": 32, "samples": 300}, "model": {"kind": "mlp", "hidden": [16, 16]},
    "lanes": [{"name": "FP32"},
        {"name": "FP16 AMP", "precision": {"policy": "fp16"}, "scaler": {"family": "pytorch", "growth_interval": 7}},
        {"name": "BF16", "precision": {"policy": "bf16"}, "optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9}}],
    "events": [{"step": 20, "lane": "FP16 AMP", "set": {"scaler.scale": 1024}},
        {"step": 50, "set": {"optimizer.lr": 0.0005}}]})";

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
        const auto originals = newestByLane(store);
        QCOMPARE(originals.size(), runs);
        for (const auto& [lane, original] : originals) {
            const std::filesystem::path again = database.string() + " again " + lane;
            train(parseExperiment(store.replayExperiment(original.id).dump(), "replay"), again);
            const RunStore repeated(again);
            QCOMPARE(repeated.runs().size(), std::size_t {1});
            const RunInfo repetition = repeated.runs().front();
            QCOMPARE(repetition.lane, lane);
            const auto before = store.records(original.id);
            const auto after = repeated.records(repetition.id);
            QVERIFY(after.size() >= before.size());
            for (std::size_t i = 0; i < before.size(); ++i) {
                QVERIFY2(
                    sameNumbers(before[i], after[i]), qPrintable(QString("%1, record %2").arg(lane.c_str()).arg(i)));
            }
            if (after.size() == before.size()) {
                QCOMPARE(repetition.weightsHash, original.weightsHash);
            }
        }
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
