// A steady step allocates nothing and creates no primitive: counted, in every precision and with every option that adds
// nodes.
#include "engine/backends/backend_registry.h"
#include "engine/backends/cpu/cpu_backend.h"
#include "engine/train/lane.h"
#include "tests/support/allocation_count.h"

#include <QtTest>

using namespace mantissa;

class TestSteadyStep : public QObject
{
    Q_OBJECT

private slots:

    void countsAllocations()
    {
        const std::uint64_t before = test::allocationCount();
        const auto memory = std::make_unique<std::vector<int>>(100);
        QVERIFY(test::allocationCount() >= before + 2);
        QVERIFY(!memory->empty());

        const std::uint64_t beforeOthers = test::allocationCount();
        // Called as functions, so that the compiler cannot leave them out.
        constexpr std::align_val_t cacheLine {64};
        void* aligned = ::operator new(100, cacheLine);
        QCOMPARE(reinterpret_cast<std::uintptr_t>(aligned) % 64, std::uintptr_t {0});
        void* alignedOrNull = ::operator new(100, cacheLine, std::nothrow);
        void* orNull = ::operator new(100, std::nothrow);
        QCOMPARE(test::allocationCount(), beforeOthers + 3);
        ::operator delete(aligned, cacheLine);
        ::operator delete(alignedOrNull, cacheLine);
        ::operator delete(orNull);
    }

    void allocatesNothing_data()
    {
        QTest::addColumn<QString>("settings");
        QTest::newRow("fp32") << R"({})";
        QTest::newRow("fp16") << R"({"precision": {"policy": "fp16"}, "scaler": {}})";
        QTest::newRow("bf16") << R"({"precision": {"policy": "bf16"}})";
        QTest::newRow("skipping") << R"({"precision": {"policy": "fp16"}, "scaler": {"init_scale": 1e30}})";
        QTest::newRow("everything") << R"({"precision": {"policy": "fp16"}, "scaler": {}, "loss_weight": 0.5,
            "clip": {"order": "clip-then-unscale", "max_norm": 1}, "accumulation": {"steps": 3, "guard": true}})";
        QTest::newRow("sgd") << R"({"optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9},
            "clip": {"order": "unscale-then-clip", "max_value": 1}})";
        QTest::newRow("ranks") << R"({"precision": {"policy": "fp16"}, "scaler": {},
            "parallel": {"ranks": 3, "communication": "fp16", "scaler": "synchronised"}})";
    }

    void allocatesNothing()
    {
        QFETCH(QString, settings);
        nlohmann::json document = nlohmann::json::parse(R"({"name": "a", "data": {"kind": "digits", "batch": 33},
            "model": {"kind": "mlp", "hidden": [32, 16], "activation": "gelu", "dropout": 0.1}})");
        document.merge_patch(nlohmann::json::parse(settings.toStdString()));
        const LaneConfig config = parseLane(document, "test");
        const auto data = std::make_shared<const Dataset>(loadDataset(config.data, config.seed, {}));
        Lane lane(0, config, {}, data, backendByName("cpu"), 1);
        lane.step();
        lane.step();
        const std::uint64_t allocated = test::allocationCount();
        const std::uint64_t created = cpuPrimitivesCreated();
        for (int i = 0; i < 60; ++i) { // more than an epoch of digits, so a shuffle is among them
            lane.step();
        }
        QCOMPARE(test::allocationCount() - allocated, std::uint64_t {0});
        QCOMPARE(cpuPrimitivesCreated() - created, std::uint64_t {0});
    }
};

QTEST_APPLESS_MAIN(TestSteadyStep)
#include "tst_steady_step.moc"
