/// Whole training steps of the CUDA backend on the host layer: beside the CPU backend, step by step, and with the
/// device or a library failing at every call.
#include "engine/core/error.h"
#include "engine/train/session.h"
#include "tests/cuda/lane_cases.h"
#include "tests/cuda/on_host.h"
#include "tests/support/run_recorder.h"

#include <QTest>

#include <fmt/format.h>

#include <optional>
#include <set>

using namespace mantissa;
using namespace mantissa::test;
using nlohmann::json;

namespace {

/// Live allocations and calls of a whole life: prepared, three steps, gone.
std::uint64_t trainThreeSteps(const nlohmann::json& document)
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

/// The device fails at that call behind `stepsBefore`.
Outcome trainSession(std::optional<std::uint64_t> failsAt, std::int64_t stepsBefore = 2)
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
    session.waitUntilIdle();
    if (stepsBefore > 0) {
        session.runSteps(stepsBefore);
        session.waitUntilIdle();
    }
    if (failsAt) {
        host_layer::failFrom(*failsAt);
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
    QVERIFY2(host_layer::lastFault().empty(), host_layer::lastFault().c_str());
    host_layer::reset();
}

void TstCudaLanes::stepsAsTheCpuDoes_data()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<double>("tolerance");
    for (const LaneCase& laneCase : laneCases()) {
        QTest::newRow(laneCase.name) << QByteArray::fromStdString(laneCase.document.dump()) << laneCase.tolerance;
    }
}

void TstCudaLanes::stepsAsTheCpuDoes()
{
    QFETCH(QByteArray, document);
    QFETCH(double, tolerance);
    schedules[2].set();
    const auto complaint = complaintAbout({"", tolerance, json::parse(document.toStdString())});
    QVERIFY2(!complaint.has_value(), complaint.value_or("").c_str());
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
            QVERIFY2(last == "cudaFree" || last == "cudaFreeHost" || last == "cudaStreamDestroy"
                    || last == "cudaEventDestroy" || last == "cudaGraphExecDestroy",
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
    for (const char* call : {"cudaMalloc", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaStreamCreateWithFlags",
             "cudaStreamSynchronize", "cudaLaunchKernelEx", "cudaMemGetInfo", "cublasLtMatmul",
             "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate",
             "cublasLtMatmulPreferenceCreate", "cudaMallocHost", "cudaEventCreateWithFlags", "cudaEventRecord",
             "cudaEventElapsedTime", "cudaStreamBeginCapture", "cudaGraphLaunch"}) {
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
            const bool saysWhat = lane.message.find("could not") != std::string::npos
                || lane.message.find("has no room") != std::string::npos;
            QVERIFY2(saysWhat, lane.message.c_str());
        }
    }
    // Already while the first state to go back to is kept.
    host_layer::reset();
    const Outcome none = trainSession(0, 0);
    QVERIFY2(none.status->state == SessionState::Finished, none.status->message.c_str());
    QCOMPARE(none.records, std::size_t {0});
    QCOMPARE(none.ended, std::size_t {2});
    host_layer::reset();
    QVERIFY(trainSession(std::nullopt).status->state == SessionState::Finished);
}

QTEST_APPLESS_MAIN(TstCudaLanes)
#include "tst_cuda_lanes.moc"
