// Sessions as people use them: lanes in lockstep, commands at step boundaries, runs that repeat to the last bit.
#include "engine/train/session.h"
#include "tests/support/run_recorder.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <map>

using namespace mantissa;

namespace {

constexpr const char* threeLanes = R"({"mantissa": 1, "name": "three", "steps": 40, "optimizer": {"lr": 0.004},
    "data": {"kind": "digits", "batch": 32}, "model": {"kind": "mlp", "hidden": [32], "dropout": 0.2},
    "lanes": [{"name": "fp32"},
              {"name": "fp16", "precision": {"policy": "fp16"}, "scaler": {"growth_interval": 7}},
              {"name": "bf16", "precision": {"policy": "bf16"}}]})";

RunRecorder train(const nlohmann::json& document, int threads = 0, const std::string& device = "auto")
{
    RunRecorder recorder;
    SessionOptions options;
    options.device = device;
    options.threads = threads;
    options.observers = {&recorder};
    Session session(parseExperiment(document.dump(), "test"), options);
    session.run();
    session.waitUntilIdle();
    return recorder;
}

nlohmann::json document(const char* text = threeLanes)
{
    return nlohmann::json::parse(text);
}

bool isSameRun(const RunRecorder& a, const RunRecorder& b)
{
    return a.records.size() == b.records.size()
        && std::equal(a.records.begin(), a.records.end(), b.records.begin(), isSameStep);
}

} // namespace

class TestSession : public QObject
{
    Q_OBJECT

private slots:

    void trainsAllLanesInLockstep()
    {
        const RunRecorder run = train(document());
        QCOMPARE(run.records.size(), std::size_t {120});
        for (std::size_t i = 0; i < run.records.size(); ++i) {
            QCOMPARE(run.records[i].step, static_cast<std::int64_t>(i / 3));
            QCOMPARE(run.records[i].lane, static_cast<std::uint32_t>(i % 3));
            QCOMPARE(run.records[i].batchHash, run.records[i / 3 * 3].batchHash);
            QVERIFY(run.records[i].lossFinite);
        }
        QCOMPARE(run.starts.size(), std::size_t {3});
        QCOMPARE(run.starts[0].initialWeightsHash, run.starts[1].initialWeightsHash);
        QCOMPARE(run.starts[0].initialWeightsHash, run.starts[2].initialWeightsHash);
        for (const auto& [lane, summary] : run.summaries) {
            QCOMPARE(summary.status, RunStatus::Finished);
            QVERIFY2(summary.finalLoss < 0.8 * run.records[lane].loss, "the lane has learnt");
            QVERIFY(summary.validationAccuracy > 0.3);
            QVERIFY(summary.validationLoss > 0);
        }
        QCOMPARE(run.summaries.size(), std::size_t {3});
    }

    void repeatsToTheLastBit_data()
    {
        QTest::addColumn<int>("threads");
        QTest::newRow("one thread") << 1;
        QTest::newRow("two threads") << 2;
        QTest::newRow("six threads, two a lane") << 6;
    }

    void repeatsToTheLastBit()
    {
        QFETCH(int, threads);
        QVERIFY(isSameRun(train(document(), threads), train(document(), threads)));
    }

    void agreesWithTheReferenceBackend()
    {
        nlohmann::json small = document();
        small["steps"] = 5;
        const RunRecorder cpu = train(small, 1, "cpu");
        const RunRecorder reference = train(small, 1, "reference");
        for (std::size_t i = 0; i < cpu.records.size(); ++i) {
            // The loss is a mean of about 2.3 with an FP32 (lane 0) or 16-bit forward behind it; five Adam steps of at
            // most lr in every weight can amplify a flipped rounding, so the bound is some unit roundoffs of the
            // format.
            const double roundoff = std::array {0x1p-24, 0x1p-11, 0x1p-8}[cpu.records[i].lane];
            QVERIFY2(
                std::abs(cpu.records[i].loss - reference.records[i].loss) < 16 * roundoff * reference.records[i].loss,
                qPrintable(QString::number(i)));
        }
    }

    void powerOfTwoScaleLeavesBf16Unchanged()
    {
        nlohmann::json pair = document();
        pair["lanes"] = {{{"name", "plain"}, {"precision", {{"policy", "bf16"}}}},
            {{"name", "scaled"}, {"precision", {{"policy", "bf16"}}}, {"scaler", {{"growth_interval", 3}}}}};
        const RunRecorder run = train(pair);
        QVERIFY(run.records.back().scale > 65536);
        QCOMPARE(run.summaries.at(0).weightsHash, run.summaries.at(1).weightsHash);
    }

    void instrumentsChangeNothing()
    {
        std::map<std::int64_t, std::string> hashes;
        for (const std::int64_t interval : {0, 1}) {
            SessionOptions options;
            options.baselineInterval = interval;
            Session session(parseExperiment(threeLanes, "test"), options);
            session.run();
            session.waitUntilIdle();
            hashes[interval] = session.status()->lanes[1].summary->weightsHash;
        }
        QCOMPARE(hashes[0], hashes[1]);
    }

    void aLanesResultDoesNotDependOnItsNeighbours()
    {
        nlohmann::json alone = document();
        alone["lanes"] = {alone["lanes"][1]};
        const RunRecorder one = train(alone, 1);
        const RunRecorder three = train(document(), 3);
        QCOMPARE(one.summaries.at(0).weightsHash, three.summaries.at(1).weightsHash);
    }

    void accumulationEqualsTheLargeBatch()
    {
        nlohmann::json big = document();
        big["model"].erase("dropout"); // whose masks differ between micro-batches and one batch
        big["lanes"] = {{{"name", "one of 32"}},
            {{"name", "four of 8"}, {"data", {{"batch", 8}}}, {"accumulation", {{"steps", 4}}}}};
        const RunRecorder run = train(big);
        for (std::size_t i = 0; i < 20; i += 2) {
            // The same samples, averaged in another order: FP32 roundings, grown by ten Adam steps.
            QVERIFY(std::abs(run.records[i].loss - run.records[i + 1].loss) < 1e-4);
        }
    }

    void infiniteGradientsAreSkippedWithAScalerAndFatalWithout()
    {
        nlohmann::json hot = document();
        hot["steps"] = 30;
        hot["lanes"]
            = {{{"name", "scaler"}, {"precision", {{"policy", "fp16"}}}, {"scaler", {{"init_scale", 4294967296.0}}}},
                {{"name", "none"}, {"precision", {{"policy", "fp16"}}}, {"loss_weight", 4294967296.0}}};
        const RunRecorder run = train(hot);
        const RunSummary& skipping = run.summaries.at(0);
        QCOMPARE(skipping.status, RunStatus::Finished);
        QVERIFY(skipping.skippedSteps > 5);
        QCOMPARE(skipping.firstSkip, std::int64_t {0});
        QCOMPARE(skipping.finalScale, std::ldexp(1.0, 32 - static_cast<int>(skipping.skippedSteps)));
        QCOMPARE(run.summaries.at(1).status, RunStatus::Diverged);
        QCOMPARE(run.summaries.at(1).steps, std::int64_t {1});
        QVERIFY(std::ranges::any_of(run.events, [](const Event& event) { return event.kind == EventKind::Diverged; }));
    }

    void clipsInEitherOrder()
    {
        nlohmann::json clips = document();
        clips["precision"] = {{"policy", "fp16"}};
        clips["scaler"] = nlohmann::json::object();
        clips["lanes"] = {{{"name", "right"}, {"clip", {{"order", "unscale-then-clip"}, {"max_norm", 0.5}}}},
            {{"name", "wrong"}, {"clip", {{"order", "clip-then-unscale"}, {"max_norm", 0.5}}}},
            {{"name", "value"}, {"clip", {{"order", "unscale-then-clip"}, {"max_value", 0.01}}}}};
        const RunRecorder run = train(clips);
        for (const StepRecord& record : run.records) {
            if (record.skipped) {
                continue;
            }
            if (record.lane == 0) {
                QVERIFY(record.gradNormClipped <= 0.5 * (1 + 1e-5));
                QVERIFY(std::abs(record.gradNormClipped - std::min(record.gradNorm, 0.5)) < 1e-5);
            } else if (record.lane == 1) {
                QVERIFY(std::abs(record.gradNormClipped - 0.5 / record.scale) < 1e-5 * 0.5 / record.scale + 1e-12);
            } else {
                QVERIFY(record.gradNormClipped <= record.gradNorm);
            }
        }
    }

    void scriptedEventsTakeEffectAtTheirStep()
    {
        nlohmann::json scripted = document();
        scripted["events"]
            = {{{"step", 10}, {"lane", "fp16"}, {"set", {{"scaler.scale", 1024}, {"optimizer.lr", 0.5}}}},
                {{"step", 20}, {"lane", "fp16"}, {"set", {{"precision.policy", "bf16"}}}}};
        const RunRecorder run = train(scripted);
        const auto at = [&run](std::int64_t step) { return run.records[static_cast<std::size_t>(step) * 3 + 1]; };
        QCOMPARE(at(10).scale, 1024.0);
        QCOMPARE(at(9).lr, 0.004);
        QCOMPARE(at(10).lr, 0.5);
        QCOMPARE(run.records.size(), std::size_t {120});
        QCOMPARE(
            std::ranges::count_if(run.events, [](const Event& e) { return e.kind == EventKind::Set && e.scripted; }),
            3);
    }

    void pausesStepsAndGoesOn()
    {
        Session session(parseExperiment(threeLanes, "test"), {});
        session.waitUntilIdle();
        QCOMPARE(session.status()->state, SessionState::Ready);
        session.runSteps(1);
        session.waitUntilIdle();
        QCOMPARE(session.status()->state, SessionState::Paused);
        QCOMPARE(session.status()->step, std::int64_t {1});
        session.runSteps(5);
        session.waitUntilIdle();
        QCOMPARE(session.status()->step, std::int64_t {6});
        session.run();
        session.waitUntilIdle();
        QCOMPARE(session.status()->state, SessionState::Finished);
        session.extend(50);
        session.run();
        session.waitUntilIdle();
        QCOMPARE(session.status()->step, std::int64_t {50});
        std::vector<StepRecord> records;
        session.takeRecords(records);
        QCOMPARE(records.size(), std::size_t {150});
    }

    void anExtendedRunReplaysWithItsExtension()
    {
        nlohmann::json base = document();
        base["schedule"] = {{"kind", "cosine"}}; // whose rates depend on the end
        RunRecorder recorder;
        SessionOptions options;
        options.observers = {&recorder};
        Session session(parseExperiment(base.dump(), "test"), options);
        session.run();
        session.waitUntilIdle();
        session.extend(60);
        session.run();
        session.waitUntilIdle();
        base["events"] = {{{"step", 40}, {"set", {{"steps", 60}}}}};
        const RunRecorder replay = train(base);
        QCOMPARE(replay.records.size(), std::size_t {180});
        for (const auto& [lane, summary] : replay.summaries) {
            QCOMPARE(summary.weightsHash, recorder.summaries.at(lane).weightsHash);
        }
    }

    void aScriptMayEndARunEarly()
    {
        nlohmann::json base = document();
        base["events"] = {{{"step", 12}, {"lane", "bf16"}, {"set", {{"steps", 12}}}}};
        const RunRecorder run = train(base);
        QCOMPARE(run.summaries.at(2).steps, std::int64_t {12});
        QCOMPARE(run.summaries.at(2).status, RunStatus::Finished);
        QCOMPARE(run.summaries.at(0).steps, std::int64_t {40});
    }

    void resetStartsAgainWithPresentSettings()
    {
        Session session(parseExperiment(threeLanes, "test"), {});
        session.run();
        session.waitUntilIdle();
        const std::string first = session.status()->lanes[0].summary->weightsHash;
        session.reset();
        session.waitUntilIdle();
        QCOMPARE(session.status()->state, SessionState::Ready);
        QCOMPARE(session.status()->generation, 1U);
        session.set(1, "optimizer.lr", 0.002);
        session.run();
        session.waitUntilIdle();
        QCOMPARE(session.status()->lanes[0].summary->weightsHash, first);
        std::vector<StepRecord> records;
        session.takeRecords(records);
        QCOMPARE(records.back().generation, 1U);
        QCOMPARE(records[records.size() - 2].lr, 0.002);
    }

    void refusedCommandsSayWhyAndChangeNothing()
    {
        Session session(parseExperiment(threeLanes, "test"), {});
        const std::uint64_t bad = session.set(0, "optimizer.lr", "fast");
        session.set(0, "model.hidden", {1, 2});
        session.set(77, "optimizer.lr", 1);
        session.set(0, "scaler.scale", 2);
        session.waitUntilIdle();
        std::vector<Event> events;
        session.takeEvents(events);
        QCOMPARE(events.size(), std::size_t {4});
        for (const Event& event : events) {
            QCOMPARE(event.kind, EventKind::Refused);
            QVERIFY(!event.text.empty());
        }
        QCOMPARE(events[0].command, bad);
        QCOMPARE(session.status()->lanes[0].config->optimizer.lr, 0.004);
    }

    void eventsTellWhatASettingWas()
    {
        Session session(parseExperiment(threeLanes, "test"), {});
        session.set(0, "optimizer.weight_decay", 0.1); // its default is not in the file
        session.set(1, "scaler.scale", 8);
        session.waitUntilIdle();
        std::vector<Event> events;
        session.takeEvents(events);
        QCOMPARE(events.at(0).before, std::string("0.01"));
        QCOMPARE(events.at(0).after, std::string("0.1"));
        QCOMPARE(events.at(1).before, std::string("65536.0"));
    }

    void aSpeedLimitHoldsAndLifts()
    {
        Session session(parseExperiment(threeLanes, "test"), {});
        session.waitUntilIdle();
        session.setSpeedLimit(0.001);
        session.run();
        QTRY_COMPARE(session.status()->state, SessionState::Running);
        QTRY_VERIFY(session.status()->step >= 1);
        QTest::qWait(50);
        QVERIFY(session.status()->step <= 2);
        session.setSpeedLimit(0);
        session.waitUntilIdle();
        QCOMPARE(session.status()->step, std::int64_t {40});
    }

    void aLaneAddedLateCatchesUpOnTheSameBatches()
    {
        Session session(parseExperiment(threeLanes, "test"), {});
        session.runSteps(15);
        session.waitUntilIdle();
        LaneConfig late = *session.status()->lanes[0].config;
        late.name = "late";
        late.document["name"] = "late";
        session.addLane(late);
        session.run();
        session.waitUntilIdle();
        const auto status = session.status();
        QCOMPARE(status->lanes.size(), std::size_t {4});
        QCOMPARE(status->lanes[3].summary->weightsHash, status->lanes[0].summary->weightsHash);
    }

    void aForkGoesOnAsItsParentWouldHave()
    {
        RunRecorder recorder;
        SessionOptions options;
        options.observers = {&recorder};
        Session session(parseExperiment(threeLanes, "test"), options);
        session.set(1, "optimizer.lr", 0.004);
        session.runSteps(15);
        session.set(1, "scaler.scale", 512);
        session.duplicateLane(1, "copy");
        session.waitUntilIdle();
        session.run();
        session.waitUntilIdle();
        const auto status = session.status();
        QCOMPARE(status->lanes[3].summary->weightsHash, status->lanes[1].summary->weightsHash);
        QCOMPARE(status->lanes[3].batchHash, status->lanes[1].batchHash);

        // The fork's own document, with its history, trains it from the start without its parent.
        const RunStart& start = recorder.starts.back();
        QCOMPARE(start.config.name, std::string("copy"));
        nlohmann::json alone = start.experiment;
        std::erase_if(alone["lanes"].get_ref<nlohmann::json::array_t&>(),
            [](const nlohmann::json& lane) { return lane["name"] != "copy"; });
        std::erase_if(alone["events"].get_ref<nlohmann::json::array_t&>(),
            [](const nlohmann::json& event) { return event.value("lane", "copy") != "copy"; });
        const RunRecorder replay = train(alone);
        QCOMPARE(replay.summaries.at(0).weightsHash, status->lanes[3].summary->weightsHash);
    }

    void failsInWordsWhenItCannotPrepare()
    {
        nlohmann::json broken = document();
        broken["data"] = {{"kind", "mnist"}, {"path", "/nonexistent"}};
        Session session(parseExperiment(broken.dump(), "test"), {});
        session.waitUntilIdle();
        QCOMPARE(session.status()->state, SessionState::Failed);
        QCOMPARE(session.status()->error, ErrorCode::InvalidArgument);
        QVERIFY(session.status()->message.find("/nonexistent") != std::string::npos);
        session.run();
        session.waitUntilIdle();
        QCOMPARE(session.status()->state, SessionState::Failed);
    }

    void stopsWithinAStepAndOnDestruction()
    {
        nlohmann::json endless = document();
        endless["steps"] = 100'000'000;
        RunRecorder recorder;
        {
            SessionOptions options;
            options.observers = {&recorder};
            Session session(parseExperiment(endless.dump(), "test"), options);
            session.run();
            QTRY_VERIFY(session.status()->step > 3);
        }
        QCOMPARE(recorder.summaries.size(), std::size_t {3});
        QCOMPARE(recorder.summaries.at(0).status, RunStatus::Stopped);
        QCOMPARE(recorder.summaries.at(0).steps * 3, static_cast<std::int64_t>(recorder.records.size()));
    }

    void whatIsStoppedIsNotValidated_data()
    {
        QTest::addColumn<int>("way");
        QTest::newRow("stop") << 0;
        QTest::newRow("reset") << 1;
        QTest::newRow("lane removed") << 2;
        QTest::newRow("session closed") << 3;
    }

    void whatIsStoppedIsNotValidated()
    {
        QFETCH(int, way);
        RunRecorder recorder;
        {
            SessionOptions options;
            options.observers = {&recorder};
            Session session(parseExperiment(threeLanes, "test"), options);
            session.runSteps(5);
            session.waitUntilIdle();
            if (way == 0) {
                session.stop();
            } else if (way == 1) {
                session.reset();
            } else if (way == 2) {
                session.removeLane(1);
            }
            session.waitUntilIdle();
        }
        const RunSummary& stopped = recorder.summaries.at(1);
        QCOMPARE(stopped.status, RunStatus::Stopped);
        QCOMPARE(stopped.steps, std::int64_t {5});
        QVERIFY(std::isnan(stopped.validationLoss));
        QVERIFY(std::isnan(stopped.validationAccuracy));
        QCOMPARE(stopped.message, std::string());
        QVERIFY(!stopped.weightsHash.empty());
    }

    void learnsRegressionAndBinaryTasks()
    {
        for (const char* task : {R"({"data": {"kind": "regression"}, "loss": "mse"})",
                 R"({"data": {"kind": "moons"}, "loss": "bce_with_logits"})", R"({"data": {"kind": "spirals"}})"}) {
            nlohmann::json experiment = document();
            experiment["steps"] = 200;
            experiment["optimizer"] = {{"kind", "sgd"}, {"lr", 0.05}, {"momentum", 0.9}};
            experiment.merge_patch(nlohmann::json::parse(task));
            const RunRecorder run = train(experiment);
            for (const auto& [lane, summary] : run.summaries) {
                QVERIFY2(summary.minLoss < 0.8 * run.records[lane].loss, task);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestSession)
#include "tst_session.moc"
