// Generated sequence tasks. Literals were computed by an independent Philox in Python.
#include "engine/core/hash.h"
#include "engine/data/dataset.h"

#include <QtTest>

#include <algorithm>
#include <map>
#include <set>

using namespace mantissa;

namespace {

using Tokens = std::vector<std::int32_t>;

DataConfig config(const char* kind)
{
    DataConfig result;
    result.kind = std::string(kind);
    return result;
}

Dataset load(const DataConfig& settings, std::uint64_t seed = 1)
{
    return loadDataset(settings, seed, ".");
}

std::uint64_t hashOf(const Tokens& tokens)
{
    return fnv1a(std::as_bytes(std::span(tokens)));
}

std::span<const std::int32_t> rowOf(const Tokens& tokens, const Dataset& data, std::size_t sample)
{
    const auto width = static_cast<std::size_t>(data.features);
    return std::span(tokens).subspan(sample * width, width);
}

/// What stands before the question.
Tokens wordOf(const Dataset& data, std::size_t sample, std::size_t length)
{
    const auto row = rowOf(data.tokens, data, sample).first(length);
    return {row.begin(), row.end()};
}

bool isBalanced(const Tokens& word)
{
    Tokens open;
    for (const std::int32_t bracket : word) {
        if (bracket % 2 == 0) {
            open.push_back(bracket);
        } else if (!open.empty() && open.back() == bracket - 1) {
            open.pop_back();
        } else {
            return false;
        }
    }
    return open.empty();
}

} // namespace

class TestSequences : public QObject
{
    Q_OBJECT

private slots:

    void theyHaveTheirLiterals_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::addColumn<std::int64_t>("samples");
        QTest::addColumn<std::int64_t>("tokens");
        QTest::addColumn<std::int64_t>("vocabulary");
        QTest::addColumn<std::uint64_t>("tokenHash");
        QTest::addColumn<std::uint64_t>("labelHash");
        const auto row = [](const char* kind, std::int64_t samples, std::int64_t tokens, std::int64_t vocabulary,
                             std::uint64_t tokenHash, std::uint64_t labelHash) {
            QTest::newRow(kind) << QByteArray(kind) << samples << tokens << vocabulary << tokenHash << labelHash;
        };
        row("modular_addition", 97 * 97, 4, 99, 0x3afc7b4fdfcb25d6, 0x709b5e5d72e3f6a);
        row("copy", 2000, 24, 9, 0x7e0c1ec4a45e0b85, 0x8046459b08a4a571);
        row("sort", 2000, 24, 9, 0x31f235fc8a2c27b5, 0x4cf4440742f2010);
        row("brackets", 2000, 13, 9, 0x5fec262ca58cdde3, 0x4cdac5619b27a1a5);
    }

    void theyHaveTheirLiterals()
    {
        QFETCH(const QByteArray, kind);
        QFETCH(const std::int64_t, samples);
        QFETCH(const std::int64_t, tokens);
        QFETCH(const std::int64_t, vocabulary);
        QFETCH(const std::uint64_t, tokenHash);
        QFETCH(const std::uint64_t, labelHash);
        const Dataset data = load(config(kind));
        QCOMPARE(data.samples, samples);
        QCOMPARE(data.sampleShape, (Shape {tokens}));
        QCOMPARE(data.vocabulary, vocabulary);
        QCOMPARE(data.classes, vocabulary); // so that a head may share the embedding
        QCOMPARE(data.classNames.size(), static_cast<std::size_t>(vocabulary));
        QVERIFY(data.labelsTokens);
        QCOMPARE(data.tokens.size(), static_cast<std::size_t>(samples * tokens));
        QCOMPARE(data.labels.size(), data.tokens.size());
        for (std::size_t i = 0; i < data.tokens.size(); ++i) {
            QVERIFY(data.tokens[i] >= 0 && data.tokens[i] < vocabulary);
            QVERIFY(data.labels[i] == ignoredLabel || (data.labels[i] >= 0 && data.labels[i] < vocabulary));
        }
        QCOMPARE(hashOf(data.tokens), tokenHash);
        QCOMPARE(hashOf(data.labels), labelHash);
        QCOMPARE(data.train.size() + data.validation.size(), static_cast<std::size_t>(samples));
        if (kind != "modular_addition") {
            QVERIFY(load(config(kind), 2).tokens != data.tokens);
        }
    }

    void sumsAreAskedOnceAndAreRight()
    {
        DataConfig settings = config("modular_addition");
        settings.modulus = 5;
        const Dataset data = load(settings);
        std::set<std::pair<std::int32_t, std::int32_t>> pairs;
        for (std::size_t i = 0; i < 25; ++i) {
            const auto tokens = rowOf(data.tokens, data, i);
            const auto labels = rowOf(data.labels, data, i);
            QCOMPARE(data.classNames[static_cast<std::size_t>(tokens[1])], std::string("+"));
            QCOMPARE(data.classNames[static_cast<std::size_t>(tokens[3])], std::string("="));
            QCOMPARE(labels[3], (tokens[0] + tokens[2]) % 5);
            QCOMPARE(std::ranges::count(labels, ignoredLabel), 3);
            pairs.emplace(tokens[0], tokens[2]);
        }
        QCOMPARE(pairs.size(), std::size_t {25});
    }

    void wordsAreAskedBack_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::newRow("copy") << QByteArray("copy");
        QTest::newRow("sort") << QByteArray("sort");
    }

    void wordsAreAskedBack()
    {
        QFETCH(const QByteArray, kind);
        DataConfig settings = config(kind);
        settings.length = 5;
        settings.symbols = 30;
        settings.samples = 300;
        const Dataset data = load(settings);
        for (std::size_t i = 0; i < 300; ++i) {
            Tokens word = wordOf(data, i, 5);
            if (kind == "sort") {
                std::ranges::sort(word);
            }
            const auto tokens = rowOf(data.tokens, data, i);
            const auto labels = rowOf(data.labels, data, i);
            QCOMPARE(std::ranges::count(labels.first(5), ignoredLabel), 5);
            QVERIFY(std::ranges::equal(labels.last(5), word));
            QCOMPARE(tokens[5], 30);
            QVERIFY(std::ranges::equal(tokens.last(4), std::span(word).first(4)));
        }
    }

    void halfOfTheBracketsAreBalanced()
    {
        const Dataset data = load(config("brackets"));
        for (std::size_t i = 0; i < 2000; ++i) {
            const std::int32_t answer = rowOf(data.labels, data, i)[12];
            QCOMPARE(rowOf(data.tokens, data, i)[12], 6); // the end mark
            QCOMPARE(data.classNames[static_cast<std::size_t>(answer)], std::string(i % 2 == 0 ? "yes" : "no"));
            QCOMPARE(isBalanced(wordOf(data, i, 12)), i % 2 == 0);
        }
    }

    void balancedWordsAreEquallyLikely()
    {
        // Six brackets nest in five ways; that each has a fifth of the words is judged by chi squared with four degrees
        // of freedom, whose mean is 4 and which exceeds 23.5 once in 10,000.
        DataConfig settings = config("brackets");
        settings.length = 6;
        settings.samples = 20'000;
        const Dataset data = load(settings);
        std::map<Tokens, double> shapes;
        for (std::size_t i = 0; i < 20'000; i += 2) {
            Tokens shape = wordOf(data, i, 6);
            std::ranges::transform(shape, shape.begin(), [](std::int32_t bracket) { return bracket % 2; });
            ++shapes[shape];
        }
        QCOMPARE(shapes.size(), std::size_t {5});
        double chiSquared = 0;
        for (const auto& [shape, count] : shapes) {
            chiSquared += (count - 2000) * (count - 2000) / 2000;
        }
        QVERIFY2(chiSquared < 23.5, qPrintable(QString::number(chiSquared)));
    }

    void noWordComesTwiceWhereThereAreEnough_data()
    {
        QTest::addColumn<QByteArray>("kind");
        QTest::addColumn<std::int64_t>("length");
        QTest::addColumn<std::int64_t>("samples");
        QTest::addColumn<bool>("distinct");
        // 2^6 words; 27 * 5 balanced words of six brackets.
        QTest::newRow("copy, enough") << QByteArray("copy") << std::int64_t {6} << std::int64_t {32} << true;
        QTest::newRow("copy, too few") << QByteArray("copy") << std::int64_t {6} << std::int64_t {1000} << false;
        QTest::newRow("brackets, enough") << QByteArray("brackets") << std::int64_t {6} << std::int64_t {66} << true;
        QTest::newRow("brackets, too few")
            << QByteArray("brackets") << std::int64_t {6} << std::int64_t {3000} << false;
        QTest::newRow("long") << QByteArray("sort") << std::int64_t {200} << std::int64_t {500} << true;
    }

    void noWordComesTwiceWhereThereAreEnough()
    {
        QFETCH(const QByteArray, kind);
        QFETCH(const std::int64_t, length);
        QFETCH(const std::int64_t, samples);
        QFETCH(const bool, distinct);
        DataConfig settings = config(kind);
        settings.symbols = 2;
        settings.length = length;
        settings.samples = samples;
        const Dataset data = load(settings);
        std::set<Tokens> words;
        for (std::size_t i = 0; i < static_cast<std::size_t>(samples); ++i) {
            words.insert(wordOf(data, i, static_cast<std::size_t>(length)));
        }
        QCOMPARE(words.size() == static_cast<std::size_t>(samples), distinct);
    }
};

QTEST_APPLESS_MAIN(TestSequences)
#include "tst_sequences.moc"
