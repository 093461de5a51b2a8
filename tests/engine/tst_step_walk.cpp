// A step taken apart is the step that the lane then does, and its numbers are the lane's.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/train/step_walk.h"
#include "engine/train/lane.h"
#include "engine/train/session.h"
#include "tests/support/run_recorder.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace mantissa;

namespace {

using json = nlohmann::json;

Lane laneOf(const json& settings = json::object(), std::vector<ScriptedEvent> events = {})
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    json document {{"name", "a"}, {"model", {{"hidden", {24}}}}, {"data", {{"batch", 16}}},
        {"optimizer", {{"kind", "sgd"}, {"lr", 0.05}}}};
    document.merge_patch(settings);
    return {0, parseLane(document, ""), std::move(events), data, backendByName("cpu"), 1};
}

const WalkedStage& stageOf(const StepWalk& walk, StepStage stage)
{
    return *std::ranges::find(walk.stages, stage, &WalkedStage::stage);
}

const json amp {{"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "pytorch"}, {"init_scale", 1024}}}};

} // namespace

class TestStepWalk : public QObject
{
    Q_OBJECT

private slots:

    /// Whatever the order: the copy that is taken apart does the bits of the lane, and the lane does not notice.
    void isTheStepThatFollows()
    {
        std::mt19937_64 random(5);
        for (int trial = 0; trial < 10; ++trial) {
            std::vector<std::string> blocks = namesOf(rightOrder);
            std::ranges::shuffle(blocks, random);
            json settings = amp;
            settings["order"] = blocks;
            settings["accumulation"] = {{"steps", 1 + trial % 3}, {"zero_gradients", trial % 4 != 0}};
            Lane lane = laneOf(settings);
            Lane alone = laneOf(settings);
            for (int step = 0; step < 4; ++step) {
                const auto copy = lane.fork(1, "a");
                const StepWalk walk = walkStep(*copy);
                StepRecord record = lane.step();
                record.lane = 1;
                QVERIFY(isSameStep(walk.record, record));
                QCOMPARE(copy->weightsHash(), lane.weightsHash());
                QCOMPARE(walk.scaleAfter, lane.scale());
                alone.step();
                std::vector<std::string> order;
                for (const WalkedStage& stage : walk.stages) {
                    if (stage.stage >= StepStage::Unscale) {
                        const auto at = static_cast<int>(stage.stage) - static_cast<int>(StepStage::Unscale);
                        order.emplace_back(nameOf(static_cast<StepBlock>(at)));
                    }
                }
                QCOMPARE(order, blocks);
                QVERIFY(walk.stages[0].stage == StepStage::Data && walk.stages[1].stage == StepStage::Forward
                    && walk.stages[2].stage == StepStage::Backward);
            }
            QCOMPARE(lane.weightsHash(), alone.weightsHash());
        }
    }

    void itsNumbersAgree()
    {
        Lane lane = laneOf(amp);
        lane.step();
        const StepWalk walk = walkStep(lane);
        const double scaled = stageOf(walk, StepStage::Backward).norm;
        const double unscaled = stageOf(walk, StepStage::Unscale).norm;
        QCOMPARE(walk.unscaledBy, 1024.0);
        QVERIFY(std::abs(scaled / 1024 - unscaled) < 1e-6 * unscaled);
        QVERIFY(std::abs(unscaled - walk.record.gradNorm) < 1e-6 * unscaled);
        QVERIFY(walk.opsInHalf > 0 && walk.opsInFull > 0 && walk.casts > 0);
        double largest = 0;
        for (const WalkedTensor& tensor : stageOf(walk, StepStage::Unscale).tensors) {
            QVERIFY(tensor.name.ends_with(".grad"));
            QVERIFY(tensor.smallest > 0 && tensor.smallest <= tensor.largest);
            largest = std::max(largest, tensor.largest);
        }
        QVERIFY(std::abs(largest - walk.record.gradMax) <= 1e-6 * largest);
        // The data: pixels from 0 to 1, many of them black.
        const WalkedTensor& samples = stageOf(walk, StepStage::Data).tensors.at(0);
        QCOMPARE(samples.elements, std::int64_t {16} * 64);
        QVERIFY(samples.zeros > 100 && samples.nonFinite == 0 && samples.largest <= 1.0);
        // What each parameter moved by makes up what the whole moved by, for two layers of one norm each.
        for (const WalkedUpdate& update : stageOf(walk, StepStage::Step).updates) {
            QVERIFY(update.moved > 0 && update.moved <= update.elements && update.ratio > 0);
        }
    }

    void lostUpdatesAreCounted()
    {
        const json half {{"precision", {{"policy", "bf16"}, {"weights", "half"}}}, {"optimizer", {{"lr", 1e-4}}}};
        Lane lane = laneOf(half);
        const StepWalk walk = walkStep(lane);
        const WalkedUpdate& worst = stageOf(walk, StepStage::Step).updates.front();
        QVERIFY2(worst.lost * 2 > worst.elements, qPrintable(QString::number(worst.lost)));
        QCOMPARE(stageOf(walk, StepStage::Step).updates.front().dtype, DType::BFloat16);
    }

    void faultsShowWhereTheyStrike()
    {
        const std::vector<ScriptedEvent> faults {{0, "a", {{"fault.nan_sample", 2}}}};
        Lane lane = laneOf(amp, faults);
        lane.applyScripted();
        const StepWalk walk = walkStep(lane);
        QCOMPARE(stageOf(walk, StepStage::Data).tensors.at(0).nonFinite, std::int64_t {2} * 64);
        QVERIFY(walk.record.skipped && walk.record.foundInf);
        QVERIFY(stageOf(walk, StepStage::Unscale).tensors.front().nonFinite > 0);
        QCOMPARE(walk.scaleAfter, 512.0);
        const WalkedStage& forward = stageOf(walk, StepStage::Forward);
        QVERIFY(forward.roundings.front().census.nan > 0);
        for (const WalkedUpdate& update : stageOf(walk, StepStage::Step).updates) {
            QCOMPARE(update.moved, std::int64_t {0});
        }
    }

    void sessionsTellOfALaneTheyLeaveAlone()
    {
        json document {{"mantissa", 1}, {"name", "t"}, {"steps", 6}, {"data", {{"kind", "digits"}, {"batch", 16}}},
            {"lanes", {{{"name", "a"}}}}, {"events", {{{"step", 3}, {"set", {{"optimizer.lr", 0.5}}}}}}};
        Session session(parseExperiment(document.dump(), "t"), {});
        session.runSteps(3);
        session.waitUntilIdle();
        const StepWalk walk = session.walkStep(0).get();
        QCOMPARE(walk.record.step, std::int64_t {3});
        QCOMPARE(walk.record.lr, 0.5); // the script of that step is part of it
        QCOMPARE(session.status()->lanes[0].nextStep, std::int64_t {3});
        session.run();
        session.waitUntilIdle();
        Session plain(parseExperiment(document.dump(), "t"), {});
        plain.run();
        plain.waitUntilIdle();
        QCOMPARE(session.status()->lanes[0].summary->weightsHash, plain.status()->lanes[0].summary->weightsHash);
        QVERIFY_EXCEPTION_THROWN(session.walkStep(0).get(), Error);
        QVERIFY_EXCEPTION_THROWN(session.walkStep(7).get(), Error);
    }
};

QTEST_GUILESS_MAIN(TestStepWalk)
#include "tst_step_walk.moc"
