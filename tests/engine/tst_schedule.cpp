// Learning-rate schedules against numbers worked out by hand from the formulas in schedule.h.
#include "engine/core/error.h"
#include "engine/optim/schedule.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace mantissa;

namespace {

QString refusal(const ScheduleConfig& config)
{
    try {
        checkSchedule(config);
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

} // namespace

class TestSchedule : public QObject
{
    Q_OBJECT

private slots:

    void givesTheRateOfItsFormula_data()
    {
        QTest::addColumn<ScheduleConfig>("config");
        QTest::addColumn<std::int64_t>("totalSteps");
        QTest::addColumn<std::vector<double>>("expected"); ///< at positions 0, 1, 2, ... with a base rate of 0.4
        const auto row
            = [](const char* name, const ScheduleConfig& config, std::int64_t totalSteps,
                  const std::vector<double>& expected) { QTest::newRow(name) << config << totalSteps << expected; };

        row("constant", {}, 3, {0.4, 0.4, 0.4, 0.4});
        row("constant with a warm-up", {.warmupSteps = 4}, 10, {0.1, 0.2, 0.3, 0.4, 0.4, 0.4});
        row("warmup", {.kind = "warmup", .warmupSteps = 2}, 10, {0.2, 0.4, 0.4, 0.4});
        row("warmup of no steps", {.kind = "warmup"}, 10, {0.4, 0.4});
        // cos(pi / 4) = 0.70710678118654752: 0.2 (1 + 0.7071...) = 0.34142135623730951.
        row("cosine over the experiment", {.kind = "cosine"}, 5,
            {0.4, 0.34142135623730951, 0.2, 0.05857864376269049, 0, 0, 0});
        // From 0.4 to 0.04: 0.04 + 0.36 (1 + 0.7071...) / 2 = 0.34727922061357856.
        row("cosine to a minimum", {.kind = "cosine", .minimumFactor = 0.1}, 5,
            {0.4, 0.34727922061357856, 0.22, 0.09272077938642145, 0.04, 0.04});
        row("cosine over its own steps", {.kind = "cosine", .totalSteps = 3}, 500, {0.4, 0.2, 0, 0});
        row("cosine after a warm-up", {.kind = "cosine", .warmupSteps = 2}, 5, {0.2, 0.4, 0.4, 0.2, 0, 0});
        row("cosine of one step", {.kind = "cosine"}, 1, {0.4, 0});
        row("cosine shorter than its warm-up", {.kind = "cosine", .warmupSteps = 3, .totalSteps = 2}, 9,
            {0.4 / 3, 0.8 / 3, 0.4, 0.4, 0});
        row("step", {.kind = "step", .every = 2, .gamma = 0.5}, 9, {0.4, 0.4, 0.2, 0.2, 0.1, 0.1, 0.05});
        row("step after a warm-up", {.kind = "step", .warmupSteps = 1, .every = 2, .gamma = 0.1}, 9,
            {0.4, 0.4, 0.4, 0.04, 0.04, 0.004});
    }

    void givesTheRateOfItsFormula()
    {
        QFETCH(const ScheduleConfig, config);
        QFETCH(const std::int64_t, totalSteps);
        QFETCH(const std::vector<double>, expected);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double rate = learningRate(config, 0.4, static_cast<std::int64_t>(i), totalSteps);
            QVERIFY2(std::abs(rate - expected[i]) <= 0.4 * 4 * std::numeric_limits<double>::epsilon(),
                qPrintable(
                    QString("position %1: %2, not %3").arg(i).arg(rate, 0, 'g', 17).arg(expected[i], 0, 'g', 17)));
        }
    }

    void aConstantRateIsExact()
    {
        for (const double rate : {0.0, 1e-3, 0.1}) {
            QVERIFY(learningRate({}, rate, 123'456'789, 5) == rate);
        }
    }

    void longRunsStayFinite()
    {
        constexpr std::int64_t far = 1'000'000'000'000;
        QCOMPARE(learningRate({.kind = "step", .every = 1}, 0.4, far, far), 0.0);
        QCOMPARE(learningRate({.kind = "cosine", .minimumFactor = 0.5}, 0.4, far, far), 0.2);
    }

    void settingsAreCheckedByName_data()
    {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        QTest::addColumn<ScheduleConfig>("config");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* name, const ScheduleConfig& config) {
            QTest::newRow(name) << config << QString("schedule.%1 is ").arg(name);
        };
        row("kind", {.kind = "cosin"});
        row("warmup_steps", {.warmupSteps = -1});
        row("total_steps", {.totalSteps = -1});
        row("minimum_factor", {.minimumFactor = 1.5});
        row("every", {.every = 0});
        row("gamma", {.gamma = nan});
    }

    void settingsAreCheckedByName()
    {
        QFETCH(const ScheduleConfig, config);
        QFETCH(const QString, named);
        QVERIFY2(refusal(config).startsWith(named), qPrintable(refusal(config)));
        QVERIFY_THROWS_EXCEPTION(Error, learningRate(config, 0.1, 0, 10));
    }

    void everyKindIsKnown()
    {
        for (const std::string& kind : scheduleKinds()) {
            QCOMPARE(refusal({.kind = kind}), QString());
        }
    }
};

QTEST_APPLESS_MAIN(TestSchedule)
#include "tst_schedule.moc"
