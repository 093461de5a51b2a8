/// Gradients between GPUs by NCCL, on the host layer: the bits that the host's exchange gives, who may use it, and what
/// becomes of a rank that waits for one that is lost. Each rank is a thread with a backend and a GPU of its own.
#include "engine/backends/cuda/cuda_backend.h"
#include "engine/core/error.h"
#include "engine/formats/convert.h"
#include "engine/parallel/local_rank.h"
#include "engine/parallel/thread_communicator.h"
#include "engine/train/rank_exchange.h"
#include "engine/train/session.h"
#include "tests/cuda/host_layer/fake_nccl.h"
#include "tests/cuda/lane_cases.h"
#include "tests/cuda/on_host.h"
#include "tests/support/run_recorder.h"

#include <QTest>

#include <bit>
#include <functional>
#include <limits>
#include <thread>

using namespace mantissa;
using namespace mantissa::test;
using host_layer::callsOf;

namespace {

/// A thread that passes for a process.
class ProcessEnd final : public Communicator
{
public:
    explicit ProcessEnd(std::shared_ptr<ThreadCommunicator> end)
        : m_end(std::move(end))
    {
    }

    [[nodiscard]] int rank() const override { return m_end->rank(); }

    [[nodiscard]] int size() const override { return m_end->size(); }

    void allReduceSum(std::span<float> values, DType format) override { m_end->allReduceSum(values, format); }

    void allGather(std::span<const double> own, std::span<double> all) override { m_end->allGather(own, all); }

    void broadcast(std::span<std::byte> bytes, int root) override { m_end->broadcast(bytes, root); }

    [[nodiscard]] bool isAcrossProcesses() const override { return true; }

    void await(std::size_t bytes, const std::function<bool()>& isDone) override { m_end->await(bytes, isDone); }

private:
    std::shared_ptr<ThreadCommunicator> m_end;
};

/// One of several.
struct Process
{
    int rank;
    std::shared_ptr<Communicator> ranks;
    Backend* backend;
};

/// What each rank threw; empty for those that came to an end.
using Complaints = std::vector<std::string>;

class Processes
{
public:
    /// `gpus` of them are there.
    explicit Processes(int count, int gpus)
    {
        host_layer::Device device;
        device.count = gpus;
        host_layer::setDevice(device);
        for (int rank = 0; rank < count; ++rank) {
            setLocalRank(rank);
            m_backends.push_back(cuda::makeCudaBackend());
        }
        setLocalRank(0);
    }

    explicit Processes(int count)
        : Processes(count, count)
    {
    }

    [[nodiscard]] Backend& backend(int rank) { return *m_backends[static_cast<std::size_t>(rank)]; }

    /// All at once; who throws takes part no more.
    Complaints run(const std::function<void(const Process&)>& work)
    {
        const std::size_t count = m_backends.size();
        const auto ends = ThreadCommunicator::group(static_cast<int>(count));
        Complaints complaints(count);
        std::vector<std::thread> threads;
        for (std::size_t rank = 0; rank < count; ++rank) {
            threads.emplace_back([&, rank] {
                try {
                    work({static_cast<int>(rank), std::make_shared<ProcessEnd>(ends[rank]), m_backends[rank].get()});
                } catch (const std::exception& error) {
                    complaints[rank] = error.what();
                    ends[rank]->fail(error.what());
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        return complaints;
    }

private:
    std::vector<std::unique_ptr<Backend>> m_backends;
};

std::string joined(const Complaints& complaints)
{
    return fmt::format("{}", fmt::join(complaints, ""));
}

/// Of all magnitudes that gradients have; rank 1 has some that are not finite, if it is to.
std::vector<float> gradientsOf(int rank, std::size_t count, bool hasSpecials)
{
    constexpr float inf = std::numeric_limits<float>::infinity();
    std::vector<float> values(count);
    std::uint32_t state = 12345U + 977U * static_cast<std::uint32_t>(rank);
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 1664525U + 1013904223U;
        values[i] = std::bit_cast<float>((state & 0x807fffffU) | ((100 + (state >> 20U) % 35) << 23U));
        if (i % 7 == 3) {
            values[i] = 0;
        }
        if (hasSpecials && rank == 1 && i % 5 == 1) {
            values[i] = i % 3 == 0 ? inf : i % 3 == 1 ? -inf : std::numeric_limits<float>::quiet_NaN();
        }
    }
    return values;
}

bool isSameValue(float a, float b)
{
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// The mean on the device beside the host's.
void compareMeans(const Process& process, const MeanRule& rule, std::size_t count, bool hasSpecials)
{
    FoundMean found = process.backend->gradientMean(process.ranks);
    if (!found.mean) {
        throw Error(ErrorCode::Internal, "no NCCL: " + found.text);
    }
    std::vector<std::byte> stored(count * sizeOf(rule.gradients));
    fromFloats(rule.gradients, gradientsOf(process.rank, count, hasSpecials), stored);
    std::vector<float> expected(count);
    toFloats(rule.gradients, stored, expected);
    const auto stream = process.backend->createStream(1);
    const auto memory = process.backend->allocate(stored.size() + 64);
    for (int round = 0; round < 2; ++round) { // of an own mean each
        stream->upload(memory->data(), stored.data(), stored.size());
        const MeanFindings onDevice = found.mean->average(memory->data(), count, rule, *stream);
        std::vector<std::byte> result(stored.size());
        stream->download(result.data(), memory->data(), result.size());
        stream->synchronize();
        std::vector<float> values(count);
        toFloats(rule.gradients, result, values);
        std::vector<float> mean = expected;
        const MeanFindings onHost = averageOnHost(*process.ranks, mean, rule);
        fromFloats(rule.gradients, mean, result);
        toFloats(rule.gradients, result, mean);
        for (std::size_t i = 0; i < count; ++i) {
            if (!isSameValue(values[i], mean[i])) {
                throw Error(ErrorCode::Internal, fmt::format("gradient {}: {}, not {}", i, values[i], mean[i]));
            }
        }
        const bool isAlike = onDevice.zeros == onHost.zeros && onDevice.sentZeros == onHost.sentZeros
            && onDevice.isFinite == onHost.isFinite && isNear(onDevice.sumOfSquares, onHost.sumOfSquares, 1e-10);
        if (!isAlike) {
            throw Error(ErrorCode::Internal,
                fmt::format("zeros {} and {}, sent {} and {}, finite {} and {}, squares {} and {}", onDevice.zeros,
                    onHost.zeros, onDevice.sentZeros, onHost.sentZeros, onDevice.isFinite, onHost.isFinite,
                    onDevice.sumOfSquares, onHost.sumOfSquares));
        }
        if (onHost.isFinite == (hasSpecials && count > 1)) {
            throw Error(ErrorCode::Internal, "the case is not what it is called");
        }
    }
}

std::unique_ptr<Lane> laneOf(const json& document, Backend& backend, std::shared_ptr<Communicator> ranks)
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(parseLane(mlp(), "t").data, 1, {}));
    return std::make_unique<Lane>(
        0, parseLane(document, "t"), std::vector<ScriptedEvent> {}, data, backend, 1, std::move(ranks));
}

json overRanks(json document, int ranks, const json& parallel)
{
    document["parallel"] = parallel;
    document["parallel"]["ranks"] = ranks;
    return document;
}

std::string recordText(const StepRecord& record)
{
    return fmt::format("{} {} {} {} {} {} {} {} {}", record.loss, record.gradNorm, record.gradNormClipped, record.scale,
        record.foundInf, record.skipped, record.flushed, record.subnormal, record.updateRatio);
}

bool contains(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

/// The words about the exchange where each rank runs `steps` on its own GPU.
std::vector<std::string> newsOf(Processes& processes, int ranks)
{
    std::vector<std::string> news(static_cast<std::size_t>(ranks));
    const Complaints complaints = processes.run([&](const Process& process) {
        const auto lane = laneOf(overRanks(mlp(), ranks, json::object()), *process.backend, process.ranks);
        for (int step = 0; step < 2; ++step) {
            lane->step();
            if (const auto event = lane->takeExchange()) {
                news[static_cast<std::size_t>(process.rank)] += event->text;
            }
        }
    });
    return joined(complaints).empty() ? news : complaints;
}

} // namespace

class TstCudaRanks : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();
    void isTheMeanOfTheHost_data();
    void isTheMeanOfTheHost();
    void goesInPieces();
    void trainsAsRanksOfOneProcess_data();
    void trainsAsRanksOfOneProcess();
    void lanesShareAConnection();
    void eachProcessTakesAGpu();
    void saysWhyItIsNotUsed_data();
    void saysWhyItIsNotUsed();
    void sessionsTellWhatCarriesTheGradients();
    void aRankThatNeverComesEndsTheWait();
    void aBrokenConnectionEndsTheWait();
    void aLostRankIsNamedBeforeTheConnection();
    void everyFailedCallIsAnError();
};

void TstCudaRanks::initTestCase()
{
    setenv("MANTISSA_NCCL_PATIENCE", "0.5", 1);
}

void TstCudaRanks::init()
{
    useCudaOnHost("none", MANTISSA_NCCL_ON_HOST);
    host_layer::setNccl({});
}

void TstCudaRanks::cleanup()
{
    QVERIFY2(host_layer::lastFault().empty(), host_layer::lastFault().c_str());
    QCOMPARE(host_layer::openConnections(), 0);
    host_layer::reset();
}

void TstCudaRanks::isTheMeanOfTheHost_data()
{
    QTest::addColumn<int>("ranks");
    QTest::addColumn<int>("communication");
    QTest::addColumn<bool>("dividesFirst");
    for (const int ranks : {2, 3, 4}) {
        for (const DType communication : {DType::Float32, DType::Float16, DType::BFloat16}) {
            for (const bool dividesFirst : {true, false}) {
                QTest::addRow("%d ranks, %s, divide %s", ranks, std::string(mantissa::nameOf(communication)).c_str(),
                    dividesFirst ? "before" : "after")
                    << ranks << static_cast<int>(communication) << dividesFirst;
            }
        }
    }
}

void TstCudaRanks::isTheMeanOfTheHost()
{
    QFETCH(int, ranks);
    QFETCH(int, communication);
    QFETCH(bool, dividesFirst);
    Processes processes(ranks);
    for (const Schedule& schedule : schedules) {
        schedule.set();
        const Complaints complaints = processes.run([&](const Process& process) {
            for (const std::size_t count : {1U, 31U, 33U, 257U, 2049U}) {
                for (const DType own : {DType::Float32, DType::Float16, DType::BFloat16}) {
                    const bool hasSpecials = count % 4 == 1 && count > 1;
                    compareMeans(process, {own, static_cast<DType>(communication), dividesFirst}, count, hasSpecials);
                }
            }
        });
        QVERIFY2(joined(complaints).empty(), (std::string(schedule.name) + ": " + joined(complaints)).c_str());
    }
}

/// More than all blocks take at once, and than fits into the memory that is set aside for all ranks' parcels.
void TstCudaRanks::goesInPieces()
{
    constexpr std::size_t count = 2'200'001;
    Processes processes(4);
    const Complaints complaints = processes.run([&](const Process& process) {
        compareMeans(process, {DType::Float16, DType::Float32, true}, count, false);
    });
    QVERIFY2(joined(complaints).empty(), joined(complaints).c_str());
    QVERIFY(callsOf("ncclAllGather") == std::uint64_t {2 * 2 * 4});
    QVERIFY(host_layer::usedBytes() < std::size_t {1} << 20U);
}

void TstCudaRanks::trainsAsRanksOfOneProcess_data()
{
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QByteArray>("parallel");
    QTest::addColumn<QByteArray>("patch");
    for (const int ranks : {2, 3, 4}) {
        for (const char* communication : {"fp32", "fp16", "bf16"}) {
            for (const char* divide : {"before", "after"}) {
                const json parallel {{"communication", communication}, {"divide", divide}, {"scaler", "synchronised"}};
                QTest::addRow("%d ranks, %s, divide %s", ranks, communication, divide)
                    << ranks << QByteArray::fromStdString(parallel.dump()) << QByteArray(fp16);
            }
        }
    }
    QTest::addRow("after each micro-batch")
        << 2 << QByteArray(R"({"every_micro_batch": true})") << QByteArray(R"({"accumulation": {"steps": 2}})");
    QTest::addRow("weights in 16 bits") << 2 << QByteArray(R"({"communication": "bf16"})")
                                        << QByteArray(R"({"precision": {"policy": "pure-bf16"}})");
    QTest::addRow("overflowing") << 3 << QByteArray(R"({"communication": "fp16", "divide": "after"})")
                                 << QByteArray(R"({"precision": {"policy": "fp16"}, "scaler": {"family": "pytorch",
                                        "init_scale": 268435456}})");
    QTest::addRow("on shares") << 3 << QByteArray(R"({"shards": [5, 4, 3], "scaler": "independent"})")
                               << QByteArray(fp16);
}

void TstCudaRanks::trainsAsRanksOfOneProcess()
{
    QFETCH(int, ranks);
    QFETCH(QByteArray, parallel);
    QFETCH(QByteArray, patch);
    constexpr int steps = 4;
    const json document = overRanks(mlp({patch.constData()}), ranks, json::parse(parallel.toStdString()));
    Processes processes(ranks);
    const auto together = laneOf(document, processes.backend(0), nullptr);
    std::vector<std::string> expected;
    std::vector<std::vector<RankRecord>> expectedRanks;
    for (int step = 0; step < steps; ++step) {
        expected.push_back(recordText(together->step()));
        expectedRanks.emplace_back(together->rankRecords().begin(), together->rankRecords().end());
    }
    QCOMPARE(callsOf("ncclAllGather"), std::uint64_t {0});
    schedules[1].set();
    std::vector<std::string> hashes(static_cast<std::size_t>(ranks));
    const Complaints complaints = processes.run([&](const Process& process) {
        const auto lane = laneOf(document, *process.backend, process.ranks);
        for (std::size_t step = 0; step < steps; ++step) {
            const StepRecord record = lane->step();
            // Of what ranks exchange nothing depends on the way but the order in which an own norm is added up.
            bool isSame = process.rank != 0 || recordText(record) == expected[step];
            for (std::size_t i = 0; i < lane->rankRecords().size(); ++i) {
                const RankRecord& own = lane->rankRecords()[i];
                const RankRecord& other = expectedRanks[step][i];
                isSame = isSame && own.foundInf == other.foundInf && own.skipped == other.skipped
                    && own.flushed == other.flushed && own.scale == other.scale
                    && isNear(own.gradNorm, other.gradNorm, 1e-12);
            }
            if (!isSame) {
                throw Error(ErrorCode::Internal,
                    fmt::format("step {}: {} instead of {}", step, recordText(record), expected[step]));
            }
        }
        hashes[static_cast<std::size_t>(process.rank)] = lane->weightsHash();
    });
    QVERIFY2(joined(complaints).empty(), joined(complaints).c_str());
    QVERIFY(callsOf("ncclAllGather") >= static_cast<std::uint64_t>(steps * ranks));
    QCOMPARE(hashes[0], together->weightsHash());
}

void TstCudaRanks::lanesShareAConnection()
{
    Processes processes(2);
    const Complaints complaints = processes.run([&](const Process& process) {
        const json document = overRanks(mlp(), 2, json::object());
        auto first = laneOf(document, *process.backend, process.ranks);
        auto second = laneOf(overRanks(mlp({bf16}), 2, json::object()), *process.backend, process.ranks);
        first->step();
        const std::uint64_t bytes = first->step().bytes.workspace;
        second->step();
        if (host_layer::openConnections() != 2) {
            throw Error(ErrorCode::Internal, "each lane has a connection of its own");
        }
        first.reset();
        second->step();
        if (second->step().bytes.workspace == 0 || bytes == 0) {
            throw Error(ErrorCode::Internal, "memory is not counted");
        }
    });
    QVERIFY2(joined(complaints).empty(), joined(complaints).c_str());
}

void TstCudaRanks::eachProcessTakesAGpu()
{
    // Four processes, two GPUs: each is used by two, and every op runs where its process is.
    Processes processes(4, 2);
    for (const std::string& text : newsOf(processes, 4)) {
        QVERIFY2(contains(text, "through the host (ranks 0 and 2 share a GPU"), text.c_str());
    }
    QVERIFY(callsOf("cudaSetDevice") > 0);
    Processes apart(2);
    for (const std::string& text : newsOf(apart, 2)) {
        QVERIFY2(text == "gradients go from GPU to GPU by NCCL 2.28.9", text.c_str());
    }
    QCOMPARE(apart.backend(1).exchangeText(), std::string("by NCCL 2.28.9"));
}

void TstCudaRanks::saysWhyItIsNotUsed_data()
{
    QTest::addColumn<QByteArray>("library");
    QTest::addColumn<int>("version");
    QTest::addColumn<int>("unconnectable");
    QTest::addColumn<QByteArray>("failing");
    QTest::addColumn<QString>("words");
    const QByteArray fake = MANTISSA_NCCL_ON_HOST;
    const int version = NCCL_VERSION_CODE;
    QTest::newRow("absent") << QByteArray("/nowhere/libnccl.so.2") << version << -1 << QByteArray()
                            << "rank 0: NCCL missing (/nowhere/libnccl.so.2)";
    QTest::newRow("another library") << QByteArray(MANTISSA_CUDA_ON_HOST) << version << -1 << QByteArray()
                                     << "has no nccl";
    QTest::newRow("too old") << fake << 21304 << -1 << QByteArray() << "NCCL 2.13.4 is too old: NCCL 2.14.0 or newer";
    QTest::newRow("no version") << fake << version << -1 << QByteArray("ncclGetVersion") << "has no version";
    QTest::newRow("no id") << fake << version << -1 << QByteArray("ncclGetUniqueId") << "rank 0: NCCL could not begin";
    QTest::newRow("no start") << fake << version << -1 << QByteArray("ncclCommInitRankConfig") << "could not connect";
    QTest::newRow("no answer") << fake << version << -1 << QByteArray("ncclCommGetAsyncError") << "could not connect";
    QTest::newRow("first rank") << fake << version << 0 << QByteArray() << "rank 0: NCCL could not connect the ranks: ";
    QTest::newRow("last rank") << fake << version << 2 << QByteArray() << "NCCL could not connect the ranks within";
}

/// Training goes on through the host, to the same weights.
void TstCudaRanks::saysWhyItIsNotUsed()
{
    QFETCH(QByteArray, library);
    QFETCH(int, version);
    QFETCH(int, unconnectable);
    QFETCH(QByteArray, failing);
    QFETCH(QString, words);
    useCudaOnHost("none", library.constData());
    host_layer::setNccl({.version = version, .unconnectable = unconnectable});
    Processes processes(3);
    if (!failing.isEmpty()) {
        host_layer::failOnce(failing.toStdString());
    }
    for (const std::string& text : newsOf(processes, 3)) {
        QVERIFY2(
            contains(text, "gradients go from GPU to GPU through the host (") && contains(text, words.toStdString()),
            text.c_str());
    }
    QCOMPARE(callsOf("ncclAllGather"), std::uint64_t {0});
}

/// Of two sessions whose processes see the same GPU, as the program runs them.
void TstCudaRanks::sessionsTellWhatCarriesTheGradients()
{
    json document = mlp({R"({"steps": 3})"});
    document["mantissa"] = 1;
    document["parallel"] = {{"ranks", 2}};
    document["lanes"] = json::parse(R"([{"name": "a"}])"); // one: the two sessions share a backend here
    std::array<RunRecorder, 2> recorders;
    Processes processes(2);
    const Complaints complaints = processes.run([&](const Process& process) {
        SessionOptions options;
        options.device = "cuda";
        options.observers = {&recorders[static_cast<std::size_t>(process.rank)]};
        options.ranks = process.ranks;
        Session session(parseExperiment(document.dump(), "t"), options);
        session.run();
        session.waitUntilIdle();
        if (session.status()->state != SessionState::Finished) {
            throw Error(ErrorCode::Internal, session.status()->message);
        }
        for (const LaneStatus& lane : session.status()->lanes) {
            if (lane.status != RunStatus::Finished) {
                throw Error(ErrorCode::Internal, lane.message);
            }
        }
    });
    QVERIFY2(joined(complaints).empty(), joined(complaints).c_str());
    int told = 0;
    for (const Event& event : recorders[0].events) {
        if (event.kind == EventKind::Exchange) {
            ++told;
            QVERIFY2(contains(event.text, "ranks 0 and 1 share a GPU"), event.text.c_str());
            QCOMPARE(event.step, std::int64_t {0});
        }
    }
    QCOMPARE(told, 1);
}

/// Trains two steps on three GPUs, after which `fate` befalls; what the ranks say then. `afterwards` sees the lane of a
/// rank whose step has failed, and its weights of before.
Complaints afterTwoSteps(const std::function<void(int rank)>& fate,
    const std::function<void(Lane& lane, const std::string& before)>& afterwards = {})
{
    Processes processes(3);
    return processes.run([&](const Process& process) {
        const auto lane = laneOf(overRanks(mlp(), 3, json::object()), *process.backend, process.ranks);
        lane->step();
        lane->step();
        const std::string before = lane->weightsHash();
        fate(process.rank);
        try {
            lane->step();
        } catch (const Error&) {
            if (afterwards) {
                afterwards(*lane, before);
            }
            throw;
        }
    });
}

/// The weights are still those of before, and can be saved: the stream does not wait for anybody any more.
void keepsItsWeights(Lane& lane, const std::string& before)
{
    if (lane.weightsHash() != before) {
        throw Error(ErrorCode::Internal, "the weights are lost");
    }
    try {
        lane.step();
    } catch (const Error&) {
        return;
    }
    throw Error(ErrorCode::Internal, "it went on");
}

void TstCudaRanks::aRankThatNeverComesEndsTheWait()
{
    schedules[1].set();
    const Complaints complaints = afterTwoSteps(
        [](int rank) {
            if (rank == 2) {
                throw Error(ErrorCode::BackendFailure, "its machine caught fire");
            }
        },
        keepsItsWeights);
    QCOMPARE(complaints[0], std::string("Rank 2 failed: its machine caught fire"));
    QCOMPARE(complaints[1], complaints[0]);
}

void TstCudaRanks::aBrokenConnectionEndsTheWait()
{
    const Complaints complaints = afterTwoSteps([](int) { host_layer::setNccl({.isBroken = true}); }, keepsItsWeights);
    QVERIFY2(contains(joined(complaints), "The exchange of gradients by NCCL failed: remote process exited"),
        joined(complaints).c_str());
    for (const std::string& complaint : complaints) {
        QVERIFY2(contains(complaint, "NCCL_DEBUG=WARN"), complaint.c_str());
    }
}

/// NCCL sees at once that something broke; the rank's name is worth a moment.
void TstCudaRanks::aLostRankIsNamedBeforeTheConnection()
{
    const Complaints complaints = afterTwoSteps([](int rank) {
        if (rank == 1) {
            host_layer::setNccl({.isBroken = true});
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            throw Error(ErrorCode::BackendFailure, "it was killed");
        }
    });
    QCOMPARE(complaints[0], std::string("Rank 1 failed: it was killed"));
    QCOMPARE(complaints[2], complaints[0]);
}

void TstCudaRanks::everyFailedCallIsAnError()
{
    for (const char* const call : {"ncclAllGather", "ncclCommGetAsyncError", "cudaEventQuery", "cudaEventRecord",
             "cudaMemcpyAsync", "cudaMemsetAsync", "cudaLaunchKernelEx", "cudaStreamSynchronize"}) {
        const Complaints complaints = afterTwoSteps([call](int rank) {
            if (rank == 0) {
                host_layer::failOnce(call);
            }
        });
        const std::string all = joined(complaints);
        QVERIFY2(contains(all, "CUDA could not") || contains(all, "by NCCL failed"), (call + all).c_str());
        for (const std::string& complaint : complaints) {
            QVERIFY2(!complaint.empty(), (call + all).c_str());
        }
        host_layer::reset();
    }
}

QTEST_APPLESS_MAIN(TstCudaRanks)
#include "tst_cuda_ranks.moc"
