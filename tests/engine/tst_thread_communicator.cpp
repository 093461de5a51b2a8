// Threads that exchange numbers: sums against a plain one in each format, everything else byte for byte, and nobody who
// waits for a rank that is gone.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/formats/round_value.h"
#include "engine/parallel/rank_order_sum.h"
#include "engine/parallel/rank_totals.h"
#include "engine/parallel/thread_communicator.h"

#include <QtTest>

#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

using namespace mantissa;

namespace {

using Values = std::vector<float>;

/// Calls task(communicator) on a thread for each rank.
void onRanks(int ranks, const std::function<void(ThreadCommunicator&)>& task)
{
    const auto ends = ThreadCommunicator::group(ranks);
    std::vector<std::jthread> threads;
    for (const auto& end : ends) {
        threads.emplace_back([&task, end] { task(*end); });
    }
}

/// Of all magnitudes, with infinities, NaN, zeros and subnormals of every format among them.
Values someValues(std::size_t count, std::uint64_t seed)
{
    const Philox random(seed, 7);
    Values values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto words = random(i);
        switch (words[1] % 16) {
        case 0:
            values[i] = std::bit_cast<float>(words[0]); // any bits
            break;
        case 1:
            values[i] = std::ldexp(static_cast<float>(words[0] % 1000) - 500, -28); // subnormal in FP16
            break;
        case 2:
            values[i] = words[0] % 2 == 0 ? 65504.0F : -65520.0F;
            break;
        case 3:
            values[i] = words[0] % 7 == 0 ? std::numeric_limits<float>::infinity() : -0.0F;
            break;
        case 4:
            values[i] = std::numeric_limits<float>::denorm_min() * static_cast<float>(words[0] % 1000);
            break;
        default:
            values[i] = std::ldexp(static_cast<float>(words[0]) - 0x1p31F, static_cast<int>(words[2] % 40) - 50);
        }
    }
    return values;
}

bool sameBits(float a, float b)
{
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

} // namespace

class TestThreadCommunicator : public QObject
{
    Q_OBJECT

private slots:

    void sumsInRankOrder_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<DType>("format");
        for (const int ranks : {1, 2, 3, 4, 8}) {
            for (const DType format : {DType::Float32, DType::Float16, DType::BFloat16}) {
                QTest::addRow("%d ranks, %s", ranks, std::string(nameOf(format)).c_str()) << ranks << format;
            }
        }
    }

    void sumsInRankOrder()
    {
        QFETCH(int, ranks);
        QFETCH(DType, format);
        for (const std::size_t count : {std::size_t {1}, std::size_t {5}, std::size_t {1024}, std::size_t {5003}}) {
            std::vector<Values> parts;
            for (int rank = 0; rank < ranks; ++rank) {
                parts.push_back(someValues(count, static_cast<std::uint64_t>(rank) + count));
            }
            // Double holds every sum of two such numbers to more bits than the format asks for.
            Values expected(count);
            for (std::size_t i = 0; i < count; ++i) {
                const auto round = [format](double x) {
                    return format == DType::Float32 ? static_cast<float>(x) : static_cast<float>(roundValue(format, x));
                };
                float sum = round(double {parts[0][i]});
                for (std::size_t rank = 1; rank < parts.size(); ++rank) {
                    sum = round(double {sum} + double {round(double {parts[rank][i]})});
                }
                expected[i] = sum;
            }
            onRanks(ranks, [&](ThreadCommunicator& own) {
                own.allReduceSum(parts[static_cast<std::size_t>(own.rank())], format);
            });
            for (const Values& sums : parts) {
                for (std::size_t i = 0; i < count; ++i) {
                    QVERIFY2(sameBits(sums[i], expected[i]),
                        qPrintable(QString("element %1: %2, not %3").arg(i).arg(sums[i]).arg(expected[i])));
                }
            }
        }
    }

    /// R40 of the field reports: what the order of division and sum does to large and to small gradients.
    void divisionBeforeAndAfter()
    {
        constexpr int ranks = 8;
        const auto meanOf = [](float value, bool before) {
            float mean = 0;
            onRanks(ranks, [&](ThreadCommunicator& own) {
                float part = before ? value / ranks : value;
                own.allReduceSum(std::span(&part, 1), DType::Float16);
                if (own.rank() == 3) {
                    mean = before ? part : part / ranks;
                }
            });
            return mean;
        };
        QVERIFY(std::isinf(meanOf(10000, false)));
        QVERIFY(std::abs(meanOf(10000, true) - 10000) <= 8); // partial sums round to multiples of up to 8
        QCOMPARE(meanOf(0x1p-22F, false), 0x1p-22F);
        QCOMPARE(meanOf(0x1p-22F, true), 0.0F);
    }

    void refusesOtherFormats()
    {
        float value = 1;
        QVERIFY_EXCEPTION_THROWN(roundToFormat(std::span(&value, 1), DType::Float64), Error);
    }

    void gathersAndBroadcasts()
    {
        onRanks(4, [](ThreadCommunicator& own) {
            for (int round = 0; round < 200; ++round) {
                const std::vector<double> mine {own.rank() + 0.5, round + 0.25, std::nan("")};
                std::vector<double> all(12);
                own.allGather(mine, all);
                for (std::size_t rank = 0; rank < 4; ++rank) {
                    QCOMPARE(all[3 * rank], static_cast<double>(rank) + 0.5);
                    QCOMPARE(all[3 * rank + 1], round + 0.25);
                    QVERIFY(std::isnan(all[3 * rank + 2]));
                }
                std::vector<std::byte> bytes(7, static_cast<std::byte>(own.rank() * 50 + round));
                own.broadcast(bytes, round % 4);
                QCOMPARE(bytes, std::vector<std::byte>(7, static_cast<std::byte>(round % 4 * 50 + round)));
                RankTotals totals(&own, 2);
                totals.own()[0] = own.rank();
                totals.own()[1] = 0.125;
                totals.exchange();
                QCOMPARE(totals.own()[0], 6.0);
                QCOMPARE(totals.own()[1], 0.5);
            }
        });
        RankTotals alone(nullptr, 1);
        alone.own()[0] = 3;
        alone.exchange();
        QCOMPARE(alone.own()[0], 3.0);
    }

    /// Whoever comes late, the sums are the same.
    void timingChangesNothing()
    {
        std::vector<Values> results;
        for (int delayed = 0; delayed < 3; ++delayed) {
            Values result;
            onRanks(3, [&](ThreadCommunicator& own) {
                for (int round = 0; round < 20; ++round) {
                    if (own.rank() == delayed) {
                        std::this_thread::sleep_for(std::chrono::microseconds(300));
                    }
                    Values values = someValues(2000, static_cast<std::uint64_t>(10 * round + own.rank()));
                    own.allReduceSum(values, DType::Float16);
                    if (own.rank() == 0) {
                        result.insert(result.end(), values.begin(), values.end());
                    }
                }
            });
            results.push_back(std::move(result));
        }
        for (std::size_t i = 0; i < results[0].size(); ++i) {
            QVERIFY(sameBits(results[0][i], results[1][i]) && sameBits(results[0][i], results[2][i]));
        }
    }

    void aRankThatGivesUpEndsTheOthersWait()
    {
        std::vector<std::string> messages(3);
        onRanks(3, [&](ThreadCommunicator& own) {
            if (own.rank() == 1) {
                std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the others wait by then
                own.fail("out of luck");
            }
            float value = 1;
            try {
                own.allReduceSum(std::span(&value, 1), DType::Float32);
            } catch (const Error& error) {
                messages[static_cast<std::size_t>(own.rank())] = error.what();
            }
            try {
                own.broadcast({}, 0);
                messages[static_cast<std::size_t>(own.rank())] = "went on";
            } catch (const Error&) { // every later call throws too
            }
        });
        for (const std::string& message : messages) {
            QCOMPARE(message, std::string("Rank 1 failed: out of luck"));
        }
    }

    void differentLengthsAreAnError()
    {
        int failed = 0;
        std::mutex mutex;
        onRanks(2, [&](ThreadCommunicator& own) {
            Values values(own.rank() == 0 ? 3 : 4);
            try {
                own.allReduceSum(values, DType::Float32);
            } catch (const Error& error) {
                own.fail(error.what());
                const std::lock_guard lock(mutex);
                ++failed;
            }
        });
        QCOMPARE(failed, 2);
    }
};

QTEST_APPLESS_MAIN(TestThreadCommunicator)
#include "tst_thread_communicator.moc"
