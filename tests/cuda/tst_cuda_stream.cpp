/// How a lane uses the device: phases replayed as graphs, no wait but for the results, batches sent ahead, times from
/// the device; and what a lane may choose: the device, and how products are computed.
#include "engine/backends/cuda/cuda_backend.h"
#include "engine/core/error.h"
#include "engine/formats/convert.h"
#include "engine/train/session.h"
#include "tests/cuda/lane_cases.h"
#include "tests/cuda/on_host.h"
#include "tests/support/run_recorder.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <thread>

using namespace mantissa;
using namespace mantissa::test;
using host_layer::callsOf;
using nlohmann::json;

namespace {

std::vector<StepRecord> train(Lane& lane, int steps)
{
    std::vector<StepRecord> records;
    for (int i = 0; i < steps; ++i) {
        records.push_back(lane.step());
    }
    return records;
}

/// Waits until a lane that has begun has its next batch ready, so that it is sent ahead.
void awaitBatch(const Lane& lane)
{
    while (lane.nextStep() > 0 && *lane.queuedBatches() == 0) {
        std::this_thread::yield();
    }
}

/// y = x w^T of FP16 ones: k of them.
float sumOfOnes(std::int64_t k, const ProductPrecision& products)
{
    const auto backend = cuda::makeCudaBackend();
    const auto stream = backend->createStream(1);
    const TensorType row {DType::Float16, Shape {1, k}};
    const TensorType sum {DType::Float16, Shape {1, 1}};
    KernelRequest request {Op::Linear, {}, {row, row}, {sum}};
    request.products = products;
    const auto kernel = backend->prepare(request);
    const auto operand = backend->allocate(row.bytes());
    const auto result = backend->allocate(sum.bytes());
    const auto workspace = backend->allocate(kernel->workspaceBytes());
    const std::vector<std::uint16_t> ones(static_cast<std::size_t>(k), std::uint16_t {0x3C00});
    stream->upload(operand->data(), ones.data(), row.bytes());
    KernelBinding binding;
    binding.inputs = {operand->data(), operand->data()};
    binding.outputs = {result->data()};
    binding.workspace = workspace->data();
    kernel->bind(binding);
    kernel->run(*stream);
    std::array<std::byte, 2> stored {};
    stream->download(stored.data(), result->data(), stored.size());
    stream->synchronize();
    std::array<float, 1> value {};
    toFloats(DType::Float16, stored, value);
    return value[0];
}

} // namespace

class TstCudaStream : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanup();
    void replaysPhases_data();
    void replaysPhases();
    void aRecordingOutlivesLiveChangesButNotThePolicy();
    void countingHasRecordingsOfItsOwn();
    void doesWithoutGraphs();
    void aSteadyStepWaitsOnceAndAllocatesNothing();
    void sendsBatchesAhead();
    void recordsAllMemoryThatIsUsed();
    void measuresOnTheDevice();
    void capturesNothingThatWaits();
    void copiesOfAnySizeArrive();
    void sumsInFp16WhereAsked();
    void cutsToTf32WhereAsked();
    void refusesProductsThatTheDeviceLacks();
    void lanesMayHaveDevicesOfTheirOwn();
    void aDeviceThatIsNotThereIsAnError();
};

void TstCudaStream::initTestCase()
{
    useCudaOnHost();
    QVERIFY2(backendByName("cuda").device().available.ok, backendByName("cuda").device().available.reason.c_str());
}

void TstCudaStream::cleanup()
{
    QVERIFY2(host_layer::lastFault().empty(), host_layer::lastFault().c_str());
    host_layer::reset();
    qunsetenv("MANTISSA_CUDA_GRAPHS");
}

void TstCudaStream::replaysPhases_data()
{
    QTest::addColumn<QByteArray>("document");
    const auto row = [](const char* name, const json& document) {
        QTest::newRow(name) << QByteArray::fromStdString(document.dump());
    };
    row("fp32", mlp());
    row("fp16, clipped", mlp({fp16, R"({"clip": {"order": "unscale-then-clip", "max_norm": 0.5}})"}));
    row("accumulation with dropout", mlp({fp16, R"({"accumulation": {"steps": 3}, "model": {"dropout": 0.2}})"}));
    row("guarded", mlp({fp16, R"({"accumulation": {"steps": 2, "guard": true}})"}));
    row("update first", mlp({fp16, R"({"order": ["update", "unscale", "check", "clip", "step", "schedule"],
        "scaler": {"family": "pytorch", "init_scale": 1e30}})"}));
    row("batch norm", mlp({bf16, R"({"model": {"kind": "cnn", "width": 4, "hidden": [8], "stages": 1}})"}));
}

/// To the last bit as without graphs, in every order of threads and streams, overflow and skipped steps included.
void TstCudaStream::replaysPhases()
{
    QFETCH(QByteArray, document);
    json settings = json::parse(document.toStdString());
    settings["steps"] = 6;
    qputenv("MANTISSA_CUDA_GRAPHS", "0");
    const auto plain = laneOn("cuda", settings);
    const std::vector<StepRecord> expected = train(*plain, 6);
    QCOMPARE(plain->executor().recordedPhases(), std::size_t {0});
    QCOMPARE(callsOf("cudaGraphLaunch"), std::uint64_t {0});
    qunsetenv("MANTISSA_CUDA_GRAPHS");
    for (const Schedule& schedule : schedules) {
        schedule.set();
        const auto lane = laneOn("cuda", settings);
        const std::vector<StepRecord> records = train(*lane, 6);
        QVERIFY(lane->executor().recordedPhases() >= 2);
        for (std::size_t i = 0; i < records.size(); ++i) {
            QVERIFY2(isSameStep(records[i], expected[i]), schedule.name);
        }
        QCOMPARE(lane->weightsHash(), plain->weightsHash());
    }
    QVERIFY(callsOf("cudaGraphLaunch") > 0);
}

void TstCudaStream::aRecordingOutlivesLiveChangesButNotThePolicy()
{
    const auto lane = laneOn("cuda", mlp({fp16}));
    const auto onCpu = laneOn("cpu", mlp({fp16}));
    const auto step = [&] {
        lane->restore(onCpu->state());
        const StepRecord expected = onCpu->step();
        const StepRecord record = lane->step();
        return isNear(record.loss, expected.loss, 0.05) && isNear(record.updateRatio, expected.updateRatio, 0.2)
            && record.scale == expected.scale && record.lr == expected.lr;
    };
    const auto set = [&](const char* path, const json& value) {
        lane->set(path, value);
        onCpu->set(path, value);
    };
    QVERIFY(step() && step());
    const std::size_t phases = lane->executor().recordedPhases();
    QVERIFY(phases >= 2);
    const std::uint64_t recorded = callsOf("cudaGraphInstantiate");
    set("optimizer.lr", 0.05);
    QVERIFY(step());
    set("scaler.scale", 1024);
    QVERIFY(step());
    QCOMPARE(callsOf("cudaGraphInstantiate"), recorded);
    set("precision.policy", "bf16");
    QCOMPARE(lane->executor().recordedPhases(), std::size_t {0});
    QVERIFY(step() && step());
    QCOMPARE(lane->executor().recordedPhases(), phases);
    QVERIFY(callsOf("cudaGraphInstantiate") > recorded);
}

void TstCudaStream::countingHasRecordingsOfItsOwn()
{
    const auto switching = laneOn("cuda", mlp({fp16}));
    const auto counting = laneOn("cuda", mlp({fp16}));
    for (int i = 0; i < 8; ++i) {
        switching->setCounting(i % 2 == 0);
        const StepRecord record = switching->step();
        const StepRecord counted = counting->step();
        QCOMPARE(record.loss, counted.loss);
        QVERIFY(i % 2 == 0 ? record.flushed == counted.flushed : std::isnan(record.flushed));
    }
    QCOMPARE(switching->weightsHash(), counting->weightsHash());
    const std::uint64_t recorded = callsOf("cudaGraphInstantiate");
    for (int i = 0; i < 4; ++i) {
        switching->setCounting(i % 2 == 0);
        switching->step();
    }
    QCOMPARE(callsOf("cudaGraphInstantiate"), recorded);
}

/// Where a phase cannot be recorded it is enqueued piece by piece.
void TstCudaStream::doesWithoutGraphs()
{
    const auto lane = laneOn("cuda", mlp({fp16}));
    lane->step();
    host_layer::failOnce("cudaStreamEndCapture");
    lane->step();
    const auto other = laneOn("cuda", mlp({fp16}));
    other->step();
    host_layer::failOnce("cudaLaunchKernelEx"); // while the forward pass is recorded
    other->step();
    other->step();
    lane->step();
    QCOMPARE(lane->weightsHash(), other->weightsHash());
    QVERIFY(lane->executor().recordedPhases() >= 1);
}

void TstCudaStream::aSteadyStepWaitsOnceAndAllocatesNothing()
{
    const auto lane = laneOn("cuda", mlp({fp16, R"({"clip": {"order": "unscale-then-clip", "max_norm": 1}})"}));
    for (int i = 0; i < 6; ++i) {
        awaitBatch(*lane);
        lane->step();
    }
    const std::array allocations {"cudaMalloc", "cudaMallocHost", "cudaEventCreateWithFlags", "cudaGraphInstantiate"};
    awaitBatch(*lane);
    host_layer::reset();
    lane->step();
    for (const char* const call : allocations) {
        QVERIFY2(callsOf(call) == 0, call);
    }
    QCOMPARE(callsOf("cudaStreamSynchronize"), std::uint64_t {0}); // the results have an event of their own
    QVERIFY(callsOf("cudaEventSynchronize") > 0);
    QVERIFY(callsOf("cudaGraphLaunch") >= 3);
    QVERIFY(callsOf("cudaLaunchKernelEx") <= 6); // phases of one kernel need no graph
}

void TstCudaStream::sendsBatchesAhead()
{
    std::string first;
    for (const char* const prefetch : {R"({"data": {"prefetch": 0}})", R"({"data": {"prefetch": 3}})"}) {
        for (const Schedule& schedule : schedules) {
            host_layer::reset();
            schedule.set();
            const auto lane = laneOn("cuda", mlp({prefetch, R"({"steps": 6, "accumulation": {"steps": 2}})"}));
            const bool isAhead = lane->config()->data.prefetch > 0;
            for (int i = 0; i < 6; ++i) {
                if (i == 3) {
                    lane->set("fault.huge_sample", 10.0); // not the batch that was sent
                }
                lane->step();
                while (isAhead && *lane->queuedBatches() < 2) {
                    std::this_thread::yield();
                }
            }
            first = first.empty() ? lane->weightsHash() : first;
            QVERIFY2(lane->weightsHash() == first, schedule.name);
            QCOMPARE(callsOf("cudaStreamWaitEvent") > 0, isAhead);
        }
    }
}

void TstCudaStream::recordsAllMemoryThatIsUsed()
{
    for (const json& document :
        {mlp({fp16}), mlp({bf16, R"({"ema": {"decay": 0.9}, "accumulation": {"steps": 2}})"})}) {
        const std::size_t before = host_layer::usedBytes();
        const auto lane = laneOn("cuda", document);
        lane->step();
        awaitBatch(*lane);
        const MemoryBytes bytes = lane->step().bytes;
        // Empty kinds have a byte each.
        const std::size_t used = host_layer::usedBytes() - before;
        QVERIFY2(bytes.total() <= used && used <= bytes.total() + valueKindCount + 2,
            fmt::format("{} recorded, {} used", bytes.total(), used).c_str());
        QVERIFY(bytes.weights > 0 && bytes.gradients > 0 && bytes.optimizer > 0 && bytes.activations > 0);
        QVERIFY(bytes.copies > 0 && bytes.workspace > 0);
    }
}

void TstCudaStream::measuresOnTheDevice()
{
    host_layer::setStreams(host_layer::Streams::Lazy); // nothing runs while it is enqueued
    const auto lane = laneOn("cuda", mlp({fp16, R"({"clip": {"order": "unscale-then-clip", "max_norm": 1},
        "accumulation": {"steps": 40}})"})); // more than there are marks
    for (const StepRecord& record : train(*lane, 3)) {
        const PhaseTimes& times = record.timeMs;
        for (const float time : {times.forwardMs, times.backwardMs, times.unscaleMs, times.clipMs, times.optimizerMs}) {
            QVERIFY(time > 0);
        }
        QVERIFY(times.backwardMs > 20 * times.optimizerMs); // the layer's clock counts pieces of work
    }
}

void TstCudaStream::capturesNothingThatWaits()
{
    const auto backend = cuda::makeCudaBackend();
    const auto stream = backend->createStream(1);
    const auto memory = backend->allocate(256);
    QVERIFY(stream->record([&] { stream->synchronize(); }) == nullptr);
    QVERIFY(stream->record([&] { static_cast<void>(backend->allocate(16)); }) == nullptr);
    stream->fillZero(memory->data(), 256); // and it is none the worse
    const auto recording
        = stream->record([&] { stream->copy(static_cast<std::byte*>(memory->data()) + 128, memory->data(), 128); });
    QVERIFY(recording != nullptr);
    std::array<std::byte, 128> sent {};
    sent.fill(std::byte {7});
    std::array<std::byte, 128> received {};
    stream->upload(memory->data(), sent.data(), sent.size());
    stream->replay(*recording);
    stream->download(received.data(), static_cast<std::byte*>(memory->data()) + 128, received.size());
    stream->synchronize();
    QVERIFY(received == sent);
}

void TstCudaStream::copiesOfAnySizeArrive()
{
    const auto backend = cuda::makeCudaBackend();
    for (const Schedule& schedule : schedules) {
        schedule.set();
        const auto stream = backend->createStream(1);
        const std::array<std::size_t, 12> sizes {
            1, 4096, 4097, 3, std::size_t {17} << 20U, 64, 100'000, 5, 5, 200'000, 7, std::size_t {9} << 20U};
        const auto memory = backend->allocate(std::size_t {64} << 20U);
        std::vector<std::vector<std::byte>> received;
        std::size_t at = 0;
        std::vector<std::byte> sent;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            sent.assign(sizes[i], static_cast<std::byte>(i + 1)); // the same memory for all: it may be overwritten
            stream->upload(static_cast<std::byte*>(memory->data()) + at, sent.data(), sent.size());
            at += sizes[i];
        }
        at = 0;
        for (const std::size_t size : sizes) {
            received.emplace_back(size);
            stream->download(received.back().data(), static_cast<std::byte*>(memory->data()) + at, size);
            at += size;
        }
        stream->synchronize();
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            QVERIFY2(
                std::ranges::all_of(received[i], [i](std::byte byte) { return byte == static_cast<std::byte>(i + 1); }),
                schedule.name);
        }
    }
}

void TstCudaStream::sumsInFp16WhereAsked()
{
    QCOMPARE(sumOfOnes(4096, {}), 4096.0F);
    QCOMPARE(sumOfOnes(4096, {.reducedSums = true}), 2048.0F); // 2048 + 1 is 2048 in FP16
    const auto lane = laneOn("cuda", mlp({fp16}));
    const auto reduced = laneOn("cuda", mlp({fp16, R"({"precision": {"reduced_sums": true}})"}));
    const auto unaffected = laneOn("cuda", mlp({bf16, R"({"precision": {"reduced_sums": true}})"}));
    const auto single = laneOn("cuda", mlp({bf16}));
    const std::vector<StepRecord> records = train(*lane, 3);
    const std::vector<StepRecord> others = train(*reduced, 3);
    QVERIFY(records[2].loss != others[2].loss && isNear(records[2].loss, others[2].loss, 0.05));
    train(*unaffected, 2);
    train(*single, 2);
    QCOMPARE(unaffected->weightsHash(), single->weightsHash());
}

void TstCudaStream::cutsToTf32WhereAsked()
{
    const auto exact = laneOn("cuda", mlp());
    const auto cut = laneOn("cuda", mlp({R"({"precision": {"tf32": true}})"}));
    const StepRecord record = exact->step();
    const StepRecord other = cut->step();
    QVERIFY(record.loss != other.loss && isNear(record.loss, other.loss, 0.01));
    cut->set("precision.tf32", false); // live: from the next step on
    cut->restore(exact->state());
    QCOMPARE(cut->step().loss, exact->step().loss);
}

void TstCudaStream::refusesProductsThatTheDeviceLacks()
{
    const auto messageOf = [](const char* device, const char* patch) -> std::string {
        try {
            laneOn(device, mlp({patch}));
        } catch (const Error& error) {
            return error.code() == ErrorCode::InvalidArgument ? error.what() : "another error";
        }
        return "none";
    };
    for (const char* const key : {"tf32", "reduced_sums"}) {
        const std::string patch = fmt::format(R"({{"precision": {{"{}": true}}}})", key);
        const std::string message = messageOf("cpu", patch.c_str());
        QVERIFY2(message.find(fmt::format("precision.{} is true", key)) != std::string::npos, message.c_str());
        QCOMPARE(messageOf("cuda", patch.c_str()), std::string("none"));
    }
    const auto lane = laneOn("cpu", mlp());
    QVERIFY_EXCEPTION_THROWN(lane->set("precision.tf32", true), Error);
    lane->step();
    host_layer::setDevice({.major = 7, .minor = 5});
    const Support onTuring = cuda::makeCudaBackend()->supports({.tf32 = true});
    QVERIFY(!onTuring.ok && onTuring.reason.find("8.0") != std::string::npos);
    QVERIFY(cuda::makeCudaBackend()->supports({.reducedSums = true}).ok);
}

void TstCudaStream::lanesMayHaveDevicesOfTheirOwn()
{
    json document = mlp({R"({"steps": 4})"});
    document["mantissa"] = 1;
    document["lanes"] = json::parse(R"([{"name": "session"}, {"name": "gpu", "device": "cuda"},
        {"name": "reference", "device": "reference"}])");
    RunRecorder recorder;
    SessionOptions options;
    options.device = "cpu";
    options.observers = {&recorder};
    Session session(parseExperiment(document.dump(), "t"), options);
    session.run();
    session.waitUntilIdle();
    const auto status = session.status();
    QVERIFY2(status->state == SessionState::Finished, status->message.c_str());
    QCOMPARE(status->device.backend, std::string("cpu"));
    const std::array backends {"cpu", "cuda", "reference"};
    QCOMPARE(recorder.starts.size(), backends.size());
    for (std::size_t i = 0; i < backends.size(); ++i) {
        QCOMPARE(status->lanes[i].device.backend, std::string(backends.at(i)));
        QCOMPARE(recorder.starts[i].backend, std::string(backends.at(i)));
        QVERIFY(status->lanes[i].status == RunStatus::Finished);
        QCOMPARE(status->lanes[i].initialWeightsHash, status->lanes[0].initialWeightsHash);
        QVERIFY(isNear(status->lanes[i].summary->finalLoss, status->lanes[0].summary->finalLoss, 1e-3));
    }
    session.duplicateLane(status->lanes[1].id, "copy");
    session.waitUntilIdle();
    QCOMPARE(session.status()->lanes.at(3).device.backend, std::string("cuda"));
}

void TstCudaStream::aDeviceThatIsNotThereIsAnError()
{
    json document = mlp({R"({"steps": 4, "device": "gpu"})"});
    document["mantissa"] = 1;
    document["lanes"] = json::parse(R"([{"name": "a"}])");
    QVERIFY_EXCEPTION_THROWN(parseExperiment(document.dump(), "t"), Error);
}

QTEST_APPLESS_MAIN(TstCudaStream)
#include "tst_cuda_stream.moc"
