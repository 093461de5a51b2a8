/// A step that is enqueued before the numbers of the one before are read: the same records, events and weights to the
/// last bit as without, whatever happens in between, and no wait for what has just been enqueued.
#include "engine/core/error.h"
#undef emit // Qt's keyword, a name of the group's
#include "engine/train/lane_group.h"
#include "tests/cuda/lane_cases.h"
#include "tests/cuda/on_host.h"
#include "tests/support/run_recorder.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <limits>

using namespace mantissa;
using namespace mantissa::test;
using host_layer::callsOf;
using host_layer::pendingWork;
using nlohmann::json;

namespace {

constexpr const char* batchNorm = R"({"model": {"kind": "cnn", "width": 4, "hidden": [8], "stages": 1}})";
/// Nothing that depends on another thread's pace.
constexpr const char* noQueue = R"({"data": {"prefetch": 0}})";

void allowAhead(bool isAllowed)
{
    if (isAllowed) {
        qunsetenv("MANTISSA_CUDA_AHEAD");
    } else {
        qputenv("MANTISSA_CUDA_AHEAD", "0");
    }
}

Experiment experimentOf(const json& lane, const json& events = json::array())
{
    json document = lane;
    document["mantissa"] = 1;
    document["lanes"] = json::parse(R"([{"name": "a"}, {"name": "b", "seed": 2}])");
    document["events"] = events;
    return parseExperiment(document.dump(), "t");
}

struct Outcome
{
    RunRecorder told;
    std::shared_ptr<const SessionStatus> status;
};

using Drive = std::function<void(Session&)>;

void runToTheEnd(Session& session)
{
    session.run();
    session.waitUntilIdle();
}

void train(const Experiment& experiment, bool isAhead, Outcome& outcome, SessionOptions options = {},
    const Drive& drive = runToTheEnd)
{
    allowAhead(isAhead);
    options.device = "cuda";
    options.observers = {&outcome.told};
    Session session(experiment, options);
    session.waitUntilIdle();
    drive(session);
    outcome.status = session.status();
}

/// What differs, if anything does.
std::string difference(const Outcome& ahead, const Outcome& plain)
{
    if (ahead.told.records.size() != plain.told.records.size()) {
        return fmt::format("{} records, not {}", ahead.told.records.size(), plain.told.records.size());
    }
    for (std::size_t i = 0; i < plain.told.records.size(); ++i) {
        if (!isSameStep(ahead.told.records[i], plain.told.records[i])) {
            return fmt::format("the records of step {} differ", plain.told.records[i].step);
        }
    }
    const auto textOf = [](const RunRecorder& told) {
        std::string text;
        for (const Event& event : told.events) {
            text += fmt::format("{} {} {} {} {} {}\n", static_cast<int>(event.kind), event.step, event.lane, event.path,
                event.after, event.text);
        }
        return text;
    };
    if (textOf(ahead.told) != textOf(plain.told)) {
        return "events:\n" + textOf(ahead.told) + "not:\n" + textOf(plain.told);
    }
    for (const auto& [lane, summary] : plain.told.summaries) {
        const RunSummary& other = ahead.told.summaries.at(lane);
        if (other.weightsHash != summary.weightsHash || other.status != summary.status
            || other.finalScale != summary.finalScale || other.skippedSteps != summary.skippedSteps
            || !(other.validationLoss == summary.validationLoss
                || (std::isnan(other.validationLoss) && std::isnan(summary.validationLoss)))) {
            return fmt::format("lane {} ended otherwise", lane);
        }
    }
    return ahead.told.summaries.size() == plain.told.summaries.size() ? std::string() : "other lanes ended";
}

/// Steps after which a group had begun the next one.
std::vector<std::int64_t> stepsBegun(const Experiment& experiment, SessionOptions options = {})
{
    allowAhead(true);
    options.device = "cuda";
    const std::atomic<bool> interrupt {false};
    LaneGroup group(
        experiment, options, [](const Event&) {}, interrupt);
    std::vector<std::int64_t> steps;
    while (group.isActive()) {
        group.step(LaneGroup::Next::Step);
        if (group.hasBegun()) {
            steps.push_back(group.nextStep() - 1);
        }
    }
    return steps;
}

} // namespace

class TstCudaAhead : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanup();
    void changesNothing_data();
    void changesNothing();
    void divergenceIsTheSame_data();
    void divergenceIsTheSame();
    void beginsWhereNothingIsDue();
    void doesNotBeginWhereTheHostIsAsked_data();
    void doesNotBeginWhereTheHostIsAsked();
    void waitsForNothingBehind();
    void aSteadyStepAllocatesNothing();
    void standsStillForCommands();
    void stopsWhereItsRecordsEnd();
    void aBegunStepCanBeForgotten();
    void theScalersSettingsNeedNoNewRecording();
    void aDeviceThatScalesWronglyIsAnError();

private:
    static void compareAhead(const Experiment& experiment, const Outcome& plain, const SessionOptions& options);
};

void TstCudaAhead::initTestCase()
{
    useCudaOnHost();
    QVERIFY2(backendByName("cuda").device().available.ok, backendByName("cuda").device().available.reason.c_str());
}

void TstCudaAhead::cleanup()
{
    QVERIFY2(host_layer::lastFault().empty(), host_layer::lastFault().c_str());
    host_layer::reset();
    allowAhead(true);
}

/// In each schedule, `experiment` comes out as it did in `plain`.
void TstCudaAhead::compareAhead(const Experiment& experiment, const Outcome& plain, const SessionOptions& options)
{
    for (const Schedule& schedule : {schedules[0], schedules[1]}) {
        schedule.set();
        Outcome ahead;
        train(experiment, true, ahead, options);
        const std::string differs = difference(ahead, plain);
        QVERIFY2(differs.empty(), fmt::format("{}: {}", schedule.name, differs).c_str());
    }
}

void TstCudaAhead::changesNothing_data()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<QByteArray>("events");
    const auto row = [](const char* name, std::initializer_list<const char*> patches, const char* events = "[]") {
        json document = mlp(patches);
        document["steps"] = 12;
        QTest::newRow(name) << QByteArray::fromStdString(document.dump()) << QByteArray(events);
    };
    constexpr const char* growing = R"({"scaler": {"growth_interval": 2, "init_scale": 1e9, "growth_factor": 3.7}})";
    row("fp32", {});
    row("fp16, overflows and growth", {fp16, growing});
    row("batch norm", {fp16, batchNorm, growing});
    row("accumulation, dropout", {fp16, growing, R"({"accumulation": {"steps": 3}, "model": {"dropout": 0.2}})"});
    row("clipped, averaged",
        {fp16, R"({"clip": {"order": "unscale-then-clip", "max_norm": 0.5}, "ema": {"decay": 0.9}})"});
    row("stochastic rounding", {R"({"precision": {"policy": "bf16", "weights": "half-stochastic"}})"});
    row("schedule", {R"({"schedule": {"kind": "cosine", "warmup_steps": 4}})"});
    row("fixed scale", {fp16, R"({"scaler": {"family": "fixed"}})"});
    row("another family", {fp16, R"({"scaler": {"family": "deepspeed"}})"});
    row("changes", {fp16, growing}, R"([{"step": 3, "set": {"scaler.scale": 4096}},
        {"step": 4, "set": {"optimizer.lr": 0.003}}, {"step": 5, "set": {"fault.loss_spike": 1000}},
        {"step": 7, "set": {"scaler.frozen": true}}, {"step": 8, "set": {"scaler.family": "fairseq"}},
        {"step": 10, "set": {"scaler.family": "pytorch"}}])");
    row("faults", {fp16, noQueue}, R"([{"step": 2, "set": {"fault.gradient_inf": "fc1"}},
        {"step": 3, "set": {"fault.lr_jump": 3}}, {"step": 6, "set": {"fault.nan_sample": 1}}])");
}

void TstCudaAhead::changesNothing()
{
    QFETCH(QByteArray, document);
    QFETCH(QByteArray, events);
    const Experiment experiment = experimentOf(json::parse(document.toStdString()), json::parse(events.toStdString()));
    SessionOptions options;
    options.baselineInterval = 5;
    Outcome plain;
    train(experiment, false, plain, options);
    QCOMPARE(plain.told.records.size(), std::size_t {24});
    compareAhead(experiment, plain, options);
}

void TstCudaAhead::divergenceIsTheSame_data()
{
    QTest::addColumn<QByteArray>("document");
    const auto row = [](const char* name, std::initializer_list<const char*> patches) {
        QTest::newRow(name) << QByteArray::fromStdString(mlp(patches).dump());
    };
    // Nothing of the step that was begun by then may be left: no weight, no running statistic, no batch.
    constexpr const char* growing
        = R"({"loss": "mse", "optimizer": {"kind": "sgd", "lr": 1000000, "momentum": 0.9}, "steps": 30})";
    row("fp32", {growing});
    row("batch norm", {growing, batchNorm});
    row("bf16", {growing, bf16, batchNorm});
}

void TstCudaAhead::divergenceIsTheSame()
{
    QFETCH(QByteArray, document);
    const Experiment experiment = experimentOf(json::parse(document.toStdString()));
    SessionOptions options;
    options.baselineInterval = 0;
    Outcome plain;
    train(experiment, false, plain, options);
    QVERIFY(std::ranges::any_of(
        plain.told.summaries, [](const auto& ended) { return ended.second.status == RunStatus::Diverged; }));
    compareAhead(experiment, plain, options);
}

void TstCudaAhead::beginsWhereNothingIsDue()
{
    using Steps = std::vector<std::int64_t>;
    const json lane = mlp({fp16, R"({"steps": 8})"});
    SessionOptions options;
    options.baselineInterval = 0;
    QCOMPARE(stepsBegun(experimentOf(lane), options), (Steps {0, 1, 2, 3, 4, 5, 6}));
    QCOMPARE(stepsBegun(experimentOf(lane, json::parse(R"([{"step": 3, "set": {"optimizer.lr": 0.1}}])")), options),
        (Steps {0, 1, 3, 4, 5, 6}));
    options.baselineInterval = 4;
    QCOMPARE(stepsBegun(experimentOf(lane), options), (Steps {1, 2, 3, 5, 6}));
    options.baselineInterval = 0;
    options.snapshotInterval = 3;
    QCOMPARE(stepsBegun(experimentOf(lane), options), (Steps {0, 1, 3, 4, 6}));
    options.snapshotInterval = 0;
    options.sampling = {.every = 4, .thins = false};
    QCOMPARE(stepsBegun(experimentOf(lane), options), (Steps {1, 2, 5, 6}));
    options.sampling = {};
    json judged = lane;
    judged["evaluation"]["every"] = 2;
    QCOMPARE(stepsBegun(experimentOf(judged), options), (Steps {0, 2, 4, 6}));
    json watched = lane;
    watched["watch"] = json::parse(R"([{"when": "loss > 1e9", "do": "pause"}])");
    QCOMPARE(stepsBegun(experimentOf(watched), options), Steps {});
}

void TstCudaAhead::doesNotBeginWhereTheHostIsAsked_data()
{
    QTest::addColumn<QByteArray>("document");
    const auto row = [](const char* name, const char* patch) {
        QTest::newRow(name) << QByteArray::fromStdString(mlp({fp16, patch}).dump());
    };
    row("guard", R"({"accumulation": {"steps": 2, "guard": true}})");
    row("scaler per micro-batch", R"({"accumulation": {"steps": 2, "scaler_per_micro_batch": true}})");
    row("gradients that stay", R"({"accumulation": {"zero_gradients": false}})");
    row("another family", R"({"scaler": {"family": "fairseq"}})");
    row("a schedule that stays behind", R"({"schedule": {"count_skipped": false}})");
    row("another order", R"({"order": ["update", "unscale", "check", "clip", "step", "schedule"]})");
    row("ranks", R"({"parallel": {"ranks": 2}})");
}

void TstCudaAhead::doesNotBeginWhereTheHostIsAsked()
{
    QFETCH(QByteArray, document);
    const auto lane = laneOn("cuda", json::parse(document.toStdString()));
    QVERIFY(!lane->canRunAhead());
    lane->step();
    QVERIFY(!lane->canRunAhead());
}

/// With lazy streams only what is waited for runs.
void TstCudaAhead::waitsForNothingBehind()
{
    host_layer::setStreams(host_layer::Streams::Lazy);
    for (const json& document : {mlp({noQueue}), mlp({fp16, noQueue}), mlp({fp16, batchNorm, noQueue})}) {
        const auto lane = laneOn("cuda", document);
        for (int i = 0; i < 4; ++i) {
            lane->step();
        }
        lane->begin();
        for (int i = 0; i < 6; ++i) {
            QVERIFY(lane->canRunAhead());
            lane->complete();
            const std::size_t ofThisStep = pendingWork();
            lane->begin();
            const std::size_t ofBoth = pendingWork();
            QVERIFY(ofThisStep > 0 && ofBoth > ofThisStep);
            const std::uint64_t waits = callsOf("cudaStreamSynchronize");
            const StepRecord record = lane->collect();
            QCOMPARE(pendingWork(), ofBoth - ofThisStep); // the step that was begun has not been touched
            QCOMPARE(callsOf("cudaStreamSynchronize"), waits);
            QCOMPARE(record.step, std::int64_t {4 + i});
        }
        lane->discard();
    }
}

void TstCudaAhead::aSteadyStepAllocatesNothing()
{
    const auto lane = laneOn("cuda", mlp({fp16, batchNorm, noQueue}));
    lane->begin();
    const auto step = [&] {
        lane->complete();
        lane->begin();
        static_cast<void>(lane->collect());
    };
    for (int i = 0; i < 6; ++i) {
        step();
    }
    host_layer::reset();
    step();
    for (const char* const call :
        {"cudaMalloc", "cudaMallocHost", "cudaEventCreateWithFlags", "cudaGraphInstantiate"}) {
        QVERIFY2(callsOf(call) == 0, call);
    }
    lane->discard();
}

/// A change comes whenever it comes; replayed as a script, without running ahead, the run is the same.
void TstCudaAhead::standsStillForCommands()
{
    json document = mlp({fp16, R"({"steps": 60, "scaler": {"growth_interval": 3}})"});
    SessionOptions options;
    options.baselineInterval = 0;
    Outcome ahead;
    std::vector<std::int64_t> pausedAt;
    train(experimentOf(document), true, ahead, options, [&](Session& session) {
        session.runSteps(5);
        session.waitUntilIdle();
        pausedAt.push_back(session.status()->step);
        session.run();
        while (session.status()->step < 10) {
            QTest::qSleep(1);
        }
        session.set(0, "scaler.scale", 512);
        session.set(1, "scaler.backoff_factor", 0.25);
        session.pause();
        session.waitUntilIdle();
        const std::shared_ptr<const SessionStatus> status = session.status();
        QVERIFY(status->lanes[0].nextStep == status->lanes[1].nextStep);
        for (int i = 0; i < 3; ++i) {
            session.runSteps(1);
            session.waitUntilIdle();
            QCOMPARE(session.status()->step, std::min<std::int64_t>(status->step + i + 1, 60));
        }
        session.set(0, "optimizer.lr", 0.002);
        runToTheEnd(session);
    });
    QCOMPARE(pausedAt.front(), std::int64_t {5});
    json events = json::array();
    for (const Event& event : ahead.told.events) {
        if (event.kind == EventKind::Set) {
            events.push_back({{"step", event.step}, {"lane", event.lane == 0 ? "a" : "b"},
                {"set", {{event.path, json::parse(event.after)}}}});
        }
    }
    QCOMPARE(events.size(), std::size_t {3});
    Outcome plain;
    train(experimentOf(document, events), false, plain, options);
    QCOMPARE(ahead.told.records.size(), plain.told.records.size());
    for (std::size_t i = 0; i < plain.told.records.size(); ++i) {
        QVERIFY2(isSameStep(ahead.told.records[i], plain.told.records[i]), std::to_string(i).c_str());
    }
    for (const std::uint32_t lane : {0U, 1U}) {
        QCOMPARE(ahead.told.summaries.at(lane).weightsHash, plain.told.summaries.at(lane).weightsHash);
    }
}

void TstCudaAhead::stopsWhereItsRecordsEnd()
{
    const Experiment experiment = experimentOf(mlp({fp16, batchNorm, R"({"steps": 100000})"}));
    SessionOptions options;
    options.baselineInterval = 0;
    for (const bool isStopped : {true, false}) { // or the session just ends
        Outcome ahead;
        train(experiment, true, ahead, options, [isStopped](Session& session) {
            session.run();
            while (session.status()->step < 4) {
                QTest::qSleep(1);
            }
            if (isStopped) {
                session.stop();
                session.waitUntilIdle();
            }
        });
        const std::int64_t steps = ahead.told.summaries.at(0).steps;
        QCOMPARE(ahead.told.records.back().step, steps - 1);
        Outcome plain;
        train(experiment, false, plain, options, [steps](Session& session) {
            session.runSteps(steps);
            session.waitUntilIdle();
        });
        for (const std::uint32_t lane : {0U, 1U}) {
            QCOMPARE(ahead.told.summaries.at(lane).weightsHash, plain.told.summaries.at(lane).weightsHash);
            QVERIFY(ahead.told.summaries.at(lane).status == RunStatus::Stopped);
        }
    }
}

void TstCudaAhead::aBegunStepCanBeForgotten()
{
    const json document = mlp({fp16, batchNorm});
    const auto lane = laneOn("cuda", document);
    const auto other = laneOn("cuda", document);
    lane->begin();
    lane->complete();
    lane->begin();
    QVERIFY(isSameStep(lane->collect(), other->step()));
    QVERIFY(lane->hasBegun());
    QCOMPARE(lane->batchHash(), other->batchHash());
    std::vector<float> weights;
    const auto refuses = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.code() == ErrorCode::Internal;
        }
        return false;
    };
    QVERIFY(
        refuses([&] { static_cast<void>(lane->weightsHash()); }) && refuses([&] { static_cast<void>(lane->state()); }));
    QVERIFY(refuses([&] { lane->set("optimizer.lr", 0.1); }) && refuses([&] { lane->readWeights(weights); }));
    QVERIFY(refuses([&] { lane->validate(); }) && refuses([&] { lane->setCounting(false); }));
    QVERIFY(refuses([&] { lane->step(); }) && refuses([&] { lane->restore(other->state()); }));
    lane->discard();
    QCOMPARE(lane->weightsHash(), other->weightsHash());
    QVERIFY(isSameStep(lane->step(), other->step()));
    QCOMPARE(lane->weightsHash(), other->weightsHash());
}

void TstCudaAhead::theScalersSettingsNeedNoNewRecording()
{
    const auto lane = laneOn("cuda", mlp({fp16}));
    for (int i = 0; i < 3; ++i) {
        lane->step();
    }
    const std::uint64_t recorded = callsOf("cudaGraphInstantiate");
    lane->set("scaler.growth_interval", 5);
    lane->set("scaler.growth_factor", 3);
    lane->set("scaler.scale", 100);
    lane->set("scaler.growth_tracker", 3);
    lane->step();
    lane->step();
    QCOMPARE(lane->scale(), 300.0);
    lane->set("fault.gradient_inf", "fc1");
    lane->set("scaler.backoff_factor", 0.1);
    lane->step();
    QCOMPARE(lane->scale(), static_cast<double>(static_cast<float>(300 * 0.1)));
    lane->set("scaler.frozen", true);
    lane->step();
    QCOMPARE(lane->scale(), static_cast<double>(static_cast<float>(300 * 0.1)));
    QCOMPARE(callsOf("cudaGraphInstantiate"), recorded);
}

void TstCudaAhead::aDeviceThatScalesWronglyIsAnError()
{
    const auto lane = laneOn("cuda", mlp({fp16}));
    lane->step();
    lane->begin();
    const float wrong = 3;
    lane->executor().write(lane->stepGraph().scaler->scale, std::as_bytes(std::span(&wrong, 1)));
    lane->complete();
    try {
        static_cast<void>(lane->collect());
        QFAIL("a scale that is not the host's must be an error");
    } catch (const Error& error) {
        QVERIFY(error.code() == ErrorCode::BackendFailure);
        QVERIFY2(std::string_view(error.what()).find("loss scale") != std::string_view::npos, error.what());
    }
}

QTEST_APPLESS_MAIN(TstCudaAhead)
#include "tst_cuda_ahead.moc"
