// Injected faults do what they say, once, and again in a replay; a lane that broke is taken back to before it broke.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/train/fault.h"
#include "engine/train/session.h"
#include "engine/train/snapshot_ring.h"
#include "tests/support/run_recorder.h"

#include <QtTest>

#include <cmath>
#include <map>

using namespace mantissa;

namespace {

using json = nlohmann::json;

json document(const json& settings = json::object())
{
    json base {{"mantissa", 1}, {"name", "t"}, {"steps", 20}, {"data", {{"kind", "digits"}, {"batch", 16}}},
        {"model", {{"hidden", {24}}}}, {"optimizer", {{"kind", "sgd"}, {"lr", 0.05}}}, {"lanes", {{{"name", "a"}}}}};
    base.merge_patch(settings);
    return base;
}

json eventAt(int step, const json& set)
{
    return {{"events", {{{"step", step}, {"set", set}}}}};
}

RunRecorder train(const json& settings)
{
    RunRecorder recorder;
    SessionOptions options;
    options.threads = 1;
    options.observers = {&recorder};
    Session session(parseExperiment(document(settings).dump(), "test"), options);
    session.run();
    session.waitUntilIdle();
    return recorder;
}

json merged(json a, const json& b)
{
    a.merge_patch(b);
    return a;
}

std::string complaint(const json& settings)
{
    try {
        parseExperiment(document(settings).dump(), "x");
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

const json pytorch {{"scaler", {{"family", "pytorch"}, {"init_scale", 1024}}}};

} // namespace

class TestFaults : public QObject
{
    Q_OBJECT

private slots:

    // --- what each does ---

    void aNanSampleSpoilsItsStepAlone()
    {
        const RunRecorder run = train(merged(pytorch, eventAt(5, {{"fault.nan_sample", 1}})));
        QVERIFY(!run.records[5].lossFinite && run.records[5].skipped);
        for (const std::size_t step : {4, 6, 19}) {
            QVERIFY(run.records[step].lossFinite && !run.records[step].skipped);
        }
        QVERIFY(std::ranges::any_of(
            run.events, [](const Event& event) { return event.kind == EventKind::Numerics && event.step == 5; }));
    }

    /// C22: the guard loses one micro-batch of four, no guard loses the step.
    void theGuardLosesTheMicroBatchOnly()
    {
        const json spoiled = merged(pytorch, eventAt(5, {{"fault.nan_sample", 1}}));
        const json four {{"accumulation", {{"steps", 4}}}};
        const RunRecorder without = train(merged(spoiled, four));
        const RunRecorder with = train(merged(spoiled, merged(four, {{"accumulation", {{"guard", true}}}})));
        QVERIFY(without.records[5].skipped && !with.records[5].skipped);
        QCOMPARE(with.records[5].droppedMicroBatches, 1);
        QCOMPARE(with.records[6].droppedMicroBatches, 0);
        // The loss is the mean of the three that are left, not a quarter too small; of none it is unknown.
        const double usual = (with.records[4].loss + with.records[6].loss) / 2;
        QVERIFY2(std::abs(with.records[5].loss / usual - 1) < 0.15,
            qPrintable(QString::number(with.records[5].loss / usual)));
        QVERIFY(!with.records[5].lossFinite && std::isfinite(with.records[5].loss));
        const RunRecorder alone = train(merged(spoiled, {{"accumulation", {{"guard", true}}}}));
        QVERIFY(std::isnan(alone.records[5].loss) && alone.records[5].droppedMicroBatches == 1);
        QVERIFY(std::isfinite(alone.records[6].loss));
    }

    void aHugeSampleMakesALargeLoss()
    {
        const RunRecorder clean = train(json::object());
        int large = 0;
        for (std::size_t step = 5; step < 15; ++step) {
            const RunRecorder run = train(eventAt(static_cast<int>(step), {{"fault.huge_sample", 1e4}}));
            QCOMPARE(run.records[step - 1].loss, clean.records[step - 1].loss);
            QVERIFY(run.records[step].loss != clean.records[step].loss);
            large += run.records[step].loss > 10 * clean.records[step].loss ? 1 : 0;
        }
        QVERIFY(large >= 5); // one sample in ten happens to be answered rightly
    }

    /// The gradient of a loss that is a factor larger is that factor larger, in every bit where the factor is a power
    /// of two.
    void aLossSpikeScalesLossAndGradient()
    {
        const RunRecorder clean = train(json::object());
        const RunRecorder run = train(eventAt(5, {{"fault.loss_spike", 1024}}));
        QCOMPARE(run.records[5].loss, 1024 * clean.records[5].loss);
        QCOMPARE(run.records[5].gradNorm, 1024 * clean.records[5].gradNorm);
        QVERIFY(run.records[6].loss > clean.records[6].loss);
    }

    void anInfiniteGradientIsSkippedOrFatal()
    {
        for (const char* name : {"fc1", "fc2", "fc2.bias"}) {
            const json fault = eventAt(5, {{"fault.gradient_inf", name}});
            const RunRecorder scaled = train(merged(pytorch, fault));
            QVERIFY(scaled.records[5].foundInf && scaled.records[5].skipped && scaled.records[5].lossFinite);
            QCOMPARE(scaled.records[6].scale, 512.0);
            QCOMPARE(scaled.summaries.at(0).status, RunStatus::Finished);
            QCOMPARE(train(fault).summaries.at(0).status, RunStatus::Diverged);
        }
        Session unknown(parseExperiment(document(eventAt(5, {{"fault.gradient_inf", "fc9"}})).dump(), "t"), {});
        unknown.waitUntilIdle();
        QCOMPARE(unknown.status()->state, SessionState::Failed);
        QVERIFY(unknown.status()->message.find("no such layer or parameter") != std::string::npos);
    }

    void aRateJumpLastsAStep()
    {
        const RunRecorder run = train(eventAt(5, {{"fault.lr_jump", 10}}));
        QCOMPARE(run.records[5].lr, 0.5);
        QCOMPARE(run.records[6].lr, 0.05);
        QVERIFY(run.records[5].updateRatio > 3 * run.records[4].updateRatio);
    }

    void anExplodingInitStartsOver()
    {
        const RunRecorder fresh = train(json::object());
        const RunRecorder same = train(eventAt(0, {{"fault.exploding_init", 1}}));
        QCOMPARE(same.summaries.at(0).weightsHash, fresh.summaries.at(0).weightsHash);
        const RunRecorder exploded = train(eventAt(3, {{"fault.exploding_init", 20}}));
        QCOMPARE(exploded.records[2].loss, fresh.records[2].loss);
        QVERIFY(exploded.records[3].loss > 10 * fresh.records[0].loss);
    }

    /// Saturated sigmoids pass nothing back: the first layer's gradient shrinks.
    void saturationShrinksTheGradient()
    {
        const json sigmoid {{"model", {{"activation", "sigmoid"}, {"hidden", {24, 24}}}}};
        const RunRecorder clean = train(sigmoid);
        const RunRecorder run = train(merged(sigmoid, eventAt(5, {{"fault.saturation", 1000}})));
        QVERIFY(run.records[4].gradNorm == clean.records[4].gradNorm);
        QVERIFY(run.records[5].gradNorm != clean.records[5].gradNorm);
    }

    // --- bad ones ---

    void wrongFaultsAreRefused_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const char* path, const char* value, const char* words) {
            QTest::newRow(name) << path << value << words;
        };
        row("unknown", "fault.nan_samples", "1", "did you mean \"fault.nan_sample\"?");
        row("none", "fault.nan_sample", "0", "is 0; it must be an integer from 1 to 16");
        row("more than there are", "fault.nan_sample", "17", "is 17; it must be an integer from 1 to 16");
        row("text", "fault.loss_spike", "\"x\"", "is \"x\"; it must be a number above 0");
        row("negative", "fault.lr_jump", "-1", "is -1; it must be a number above 0");
        row("nameless", "fault.gradient_inf", "\"\"", "it must be a text naming a layer");
        row("null", "fault.exploding_init", "null", "it must be a number above 0");
    }

    void wrongFaultsAreRefused()
    {
        QFETCH(QString, path);
        QFETCH(QString, value);
        QFETCH(QString, words);
        const std::string text = complaint(eventAt(1, {{path.toStdString(), json::parse(value.toStdString())}}));
        QVERIFY2(QString::fromStdString(text).contains(words), text.c_str());
    }

    void tokensCannotBeNan()
    {
        const std::string text = complaint(
            merged({{"data", {{"kind", "modular_addition"}}}, {"model", {{"kind", "gpt"}, {"hidden", nullptr}}}},
                eventAt(1, {{"fault.nan_sample", 1}})));
        QVERIFY2(text.find("tokens") != std::string::npos, text.c_str());
    }

    void everyFaultHasAnExampleThatIsValid()
    {
        LaneConfig lane = parseExperiment(document().dump(), "t").lanes[0];
        lane.parallel.ranks = 2; // for the one that chooses a rank
        for (const FaultInfo& fault : faultTable()) {
            QCOMPARE(faultProblem(lane, fault, json::parse(fault.example)), std::string());
            QCOMPARE(faultNamed(fault.path), &fault);
        }
    }

    // --- events ---

    /// Injected by hand while it trains: an event, and the run's own document repeats it to the same weights.
    void faultsByHandRepeat()
    {
        RunRecorder recorder;
        SessionOptions options;
        options.threads = 1;
        options.observers = {&recorder};
        std::string hash;
        {
            Session session(parseExperiment(document(pytorch).dump(), "test"), options);
            session.runSteps(4);
            session.waitUntilIdle();
            session.set(0, "fault.gradient_inf", "fc1");
            session.set(0, "fault.lr_jump", 3);
            session.runSteps(4);
            session.waitUntilIdle();
            session.set(0, "fault.saturation", 2);
            session.duplicateLane(0, "copy");
            session.run();
            session.waitUntilIdle();
        }
        QCOMPARE(recorder.summaries.at(1).weightsHash, recorder.summaries.at(0).weightsHash);
        QVERIFY(recorder.records[4].skipped);
        json again = recorder.starts.back().experiment; // the copy's: with its whole past
        std::erase_if(
            again["lanes"].get_ref<json::array_t&>(), [](const json& lane) { return lane["name"] != "copy"; });
        std::erase_if(again["events"].get_ref<json::array_t&>(),
            [](const json& event) { return event.value("lane", "copy") != "copy"; });
        QCOMPARE(again["events"].size(), std::size_t {3});
        RunRecorder replay;
        options.observers = {&replay};
        Session session(parseExperiment(again.dump(), "again"), options);
        session.run();
        session.waitUntilIdle();
        QCOMPARE(replay.summaries.at(0).weightsHash, recorder.summaries.at(0).weightsHash);
    }

    // --- going back ---

    void theRingIsDenseWhereRecent()
    {
        SnapshotRing ring({.recent = 3, .most = 8, .bytes = 1 << 20});
        QVERIFY(!ring.oldestStep());
        QVERIFY(ring.before(5) == nullptr);
        for (int i = 0; i <= 100; ++i) {
            LaneState state;
            state.nextStep = 10 * i;
            state.tensors.push_back({"w", ValueKind::Parameter, {}, std::vector<std::byte>(100)});
            ring.add(std::move(state));
        }
        QCOMPARE(ring.size(), std::size_t {8});
        QCOMPARE(ring.oldestStep(), std::optional<std::int64_t>(0));
        for (const std::int64_t step : {1000, 990, 980}) {
            QCOMPARE(ring.before(step)->nextStep, step);
            QCOMPARE(ring.before(step + 9)->nextStep, step);
        }
        // The five old ones are spread out: no gap is more than a few times another.
        std::int64_t widest = 0;
        for (std::int64_t step = 970; step > 0;) {
            const std::int64_t at = ring.before(step)->nextStep;
            widest = std::max(widest, step - at);
            step = at - 1;
        }
        QVERIFY2(widest <= 500, qPrintable(QString::number(widest)));
    }

    void theRingHeedsItsMemory()
    {
        SnapshotRing ring({.recent = 3, .most = 8, .bytes = 250});
        for (int i = 0; i < 10; ++i) {
            LaneState state;
            state.nextStep = i;
            state.tensors.push_back({"w", ValueKind::Parameter, {}, std::vector<std::byte>(i < 9 ? 100 : 1000)});
            ring.add(std::move(state));
            QVERIFY(ring.size() <= 2);
            QCOMPARE(ring.before(i)->nextStep, std::int64_t {i});
        }
        QCOMPARE(ring.size(), std::size_t {1});
    }

    /// From every step that can be gone back to, the copy trains to what the lane itself trained, with the changes made
    /// since; and without the fatal one it lives.
    void aLaneIsTakenBackToBeforeItBroke()
    {
        RunRecorder recorder;
        SessionOptions options;
        options.threads = 1;
        options.snapshotInterval = 7;
        options.observers = {&recorder};
        const json script {{"steps", 60},
            {"events",
                {{{"step", 12}, {"set", {{"optimizer.lr", 0.02}}}},
                    {{"step", 45}, {"set", {{"optimizer.lr", 0.01}}}}}}};
        Session session(parseExperiment(document(script).dump(), "test"), options);
        session.runSteps(20);
        session.waitUntilIdle();
        session.set(0, "optimizer.lr", 0.03);
        session.runSteps(13);
        session.waitUntilIdle();
        session.set(0, "fault.gradient_inf", "fc1");
        session.run();
        session.waitUntilIdle();
        QCOMPARE(recorder.summaries.at(0).status, RunStatus::Diverged);
        QCOMPARE(session.status()->lanes[0].earliestStep, std::int64_t {0});
        int number = 0;
        for (const std::int64_t step : {33, 32, 21, 20, 13, 12, 7, 3, 0}) {
            session.duplicateLane(0, "back " + std::to_string(++number), step);
        }
        session.duplicateLane(0, "too far", 35);
        session.waitUntilIdle();
        QCOMPARE(session.status()->lanes.size(), std::size_t {10});
        QCOMPARE(session.status()->lanes[1].nextStep, std::int64_t {33});
        session.run();
        session.waitUntilIdle();
        std::map<std::uint32_t, std::map<std::int64_t, StepRecord>> byLane;
        for (const StepRecord& record : recorder.records) {
            byLane[record.lane][record.step] = record;
        }
        for (const auto& [lane, records] : byLane) {
            QCOMPARE(recorder.summaries.at(lane).status, lane == 0 ? RunStatus::Diverged : RunStatus::Finished);
            const std::int64_t from = records.begin()->first;
            // Up to the first change that was left out, they are the lane's own numbers.
            const std::int64_t until = from <= 20 ? 20 : 33;
            for (std::int64_t step = from; step < until; ++step) {
                QCOMPARE(records.at(step).loss, byLane.at(0).at(step).loss);
                QCOMPARE(records.at(step).lr, byLane.at(0).at(step).lr);
            }
            if (lane != 0) {
                QCOMPARE(records.at(50).lr, 0.01); // the script goes on
                QCOMPARE(records.at(std::max<std::int64_t>(from, 25)).lr, from > 20 ? 0.03 : 0.02);
            }
        }
        QVERIFY(std::ranges::any_of(recorder.events, [](const Event& event) {
            return event.kind == EventKind::LaneAdded && event.text.find("as it was then") != std::string::npos;
        }));
    }

    void goingBackNeedsWhatIsKept()
    {
        Session session(parseExperiment(document().dump(), "test"), {});
        session.runSteps(5);
        session.waitUntilIdle();
        session.duplicateLane(0, "back", 3);
        session.waitUntilIdle();
        QCOMPARE(session.status()->lanes.size(), std::size_t {1});
        std::vector<Event> events;
        session.takeEvents(events);
        QVERIFY(events.back().kind == EventKind::Refused);
        QVERIFY(events.back().text.find("cannot go back to step 3: it can to 5 to 5") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestFaults)
#include "tst_faults.moc"
