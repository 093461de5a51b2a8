#include "ui/plots/series_pyramid.h"
#include "ui/plots/smoothing.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <map>
#include <random>

using namespace mantissa;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

using Plain = std::map<std::int64_t, double>;

SeriesStats plainStats(const Plain& values, std::int64_t first, std::int64_t last)
{
    SeriesStats stats;
    for (auto it = values.lower_bound(first); it != values.end() && it->first <= last; ++it) {
        const double value = it->second;
        if (!std::isfinite(value)) {
            ++stats.notFinite;
            continue;
        }
        ++stats.finite;
        stats.sum += value;
        stats.minimum = std::min(stats.minimum, value);
        stats.maximum = std::max(stats.maximum, value);
        if (value > 0) {
            stats.smallestPositive = std::min(stats.smallestPositive, value);
        }
    }
    return stats;
}

bool same(const SeriesStats& a, const SeriesStats& b)
{
    // Sums are of multiples of 1/8 here, hence exact in any order.
    return a.minimum == b.minimum && a.maximum == b.maximum && a.sum == b.sum && a.finite == b.finite
        && a.notFinite == b.notFinite && a.smallestPositive == b.smallestPositive;
}

bool sameValue(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

struct Shape
{
    double gapShare = 0; ///< chance of a gap before a value
    std::int64_t gapUpTo = 1;
    double nonFiniteShare = 0;
    double repeatShare = 0; ///< chance that a long constant stretch begins
};

Plain randomSeries(std::mt19937& random, int count, const Shape& shape)
{
    std::uniform_real_distribution<double> chance(0, 1);
    std::uniform_int_distribution<int> value(-800, 8000);
    Plain values;
    std::int64_t step = static_cast<std::int64_t>(chance(random) * 6000);
    int repeats = 0;
    double current = 1;
    for (int i = 0; i < count; ++i) {
        if (repeats > 0) {
            --repeats;
        } else if (chance(random) < shape.repeatShare) {
            repeats = static_cast<int>(chance(random) * 20000);
        } else {
            current = value(random) / 8.0;
            if (chance(random) < shape.nonFiniteShare) {
                const double kinds[] = {notANumber, infinity, -infinity};
                current = kinds[random() % 3];
            }
        }
        values[step] = current;
        step += 1;
        if (chance(random) < shape.gapShare) {
            step += 1 + static_cast<std::int64_t>(chance(random) * static_cast<double>(shape.gapUpTo));
        }
    }
    return values;
}

SeriesPyramid pyramidOf(const Plain& values)
{
    SeriesPyramid series;
    for (const auto& [step, value] : values) {
        series.append(step, value);
    }
    return series;
}

void compareWithPlain(const SeriesPyramid& series, const Plain& values, std::mt19937& random, int queries)
{
    QCOMPARE(series.count(), std::uint64_t {values.size()});
    std::uniform_int_distribution<std::int64_t> anyStep(-50, values.rbegin()->first + 5000);
    std::vector<SeriesColumn> columns;
    for (int query = 0; query < queries; ++query) {
        const std::int64_t a = anyStep(random);
        const std::int64_t b = anyStep(random);
        const std::int64_t first = std::min(a, b);
        const std::int64_t last = std::max(a, b);
        QVERIFY(same(series.stats(first, last), plainStats(values, first, last)));

        const int shift = static_cast<int>(random() % 16);
        series.columns(first, last, shift, columns);
        std::int64_t covered = 0;
        for (const SeriesColumn& column : columns) {
            QCOMPARE(column.first % (std::int64_t {1} << shift), std::int64_t {0});
            const std::int64_t end = column.first + (std::int64_t {1} << shift) - 1;
            const SeriesStats expected = plainStats(values, column.first, end);
            QVERIFY(same(column.stats, expected));
            const auto newest = std::prev(values.upper_bound(end));
            QCOMPARE(column.lastStep, newest->first);
            QVERIFY(sameValue(column.stats.last, newest->second));
            covered += expected.finite + expected.notFinite;
        }
        const std::int64_t alignedFirst = std::max<std::int64_t>(0, first) >> shift << shift;
        const std::int64_t alignedLast
            = (std::max<std::int64_t>(0, last) >> shift << shift) + (std::int64_t {1} << shift) - 1;
        const SeriesStats all = plainStats(values, alignedFirst, last < 0 ? -1 : alignedLast);
        QCOMPARE(covered, std::int64_t {all.finite} + all.notFinite);

        const auto exact = values.find(a);
        QCOMPARE(series.at(a).has_value(), exact != values.end());
        if (exact != values.end()) {
            QVERIFY(sameValue(*series.at(a), exact->second));
        }
        const auto after = values.lower_bound(a);
        std::int64_t nearest = after == values.end() ? std::prev(after)->first : after->first;
        if (after != values.begin() && after != values.end() && a - std::prev(after)->first <= after->first - a) {
            nearest = std::prev(after)->first;
        }
        QCOMPARE(series.nearest(a)->step, nearest);
        auto finite = values.upper_bound(a);
        while (finite != values.begin() && !std::isfinite(std::prev(finite)->second)) {
            --finite;
        }
        const bool any = finite != values.begin();
        QCOMPARE(series.lastFinite(a).has_value(), any);
        if (any) {
            QCOMPARE(series.lastFinite(a)->step, std::prev(finite)->first);
        }
        const auto back = static_cast<std::ptrdiff_t>(random() % 9000);
        const auto ahead = std::distance(values.begin(), after);
        QCOMPARE(series.stepBefore(a, static_cast<std::uint64_t>(back)),
            back > ahead                             ? values.begin()->first
                : after == values.end() && back == 0 ? series.stepBefore(a, 0)
                                                     : std::prev(after, back)->first);
    }
}

} // namespace

class TstSeriesPyramid : public QObject
{
    Q_OBJECT

private slots:

    void agreesWithBruteForce_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<double>("gapShare");
        QTest::addColumn<qint64>("gapUpTo");
        QTest::addColumn<double>("nonFiniteShare");
        QTest::addColumn<double>("repeatShare");
        QTest::newRow("consecutive") << 30000 << 0.0 << qint64 {1} << 0.0 << 0.0;
        QTest::newRow("not finite") << 30000 << 0.0 << qint64 {1} << 0.2 << 0.0;
        QTest::newRow("single gaps") << 30000 << 0.05 << qint64 {1} << 0.01 << 0.0;
        QTest::newRow("wide gaps") << 5000 << 0.01 << qint64 {100000} << 0.01 << 0.0;
        QTest::newRow("every fiftieth") << 3000 << 1.0 << qint64 {98} << 0.01 << 0.0;
        QTest::newRow("constant stretches") << 60000 << 0.0 << qint64 {1} << 0.05 << 0.001;
        QTest::newRow("constant with gaps") << 60000 << 0.002 << qint64 {9000} << 0.05 << 0.001;
        QTest::newRow("one value") << 1 << 0.0 << qint64 {1} << 0.0 << 0.0;
    }

    void agreesWithBruteForce()
    {
        QFETCH(int, count);
        QFETCH(double, gapShare);
        QFETCH(qint64, gapUpTo);
        QFETCH(double, nonFiniteShare);
        QFETCH(double, repeatShare);
        std::mt19937 random(7);
        const Plain values = randomSeries(random, count, {gapShare, gapUpTo, nonFiniteShare, repeatShare});
        compareWithPlain(pyramidOf(values), values, random, 60);
    }

    void truncatingEqualsNeverHavingAppended()
    {
        std::mt19937 random(11);
        for (int round = 0; round < 12; ++round) {
            Plain values = randomSeries(random, 9000, {0.01, 3000, 0.1, 0.002});
            SeriesPyramid series = pyramidOf(values);
            const std::int64_t cut
                = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(values.rbegin()->first));
            values.erase(values.lower_bound(cut), values.end());
            series.truncate(cut);
            const std::int64_t next = values.empty() ? 0 : values.rbegin()->first + 1;
            for (int i = 0; i < 500; ++i) {
                const double value = i % 7 == 0 ? infinity : i;
                values[next + i] = value;
                QVERIFY(series.append(next + i, value));
            }
            compareWithPlain(series, values, random, 20);
            const SeriesPyramid fresh = pyramidOf(values);
            QCOMPARE(series.nonFiniteRuns().size(), fresh.nonFiniteRuns().size());
            for (std::size_t i = 0; i < fresh.nonFiniteRuns().size(); ++i) {
                QCOMPARE(series.nonFiniteRuns()[i].first, fresh.nonFiniteRuns()[i].first);
                QCOMPARE(series.nonFiniteRuns()[i].last, fresh.nonFiniteRuns()[i].last);
                QVERIFY(sameValue(series.nonFiniteRuns()[i].value, fresh.nonFiniteRuns()[i].value));
                QVERIFY(sameValue(series.nonFiniteRuns()[i].heightBefore, fresh.nonFiniteRuns()[i].heightBefore));
            }
        }
        SeriesPyramid series = pyramidOf({{1, 1}, {2, 2}});
        series.truncate(0);
        QVERIFY(series.empty());
        QCOMPARE(series.count(), std::uint64_t {0});
        QVERIFY(series.append(0, 5));
    }

    void refusesStepsThatDoNotAdvance()
    {
        SeriesPyramid series;
        QVERIFY(!series.append(-1, 0));
        QVERIFY(series.append(5, 1));
        QVERIFY(!series.append(5, 2));
        QVERIFY(!series.append(4, 2));
        QVERIFY(!series.append(std::numeric_limits<std::int64_t>::max(), 2));
        QCOMPARE(series.count(), std::uint64_t {1});
        QCOMPARE(*series.at(5), 1.0);
    }

    void blocksCoverEveryValueOnce()
    {
        std::mt19937 random(13);
        for (const Shape& shape : {Shape {0, 1, 0.1, 0}, Shape {0.02, 9000, 0.1, 0.001}}) {
            const Plain values = randomSeries(random, 40000, shape);
            const SeriesPyramid series = pyramidOf(values);
            for (const int shift : SeriesPyramid::blockShifts) {
                std::int64_t previous = -1;
                series.forEachBlock(0, values.rbegin()->first, shift, [&](std::int64_t step, float mean) {
                    QVERIFY(sameValue(mean, static_cast<float>(plainStats(values, previous + 1, step).mean())));
                    previous = step;
                });
                QCOMPARE(previous, values.rbegin()->first);
            }
        }
    }

    void notFiniteStretchesRememberTheHeightBefore()
    {
        SeriesPyramid series;
        const double values[] = {notANumber, 3, infinity, infinity, -infinity, 2, notANumber};
        for (int i = 0; i < 7; ++i) {
            series.append(i, values[i]);
        }
        const auto& runs = series.nonFiniteRuns();
        QCOMPARE(runs.size(), std::size_t {4});
        QVERIFY(std::isnan(runs[0].heightBefore));
        QCOMPARE(runs[1].first, std::int64_t {2});
        QCOMPARE(runs[1].last, std::int64_t {3});
        QCOMPARE(runs[1].heightBefore, 3.0);
        QCOMPARE(runs[2].value, -infinity);
        QCOMPARE(runs[2].heightBefore, 3.0);
        QCOMPARE(runs[3].heightBefore, 2.0);
    }

    void memoryIsBoundedWhateverTheSteps()
    {
        SeriesPyramid dense;
        SeriesPyramid sparse;
        SeriesPyramid constant;
        SeriesPyramid diverged;
        for (int i = 0; i < 1'000'000; ++i) {
            dense.append(i, std::sin(i));
            constant.append(i, 65536);
            diverged.append(i, i < 1000 ? i : notANumber);
        }
        for (int i = 0; i < 10'000; ++i) {
            sparse.append(std::int64_t {i} * 1'000'000'000, i % 2);
        }
        QVERIFY(dense.bytes() < 14'000'000);
        QVERIFY(constant.bytes() < 100'000);
        QVERIFY(diverged.bytes() < 200'000);
        QVERIFY(sparse.bytes() < 5'000'000);
        std::vector<SeriesColumn> columns;
        sparse.columns(0, std::int64_t {1} << 50, 34, columns);
        QVERIFY(columns.size() <= 600);
    }

    void smoothingFollowsItsFormula()
    {
        // s_n = sum_i w^(n-i) x_i / sum_i w^(n-i), the same as the debiased recursion, computed the long way.
        SeriesPyramid series;
        std::mt19937 random(3);
        std::normal_distribution<double> normal(2, 1);
        std::vector<double> values;
        for (int i = 0; i < 3000; ++i) {
            values.push_back(normal(random));
            series.append(i, values.back());
        }
        for (const double weight : {0.3, 0.6, 0.9, 0.99, 0.999}) {
            for (const int at : {0, 1, 7, 500, 2999}) {
                double sum = 0;
                double norm = 0;
                for (int i = 0; i <= at; ++i) {
                    sum += std::pow(weight, at - i) * values[static_cast<std::size_t>(i)];
                    norm += std::pow(weight, at - i);
                }
                QVERIFY(std::abs(smoothedAt(series, at, weight) - sum / norm) < 1e-9);
            }
        }
    }

    void smoothingPassesNonFiniteThroughAndLeavesConstantsAlone()
    {
        DebiasedAverage average(0.9);
        QCOMPARE(average.add(4), 4.0);
        QVERIFY(std::isnan(average.add(notANumber)));
        QCOMPARE(average.add(infinity), infinity);
        QCOMPARE(average.add(4), 4.0);
        for (int i = 0; i < 100; ++i) {
            QVERIFY(std::abs(average.add(4) - 4) < 1e-14);
        }
    }

    void smoothedColumnsAgreeWithSmoothingEveryStep()
    {
        SeriesPyramid series;
        std::mt19937 random(5);
        std::normal_distribution<double> normal(0, 1);
        std::vector<double> every;
        for (const double weight : {0.6, 0.85, 0.97, 0.999}) {
            series.clear();
            every.clear();
            DebiasedAverage average(weight);
            for (int i = 0; i < 200'000; ++i) {
                const double value = 2 + std::exp(-i / 30000.0) + 0.1 * normal(random);
                series.append(i, value);
                every.push_back(average.add(value));
            }
            for (const int shift : {0, 1, 4, 8}) {
                std::vector<SeriesColumn> columns;
                series.columns(1000, 150'000, shift, columns);
                std::vector<SeriesSample> smoothed;
                smoothedColumns(series, columns, shift, weight, smoothed);
                QVERIFY(smoothed.size() >= static_cast<std::size_t>(149'000 >> shift));
                for (const SeriesSample& sample : smoothed) {
                    // Columns: what lies beyond the memory weighs 1e-3. Wide ones: within the noise that the average
                    // leaves, 0.1 sqrt((1 - w) / (1 + w)).
                    const double noise = 0.1 * std::sqrt((1 - weight) / (1 + weight));
                    const double allowed = shift == 0 ? 1e-9 : shift <= 4 ? 1e-3 : noise;
                    QVERIFY(std::abs(sample.value - every[static_cast<std::size_t>(sample.step)]) < allowed);
                }
            }
        }
    }
};

QTEST_APPLESS_MAIN(TstSeriesPyramid)
#include "tst_series_pyramid.moc"
