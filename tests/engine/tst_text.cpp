// Texts as sequences of characters: what is read, how it is cut into samples, what is refused.
#include "data_files.h"
#include "engine/core/philox.h"
#include "engine/core/utf8.h"

#include <algorithm>
#include <set>

using namespace mantissa;
using namespace mantissa::test;

namespace {

std::vector<std::int32_t> tokensOf(const Dataset& data, std::uint32_t sample)
{
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(data.features));
    gatherTokens(data, std::vector {sample}, tokens);
    return tokens;
}

std::vector<std::int32_t> labelsOf(const Dataset& data, std::uint32_t sample)
{
    std::vector<std::int32_t> labels(static_cast<std::size_t>(data.features));
    gatherLabels(data, std::vector {sample}, labels);
    return labels;
}

} // namespace

class TestText : public QObject
{
    Q_OBJECT

    DataFolder m_folder;

    [[nodiscard]] DataConfig settings(std::int64_t context, std::int64_t stride, double validationShare) const
    {
        DataConfig result = m_folder.settings("text", "t.txt");
        result.context = context;
        result.stride = stride;
        result.validationShare = validationShare;
        return result;
    }

private slots:

    void utf8IsThatOfTheStandard_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<quint32>("value"); ///< 0xFFFFFFFF: invalid
        constexpr quint32 invalid = 0xFFFFFFFF;
        const auto row = [](const char* name, QByteArray bytes, quint32 value) {
            QTest::newRow(name) << std::move(bytes) << value;
        };
        row("zero", QByteArray(1, '\0'), 0);
        row("last of one byte", "\x7F", 0x7F);
        row("first of two", "\xC2\x80", 0x80);
        row("last of two", "\xDF\xBF", 0x7FF);
        row("first of three", "\xE0\xA0\x80", 0x800);
        row("before the surrogates", "\xED\x9F\xBF", 0xD7FF);
        row("behind the surrogates", "\xEE\x80\x80", 0xE000);
        row("last of three", "\xEF\xBF\xBF", 0xFFFF);
        row("first of four", "\xF0\x90\x80\x80", 0x10000);
        row("the last", "\xF4\x8F\xBF\xBF", 0x10FFFF);
        row("beyond the last", "\xF4\x90\x80\x80", invalid);
        row("five bytes", "\xF8\x88\x80\x80\x80", invalid);
        row("a surrogate", "\xED\xA0\x80", invalid);
        row("the last surrogate", "\xED\xBF\xBF", invalid);
        row("overlong zero", "\xC0\x80", invalid);
        row("overlong of two", "\xC1\xBF", invalid);
        row("overlong of three", "\xE0\x9F\xBF", invalid);
        row("overlong of four", "\xF0\x8F\xBF\xBF", invalid);
        row("a continuation", "\x80", invalid);
        row("cut off", "\xE2\x82", invalid);
        row("interrupted", "\xE2\x41\x82", invalid);
        row("nothing", "", invalid);
    }

    void utf8IsThatOfTheStandard()
    {
        QFETCH(const QByteArray, bytes);
        QFETCH(const quint32, value);
        const std::string text = "ab" + bytes.toStdString();
        const auto point = decodeUtf8(std::string_view(text).substr(2));
        if (value == 0xFFFFFFFF) {
            QVERIFY(!point);
            QCOMPARE(findInvalidUtf8(text), bytes.isEmpty() ? std::nullopt : std::optional<std::size_t>(2));
        } else {
            QVERIFY(point.has_value());
            QCOMPARE(quint32 {point->value}, value);
            QCOMPARE(point->bytes, static_cast<std::size_t>(bytes.size()));
            QCOMPARE(encodeUtf8(point->value), bytes.toStdString());
            QVERIFY(!findInvalidUtf8(text));
        }
    }

    void charactersBecomeTokensInTheirOrder_data()
    {
        QTest::addColumn<bool>("compressed");
        QTest::newRow("plain") << false;
        QTest::newRow("gz") << true;
    }

    void charactersBecomeTokensInTheirOrder()
    {
        QFETCH(const bool, compressed);
        // With a byte order mark, CR LF and characters of one to four bytes.
        const Bytes text = bytesOf("\xEF\xBB\xBF"
                                   "ba\r\n\xC3\xA9 a\xF0\x9F\x98\x80\tb\r\xE3\x80\x80");
        m_folder.write("t.txt", compressed ? gzip(text) : text);
        const Dataset data = loadDataset(settings(3, 0, 0), 1, ".");
        QCOMPARE(data.classNames,
            (std::vector<std::string> {
                "tab", "newline", "U+000D", "space", "a", "b", "\xC3\xA9", "U+3000", "\xF0\x9F\x98\x80"}));
        QCOMPARE(data.vocabulary, std::int64_t {9});
        QCOMPARE(data.classes, std::int64_t {9});
        QCOMPARE(data.samples, std::int64_t {3});
        QCOMPARE(tokensOf(data, 0), (std::vector<std::int32_t> {5, 4, 1}));
        QCOMPARE(labelsOf(data, 0), (std::vector<std::int32_t> {4, 1, 6}));
        QCOMPARE(tokensOf(data, 1), (std::vector<std::int32_t> {6, 3, 4}));
        QCOMPARE(labelsOf(data, 2), (std::vector<std::int32_t> {0, 5, 2}));
        QCOMPARE(data.train, (std::vector<std::uint32_t> {0, 1, 2}));
        QVERIFY(data.validation.empty());
    }

    void theEndIsHeldOut_data()
    {
        QTest::addColumn<int>("length");
        QTest::addColumn<int>("context");
        QTest::addColumn<int>("stride");
        QTest::addColumn<double>("share");
        const auto row = [](int length, int context, int stride, double share) {
            QTest::addRow("%d by %d every %d, %g", length, context, stride, share)
                << length << context << stride << share;
        };
        row(1000, 10, 0, 0.2);
        row(1000, 10, 1, 0.2);
        row(1000, 10, 3, 0.37);
        row(1003, 64, 16, 0.1);
        row(22, 10, 1, 0.2); // hardly enough
        row(24, 10, 12, 0.9);
        row(997, 10, 25, 0.5); // gaps
        row(500, 100, 7, 0.01); // less than one sample
        row(500, 100, 7, 0.9);
    }

    void theEndIsHeldOut()
    {
        QFETCH(const int, length);
        QFETCH(const int, context);
        QFETCH(const int, stride);
        QFETCH(const double, share);
        Bytes text(static_cast<std::size_t>(length));
        for (std::size_t i = 0; i < text.size(); ++i) {
            text[i] = static_cast<unsigned char>('a' + i * i % 23);
        }
        m_folder.write("t.txt", text);
        const Dataset data = loadDataset(settings(context, stride, share), 1, ".");
        const int step = stride == 0 ? context : stride;
        QVERIFY(!data.train.empty() && !data.validation.empty());
        // What training reads and asks ends before validation begins.
        const auto trainedEnd = static_cast<int>(data.train.back()) * step + context + 1;
        const auto heldBegin = static_cast<int>(data.validation.front()) * step;
        QVERIFY(trainedEnd <= heldBegin);
        QVERIFY(static_cast<int>(data.validation.back()) * step + context + 1 <= length);
        if (share * length > context + step && (1 - share) * length > context + step) {
            QVERIFY(std::abs(heldBegin - (1 - share) * length) <= step);
        }
        // Both are contiguous: no sample is lost but those across the border.
        QCOMPARE(data.train.front(), 0U);
        QCOMPARE(data.train.size(), std::size_t {data.train.back()} + 1);
        QCOMPARE(data.validation.size(), std::size_t {data.validation.back() - data.validation.front()} + 1);
        QVERIFY((static_cast<int>(data.train.back()) + 1) * step + context + 1 > heldBegin);
        for (const std::uint32_t sample : {data.train.back(), data.validation.front(), data.validation.back()}) {
            const auto begin = sample * static_cast<std::size_t>(step);
            const auto tokens = tokensOf(data, sample);
            const auto labels = labelsOf(data, sample);
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                QCOMPARE(data.classNames[static_cast<std::size_t>(tokens[i])],
                    std::string(1, static_cast<char>(text[begin + i])));
                QCOMPARE(data.classNames[static_cast<std::size_t>(labels[i])],
                    std::string(1, static_cast<char>(text[begin + i + 1])));
            }
        }
    }

    void anEpochReadsEachCharacterOnce()
    {
        m_folder.write("t.txt", bytesOf(std::string(1000, 'x') + std::string(1000, 'y')));
        const Dataset data = loadDataset(settings(64, 0, 0), 1, ".");
        QCOMPARE(data.samples, std::int64_t {31}); // of 64 characters and the one to follow
        QCOMPARE(data.tokens.size(), std::size_t {1999}); // once, and not once per sample
        QCOMPARE(data.tokenStride, std::int64_t {64});
    }

    void whatIsNoTextIsRefused_data()
    {
        QTest::addColumn<Bytes>("bytes");
        QTest::addColumn<QString>("found");
        const std::string some(40, 'a');
        std::string many;
        for (char32_t character = 0x4E00; character <= 0x4E00 + 4096; ++character) {
            many += encodeUtf8(character);
        }
        QTest::newRow("empty") << Bytes {} << "is empty";
        QTest::newRow("a mark only") << bytesOf("\xEF\xBB\xBF") << "holds 0 characters";
        QTest::newRow("too short") << bytesOf(some.substr(0, 21))
                                   << "holds 21 characters, too few for two samples of "
                                      "data.context = 10";
        QTest::newRow("Latin 1") << bytesOf(some + "\xE9t\xE9" + some) << "is not UTF-8: byte 40 (0xe9) begins no";
        QTest::newRow("UTF-16") << bytesOf("\xFF\xFE" + some) << "is not UTF-8: byte 0 (0xff)";
        QTest::newRow("cut in a character") << bytesOf(some + "\xE2\x82") << "byte 40 (0xe2)";
        QTest::newRow("too many characters") << bytesOf(many) << "has more than 4096 distinct characters";
        Bytes cut = gzip(bytesOf(some));
        cut.resize(12);
        QTest::newRow("gz: cut") << cut << "is cut off";
        QTest::newRow("gz: too long") << repeated(gzip(Bytes(std::size_t {1} << 20U, 'a')), 65)
                                      << "holds more than 64 MiB";
    }

    void whatIsNoTextIsRefused()
    {
        QFETCH(const Bytes, bytes);
        QFETCH(const QString, found);
        m_folder.write("t.txt", bytes);
        const QString message = refusal(settings(10, 1, 0.2));
        QVERIFY2(message.contains("t.txt"), qPrintable(message));
        QVERIFY2(message.contains(found), qPrintable(message));
    }

    void randomBytesNeverCrash()
    {
        const Philox random(1, randomStream(RandomPurpose::Data, "text"));
        int loaded = 0;
        for (std::uint64_t i = 0; i < 3000; ++i) {
            const auto numbers = random(i << 32U);
            Bytes bytes(numbers[0] % 100 + 1);
            for (std::size_t j = 0; j < bytes.size(); ++j) {
                // Half of the files are plain, the others have some bytes above.
                const std::uint32_t bits = random((i << 32U) + j + 1)[0];
                bytes[j] = static_cast<unsigned char>(i % 2 == 0 || bits % 16 != 0 ? bits >> 25U : bits >> 24U);
            }
            m_folder.write("t.txt", bytes);
            const DataConfig config = settings(numbers[1] % 8 + 1, numbers[2] % 9, numbers[3] % 10 / 10.0);
            const QString message = refusal(config);
            QVERIFY(message.isEmpty() || message.contains("t.txt"));
            if (message.isEmpty()) {
                ++loaded;
                const Dataset data = loadDataset(config, 1, ".");
                QVERIFY(!data.train.empty());
                tokensOf(data, static_cast<std::uint32_t>(data.samples - 1));
                labelsOf(data, static_cast<std::uint32_t>(data.samples - 1));
            }
        }
        QVERIFY(loaded > 300);
    }
};

QTEST_APPLESS_MAIN(TestText)
#include "tst_text.moc"
