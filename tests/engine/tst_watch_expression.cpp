// Conditions of watchpoints: what they mean, what is refused and where, and that no text whatsoever breaks the reader.
#include "engine/train/watch_expression.h"
#include "tests/support/allocation_count.h"

#include <QtTest>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

using namespace mantissa;

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

StepRecord stepWith(double loss, double scale = 1, bool skipped = false)
{
    StepRecord record;
    record.loss = loss;
    record.lossFinite = std::isfinite(loss);
    record.scale = scale;
    record.skipped = skipped;
    record.flushed = 0.05;
    return record;
}

LayerShares noShares(std::string_view)
{
    return {};
}

/// Whether the condition holds behind the last of the steps.
bool holds(const std::string& text, const std::vector<StepRecord>& steps)
{
    WatchExpression expression(text);
    bool isTrue = false;
    for (const StepRecord& step : steps) {
        isTrue = expression.next(step, noShares);
    }
    return isTrue;
}

/// A condition in its grammar, and its value worked out beside it.
struct Sample
{
    std::string text;
    bool isTrue;
};

class Writer
{
public:
    explicit Writer(std::uint32_t seed)
        : m_random(seed)
    {
    }

    Sample condition(int depth)
    {
        const int choice = depth == 0 ? 0 : pick(4);
        if (choice < 2) {
            return comparison();
        }
        const Sample left = choice == 2 ? conjunct(depth - 1) : condition(depth - 1);
        const Sample right = choice == 2 ? conjunct(depth - 1) : condition(depth - 1);
        return choice == 2
            ? Sample {fmt::format("{}{} and {}", left.text, space(), right.text), left.isTrue && right.isTrue}
            : Sample {fmt::format("{} or{} {}", left.text, space(), right.text), left.isTrue || right.isTrue};
    }

    int pick(int choices) { return std::uniform_int_distribution<int>(0, choices - 1)(m_random); }

private:
    /// What may stand beside "and": an "or" needs its parentheses.
    Sample conjunct(int depth)
    {
        if (pick(2) == 0) {
            return comparison();
        }
        const Sample inner = condition(depth);
        return {fmt::format("({}{}{})", space(), inner.text, space()), inner.isTrue};
    }

    Sample comparison()
    {
        static const std::vector<std::string> symbols {"<", "<=", ">", ">=", "==", "!="};
        const int symbol = pick(6);
        const auto [leftText, left] = number();
        const auto [rightText, right] = number();
        const bool isTrue = symbol == 0 ? left < right
            : symbol == 1               ? left <= right
            : symbol == 2               ? left > right
            : symbol == 3               ? left >= right
            : symbol == 4               ? left == right
                                        : left < right || left > right;
        return {
            fmt::format("{}{}{}{}{}", leftText, space(), symbols[static_cast<std::size_t>(symbol)], space(), rightText),
            isTrue};
    }

    std::pair<std::string, double> number()
    {
        switch (pick(7)) {
        case 0:
            return {"loss", 2};
        case 1:
            return {"scale", 4};
        case 2:
            return {"skips( 3 )", 1};
        case 3:
            return {"flushed", 0.05};
        case 4:
            return {"validation_loss", notANumber};
        case 5:
            return {fmt::format("5{}%", space()), 0.05};
        default: {
            const int value = pick(9) - 4;
            return {std::to_string(value), value};
        }
        }
    }

    std::string space() { return std::string(static_cast<std::size_t>(pick(3)), ' '); }

    std::mt19937 m_random;
};

} // namespace

class TestWatchExpression : public QObject
{
    Q_OBJECT

private slots:

    void says_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("isTrue");
        const auto row = [](const char* text, bool isTrue) { QTest::newRow(text) << text << isTrue; };
        // Behind steps with losses 1, 2, 3, NaN, 4 at scales 8, 4, 2, 1, 0.5; steps 2 and 4 were skipped.
        row("loss > 3", true);
        row("loss>4", false);
        row("  4 <= loss  ", true);
        row("loss != 4", false);
        row("loss_finite == 1", true);
        row("scale < 1", true);
        row("scale < 50 %", false);
        row("scale == 50%", true);
        row("skips(50) > 1", true);
        row("skips(50) == 3", true);
        row("skips(2) == 2", true);
        row("skips(1) == 1", true);
        row("mean(loss, 5) == 2.5", true); // NaN left out
        row("mean(loss, 100) == 2.5", true);
        row("mean(loss, 2) == 4", true);
        row("max(scale, 3) == 2", true);
        row("min(loss, 3) == 3", true);
        row("loss > 3 and scale > 1", false);
        row("loss > 3 or scale > 1", true);
        row("scale > 1 and scale > 1 or loss > 3", true); // "and" binds closer
        row("scale > 1 and (scale > 1 or loss > 3)", false);
        row("validation_loss < 1", false); // NaN: neither
        row("validation_loss >= 1", false);
        row("validation_loss != 1", false);
        row("loss > -1e-3", true);
        row("loss > .5", true);
    }

    void says()
    {
        QFETCH(QString, text);
        QFETCH(bool, isTrue);
        const std::vector<StepRecord> steps {stepWith(1, 8), stepWith(2, 4), stepWith(3, 2, true),
            stepWith(notANumber, 1, true), stepWith(4, 0.5, true)};
        QCOMPARE(holds(text.toStdString(), steps), isTrue);
    }

    void layersAreLookedUp()
    {
        WatchExpression expression("flushed(\"fc2\") > 3 % and overflowed('fc1') == 0");
        QCOMPARE(expression.layers().size(), std::size_t {2});
        QCOMPARE(expression.layers()[0].name, std::string("fc2"));
        QCOMPARE(expression.layers()[0].column, std::size_t {10});
        const auto shares = [](double flushed) {
            return [flushed](std::string_view layer) {
                return layer == "fc2" ? LayerShares {.flushed = flushed, .overflowed = 1} : LayerShares {.flushed = 1};
            };
        };
        QVERIFY(!expression.next(stepWith(1), shares(0.03)));
        QVERIFY(expression.next(stepWith(1), shares(0.031)));
        const auto values = expression.values();
        QCOMPARE(values.size(), std::size_t {2});
        QCOMPARE(values[0].text, std::string("flushed(\"fc2\")"));
        QCOMPARE(values[0].value, 0.031);
    }

    void valuesAreNamedOnce()
    {
        WatchExpression expression("loss > 1 and loss < mean(loss,  3)");
        static_cast<void>(expression.next(stepWith(5), noShares));
        const auto values = expression.values();
        QCOMPARE(values.size(), std::size_t {2});
        QCOMPARE(values[0].text, std::string("loss"));
        QCOMPARE(values[1].text, std::string("mean(loss,  3)"));
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("column");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* text, int column, const char* words) {
            QTest::newRow(qPrintable(QString::fromUtf8(text) + words)) << text << column << words;
        };
        row("", 1, "a number is missing");
        row("   ", 4, "a number is missing");
        row("los > 1", 1, "did you mean \"loss\"");
        row("scale < 1 and grad_nrm > 2", 15, "did you mean \"grad_norm\"");
        row("loss", 5, "compare with <");
        row("loss = 1", 6, "compare with \"==\"");
        row("loss >", 7, "a number is missing");
        row("loss > 1 loss", 10, "\"loss\" was not expected");
        row("loss > 1 )", 10, "\")\" was not expected");
        row("(loss > 1", 10, "\")\" belongs at the end");
        row("loss > 1 and", 13, "a number is missing");
        row("and loss > 1", 1, "missing before \"and\"");
        row("skips > 5", 1, "skips(50)");
        row("skips(0) > 5", 7, "from 1 to 10000");
        row("skips(10001) > 5", 7, "from 1 to 10000");
        row("skips(99999999999999999999) > 5", 7, "from 1 to 10000");
        row("skips(5 > 5", 9, "\")\" belongs");
        row("mean(loss) > 5", 10, "\",\" belongs between");
        row("mean(5) > 5", 6, "\"5\" is no metric");
        row("mean() > 5", 6, "needs a metric first");
        row("mean(lss, 5) > 5", 6, "did you mean \"loss\"");
        row("scale(5) > 1", 1, "takes nothing in parentheses");
        row("flushed(fc2) > 3 %", 9, "in quotes");
        row("flushed(\"fc2) > 3 %", 9, "not closed");
        row("flushed(\"\") > 3 %", 9, "empty");
        row("loss > 1e999", 8, "not a figure");
        row("loss > -", 8, "not a figure");
        row("loss > 5x", 9, "cannot follow a figure");
        row("loss > 1 \xC3\xA4 2", 10, "\"\xC3\xA4\" was not expected");
    }

    void refuses()
    {
        QFETCH(QString, text);
        QFETCH(int, column);
        QFETCH(QString, words);
        try {
            WatchExpression expression(text.toStdString());
            QFAIL("it was taken");
        } catch (const WatchSyntaxError& error) {
            QVERIFY2(QString::fromUtf8(error.what()).contains(words), error.what());
            QCOMPARE(static_cast<int>(error.column()), column);
            QVERIFY2(QString::fromUtf8(error.what()).startsWith(QString("column %1: ").arg(column)), error.what());
        }
    }

    void longAndDeepTextsAreRefused()
    {
        QVERIFY_EXCEPTION_THROWN(WatchExpression(std::string(10'000, '(')), WatchSyntaxError);
        QVERIFY_EXCEPTION_THROWN(
            WatchExpression(std::string(60, '(') + "loss > 1" + std::string(60, ')')), WatchSyntaxError);
        WatchExpression(std::string(50, '(') + "loss > 1" + std::string(50, ')'));
    }

    /// Conditions of the grammar have the value that was worked out as they were written.
    void randomConditionsMeanWhatTheySay()
    {
        int trueOnes = 0;
        for (std::uint32_t seed = 0; seed < 5000; ++seed) {
            Writer writer(seed);
            const Sample sample = writer.condition(4);
            if (sample.text.size() > 1000) {
                continue;
            }
            const bool isTrue = holds(sample.text, {stepWith(1, 1, true), stepWith(2, 4)});
            QVERIFY2(isTrue == sample.isTrue, sample.text.c_str());
            trueOnes += isTrue ? 1 : 0;
        }
        QVERIFY(trueOnes > 1000 && trueOnes < 4000);
    }

    /// Damaged conditions and noise are read or refused at a place within the text; nothing else happens.
    void randomTextsAreReadOrRefused()
    {
        const std::string bytes = "lossca()<>=!%\"', 0123456789.-+eandorskip_flushed\t\n\xC3\xA4\x01";
        int refused = 0;
        for (std::uint32_t seed = 0; seed < 20000; ++seed) {
            Writer writer(seed);
            std::string text = seed % 2 == 0 ? writer.condition(3).text : std::string();
            for (int edits = 1 + writer.pick(6); edits > 0; --edits) {
                const auto at = static_cast<std::size_t>(writer.pick(static_cast<int>(text.size()) + 1));
                const char byte = bytes[static_cast<std::size_t>(writer.pick(static_cast<int>(bytes.size())))];
                if (writer.pick(3) == 0 && at < text.size()) {
                    text.erase(at, 1);
                } else if (writer.pick(2) == 0 && at < text.size()) {
                    text[at] = byte;
                } else {
                    text.insert(at, 1, byte);
                }
            }
            try {
                WatchExpression expression(text);
                static_cast<void>(expression.next(stepWith(1), noShares));
            } catch (const WatchSyntaxError& error) {
                QVERIFY(error.column() >= 1 && error.column() <= text.size() + 1);
                ++refused;
            }
        }
        QVERIFY(refused > 10000);
    }

    void looksWithoutAllocating()
    {
        WatchExpression original(
            "skips(50) > 5 or (mean(loss, 20) > 3 and max(loss, 10) < 2) or flushed(\"fc1\") > 3 %");
        WatchExpression expression = original;
        const LayerSharesOf shares = noShares;
        const std::uint64_t before = test::allocationCount();
        for (int i = 0; i < 100; ++i) {
            static_cast<void>(expression.next(stepWith(1), shares));
        }
        QCOMPARE(test::allocationCount() - before, std::uint64_t {0});
    }

    void everyMetricCanBeNamed()
    {
        for (const WatchMetric& metric : watchMetrics()) {
            QVERIFY(!metric.help.empty());
            QVERIFY(!holds(std::string(metric.name) + " > 1e300", {stepWith(1)}));
            QVERIFY(!holds("mean(" + std::string(metric.name) + ", 3) > 1e300", {stepWith(1)}));
        }
    }
};

QTEST_APPLESS_MAIN(TestWatchExpression)
#include "tst_watch_expression.moc"
