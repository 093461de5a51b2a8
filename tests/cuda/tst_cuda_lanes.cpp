/// Whole training steps of the CUDA backend on the host layer: beside the CPU backend, step by step, and with the
/// device or a library failing at every call.
#include "engine/core/error.h"
#include "engine/train/lane.h"
#include "engine/train/session.h"
#include "tests/cuda/on_host.h"
#include "tests/support/run_recorder.h"

#include <QTest>

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>

using namespace mantissa;
using namespace mantissa::test;
using nlohmann::json;

namespace {

/// A small MLP's settings, changed by merge patches.
json mlp(std::initializer_list<const char*> patches = {})
{
    json document = json::parse(R"({"name": "t", "seed": 1, "steps": 4, "data": {"kind": "digits", "batch": 12},
        "model": {"kind": "mlp", "hidden": [17, 9], "activation": "relu"}, "loss": "cross_entropy",
        "optimizer": {"kind": "adamw", "lr": 0.01}})");
    for (const char* const patch : patches) {
        document.merge_patch(json::parse(patch));
    }
    return document;
}

constexpr const char* fp16 = R"({"precision": {"policy": "fp16"}, "scaler": {"family": "pytorch"}})";
constexpr const char* bf16 = R"({"precision": {"policy": "bf16"}})";

std::unique_ptr<Lane> laneOn(const std::string& device, const json& document)
{
    const LaneConfig config = parseLane(document, "t");
    auto data = std::make_shared<Dataset>(loadDataset(config.data, config.seed, {}));
    if (config.loss != "cross_entropy") {
        labelsToTargets(*data);
    }
    return std::make_unique<Lane>(0, config, std::vector<ScriptedEvent> {}, std::move(data), backendByName(device), 1);
}

bool isNear(double a, double b, double relative)
{
    if (!std::isfinite(a) || !std::isfinite(b)) {
        return (std::isnan(a) && std::isnan(b)) || a == b;
    }
    return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b)) + 1e-12;
}

/// Live allocations and calls of a whole life: prepared, three steps, gone.
std::uint64_t trainThreeSteps(const json& document)
{
    const auto lane = laneOn("cuda", document);
    for (int i = 0; i < 3; ++i) {
        lane->step();
    }
    return host_layer::callCount();
}

/// What a session of two lanes on the device came to.
struct Outcome
{
    std::shared_ptr<const SessionStatus> status;
    std::size_t records = 0;
    std::size_t ended = 0;
};

Outcome trainSession(std::optional<std::uint64_t> failsAfterReady)
{
    json document = mlp({R"({"steps": 6})"});
    document["mantissa"] = 1;
    document["lanes"] = json::parse(R"([{"name": "a"}, {"name": "b", "precision": {"policy": "fp16"}}])");
    RunRecorder recorder;
    SessionOptions options;
    options.device = "cuda";
    options.observers = {&recorder};
    options.snapshotInterval = 2;
    Session session(parseExperiment(document.dump(), "t"), options);
    session.runSteps(2);
    session.waitUntilIdle();
    if (failsAfterReady) {
        host_layer::failFrom(*failsAfterReady);
    }
    session.run();
    session.waitUntilIdle();
    return {session.status(), recorder.records.size(), recorder.summaries.size()};
}

} // namespace

class TstCudaLanes : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanup();
    void stepsAsTheCpuDoes_data();
    void stepsAsTheCpuDoes();
    void isTheSameInEveryOrder();
    void countingChangesNothing();
    void everyFailedCallIsAnError();
    void usedUpMemoryIsAnError();
    void failedLanesEndAndTheSessionGoesOn();
};

void TstCudaLanes::initTestCase()
{
    useCudaOnHost();
    QVERIFY2(backendByName("cuda").device().available.ok, backendByName("cuda").device().available.reason.c_str());
}

void TstCudaLanes::cleanup()
{
    host_layer::reset();
}

void TstCudaLanes::stepsAsTheCpuDoes_data()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<double>("tolerance");
    // Within the sums' order in FP32; in 16 bits a sum that lies near the middle of two numbers may fall either way,
    // and what comes after carries that on: a few units of the format.
    constexpr double single = 2e-5;
    constexpr double half = 8 * 0x1p-11;
    constexpr double bfloat = 8 * 0x1p-8;
    const auto add = [](const char* name, double tolerance, const json& document) {
        QTest::newRow(name) << QByteArray::fromStdString(document.dump()) << tolerance;
    };
    const char* const bare = R"({"model": {"hidden": null, "activation": null}})";
    add("mlp fp32", single, mlp());
    add("mlp fp16", half, mlp({fp16}));
    add("mlp bf16", bfloat, mlp({bf16}));
    add("mlp pure fp16", half, mlp({fp16, R"({"precision": {"policy": "pure-fp16"}})"}));
    add("mlp pure bf16", bfloat, mlp({R"({"precision": {"policy": "pure-bf16"}})"}));
    add("mlp fp16, sgd, clipped, dropout, accumulation", half,
        mlp({fp16, R"({"optimizer": {"kind": "sgd", "momentum": 0.9, "nesterov": true, "weight_decay": 0.01},
            "clip": {"order": "unscale-then-clip", "max_norm": 0.5}, "accumulation": {"steps": 2},
            "model": {"dropout": 0.2, "activation": "gelu"}})"}));
    add("mlp fp32, mse", single, mlp({R"({"loss": "mse", "model": {"activation": "tanh"}})"}));
    add("mlp bf16, bce", bfloat, mlp({bf16, R"({"loss": "bce_with_logits", "model": {"activation": "silu"}})"}));
    add("cnn fp32", single, mlp({R"({"model": {"kind": "cnn", "width": 4, "hidden": [8], "stages": 2}})"}));
    add("resnet fp16", 4 * half,
        mlp({fp16, bare, R"({"model": {"kind": "resnet", "width": 4, "depth": 1, "stages": 2}})"}));
    add("vit bf16", bfloat,
        mlp({bf16, bare, R"({"model": {"kind": "vit", "width": 8, "depth": 1, "heads": 2, "patch": 4}})"}));
    add("gpt fp16", half, mlp({fp16, bare, R"({"data": {"kind": "modular_addition"},
            "model": {"kind": "gpt", "width": 8, "depth": 1, "heads": 2}})"}));
}

void TstCudaLanes::stepsAsTheCpuDoes()
{
    QFETCH(QByteArray, document);
    QFETCH(double, tolerance);
    const json settings = json::parse(document.toStdString());
    const auto onCpu = laneOn("cpu", settings);
    const auto onCuda = laneOn("cuda", settings);
    QCOMPARE(onCuda->weightsHash(), onCpu->weightsHash());
    QCOMPARE(onCuda->graph()->text(), onCpu->graph()->text());
    schedules[2].set();
    for (int step = 0; step < 4; ++step) {
        onCuda->restore(onCpu->state()); // so that each step is judged alone
        const StepRecord expected = onCpu->step();
        const StepRecord actual = onCuda->step();
        const std::string where = fmt::format("step {}: loss {} {}, norm {} {}, update {} {}, flushed {} {}", step,
            actual.loss, expected.loss, actual.gradNorm, expected.gradNorm, actual.updateRatio, expected.updateRatio,
            actual.flushed, expected.flushed);
        QVERIFY2(isNear(actual.loss, expected.loss, tolerance), where.c_str());
        QVERIFY2(isNear(actual.gradNorm, expected.gradNorm, 4 * tolerance), where.c_str());
        QVERIFY2(isNear(actual.gradNormClipped, expected.gradNormClipped, 4 * tolerance), where.c_str());
        // Adam's first steps are the gradients' signs: a gradient around 0 counts as much as any other.
        QVERIFY2(isNear(actual.updateRatio, expected.updateRatio, std::max(0.02, 4 * tolerance)), where.c_str());
        QVERIFY2(std::abs(actual.flushed - expected.flushed) <= 0.02, where.c_str());
        QCOMPARE(actual.skipped, expected.skipped);
        QCOMPARE(actual.foundInf, expected.foundInf);
        QCOMPARE(actual.scale, expected.scale);
        QCOMPARE(actual.batchHash, expected.batchHash);
    }
}

void TstCudaLanes::isTheSameInEveryOrder()
{
    const json document = mlp({fp16, R"({"model": {"dropout": 0.3}})"});
    std::string first;
    for (const Schedule& schedule : schedules) {
        schedule.set();
        const auto lane = laneOn("cuda", document);
        for (int step = 0; step < 3; ++step) {
            lane->step();
        }
        first = first.empty() ? lane->weightsHash() : first;
        QVERIFY2(lane->weightsHash() == first, schedule.name);
    }
}

void TstCudaLanes::countingChangesNothing()
{
    const json document = mlp({fp16});
    const auto counted = laneOn("cuda", document);
    const auto uncounted = laneOn("cuda", document);
    uncounted->setCounting(false);
    for (int step = 0; step < 3; ++step) {
        QCOMPARE(counted->step().loss, uncounted->step().loss);
    }
    QCOMPARE(counted->weightsHash(), uncounted->weightsHash());
}

void TstCudaLanes::everyFailedCallIsAnError()
{
    const json document = mlp({fp16});
    const std::size_t before = host_layer::liveAllocations();
    host_layer::reset();
    const std::uint64_t calls = trainThreeSteps(document);
    QVERIFY(calls > 300);
    std::set<std::string> failed;
    // Steps repeat their calls: a step of 7, which none of their patterns has, meets every kind of call.
    for (std::uint64_t call = 0; call < calls; call += call < 100 ? 1 : 7) {
        host_layer::reset();
        host_layer::failFrom(call);
        try {
            trainThreeSteps(document);
            const std::string last = host_layer::failedCall();
            // Nobody hears of what fails only when the lane is gone.
            QVERIFY2(last == "cudaFree" || last == "cudaStreamDestroy",
                fmt::format("call {}, {}, failed unnoticed", call, last).c_str());
        } catch (const Error& error) {
            const bool isOfDevice = error.code() == ErrorCode::BackendFailure || error.code() == ErrorCode::OutOfMemory
                || error.code() == ErrorCode::UnsupportedDtype;
            QVERIFY2(isOfDevice && std::string_view(error.what()).size() > 40, error.what());
            failed.insert(host_layer::failedCall());
        }
        host_layer::reset();
        QCOMPARE(host_layer::liveAllocations(), before);
    }
    for (const char* call :
        {"cudaMalloc", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaStreamCreateWithFlags", "cudaStreamSynchronize",
            "cudaLaunchKernelEx", "cudaMemGetInfo", "cublasLtMatmul", "cublasLtMatmulAlgoGetHeuristic",
            "cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate", "cublasLtMatmulPreferenceCreate"}) {
        QVERIFY2(failed.contains(call), call);
    }
}

void TstCudaLanes::usedUpMemoryIsAnError()
{
    const json document = mlp();
    host_layer::Device device;
    std::set<std::string> messages;
    for (std::size_t memory = 4096; memory < (std::size_t {8} << 20U); memory += memory / 3) {
        device.memory = memory;
        host_layer::setDevice(device);
        try {
            trainThreeSteps(document);
        } catch (const Error& error) {
            QVERIFY2(error.code() == ErrorCode::OutOfMemory, error.what());
            QVERIFY2(std::string_view(error.what()).find("maller batch") != std::string_view::npos, error.what());
            messages.insert(error.what());
        }
    }
    QVERIFY(!messages.empty());
    host_layer::reset();
    trainThreeSteps(document); // and afterwards all is as before
}

void TstCudaLanes::failedLanesEndAndTheSessionGoesOn()
{
    const Outcome whole = trainSession(std::nullopt);
    QVERIFY(whole.status->state == SessionState::Finished);
    QCOMPARE(whole.records, std::size_t {12});
    for (const std::uint64_t call : {0, 1, 40, 150, 333}) {
        host_layer::reset();
        const Outcome outcome = trainSession(call);
        QVERIFY2(outcome.status->state == SessionState::Finished, outcome.status->message.c_str());
        QVERIFY(outcome.records >= 4 && outcome.records < whole.records);
        QCOMPARE(outcome.ended, std::size_t {2});
        for (const LaneStatus& lane : outcome.status->lanes) {
            QVERIFY(lane.status == RunStatus::Failed);
            QVERIFY2(lane.message.find("could not") != std::string::npos, lane.message.c_str());
        }
    }
    host_layer::reset();
    QVERIFY(trainSession(std::nullopt).status->state == SessionState::Finished);
}

QTEST_APPLESS_MAIN(TstCudaLanes)
#include "tst_cuda_lanes.moc"
