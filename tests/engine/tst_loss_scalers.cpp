// Every scaler family through every branch. The traces of "pytorch" were checked against torch.amp.GradScaler itself:
// state machine executed on CPU with PyTorch 1.13, the update rule from aten's AmpGradScalerKernels.cpp. Those of apex,
// mxnet, jmp, flax, deepspeed, megatron and fairseq were checked against their libraries' classes, executed on CPU;
// those of tensorflow, keras and paddle were derived by reading theirs, and agree with the libraries' unit tests where
// there is one.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/scaling/loss_scaler.h"

#include <QtTest>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

using namespace mantissa;
using nlohmann::json;

namespace {

/// What torch.amp.GradScaler.state_dict() gives.
json torchState(double scale, double growth, double backoff, std::int64_t interval, std::int64_t tracker)
{
    return {{"scale", scale}, {"growth_factor", growth}, {"backoff_factor", backoff}, {"growth_interval", interval},
        {"_growth_tracker", tracker}};
}

using Parameters = decltype(ScalerConfig::parameters);

ScalerConfig settings(const std::string& family, const Parameters& parameters)
{
    return {.family = family, .frozen = false, .parameters = parameters};
}

ScalerConfig torchSettings(double scale, double growth, double backoff, double interval)
{
    return settings("pytorch",
        {{"init_scale", scale}, {"growth_factor", growth}, {"backoff_factor", backoff}, {"growth_interval", interval}});
}

/// F: a finite step. X: an overflow. R: one at which the scaler ends the training.
bool isOverflow(QChar letter)
{
    return letter != 'F';
}

/// The message of the Error that `call` throws; empty if it throws none.
template <typename Call> QString refusal(Call call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.code() == ErrorCode::InvalidArgument ? QString::fromUtf8(error.what()) : "wrong code";
    }
    return {};
}

/// A number of a state, which may be the text of one that JSON lacks.
double numberOf(const json& value)
{
    return value == "inf" ? std::numeric_limits<double>::infinity() : value.get<double>();
}

using Steps = std::vector<bool>; ///< whether each overflowed

/// Finite steps at the end of `steps`.
std::int64_t finiteRun(const Steps& steps)
{
    return std::find(steps.rbegin(), steps.rend(), true) - steps.rbegin();
}

// Second derivations, from the description of each rule and the whole history where the machines count.

struct TorchModel
{
    float scale;
    long tracker = 0;

    void step(bool overflow, double growth, double backoff, long interval)
    {
        const double product = static_cast<double>(scale) * (overflow ? backoff : growth);
        const bool due = !overflow && tracker + 1 == interval;
        const bool representable = std::abs(product) < 0x1.ffffffp127;
        if (overflow || (due && representable)) {
            scale = static_cast<float>(product);
        }
        tracker = overflow || due ? 0 : tracker + 1;
    }
};

struct DeepspeedModel
{
    double scale;
    std::int64_t window;
    std::int64_t hysteresis;
    bool consecutive;
    std::int64_t left = hysteresis;

    void step(const Steps& steps)
    {
        const std::int64_t run = finiteRun(steps);
        if (run == 0) {
            const bool isUsedUp = left == 1 || hysteresis == 1;
            scale = isUsedUp ? std::max(scale / 2, 1.0) : scale;
            left = std::max<std::int64_t>(left - 1, 1);
            return;
        }
        const bool grows = run > 1 && (run - 1) % window == 0;
        scale *= grows ? 2 : 1;
        left = grows || consecutive ? hysteresis : left;
    }
};

struct FairseqModel
{
    double scale;
    std::int64_t window;
    double tolerance;
    std::size_t lastChange = 0; ///< steps until and with it
    std::size_t lastDecrease = 0;

    void step(const Steps& steps)
    {
        if (const std::int64_t run = finiteRun(steps); run > 0) {
            if (run % window == 0) {
                scale *= 2;
                lastChange = steps.size();
            }
            return;
        }
        const auto overflows = std::count(steps.begin() + static_cast<long>(lastDecrease), steps.end(), true);
        if (static_cast<double>(overflows) >= tolerance * static_cast<double>(steps.size() - lastChange)) {
            scale /= 2;
            lastChange = lastDecrease = steps.size();
        }
    }
};

} // namespace

class TestLossScalers : public QObject
{
    Q_OBJECT

private slots:

    void followsTheTracesOfItsFamily_data()
    {
        QTest::addColumn<ScalerConfig>("config");
        QTest::addColumn<QString>("steps");
        QTest::addColumn<std::vector<std::string>>("counters");
        QTest::addColumn<std::vector<std::vector<double>>>("expected"); // scale, then the counters
        using Trace = std::vector<std::vector<double>>;
        using Keys = std::vector<std::string>;
        const auto row = [](const std::string& family, const char* what, const Parameters& parameters,
                             const char* steps, const Keys& counters, const Trace& expected) {
            QTest::newRow(qPrintable(QString("%1: %2").arg(QString::fromStdString(family), what)))
                << settings(family, parameters) << QString(steps) << counters << expected;
        };
        const auto start = [](double scale, double interval, Parameters more = {}) {
            more["init_scale"] = scale;
            more["growth_interval"] = interval;
            return more;
        };
        const Keys tracker {"_growth_tracker"};

        row("pytorch", "its unit test", start(4, 2, {{"backoff_factor", 0.25}}), "FFX", tracker,
            {{4, 1}, {8, 0}, {2, 0}});
        row("pytorch", "growth and one backoff", start(8, 3), "FFFFXFFF", tracker,
            {{8, 1}, {8, 2}, {16, 0}, {16, 1}, {8, 0}, {8, 1}, {8, 2}, {16, 0}});
        row("pytorch", "an overflow resets the tracker", start(8, 3), "FFXFFXFFF", tracker,
            {{8, 1}, {8, 2}, {4, 0}, {4, 1}, {4, 2}, {2, 0}, {2, 1}, {2, 2}, {4, 0}});
        row("pytorch", "growth to infinity is dropped, the tracker reset all the same", start(0x1p127, 1), "FFXF",
            tracker, {{0x1p127, 0}, {0x1p127, 0}, {0x1p126, 0}, {0x1p127, 0}});
        row("pytorch", "no floor, and zero is absorbing", start(0x1p-148, 2), "XXXFF", tracker,
            {{0x1p-149, 0}, {0, 0}, {0, 0}, {0, 1}, {0, 0}});
        row("pytorch", "interval 0 never grows", start(8, 0), "FFFX", tracker, {{8, 1}, {8, 2}, {8, 3}, {4, 0}});
        row("pytorch", "backoff 0 goes straight to zero", start(8, 1, {{"backoff_factor", 0}}), "XF", tracker,
            {{0, 0}, {0, 0}});
        // 1 * 1.1 rounds to 1.10000002384185791015625, times 1.1 in double to 1.21000003814697.
        row("pytorch", "products are rounded once to float32",
            start(1, 1, {{"growth_factor", 1.1}, {"backoff_factor", 0.3}}), "FFX", tracker,
            {{1.10000002384185791015625, 0}, {1.21000003814697265625, 0}, {0.36300000548362731933593750, 0}});

        row("apex", "up to its maximum", start(8, 2, {{"max_scale", 16}}), "FFFFXFFX", tracker,
            {{8, 1}, {16, 0}, {16, 1}, {16, 0}, {8, 0}, {8, 1}, {16, 0}, {8, 0}});
        row("apex", "down to its minimum", start(16, 3, {{"min_scale", 4}}), "XXXXFFF", tracker,
            {{8, 0}, {4, 0}, {4, 0}, {4, 0}, {4, 1}, {4, 2}, {8, 0}});
        row("apex", "starts at its maximum", start(65536, 2, {{"max_scale", 1024}}), "FFXFF", tracker,
            {{1024, 1}, {1024, 0}, {512, 0}, {512, 1}, {1024, 0}});

        row("tensorflow", "growth and backoff", start(8, 2), "FFFXFF", tracker,
            {{8, 1}, {16, 0}, {16, 1}, {8, 0}, {8, 1}, {16, 0}});
        row("tensorflow", "never below 1", start(2, 3), "XXXFFF", tracker,
            {{1, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 2}, {2, 0}});
        row("tensorflow", "growth to infinity is dropped", start(0x1p127, 1), "FXF", tracker,
            {{0x1p127, 0}, {0x1p126, 0}, {0x1p127, 0}});
        row("tensorflow", "a multiplier of 4", start(64, 2, {{"growth_factor", 4}}), "FFXXX", tracker,
            {{64, 1}, {256, 0}, {64, 0}, {16, 0}, {4, 0}});

        row("keras", "its unit test of growth", start(2, 2), "FFFFFFFF", tracker,
            {{2, 1}, {4, 0}, {4, 1}, {8, 0}, {8, 1}, {16, 0}, {16, 1}, {32, 0}});
        row("keras", "its unit test of backoff", start(400, 2000), "XXXX", {}, {{200}, {100}, {50}, {25}});
        row("keras", "no floor", start(2, 3), "XXXFFXFFF", tracker,
            {{1, 0}, {0.5, 0}, {0.25, 0}, {0.25, 1}, {0.25, 2}, {0.125, 0}, {0.125, 1}, {0.125, 2}, {0.25, 0}});
        constexpr double infinity = std::numeric_limits<double>::infinity();
        row("keras", "infinity is absorbing", start(0x1p127, 1), "FX", tracker, {{infinity, 0}, {infinity, 0}});

        const Keys late {"_next_scale", "_growth_tracker"};
        row("mxnet", "two halvings, then growth", {{"growth_interval", 2}}, "XXFFFFF", late,
            {{65536, 32768, 0}, {32768, 16384, 0}, {16384, 16384, 1}, {16384, 32768, 0}, {32768, 32768, 1},
                {32768, 65536, 0}, {65536, 65536, 1}});
        row("mxnet", "growth shows a step late", {{"growth_interval", 3}}, "FFFFXFF", late,
            {{65536, 65536, 1}, {65536, 65536, 2}, {65536, 131072, 0}, {131072, 131072, 1}, {131072, 65536, 0},
                {65536, 65536, 1}, {65536, 65536, 2}});
        row("mxnet", "one overflow that lasts", {{"growth_interval", 100}}, "FXXF", late,
            {{65536, 65536, 1}, {65536, 32768, 0}, {32768, 16384, 0}, {16384, 16384, 1}});
        row("mxnet", "up to its maximum", start(0x1p23, 1), "FFFF", late,
            {{0x1p23, 0x1p24, 0}, {0x1p24, 0x1p24, 0}, {0x1p24, 0x1p24, 0}, {0x1p24, 0x1p24, 0}});

        row("jmp", "growth and backoff", start(8, 2), "FFFFXFF", tracker,
            {{8, 1}, {16, 0}, {16, 1}, {32, 0}, {16, 0}, {16, 1}, {32, 0}});
        row("jmp", "never below 1", start(4, 3), "XXXXFFF", tracker,
            {{2, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 2}, {2, 0}});
        row("jmp", "growth to infinity is dropped", start(0x1p127, 1), "FXF", tracker,
            {{0x1p127, 0}, {0x1p126, 0}, {0x1p127, 0}});

        row("flax", "grows every N + 1 steps", start(8, 2), "FFFFFFX", tracker,
            {{8, 1}, {8, 2}, {16, 0}, {16, 1}, {16, 2}, {32, 0}, {16, 0}});
        row("flax", "an overflow resets the counter", start(8, 2), "FFXFFF", tracker,
            {{8, 1}, {8, 2}, {4, 0}, {4, 1}, {4, 2}, {8, 0}});
        constexpr double largest = std::numeric_limits<float>::max();
        row("flax", "clamped to the largest float32", start(0x1p127, 1), "FFFFX", tracker,
            {{0x1p127, 1}, {largest, 0}, {largest, 1}, {largest, 0}, {largest / 2, 0}});
        row("flax", "down to its minimum", start(4, 2000, {{"min_scale", 1}}), "XXXX", tracker,
            {{2, 0}, {1, 0}, {1, 0}, {1, 0}});

        const Keys zero {"_hysteresis_tracker", "_iteration", "_last_overflow"};
        row("deepspeed", "the first growth is late by one, overflows are absorbed", start(16, 2), "FFFFFXFXFFFX", zero,
            {{16, 2, 1, -1}, {16, 2, 2, -1}, {32, 2, 3, -1}, {32, 2, 4, -1}, {64, 2, 5, -1}, {64, 1, 6, 5},
                {64, 1, 7, 5}, {32, 1, 8, 7}, {32, 1, 9, 7}, {32, 1, 10, 7}, {64, 2, 11, 7}, {64, 1, 12, 11}});
        row("deepspeed", "only overflows in a row count", start(16, 1000, {{"consecutive_hysteresis", 1}}), "XFXXFX",
            zero, {{16, 1, 1, 0}, {16, 2, 2, 0}, {16, 1, 3, 2}, {8, 1, 4, 3}, {8, 2, 5, 3}, {8, 1, 6, 5}});
        row("deepspeed", "ends at its minimum", start(4, 1000, {{"hysteresis", 1}}), "XXR", zero,
            {{2, 1, 1, 0}, {1, 1, 2, 1}, {1, 1, 2, 1}});
        row("deepspeed", "stays at its minimum", start(4, 2, {{"hysteresis", 1}, {"raise_at_min", 0}}), "XXXFFF", {},
            {{2}, {1}, {1}, {1}, {1}, {2}});
        row("deepspeed", "the end is a test of equality", start(3, 1000, {{"hysteresis", 1}}), "XXR", {},
            {{1.5}, {1}, {1}});
        row("deepspeed", "hysteresis 0 never backs off", start(8, 1000, {{"hysteresis", 0}}), "XXX", {},
            {{8}, {8}, {8}});

        const Keys both {"_growth_tracker", "_hysteresis_tracker"};
        row("megatron", "counts overflows that are not in a row", start(16, 3), "XFXFFFX", both,
            {{16, 0, 1}, {16, 1, 1}, {8, 0, 0}, {8, 1, 0}, {8, 2, 0}, {16, 0, 2}, {16, 0, 1}});
        row("megatron", "every further overflow decreases", start(16, 3), "XXXFFFXX", both,
            {{16, 0, 1}, {8, 0, 0}, {4, 0, -1}, {4, 1, -1}, {4, 2, -1}, {8, 0, 2}, {8, 0, 1}, {4, 0, 0}});
        row("megatron", "down to its minimum", start(16, 2, {{"min_scale", 4}, {"hysteresis", 1}}), "XXXXFFX", both,
            {{8, 0, 0}, {4, 0, -1}, {4, 0, -2}, {4, 0, -3}, {4, 1, -3}, {8, 0, 1}, {4, 0, 0}});
        row("megatron", "hysteresis 3", start(64, 2, {{"hysteresis", 3}}), "XFXFXXFFX", both,
            {{64, 0, 2}, {64, 1, 2}, {64, 0, 1}, {64, 1, 1}, {32, 0, 0}, {16, 0, -1}, {16, 1, -1}, {32, 0, 3},
                {32, 0, 2}});

        const Keys share {"_iteration", "_last_overflow", "_last_rescale", "_overflows"};
        row("fairseq", "growth and backoff", start(8, 2), "FFFFXFFX", share,
            {{8, 1, -1, -1, 0}, {16, 2, -1, 1, 0}, {16, 3, -1, 1, 0}, {32, 4, -1, 3, 0}, {16, 5, 4, 4, 0},
                {16, 6, 4, 4, 0}, {32, 7, 4, 6, 0}, {16, 8, 7, 7, 0}});
        row("fairseq", "tolerates half of the steps", start(8, 100, {{"tolerance", 0.5}}), "FFXFXXX", share,
            {{8, 1, -1, -1, 0}, {8, 2, -1, -1, 0}, {8, 3, 2, -1, 1}, {8, 4, 2, -1, 1}, {8, 5, 4, -1, 2},
                {4, 6, 5, 5, 0}, {2, 7, 6, 6, 0}});
        row("fairseq", "clamped at its threshold", start(8, 3, {{"threshold", 2}}), "XXXXFFF", share,
            {{4, 1, 0, 0, 0}, {2, 2, 1, 1, 0}, {2, 3, 2, 2, 0}, {2, 4, 3, 3, 0}, {2, 5, 3, 3, 0}, {2, 6, 3, 3, 0},
                {4, 7, 3, 6, 0}});
        row("fairseq", "ends at its minimum", start(4, 2000, {{"min_scale", 1}}), "XR", share,
            {{2, 1, 0, 0, 0}, {2, 1, 1, 1, 0}});
        row("fairseq", "growth keeps the count of overflows", start(8, 3, {{"tolerance", 1}}), "XFXXFFF", share,
            {{4, 1, 0, 0, 0}, {4, 2, 0, 0, 0}, {4, 3, 2, 0, 1}, {4, 4, 3, 0, 2}, {4, 5, 3, 0, 2}, {4, 6, 3, 0, 2},
                {8, 7, 3, 6, 2}});

        const Keys paddle {"_growth_tracker", "_overflows"};
        row("paddle", "growth and backoff", start(16, 2), "FFXFFF", paddle,
            {{16, 1, 0}, {32, 0, 0}, {16, 0, 0}, {16, 1, 0}, {32, 0, 0}, {32, 1, 0}});
        row("paddle", "backs off at two overflows in a row", start(16, 3, {{"hysteresis", 2}}), "XFXXFFFXX", paddle,
            {{16, 0, 1}, {16, 1, 0}, {16, 0, 1}, {8, 0, 0}, {8, 1, 0}, {8, 2, 0}, {16, 0, 0}, {16, 0, 1}, {8, 0, 0}});
        row("paddle", "no floor", {{"init_scale", 2}}, "XXX", {}, {{1}, {0.5}, {0.25}});

        row("fixed", "skips and stays", {{"init_scale", 64}}, "FXXF", {}, {{64}, {64}, {64}, {64}});
    }

    void followsTheTracesOfItsFamily()
    {
        QFETCH(const ScalerConfig, config);
        QFETCH(const QString, steps);
        QFETCH(const std::vector<std::string>, counters);
        QFETCH(const std::vector<std::vector<double>>, expected);
        QCOMPARE(static_cast<std::size_t>(steps.size()), expected.size());

        // Straight through, and saved and loaded once before each step.
        for (std::size_t cut = 0; cut <= expected.size(); ++cut) {
            auto scaler = makeScaler(config);
            for (std::size_t i = 0; i < expected.size(); ++i) {
                if (i == cut) {
                    auto loaded = makeScaler(config);
                    loaded->loadState(json::parse(scaler->state().dump()));
                    scaler = std::move(loaded);
                }
                const QChar letter = steps[static_cast<qsizetype>(i)];
                const ScalerVerdict verdict = scaler->update(isOverflow(letter));
                QCOMPARE(verdict.skip, isOverflow(letter));
                QCOMPARE(!verdict.raised.empty(), letter == 'R');
                const json state = scaler->state();
                QCOMPARE(scaler->scale(), expected[i].at(0));
                for (std::size_t c = 0; c < counters.size(); ++c) {
                    QCOMPARE(numberOf(state.at(counters[c])), expected[i].at(c + 1));
                    if (counters[c] == "_growth_tracker") {
                        QCOMPARE(static_cast<double>(scaler->growthTracker()), expected[i].at(c + 1));
                    } else if (counters[c] == "_hysteresis_tracker") {
                        QCOMPARE(static_cast<double>(*scaler->hysteresisLeft()), expected[i].at(c + 1));
                    }
                }
            }
        }
    }

    void aTrackerPastTheIntervalNeverMeetsIt()
    {
        const auto scaler = makeScaler(torchSettings(8, 2, 0.5, 3));
        scaler->loadState(torchState(8, 2, 0.5, 3, 5));
        const std::vector<std::pair<double, std::int64_t>> expected {{8, 6}, {8, 7}, {4, 0}, {4, 1}, {4, 2}, {8, 0}};
        for (std::size_t i = 0; i < expected.size(); ++i) {
            scaler->update(i == 2);
            QCOMPARE(scaler->scale(), expected[i].first);
            QCOMPARE(scaler->growthTracker(), expected[i].second);
        }
    }

    void machinesThatKeepAnIterationTellTheStepsSinceGrowthOrOverflow()
    {
        for (const char* family : {"fairseq", "deepspeed"}) {
            const auto scaler = makeScaler(settings(family, {{"init_scale", 16}, {"growth_interval", 2}}));
            // DeepSpeed's first growth after the start or an overflow comes a step later.
            const bool isLate = std::string_view(family) == "deepspeed";
            const std::vector<std::int64_t> expected = isLate ? std::vector<std::int64_t> {1, 2, 0, 1, 0, 0, 1, 2, 0}
                                                              : std::vector<std::int64_t> {1, 0, 1, 0, 1, 0, 1, 0, 1};
            for (std::size_t i = 0; i < expected.size(); ++i) {
                scaler->update(i == 5);
                QCOMPARE(scaler->growthTracker(), expected[i]);
            }
        }
    }

    void paddleTellsHowManyOverflowsAreLeft()
    {
        const auto scaler = makeScaler(settings("paddle", {{"hysteresis", 3}}));
        for (const auto& [overflow, left] :
            {std::pair {true, 2}, {true, 1}, {false, 3}, {true, 2}, {true, 1}, {true, 3}}) {
            scaler->update(overflow);
            QCOMPARE(*scaler->hysteresisLeft(), left);
        }
    }

    void pytorchAgreesWithASecondDerivationOnRandomTraces()
    {
        constexpr std::array<double, 4> growths {2, 1.5, 1.1, 1e6};
        constexpr std::array<double, 4> backoffs {0.5, 0.25, 0.9, 0};
        constexpr std::array<double, 4> scales {65536, 0x1p127, 0x1p-148, 3.7};
        for (std::uint64_t trace = 0; trace < 400; ++trace) {
            const Philox random(trace, randomStream(RandomPurpose::Data, "scaler traces"));
            const auto choice = random(0);
            const double growth = growths[choice[0] % growths.size()];
            const double backoff = backoffs[choice[1] % backoffs.size()];
            const double scale = scales[choice[2] % scales.size()];
            const auto interval = static_cast<long>(choice[3] % 6);
            const auto scaler = makeScaler(torchSettings(scale, growth, backoff, static_cast<double>(interval)));
            TorchModel model {static_cast<float>(scale)};
            for (std::uint64_t step = 1; step <= 250; ++step) {
                const auto draw = random(step);
                const bool overflow = draw[0] % 5 == 0;
                model.step(overflow, growth, backoff, interval);
                QCOMPARE(scaler->update(overflow).skip, overflow);
                QVERIFY(scaler->scale() == model.scale);
                QVERIFY(scaler->growthTracker() == model.tracker);
                if (draw[1] % 40 == 0) {
                    const double chosen = 1 + draw[2] % 5000;
                    scaler->setScale(chosen);
                    model.scale = static_cast<float>(chosen);
                }
            }
        }
    }

    void countingMachinesAgreeWithASecondDerivationOnRandomTraces()
    {
        for (std::uint64_t trace = 0; trace < 400; ++trace) {
            const Philox random(trace, randomStream(RandomPurpose::Data, "counting machines"));
            const auto choice = random(0);
            const auto window = static_cast<std::int64_t>(1 + choice[0] % 5);
            const auto hysteresis = static_cast<std::int64_t>(1 + choice[1] % 3);
            const bool consecutive = choice[2] % 2 == 0;
            const double tolerance = static_cast<double>(choice[3] % 5) / 4;
            const Parameters shared {{"init_scale", 1024}, {"growth_interval", static_cast<double>(window)}};
            Parameters deep = shared;
            deep.insert({{"hysteresis", static_cast<double>(hysteresis)},
                {"consecutive_hysteresis", consecutive ? 1.0 : 0.0}, {"raise_at_min", 0}});
            Parameters fair = shared;
            fair.insert({{"tolerance", tolerance}, {"min_scale", 0}});
            const auto deepspeed = makeScaler(settings("deepspeed", deep));
            const auto fairseq = makeScaler(settings("fairseq", fair));
            DeepspeedModel deepModel {1024, window, hysteresis, consecutive};
            FairseqModel fairModel {1024, window, tolerance};
            Steps steps;
            for (std::uint64_t step = 1; step <= 200; ++step) {
                const bool overflow = random(step)[0] % 4 == 0;
                steps.push_back(overflow);
                deepModel.step(steps);
                fairModel.step(steps);
                deepspeed->update(overflow);
                fairseq->update(overflow);
                QVERIFY(deepspeed->scale() == deepModel.scale);
                QVERIFY(*deepspeed->hysteresisLeft() == deepModel.left);
                QVERIFY(fairseq->scale() == fairModel.scale);
            }
        }
    }

    /// As long as no floor, ceiling or guard acts.
    void manyFamiliesAreOneMachine()
    {
        int compared = 0;
        for (std::uint64_t trace = 0; trace < 300; ++trace) {
            const Philox random(trace, randomStream(RandomPurpose::Data, "one machine"));
            const double interval = 1 + random(0)[0] % 6;
            const auto with = [&](Parameters more, double window) {
                more["init_scale"] = 4096;
                more["growth_interval"] = window;
                return more;
            };
            std::vector<std::unique_ptr<LossScaler>> same;
            for (const char* family : {"apex", "tensorflow", "keras", "jmp", "paddle", "fairseq"}) {
                same.push_back(makeScaler(settings(family, with({}, interval))));
            }
            same.push_back(makeScaler(settings("megatron", with({{"hysteresis", 1}}, interval))));
            const auto pytorch = makeScaler(settings("pytorch", with({}, interval)));
            const auto flax = makeScaler(settings("flax", with({}, interval)));
            const auto slower = makeScaler(settings("pytorch", with({}, interval + 1)));
            for (std::uint64_t step = 1; step <= 300; ++step) {
                const bool overflow = static_cast<double>(random(step)[0] % 16) < 9 / (1 + interval);
                pytorch->update(overflow);
                slower->update(overflow);
                flax->update(overflow);
                if (pytorch->scale() < 1 || pytorch->scale() > 0x1p24 || slower->scale() < 1) {
                    break;
                }
                for (const auto& scaler : same) {
                    scaler->update(overflow);
                    QVERIFY(scaler->scale() == pytorch->scale());
                }
                QVERIFY(flax->scale() == slower->scale());
                ++compared;
            }
        }
        QVERIFY(compared > 20'000);
    }

    void mxnetIsApexOneStepLate()
    {
        for (std::uint64_t trace = 0; trace < 100; ++trace) {
            const Philox random(trace, randomStream(RandomPurpose::Data, "one step late"));
            const double interval = 2 + random(0)[0] % 4;
            const Parameters parameters {{"init_scale", 0x1p20}, {"growth_interval", interval}};
            const auto mxnet = makeScaler(settings("mxnet", parameters));
            const auto apex = makeScaler(settings("apex", parameters));
            double before = apex->scale();
            for (std::uint64_t step = 1; step <= 200; ++step) {
                const bool overflow = random(step)[0] % 5 == 0;
                mxnet->update(overflow);
                QVERIFY(mxnet->scale() == before);
                apex->update(overflow);
                before = apex->scale();
            }
        }
    }

    void deepspeedUnscalesAGrowingStepByTheGrownScale()
    {
        ScalerConfig config = settings("deepspeed", {{"init_scale", 16}, {"growth_interval", 2}});
        const auto scaler = makeScaler(config);
        for (const auto& [scale, divisor] :
            {std::pair {16.0, 16.0}, {16.0, 16.0}, {16.0, 32.0}, {32.0, 32.0}, {32.0, 64.0}}) {
            QCOMPARE(scaler->scale(), scale);
            QCOMPARE(scaler->unscaleBy(), divisor);
            scaler->update(false);
        }
        scaler->update(false);
        QCOMPARE(scaler->unscaleBy(), 128.0);
        config.frozen = true;
        scaler->configure(config);
        QCOMPARE(scaler->unscaleBy(), 64.0);
        for (const std::string& family : scalerFamilies()) {
            const auto other = makeScaler({.family = family});
            QCOMPARE(other->unscaleBy(), other->scale());
        }
    }

    void theLossDrivenOneWatchesOnlyTheLoss()
    {
        const auto scaler
            = makeScaler(settings("loss-driven", {{"init_scale", 8}, {"growth_interval", 2}, {"loss_decay", 0.5}}));
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        constexpr double infinity = std::numeric_limits<double>::infinity();

        struct Case
        {
            bool foundInf;
            std::optional<double> loss;
            double scale;
            std::int64_t tracker;
        };

        // The moving average: 4, 3, 2.5 (equal counts as not risen), then as it is past what is not finite, 4.25.
        const std::vector<Case> cases {{true, {}, 8, 0}, {false, 4, 8, 1}, {true, 2, 16, 0}, {false, 2, 16, 1},
            {false, infinity, 8, 0}, {false, nan, 4, 0}, {false, {}, 4, 0}, {false, 2.5, 4, 1}, {false, 6, 2, 0},
            {false, 7, 1, 0}, {false, 9, 1, 0}, {true, 0.5, 1, 1}, {true, 0.5, 2, 0}};
        for (const Case& step : cases) {
            QVERIFY(!scaler->update({step.foundInf, step.loss}).skip);
            QCOMPARE(scaler->scale(), step.scale);
            QCOMPARE(scaler->growthTracker(), step.tracker);
        }
        QVERIFY(!scaler->skipsOnNonFinite());
    }

    void everyFamilyHasTheDefaultsOfItsLibrary_data()
    {
        QTest::addColumn<QString>("family");
        QTest::addColumn<QString>("defaults");
        const auto row = [](const char* family, const char* defaults) { QTest::newRow(family) << family << defaults; };
        row("none", "");
        row("fixed", "init_scale=65536");
        row("pytorch", "init_scale=65536 growth_factor=2 backoff_factor=0.5 growth_interval=2000");
        row("tensorflow", "initial_scale=32768 multiplier=2 dynamic_growth_steps=2000");
        row("keras", "initial_scale=32768 dynamic_growth_steps=2000");
        row("mxnet", "loss_scale=65536 scale_seq_len=2000 max_loss_scale=16777216");
        row("apex", "init_scale=65536 scale_window=2000 min_loss_scale=none max_loss_scale=16777216");
        row("deepspeed",
            "init_scale=65536 scale_factor=2 loss_scale_window=1000 min_loss_scale=1 hysteresis=2 "
            "consecutive_hysteresis=0 raise_error_at_min_scale=1");
        row("megatron",
            "initial_loss_scale=4294967296 growth_factor=2 backoff_factor=0.5 loss_scale_window=1000 "
            "min_loss_scale=1 hysteresis=2");
        row("fairseq",
            "init_scale=32768 scale_factor=2 scale_window=2000 tolerance=0 threshold=none min_loss_scale=0.0001");
        row("jmp", "loss_scale=32768 factor=2 period=2000 min_loss_scale=1");
        row("flax",
            "scale=65536 growth_factor=2 backoff_factor=0.5 growth_interval=2000 minimum_scale=1.1754943508222875e-38");
        row("paddle",
            "init_loss_scaling=65536 incr_ratio=2 decr_ratio=0.5 incr_every_n_steps=2000 decr_every_n_nan_or_inf=1");
        row("loss-driven",
            "init_scale=65536 growth_factor=2 backoff_factor=0.5 growth_interval=20 min_scale=1 loss_decay=0.9");
    }

    void everyFamilyHasTheDefaultsOfItsLibrary()
    {
        QFETCH(const QString, family);
        QFETCH(const QString, defaults);
        QStringList found;
        for (const ScalerParameter& parameter : findScalerFamily(family.toStdString())->parameters) {
            const std::string value = parameter.byDefault ? fmt::format("{}", *parameter.byDefault) : "none";
            found += QString::fromStdString(fmt::format("{}={}", parameter.ownName, value));
            QVERIFY(!parameter.help.empty());
            QVERIFY(!parameter.byDefault || parameter.range.holds(*parameter.byDefault));
        }
        QCOMPARE(found.join(' '), defaults);
        if (family != "none") {
            QCOMPARE(makeScaler({.family = family.toStdString()})->scale(),
                *findScalerFamily(family.toStdString())->parameters[0].byDefault);
        }
    }

    void everyFamilyHasARowOfDefaultsAndOneMeaningPerKey()
    {
        QCOMPARE(scalerFamilies().size(), std::size_t {14});
        std::map<std::string_view, ScalerParameterKind> kinds;
        for (const ScalerFamily* family : scalerFamilyTable()) {
            QVERIFY(!family->title.empty() && !family->summary.empty());
            for (const ScalerParameter& parameter : family->parameters) {
                QCOMPARE(kinds.emplace(parameter.key, parameter.kind).first->second, parameter.kind);
            }
        }
    }

    void frozenJudgesButNeverMoves()
    {
        ScalerConfig config = torchSettings(8, 2, 0.5, 3);
        const auto scaler = makeScaler(config);
        scaler->update(false);
        config.frozen = true;
        scaler->configure(config);
        for (const bool overflow : {false, false, false, true, false}) {
            QCOMPARE(scaler->update(overflow).skip, overflow);
            QCOMPARE(scaler->scale(), 8.0);
            QCOMPARE(scaler->growthTracker(), std::int64_t {1});
        }
        scaler->setScale(32);
        QCOMPARE(scaler->scale(), 32.0);
        config.frozen = false;
        scaler->configure(config);
        scaler->update(false);
        scaler->update(false);
        QCOMPARE(scaler->scale(), 64.0);
    }

    void setScaleLeavesTheTracker()
    {
        const auto scaler = makeScaler(torchSettings(8, 2, 0.5, 3));
        scaler->update(false);
        scaler->update(false);
        scaler->setScale(1024);
        QCOMPARE(scaler->growthTracker(), std::int64_t {2});
        scaler->update(false);
        QCOMPARE(scaler->scale(), 2048.0);
        scaler->setScale(0.1);
        QCOMPARE(scaler->scale(), static_cast<double>(0.1F));
    }

    void configureKeepsScaleAndCounters()
    {
        ScalerConfig config = torchSettings(8, 2, 0.5, 3);
        const auto scaler = makeScaler(config);
        scaler->update(false);
        scaler->update(false);
        config = torchSettings(9999, 4, 0.25, 2);
        scaler->configure(config);
        QCOMPARE(scaler->scale(), 8.0);
        QCOMPARE(scaler->growthTracker(), std::int64_t {2});
        scaler->update(false); // 3, beyond the lowered interval: the test is equality
        QCOMPARE(scaler->scale(), 8.0);
        scaler->update(true);
        QCOMPARE(scaler->scale(), 2.0);
        scaler->update(false);
        scaler->update(false);
        QCOMPARE(scaler->scale(), 8.0);
    }

    void refusedSettingsChangeNothing()
    {
        ScalerConfig config = torchSettings(8, 2, 0.5, 3);
        const auto scaler = makeScaler(config);
        const json before = scaler->state();
        config.parameters["growth_interval"] = 7;
        config.parameters["growth_factor"] = 0.5;
        config.frozen = true;
        QVERIFY(!refusal([&] { scaler->configure(config); }).isEmpty());
        QVERIFY(refusal([&] { scaler->configure({.family = "fixed"}); }).contains("fixed"));
        QCOMPARE(scaler->state(), before);
        scaler->update(true);
        QCOMPARE(scaler->scale(), 4.0);
    }

    void settingsAreCheckedByName_data()
    {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        constexpr double infinity = std::numeric_limits<double>::infinity();
        QTest::addColumn<ScalerConfig>("config");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* name, const ScalerConfig& config, const QString& named) {
            QTest::newRow(name) << config << named;
        };
        row("growth 1", torchSettings(8, 1, 0.5, 3), "scaler.growth_factor is 1;");
        row("growth nan", torchSettings(8, nan, 0.5, 3), "scaler.growth_factor is nan;");
        row("growth inf", torchSettings(8, infinity, 0.5, 3), "scaler.growth_factor is inf;");
        row("backoff 1", torchSettings(8, 2, 1, 3), "scaler.backoff_factor is 1;");
        row("backoff -0.5", torchSettings(8, 2, -0.5, 3), "scaler.backoff_factor is -0.5;");
        row("backoff nan", torchSettings(8, 2, nan, 3), "scaler.backoff_factor is nan;");
        row("backoff -inf", torchSettings(8, 2, -infinity, 3), "scaler.backoff_factor is -inf;");
        row("scale 0", torchSettings(0, 2, 0.5, 3), "scaler.init_scale is 0;");
        row("scale -8", torchSettings(-8, 2, 0.5, 3), "scaler.init_scale is -8;");
        row("scale nan", torchSettings(nan, 2, 0.5, 3), "scaler.init_scale is nan;");
        row("scale beyond float32", torchSettings(1e39, 2, 0.5, 3), "scaler.init_scale is 1e+39;");
        row("scale below float32", torchSettings(1e-60, 2, 0.5, 3),
            "scaler.init_scale is 1e-60, which float32 rounds to 0");
        row("interval 2.5", torchSettings(8, 2, 0.5, 2.5),
            "scaler.growth_interval is 2.5; it must be an integer from 0");
        row("fixed scale 0", settings("fixed", {{"init_scale", 0}}), "scaler.init_scale is 0;");
        row("family", settings("pytroch", {}), "scaler.family is \"pytroch\"; it must be one of none, fixed, ");
        row("another family's parameter", settings("pytorch", {{"hysteresis", 3}}),
            "scaler.hysteresis is 3, but the family \"pytorch\" has no such parameter; it has init_scale, "
            "growth_factor, backoff_factor, growth_interval");
        row("no parameters", settings("none", {{"init_scale", 3}}),
            "the family \"none\" has no such parameter; it has none");
        row("interval 0", settings("megatron", {{"growth_interval", 0}}),
            "scaler.growth_interval is 0; it must be an integer from 1");
        row("flag 2", settings("deepspeed", {{"raise_at_min", 2}}),
            "scaler.raise_at_min is 2; it must be true or false");
        row("below the minimum", settings("megatron", {{"init_scale", 0.5}}),
            "scaler.init_scale is 0.5, below min_scale (1)");
        row("minimum above", settings("megatron", {{"init_scale", 2}, {"min_scale", 4}}),
            "scaler.min_scale is 4, above init_scale (2)");
    }

    void settingsAreCheckedByName()
    {
        QFETCH(const ScalerConfig, config);
        QFETCH(const QString, named);
        const QString message = refusal([&] { static_cast<void>(makeScaler(config)); });
        QVERIFY2(message.contains(named), qPrintable(message));
    }

    void setScaleRefusesWhatIsNoScale()
    {
        for (const std::string& family : scalerFamilies()) {
            if (family == "none") {
                continue;
            }
            const auto scaler = makeScaler(settings(family, {{"init_scale", 8}}));
            for (const double scale : {0.0, -1.0, 1e39, 1e-60, std::numeric_limits<double>::quiet_NaN()}) {
                QVERIFY(refusal([&] { scaler->setScale(scale); }).startsWith("scaler.scale is "));
            }
            QCOMPARE(scaler->scale(), 8.0);
        }
        QVERIFY(refusal([] { makeScaler({.family = "none"})->setScale(8); }).contains("no scaler"));
    }

    void stateHasTheKeysOfGradScalerAndComesBack()
    {
        const auto scaler = makeScaler(torchSettings(65536, 2, 0.5, 2000));
        QCOMPARE(scaler->state(), torchState(65536, 2, 0.5, 2000, 0));
        for (int i = 0; i < 7; ++i) {
            scaler->update(i == 2);
        }
        QCOMPARE(scaler->state(), torchState(32768, 2, 0.5, 2000, 4));

        // Through its text, as in a checkpoint, into a scaler with other settings: the state wins, as in PyTorch.
        const auto other = makeScaler(torchSettings(3, 5, 0.1, 9));
        other->loadState(json::parse(scaler->state().dump()));
        QCOMPARE(other->state(), scaler->state());
        for (int i = 0; i < 5000; ++i) {
            QCOMPARE(other->update(i % 2500 == 2400).skip, scaler->update(i % 2500 == 2400).skip);
            QVERIFY(other->state() == scaler->state());
        }
    }

    void scalesThatAreNotFiniteSurviveTheText()
    {
        const auto scaler = makeScaler(settings("keras", {{"init_scale", 0x1p127}, {"growth_interval", 1}}));
        scaler->update(false);
        QCOMPARE(scaler->state().at("scale"), json("inf"));
        const auto other = makeScaler(settings("keras", {{"init_scale", 1}}));
        other->loadState(json::parse(scaler->state().dump()));
        QCOMPARE(other->scale(), std::numeric_limits<double>::infinity());
        const auto pytorch = makeScaler({.family = "pytorch"});
        pytorch->loadState(torchState(0, 2, 0.5, 2, 0));
        QCOMPARE(pytorch->scale(), 0.0);
        for (const char* text : {"nan", "-inf"}) {
            json state = torchState(0, 2, 0.5, 2, 0);
            state["scale"] = text;
            pytorch->loadState(state);
            QCOMPARE(pytorch->state(), state);
        }
    }

    void badStatesAreRefusedByKeyAndChangeNothing_data()
    {
        QTest::addColumn<QString>("state");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* name, const json& state, const QString& named) {
            QTest::newRow(name) << QString::fromStdString(state.dump()) << named;
        };
        const json good = torchState(8, 2, 0.5, 3, 0);
        const auto with = [&good](const char* key, const json& value) {
            json state = good;
            state[key] = value;
            return state;
        };
        row("empty", json::object(), "holds no state");
        row("null", nullptr, "holds no state");
        row("a list", json::array({1, 2}), "holds no state");
        for (const auto& item : good.items()) {
            json state = good;
            state.erase(item.key());
            row(("without " + item.key()).c_str(), state, QString::fromStdString(item.key() + " is missing"));
        }
        row("unknown key", with("hysteresis", 2), "hysteresis is unknown");
        row("scale text", with("scale", "8"), "scale is \"8\"");
        row("scale null", with("scale", nullptr), "scale is null");
        row("scale beyond float32", with("scale", 1e39), "scale is 1e+39");
        row("growth 1", with("growth_factor", 1), "growth_factor is 1;");
        row("backoff 1", with("backoff_factor", 1), "backoff_factor is 1;");
        row("backoff flag", with("backoff_factor", true), "backoff_factor is true");
        row("interval 2.5", with("growth_interval", 2.5), "growth_interval is 2.5");
        row("interval huge", with("growth_interval", 0xFFFFFFFFFFFFFFFFU), "growth_interval is 18446744073709551615");
        row("tracker -1", with("_growth_tracker", -1), "_growth_tracker is -1");
        row("tracker beyond int32", with("_growth_tracker", 0x80000000U), "_growth_tracker is 2147483648");
        row("tracker list", with("_growth_tracker", json::array()), "_growth_tracker is []");
    }

    void badStatesAreRefusedByKeyAndChangeNothing()
    {
        QFETCH(const QString, state);
        QFETCH(const QString, named);
        const auto scaler = makeScaler(torchSettings(16, 4, 0.25, 5));
        const json before = scaler->state();
        const QString message = refusal([&] { scaler->loadState(json::parse(state.toStdString())); });
        QVERIFY2(message.contains(named), qPrintable(message));
        QCOMPARE(scaler->state(), before);
    }

    void otherFamiliesRefuseBadStatesToo_data()
    {
        QTest::addColumn<QString>("family");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        const auto row = [](const char* family, const char* key, const char* value) {
            QTest::newRow(qPrintable(QString("%1: %2 = %3").arg(family, key, value)))
                << QString(family) << QString(key) << QString(value);
        };
        row("megatron", "_hysteresis_tracker", "0.5");
        row("megatron", "hysteresis", "0");
        row("megatron", "min_scale", "null");
        row("deepspeed", "raise_at_min", "1");
        row("deepspeed", "_last_overflow", "-2");
        row("fairseq", "threshold", "0");
        row("fairseq", "tolerance", "1.5");
        row("mxnet", "_next_scale", "true");
        row("tensorflow", "scale", "1e39");
    }

    void otherFamiliesRefuseBadStatesToo()
    {
        QFETCH(const QString, family);
        QFETCH(const QString, key);
        QFETCH(const QString, value);
        const auto scaler = makeScaler({.family = family.toStdString()});
        const json before = scaler->state();
        json state = before;
        QVERIFY(state.contains(key.toStdString()));
        state[key.toStdString()] = json::parse(value.toStdString());
        const QString message = refusal([&] { scaler->loadState(state); });
        QVERIFY2(message.startsWith("scaler state: " + key), qPrintable(message));
        state.erase(key.toStdString());
        QVERIFY(refusal([&] { scaler->loadState(state); }).contains(key + " is missing"));
        QCOMPARE(scaler->state(), before);
    }

    void aFixedScaleStaysWhenItsSettingsChange()
    {
        const auto scaler = makeScaler(settings("fixed", {{"init_scale", 64}}));
        QCOMPARE(scaler->state(), json({{"scale", 64.0}}));
        scaler->setScale(128);
        scaler->configure(settings("fixed", {{"init_scale", 1}}));
        QCOMPARE(scaler->scale(), 128.0);
    }

    void noneNeverSkips()
    {
        const auto scaler = makeScaler({.family = "none"});
        QVERIFY(!scaler->skipsOnNonFinite());
        for (const bool overflow : {false, true}) {
            QCOMPARE(scaler->update(overflow).skip, false);
            QCOMPARE(scaler->scale(), 1.0);
        }
        QCOMPARE(scaler->state(), json::object());
        scaler->loadState(json::object());
        QVERIFY(refusal([&] { scaler->loadState(torchState(8, 2, 0.5, 3, 0)); }).contains("no scaler"));
        QVERIFY(refusal([&] { scaler->configure({.family = "fixed"}); }).contains("fixed"));
    }

    void everyFamilyCanBeMadeAndSavesWhatItLoads()
    {
        for (const std::string& family : scalerFamilies()) {
            const auto scaler = makeScaler({.family = family});
            const auto copy = makeScaler({.family = family});
            for (const bool overflow : {false, true, false}) {
                scaler->update({overflow, 2.3});
            }
            copy->loadState(scaler->state());
            QCOMPARE(copy->state(), scaler->state());
            QCOMPARE(copy->scale(), scaler->scale());
        }
    }
};

QTEST_APPLESS_MAIN(TestLossScalers)
#include "tst_loss_scalers.moc"
