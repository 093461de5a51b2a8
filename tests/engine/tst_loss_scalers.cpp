// Every scaler family through every branch. The traces of "pytorch" were checked against torch.amp.GradScaler itself:
// state machine executed on CPU with PyTorch 1.13, the update rule from aten's AmpGradScalerKernels.cpp. One of them
// (scale 4, growth 2, backoff 0.25, interval 2) is the trace of PyTorch's own unit test.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/scaling/loss_scaler.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <utility>

using namespace mantissa;
using nlohmann::json;

namespace {

using ScaleAndTracker = std::pair<double, std::int64_t>;

/// What torch.amp.GradScaler.state_dict() gives.
json torchState(double scale, double growth, double backoff, std::int64_t interval, std::int64_t tracker)
{
    return {{"scale", scale}, {"growth_factor", growth}, {"backoff_factor", backoff}, {"growth_interval", interval},
        {"_growth_tracker", tracker}};
}

ScalerConfig settings(const std::string& family, double scale, double growth, double backoff, std::int64_t interval)
{
    return {.family = family,
        .initScale = scale,
        .growthFactor = growth,
        .backoffFactor = backoff,
        .growthInterval = interval,
        .frozen = false};
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

/// A second derivation of PyTorch's rule, from its description only. Whole and fractional powers of two aside, the one
/// thing to get right is the rounding: a double product, once to float.
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

} // namespace

class TestLossScalers : public QObject
{
    Q_OBJECT

private slots:

    void pytorchFollowsTheTraceOfGradScaler_data()
    {
        QTest::addColumn<ScalerConfig>("config");
        QTest::addColumn<int>("loadedTracker");
        QTest::addColumn<QString>("steps");
        QTest::addColumn<std::vector<ScaleAndTracker>>("expected");
        using Trace = std::vector<ScaleAndTracker>;

        QTest::newRow("PyTorch's unit test")
            << settings("pytorch", 4, 2, 0.25, 2) << 0 << "FFX" << Trace {{4, 1}, {8, 0}, {2, 0}};
        QTest::newRow("growth and one backoff") << settings("pytorch", 8, 2, 0.5,
            3) << 0 << "FFFFXFFF" << Trace {{8, 1}, {8, 2}, {16, 0}, {16, 1}, {8, 0}, {8, 1}, {8, 2}, {16, 0}};
        QTest::newRow("an overflow resets the tracker") << settings("pytorch", 8, 2, 0.5,
            3) << 0 << "FFXFFXFFF" << Trace {{8, 1}, {8, 2}, {4, 0}, {4, 1}, {4, 2}, {2, 0}, {2, 1}, {2, 2}, {4, 0}};
        QTest::newRow("growth to infinity is refused, the tracker reset all the same") << settings("pytorch", 0x1p127,
            2, 0.5, 1) << 0 << "FFXF" << Trace {{0x1p127, 0}, {0x1p127, 0}, {0x1p126, 0}, {0x1p127, 0}};
        QTest::newRow("a tracker past the interval never meets it") << settings(
            "pytorch", 8, 2, 0.5, 3) << 5 << "FFXFFF" << Trace {{8, 6}, {8, 7}, {4, 0}, {4, 1}, {4, 2}, {8, 0}};
        QTest::newRow("no floor, and zero is absorbing") << settings("pytorch", 0x1p-148, 2, 0.5, 2) << 0 << "XXXFF"
                                                         << Trace {{0x1p-149, 0}, {0, 0}, {0, 0}, {0, 1}, {0, 0}};
        QTest::newRow("interval 0 never grows")
            << settings("pytorch", 8, 2, 0.5, 0) << 0 << "FFFX" << Trace {{8, 1}, {8, 2}, {8, 3}, {4, 0}};
        QTest::newRow("a negative interval never grows")
            << settings("pytorch", 8, 2, 0.5, -1) << 0 << "FFX" << Trace {{8, 1}, {8, 2}, {4, 0}};
        QTest::newRow("backoff 0 goes straight to zero")
            << settings("pytorch", 8, 2, 0, 1) << 0 << "XF" << Trace {{0, 0}, {0, 0}};
        QTest::newRow("a negative backoff changes the sign")
            << settings("pytorch", 8, 2, -0.5, 1) << 0 << "XFX" << Trace {{-4, 0}, {-8, 0}, {4, 0}};
        // 1 * 1.1 rounds to 1.10000002384185791015625, times 1.1 in double to 1.21000003814697.
        QTest::newRow("products are rounded once to float32")
            << settings("pytorch", 1, 1.1, 0.3, 1) << 0 << "FFX"
            << Trace {{1.10000002384185791015625, 0}, {1.21000003814697265625, 0}, {0.36300000548362731933593750, 0}};
    }

    void pytorchFollowsTheTraceOfGradScaler()
    {
        QFETCH(const ScalerConfig, config);
        QFETCH(const int, loadedTracker);
        QFETCH(const QString, steps);
        QFETCH(const std::vector<ScaleAndTracker>, expected);

        const auto scaler = makeScaler(config);
        json state = scaler->state();
        state["_growth_tracker"] = loadedTracker;
        scaler->loadState(state);
        QCOMPARE(static_cast<std::size_t>(steps.size()), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const bool overflow = steps[static_cast<qsizetype>(i)] == 'X';
            QCOMPARE(scaler->update(overflow).skip, overflow);
            QCOMPARE(scaler->scale(), expected[i].first);
            QCOMPARE(scaler->growthTracker(), expected[i].second);
        }
    }

    void pytorchAgreesWithASecondDerivationOnRandomTraces()
    {
        constexpr std::array<double, 4> growths {2, 1.5, 1.1, 1e30};
        constexpr std::array<double, 5> backoffs {0.5, 0.25, 0.9, 0, -0.5};
        constexpr std::array<double, 4> scales {65536, 0x1p127, 0x1p-148, 3.7};
        for (std::uint64_t trace = 0; trace < 400; ++trace) {
            const Philox random(trace, randomStream(RandomPurpose::Data, "scaler traces"));
            const auto choice = random(0);
            const double growth = growths[choice[0] % growths.size()];
            const double backoff = backoffs[choice[1] % backoffs.size()];
            const double scale = scales[choice[2] % scales.size()];
            const auto interval = static_cast<long>(choice[3] % 6);
            const auto scaler = makeScaler(settings("pytorch", scale, growth, backoff, interval));
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

    void frozenJudgesButNeverMoves()
    {
        ScalerConfig config = settings("pytorch", 8, 2, 0.5, 3);
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
        const auto scaler = makeScaler(settings("pytorch", 8, 2, 0.5, 3));
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
        ScalerConfig config = settings("pytorch", 8, 2, 0.5, 3);
        const auto scaler = makeScaler(config);
        scaler->update(false);
        scaler->update(false);
        config = settings("pytorch", 9999, 4, 0.25, 2);
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
        ScalerConfig config = settings("pytorch", 8, 2, 0.5, 3);
        const auto scaler = makeScaler(config);
        const json before = scaler->state();
        config.growthInterval = 7;
        config.growthFactor = 0.5;
        config.frozen = true;
        QVERIFY(!refusal([&] { scaler->configure(config); }).isEmpty());
        QVERIFY(refusal([&] { scaler->configure(settings("fixed", 8, 2, 0.5, 3)); }).contains("fixed"));
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
        row("growth 1", settings("pytorch", 8, 1, 0.5, 3), "scaler.growth_factor is 1;");
        row("growth nan", settings("pytorch", 8, nan, 0.5, 3), "scaler.growth_factor is nan;");
        row("growth inf", settings("pytorch", 8, infinity, 0.5, 3), "scaler.growth_factor is inf;");
        row("backoff 1", settings("pytorch", 8, 2, 1, 3), "scaler.backoff_factor is 1;");
        row("backoff nan", settings("pytorch", 8, 2, nan, 3), "scaler.backoff_factor is nan;");
        row("backoff -inf", settings("pytorch", 8, 2, -infinity, 3), "scaler.backoff_factor is -inf;");
        row("scale 0", settings("pytorch", 0, 2, 0.5, 3), "scaler.init_scale is 0;");
        row("scale -8", settings("pytorch", -8, 2, 0.5, 3), "scaler.init_scale is -8;");
        row("scale nan", settings("pytorch", nan, 2, 0.5, 3), "scaler.init_scale is nan;");
        row("scale beyond float32", settings("pytorch", 1e39, 2, 0.5, 3), "scaler.init_scale is 1e+39;");
        row("scale below float32", settings("pytorch", 1e-60, 2, 0.5, 3), "scaler.init_scale is 1e-60;");
        row("fixed scale 0", settings("fixed", 0, 2, 0.5, 3), "scaler.init_scale is 0;");
        row("family", settings("pytroch", 8, 2, 0.5, 3),
            "scaler.family is \"pytroch\"; it must be one of none, fixed, ");
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
        for (const char* family : {"fixed", "pytorch"}) {
            const auto scaler = makeScaler(settings(family, 8, 2, 0.5, 3));
            for (const double scale : {0.0, -1.0, 1e39, 1e-60, std::numeric_limits<double>::quiet_NaN()}) {
                QVERIFY(refusal([&] { scaler->setScale(scale); }).startsWith("scaler.scale is "));
            }
            QCOMPARE(scaler->scale(), 8.0);
        }
        QVERIFY(refusal([] { makeScaler({.family = "none"})->setScale(8); }).contains("no scaler"));
    }

    void stateHasTheKeysOfGradScalerAndComesBack()
    {
        const auto scaler = makeScaler(settings("pytorch", 65536, 2, 0.5, 2000));
        QCOMPARE(scaler->state(), torchState(65536, 2, 0.5, 2000, 0));
        for (int i = 0; i < 7; ++i) {
            scaler->update(i == 2);
        }
        QCOMPARE(scaler->state(), torchState(32768, 2, 0.5, 2000, 4));

        // Through its text, as in a checkpoint, into a scaler with other settings: the state wins, as in PyTorch.
        const auto other = makeScaler(settings("pytorch", 3, 5, 0.1, 9));
        other->loadState(json::parse(scaler->state().dump()));
        QCOMPARE(other->state(), scaler->state());
        for (int i = 0; i < 5000; ++i) {
            QCOMPARE(other->update(i % 2500 == 2400).skip, scaler->update(i % 2500 == 2400).skip);
            QVERIFY(other->state() == scaler->state());
        }
    }

    void scalesThatAreNotFiniteSurviveTheText()
    {
        // A backoff below -1 enlarges: PyTorch accepts it, and nothing guards that direction against infinity.
        const auto scaler = makeScaler(settings("pytorch", 0x1p127, 2, -4, 1));
        scaler->update(true);
        QCOMPARE(scaler->state().at("scale"), json("-inf"));
        const auto other = makeScaler(settings("pytorch", 1, 2, 0.5, 1));
        other->loadState(json::parse(scaler->state().dump()));
        QCOMPARE(other->scale(), -std::numeric_limits<double>::infinity());
        other->update(true);
        QCOMPARE(other->state().at("scale"), json("inf"));
        other->loadState(torchState(0, 2, 0.5, 2, 0));
        QCOMPARE(other->scale(), 0.0);
        json nan = torchState(0, 2, 0.5, 2, 0);
        nan["scale"] = "nan";
        other->loadState(nan);
        QCOMPARE(other->state(), nan);
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
        for (const char* family : {"fixed", "pytorch"}) {
            const auto scaler = makeScaler(settings(family, 16, 4, 0.25, 5));
            const json before = scaler->state();
            const QString message = refusal([&] { scaler->loadState(json::parse(state.toStdString())); });
            QVERIFY2(message.contains(named), qPrintable(message));
            QCOMPARE(scaler->state(), before);
        }
    }

    void fixedSkipsAndStays()
    {
        const auto scaler = makeScaler(settings("fixed", 64, 2, 0.5, 1));
        QVERIFY(scaler->skipsOnNonFinite());
        for (const bool overflow : {false, true, true, false}) {
            QCOMPARE(scaler->update(overflow).skip, overflow);
            QCOMPARE(scaler->scale(), 64.0);
            QCOMPARE(scaler->growthTracker(), std::int64_t {0});
        }
        scaler->setScale(128);
        scaler->configure(settings("fixed", 1, 2, 0.5, 1));
        QCOMPARE(scaler->scale(), 128.0);
    }

    void fixedAndPytorchTakeOverEachOthersScale()
    {
        const auto dynamic = makeScaler(settings("pytorch", 64, 2, 0.5, 100));
        dynamic->update(true);
        dynamic->update(false);
        const auto fixed = makeScaler(settings("fixed", 1, 2, 0.5, 100));
        fixed->loadState(dynamic->state());
        QCOMPARE(fixed->state(), torchState(32, 2, 0.5, 100, 0));
        dynamic->loadState(fixed->state());
        QCOMPARE(dynamic->scale(), 32.0);
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
        QVERIFY(scalerFamilies().size() >= 3);
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
