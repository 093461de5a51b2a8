// The memory that a lane reports is what it really takes, and checkpointing takes less of it for the same results.
#include "engine/autodiff/checkpointing.h"
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/train/lane.h"
#include "engine/train/memory_planner.h"

#include <QtTest>

#include <malloc.h>

#include <cmath>
#include <numeric>

using namespace mantissa;

namespace {

/// Counts the bytes that its buffers hold; everything else is the CPU backend's.
class CountingBackend : public Backend
{
public:
    [[nodiscard]] const DeviceInfo& device() const override { return m_inner.device(); }

    std::unique_ptr<Buffer> allocate(std::size_t bytes) override
    {
        return std::make_unique<Counted>(m_inner.allocate(bytes), m_bytes);
    }

    std::unique_ptr<Stream> createStream(int threads) override { return m_inner.createStream(threads); }

    std::unique_ptr<Kernel> prepare(const KernelRequest& request) override { return m_inner.prepare(request); }

    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    class Counted : public Buffer
    {
    public:
        Counted(std::unique_ptr<Buffer> inner, std::size_t& sum)
            : m_inner(std::move(inner))
            , m_sum(sum)
        {
            m_sum += m_inner->bytes();
        }

        ~Counted() override { m_sum -= m_inner->bytes(); }

        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;

        [[nodiscard]] void* data() override { return m_inner->data(); }

        [[nodiscard]] std::size_t bytes() const override { return m_inner->bytes(); }

    private:
        std::unique_ptr<Buffer> m_inner;
        std::size_t& m_sum;
    };

    Backend& m_inner = backendByName("cpu");
    std::size_t m_bytes = 0;
};

constexpr const char* models[] {
    R"({"kind": "cnn", "width": 8, "depth": 2, "batch_norm": true, "dropout": 0.1, "hidden": [16]})",
    R"({"kind": "resnet", "width": 8, "depth": 2})",
    R"({"kind": "vit", "width": 16, "depth": 3, "heads": 2, "dropout": 0.1})",
    R"({"kind": "vit", "width": 16, "depth": 2, "heads": 2, "fused_attention": false, "pooling": "mean_tokens"})",
    R"({"kind": "gpt", "width": 16, "depth": 3, "heads": 2, "dropout": 0.1})",
    R"({"kind": "layers", "layers": ["flatten", {"repeat": 3, "layers": [{"kind": "linear", "features": 32}, "gelu",
        {"kind": "dropout", "p": 0.2}]}, {"residual": [{"kind": "linear", "features": 32}, "tanh"]}, "linear"]})",
};

std::shared_ptr<const Dataset> digits()
{
    static const auto data = std::make_shared<const Dataset>(loadDataset({}, 1, {}));
    return data;
}

std::shared_ptr<const Dataset> tokens()
{
    static const auto data = [] {
        auto made = std::make_shared<Dataset>();
        made->sampleShape = {12};
        made->samples = 40;
        made->features = 12;
        made->tokenStride = 12;
        made->vocabulary = 9;
        made->classes = 9;
        made->labelsTokens = true;
        for (int i = 0; i < 480; ++i) {
            made->tokens.push_back(i * i % 9);
            made->labels.push_back((i + 1) * (i + 1) % 9);
        }
        made->train.resize(40);
        std::iota(made->train.begin(), made->train.end(), 0U);
        return made;
    }();
    return data;
}

LaneConfig laneOf(const char* model, const char* policy, bool checkpointing)
{
    nlohmann::json document {{"name", "a"}, {"data", {{"kind", "digits"}, {"batch", 24}}},
        {"model", nlohmann::json::parse(model)}, {"precision", {{"policy", policy}}},
        {"scaler", nlohmann::json::object()}};
    document["data"]["kind"] = document["model"]["kind"] == "gpt" ? "copy" : "digits";
    document["model"]["checkpointing"] = checkpointing;
    return parseLane(document, "test");
}

Lane laneOn(Backend& backend, const LaneConfig& config)
{
    return {0, config, {}, config.model.kind == "gpt" ? tokens() : digits(), backend, 1};
}

void addModelsAndPolicies()
{
    QTest::addColumn<int>("model");
    QTest::addColumn<QString>("policy");
    for (int i = 0; i < static_cast<int>(std::size(models)); ++i) {
        for (const char* policy : {"fp32", "fp16", "bf16"}) {
            const auto kind = nlohmann::json::parse(models[i])["kind"].get<std::string>();
            QTest::addRow("%d %s %s", i, kind.c_str(), policy) << i << policy;
        }
    }
}

std::size_t heapBytes()
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

} // namespace

class TestMemory : public QObject
{
    Q_OBJECT

private slots:

    void theReportedBytesAreThoseAllocated_data() { addModelsAndPolicies(); }

    void theReportedBytesAreThoseAllocated()
    {
        QFETCH(const int, model);
        QFETCH(const QString, policy);
        CountingBackend backend;
        {
            Lane lane = laneOn(backend, laneOf(models[model], qPrintable(policy), false));
            const auto check = [&] {
                // A kind of which there is nothing takes a byte.
                const auto reported = static_cast<std::size_t>(lane.bytes().total());
                QVERIFY2(backend.bytes() >= reported && backend.bytes() <= reported + 20,
                    qPrintable(QStringLiteral("%1 allocated, %2 reported").arg(backend.bytes()).arg(reported)));
            };
            check();
            lane.step();
            check();
            lane.set("precision.policy", "bf16");
            lane.set("model.checkpointing", true);
            lane.step();
            check();
            lane.set("evaluation.every", 1);
            StepRecord record = lane.step();
            lane.validateIfDue(record);
            check();
        }
        QCOMPARE(backend.bytes(), std::size_t {0});
    }

    void theProcessHoldsWhatIsReported()
    {
#ifdef __SANITIZE_ADDRESS__
        QSKIP("The sanitizer's heap does not tell its size.");
#endif
        LaneConfig config = laneOf(R"({"kind": "vit", "width": 128, "depth": 4, "heads": 4})", "fp16", false);
        config.data.batch = 512;
        laneOn(backendByName("cpu"), laneOf(models[0], "fp16", false)).step(); // what is made once per process
        const std::size_t before = heapBytes();
        Lane lane = laneOn(backendByName("cpu"), config);
        lane.step();
        const auto reported = static_cast<double>(lane.bytes().total());
        const auto held = static_cast<double>(heapBytes() - before);
        QVERIFY2(reported > 50e6, qPrintable(QString::number(reported)));
        // Batches waiting in the queue, primitives and the graph's own description come on top.
        QVERIFY2(held >= reported && held < 1.05 * reported + 4e6,
            qPrintable(QStringLiteral("%1 held, %2 reported").arg(held).arg(reported)));
    }

    void checkpointingChangesNothingButMemory_data()
    {
        addModelsAndPolicies();
    }

    void checkpointingChangesNothingButMemory()
    {
        QFETCH(const int, model);
        QFETCH(const QString, policy);
        Lane keeping = laneOn(backendByName("cpu"), laneOf(models[model], qPrintable(policy), false));
        Lane recomputing = laneOn(backendByName("cpu"), laneOf(models[model], qPrintable(policy), true));
        Lane switching = laneOn(backendByName("cpu"), laneOf(models[model], qPrintable(policy), false));
        QVERIFY(recomputing.bytes().activations < keeping.bytes().activations);
        QCOMPARE(recomputing.bytes().weights, keeping.bytes().weights);
        for (int step = 0; step < 6; ++step) {
            if (step % 2 == 1) {
                switching.set("model.checkpointing", step % 4 == 1);
            }
            const StepRecord a = keeping.step();
            for (Lane* other : {&recomputing, &switching}) {
                const StepRecord b = other->step();
                QCOMPARE(b.loss, a.loss);
                QCOMPARE(b.gradNorm, a.gradNorm);
                QCOMPARE(b.flushed, a.flushed);
                QCOMPARE(other->weightsHash(), keeping.weightsHash()); // running statistics included
            }
        }
        const auto casts = [](const Lane& lane) { return lane.castsPerStep(); };
        QVERIFY(casts(recomputing) >= casts(keeping));
    }

    void deepModelsSaveMost()
    {
        const char* deep = R"({"kind": "gpt", "width": 32, "depth": 12, "heads": 4})";
        Lane keeping = laneOn(backendByName("cpu"), laneOf(deep, "fp32", false));
        Lane recomputing = laneOn(backendByName("cpu"), laneOf(deep, "fp32", true));
        // What is kept of a block is one of the dozen tensors of its size that it computes.
        QVERIFY(recomputing.bytes().activations * 4 < keeping.bytes().activations);
    }

    void plansAreWhatALaneHolds_data()
    {
        QTest::addColumn<QString>("policy");
        QTest::addColumn<QString>("optimizer");
        QTest::addColumn<bool>("fused");
        QTest::addColumn<bool>("checkpointing");
        QTest::newRow("fp32") << "fp32"
                              << "adamw" << true << false;
        QTest::newRow("fp16") << "fp16"
                              << "adam" << false << false;
        QTest::newRow("bf16") << "bf16"
                              << "sgd" << true << true;
    }

    void plansAreWhatALaneHolds()
    {
        QFETCH(const QString, policy);
        QFETCH(const QString, optimizer);
        QFETCH(const bool, fused);
        QFETCH(const bool, checkpointing);
        DecoderTraining training;
        training.shape = {.layers = 3, .width = 16, .heads = 2, .vocabulary = 9, .context = 12};
        training.batch = 24;
        training.policy = policy.toStdString();
        training.optimizer = optimizer.toStdString();
        training.fusedAttention = fused;
        training.checkpointing = checkpointing;
        LaneConfig config = laneOf(R"({"kind": "gpt", "width": 16, "depth": 3, "heads": 2})", "fp32", checkpointing);
        config.precision.policy = training.policy;
        config.optimizer.kind = training.optimizer;
        config.model.fusedAttention = fused;
        const Lane lane = laneOn(backendByName("cpu"), config);
        MemoryBytes held = lane.bytes();
        held.workspace = 0;
        QCOMPARE(plannedBytes(training).total(), held.total());
        QVERIFY(plannedBytes(training) == held);
        QCOMPARE(held.weights, static_cast<std::uint64_t>(4 * training.shape.parameters()));
        QCOMPARE(assumptionsOf(training).size(), std::size_t {7});
    }

    void decodersHaveTheSizesOfTheLiterature()
    {
        // Radford et al. 2019 as published: 124,439,808 and 1,557,611,200 parameters.
        QCOMPARE((DecoderShape {12, 768, 12, 50257, 1024}).parameters(), std::int64_t {124'439'808});
        QCOMPARE((DecoderShape {48, 1600, 25, 50257, 1024}).parameters(), std::int64_t {1'557'611'200});
        const DecoderShape small = decoderOf(124'439'808, 50257, 1024);
        QCOMPARE(small.layers, std::int64_t {12});
        QCOMPARE(small.width, std::int64_t {768});
        for (const double wanted : {1e5, 3e6, 1.3e9, 7e9, 175e9, 1e12}) {
            const DecoderShape shape = decoderOf(std::llround(wanted), 256, 2048);
            const double share = static_cast<double>(shape.parameters()) / wanted;
            QVERIFY2(shape.layers >= 1 && shape.width % shape.heads == 0 && (wanted < 1e6 || std::abs(share - 1) < 0.1),
                qPrintable(QStringLiteral("%1 wanted, %2").arg(wanted).arg(shape.parameters())));
        }
    }

    void moreThanTheMachineHasIsRefused()
    {
        LaneConfig config = laneOf(R"({"kind": "cnn", "width": 4096, "hidden": [4]})", "fp32", false);
        config.data.batch = 65536;
        try {
            laneOn(backendByName("cpu"), config);
            QFAIL("no error");
        } catch (const Error& error) {
            QCOMPARE(error.code(), ErrorCode::OutOfMemory);
            QVERIFY2(QByteArray(error.what()).contains("GiB"), error.what());
        }
    }

    void aModelWithoutBlocksSaysSo()
    {
        try {
            laneOn(backendByName("cpu"), laneOf(R"({"kind": "mlp"})", "fp32", true));
            QFAIL("no error");
        } catch (const Error& error) {
            QCOMPARE(error.code(), ErrorCode::InvalidArgument);
            QVERIFY(QByteArray(error.what()).contains("model.checkpointing"));
        }
    }
};

QTEST_APPLESS_MAIN(TestMemory)
#include "tst_memory.moc"
