// Tables: what their cells become, against values computed by hand, and what is refused where.
#include "data_files.h"
#include "engine/core/philox.h"
#include "engine/data/csv_table.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace mantissa;
using namespace mantissa::test;

namespace {

QStringList cellsOf(const CsvTable& table)
{
    QStringList cells;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t column = 0; column < table.columns(); ++column) {
            const std::string_view cell = table.cell(row, column);
            cells << QString::fromUtf8(cell.data(), static_cast<qsizetype>(cell.size()));
        }
    }
    return cells;
}

std::vector<float> inputsOf(const Dataset& data)
{
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(data.samples); ++i) {
        all.push_back(i);
    }
    std::vector<float> inputs(all.size() * static_cast<std::size_t>(data.features));
    gatherInputs(data, all, inputs);
    return inputs;
}

} // namespace

class TestCsv : public QObject
{
    Q_OBJECT

    DataFolder m_folder;

    void write(std::string_view text) const { m_folder.write("t.csv", bytesOf(text)); }

    [[nodiscard]] DataConfig settings() const { return m_folder.settings("csv", "t.csv"); }

    [[nodiscard]] Dataset load(const DataConfig& config) const { return loadDataset(config, 1, "."); }

private slots:

    void cellsAreThoseOfTheStandard_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("columns");
        QTest::addColumn<QStringList>("cells");
        const auto row = [](const char* name, const char* text, int columns, const QStringList& cells) {
            QTest::newRow(name) << QByteArray(text) << columns << cells;
        };
        row("commas", "a,b\n1,2\n", 2, {"a", "b", "1", "2"});
        row("semicolons", "a;b,c\n1;2\n", 2, {"a", "b,c", "1", "2"});
        row("tabs", "a\tb\n1\t\n", 2, {"a", "b", "1", ""});
        row("an empty cell between tabs", "a\tb\tc\n1\t\t3\n", 3, {"a", "b", "c", "1", "", "3"});
        row("decimal commas", "1,5;2,5\n3,5;4,5\n", 2, {"1,5", "2,5", "3,5", "4,5"});
        row("no line break at the end", "a,b\n1,2", 2, {"a", "b", "1", "2"});
        row("CR LF", "a,b\r\n1,2\r\n", 2, {"a", "b", "1", "2"});
        row("CR", "a,b\r1,2\r", 2, {"a", "b", "1", "2"});
        row("empty lines", "\na,b\n\n\n1,2\n\n", 2, {"a", "b", "1", "2"});
        row("a byte order mark", "\xEF\xBB\xBF\"a\",b\n1,2\n", 2, {"a", "b", "1", "2"});
        row("quotation marks", "\"a,x\",\"b\"\"c\"\n\"1\n2\",\"\"\n", 2, {"a,x", "b\"c", "1\n2", ""});
        row("delimiters in quotation marks", "a;b\n\"1,2,3,4\";2\n", 2, {"a", "b", "1,2,3,4", "2"});
        row("blanks", " a , b c \n\" 1 \",2\n", 2, {"a", "b c", " 1 ", "2"});
        row("letters of several bytes", "\xC3\xA4,\xE2\x82\xAC\n1,2\n", 2, {"ä", "€", "1", "2"});
        row("more commas than semicolons in places", "a;b\n1;x,y,z\n2;y\n", 2, {"a", "b", "1", "x,y,z", "2", "y"});
    }

    void cellsAreThoseOfTheStandard()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const int, columns);
        QFETCH(const QStringList, cells);
        const Bytes bytes(text.begin(), text.end());
        const CsvTable table = readCsv(*openMemory(bytes, "t"));
        QCOMPARE(table.columns(), static_cast<std::size_t>(columns));
        QCOMPARE(cellsOf(table), cells);
    }

    void cellsAcrossChunksAreWhole()
    {
        std::string text = "a,b\n";
        QStringList expected {"a", "b"};
        for (int i = 0; i < 40'000; ++i) {
            const std::string number = std::to_string(i * 7);
            text += number + ",\"x";
            text += number + "\"\n";
            expected << QString::fromStdString(number) << "x" + QString::fromStdString(number);
        }
        const Bytes bytes = bytesOf(text);
        const CsvTable table = readCsv(*openMemory(bytes, "t"));
        QCOMPARE(cellsOf(table), expected);
        QCOMPARE(table.line(40'000), 40'001U);
    }

    void linesAreThoseOfTheFile_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("LF") << QByteArray("a,b\n\n\"x\ny\",1\nz,2\n");
        QTest::newRow("CR LF") << QByteArray("a,b\r\n\r\n\"x\r\ny\",1\r\nz,2\r\n");
    }

    void linesAreThoseOfTheFile()
    {
        QFETCH(const QByteArray, text);
        const Bytes bytes(text.begin(), text.end());
        const CsvTable table = readCsv(*openMemory(bytes, "t"));
        QCOMPARE(table.rows(), std::size_t {3});
        QCOMPARE(table.line(0), 1U);
        QCOMPARE(table.line(1), 3U);
        QCOMPARE(table.line(2), 5U);
    }

    void columnsBecomeInputs()
    {
        write("size,colour,price\n"
              "1,red,10\n2,blue,20.5\n3,red,10\n4,green,-7\n");
        DataConfig config = settings();
        config.validationShare = 0;
        const Dataset data = load(config);
        QCOMPARE(data.samples, std::int64_t {4});
        QCOMPARE(data.sampleShape, (Shape {4}));
        // Mean 2.5, deviation sqrt(5 / 4); blue, green, red.
        const auto z = static_cast<float>(0.5 / std::sqrt(1.25));
        const auto w = static_cast<float>(1.5 / std::sqrt(1.25));
        QCOMPARE(
            inputsOf(data), (std::vector<float> {-w, 0, 0, 1, /**/ -z, 1, 0, 0, /**/ z, 0, 0, 1, /**/ w, 0, 1, 0}));
        QCOMPARE(data.targets, (std::vector<float> {10, 20.5F, 10, -7}));
        QCOMPARE(data.targetWidth, std::int64_t {1});
        QCOMPARE(data.labels, (std::vector<std::int32_t> {1, 2, 1, 0}));
        QCOMPARE(data.classNames, (std::vector<std::string> {"-7", "10", "20.5"}));

        config.standardise = false;
        config.target = "colour";
        const Dataset raw = load(config);
        QCOMPARE(inputsOf(raw), (std::vector<float> {1, 10, 2, 20.5F, 3, 10, 4, -7}));
        QVERIFY(raw.targets.empty());
        QCOMPARE(raw.labels, (std::vector<std::int32_t> {2, 0, 2, 1}));
        QCOMPARE(raw.classNames, (std::vector<std::string> {"blue", "green", "red"}));

        config.target = "1";
        QCOMPARE(load(config).targets, (std::vector<float> {1, 2, 3, 4}));
    }

    void onlyTrainingSamplesSetTheScale()
    {
        std::string text = "x,constant,y\n";
        for (int i = 0; i < 200; ++i) {
            text += std::to_string(i * i) + ",5," + std::to_string(i % 2) + "\n";
        }
        write(text);
        const Dataset data = load(settings());
        QCOMPARE(data.validation.size(), std::size_t {40});
        double mean = 0;
        double squares = 0;
        for (const std::uint32_t i : data.train) {
            mean += i * static_cast<double>(i) / 160;
        }
        for (const std::uint32_t i : data.train) {
            squares += (i * static_cast<double>(i) - mean) * (i * static_cast<double>(i) - mean) / 160;
        }
        const std::vector<float> inputs = inputsOf(data);
        for (std::uint32_t i = 0; i < 200; ++i) {
            const double expected = (i * static_cast<double>(i) - mean) / std::sqrt(squares);
            // One rounding to FP32, of numbers below 4.
            QVERIFY(std::abs(static_cast<double>(inputs[2 * i]) - expected) <= 2e-7);
            QCOMPARE(inputs[2 * i + 1], 0.0F);
        }
        // The same samples are held out as in any set of this size.
        DataConfig moons;
        moons.kind = std::string("moons");
        moons.samples = 200;
        QCOMPARE(data.validation, load(moons).validation);
    }

    void headersAreRecognised_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("header");
        QTest::addColumn<int>("samples");
        const auto row = [](const char* name, const char* text, const char* header, int samples) {
            QTest::newRow(name) << QByteArray(text) << QByteArray(header) << samples;
        };
        row("text above numbers", "a,b\n1,2\n3,4\n", "auto", 2);
        row("numbers alone", "1,2\n3,4\n5,6\n", "auto", 3);
        row("an index without a name", ",b\n0,x\n1,y\n2,x\n", "auto", 3);
        row("texts that come again", "red,yes\nblue,no\nred,no\nblue,yes\n", "auto", 4);
        row("texts that do not", "colour,answer\nblue,no\nred,no\nblue,yes\n", "auto", 3);
        row("said so", "red,yes\nblue,no\nred,no\nblue,yes\n", "yes", 3);
        row("said not", "colour,answer\nblue,no\nred,no\nblue,yes\n", "no", 4);
        row("numbers as names", "1990,1991\n1,2\n3,4\n", "yes", 2);
    }

    void headersAreRecognised()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const QByteArray, header);
        QFETCH(const int, samples);
        write(text.toStdString());
        DataConfig config = settings();
        config.header = header.toStdString();
        QCOMPARE(load(config).samples, std::int64_t {samples});
    }

    void manyNumbersAreNoClasses()
    {
        std::string text = "x,y\n";
        for (int i = 0; i < 101; ++i) {
            text += "1,";
            text += std::to_string(i) + "\n";
        }
        write(text);
        const Dataset data = load(settings());
        QCOMPARE(data.classes, std::int64_t {0});
        QVERIFY(data.labels.empty());
        write(text.substr(0, text.size() - 6)); // without the last row
        QCOMPARE(load(settings()).classes, std::int64_t {100});
    }

    void targetsStayWhatTheyAre()
    {
        write("x,y\n1,0\n2,1\n3,1\n");
        Dataset binary = load(settings());
        labelsToTargets(binary);
        QCOMPARE(binary.targets, (std::vector<float> {0, 1, 1}));
        QCOMPARE(binary.classes, std::int64_t {2});
        write("x,y\n1,3\n2,4\n3,4\n");
        Dataset numbers = load(settings());
        labelsToTargets(numbers);
        QCOMPARE(numbers.targets, (std::vector<float> {3, 4, 4}));
        QCOMPARE(numbers.classes, std::int64_t {0}); // a distance from 4 is neither right nor wrong
    }

    void faultsAreNamedWithTheirPlace_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("target");
        QTest::addColumn<QString>("found");
        const auto row = [](const char* name, const std::string& text, const QString& found, const char* target = "") {
            QTest::newRow(name) << QByteArray::fromStdString(text) << QByteArray(target) << found;
        };
        row("blank lines only", "\n\n", "holds no rows");
        row("a header only", "a,b\n", "holds a header only; at least 2 rows");
        row("one row of numbers", "1,2\n", "holds one row");
        row("a header and one row", "a,b\n1,2\n", "holds a header and one row");
        row("one column", "a\n1\n2\n", "has one column only");
        row("a row too short", "a,b,c\n1,2,3\n4,5\n",
            ", line 3: the row has 2 cells, but line 1 has 3; the delimiter is a "
            "comma");
        row("a row too long", "a;b\n1;2\n\n4;5;6\n",
            ", line 4: the row has 3 cells, but line 1 has 2; the delimiter is a "
            "semicolon");
        row("an empty cell", "age,y\n1,2\n,4\n",
            R"(, line 3, column "age": the cell is empty; fill it or remove the row)");
        row("an empty target", "age,y\n1,2\n2,\n", R"(, line 3, column "y": the cell is empty)");
        row("a number that is none", "age,y\n1,2\nnan,4\n3,4\n",
            R"(, line 3, column "age": "nan" is not a finite number)");
        row("an infinite number", "age,y\n1,2\n2,-inf\n", R"(, line 3, column "y": "-inf" is not a finite number)");
        row("beyond 64 bits", "age,y\n1e999,2\n2,3\n",
            R"(, line 2, column "age": "1e999" is not a finite number that 64)");
        row("a target beyond 32 bits", "age,y\n1,1e39\n2,3\n", R"(, line 2, column "y": 1e39 is too large)");
        std::string ages = "age,y\n";
        for (int i = 0; i < 12; ++i) {
            ages += std::to_string(i) + ",1\n";
        }
        row("a text among numbers", ages + "n/a,0\n",
            R"(, line 14, column "age": "n/a" is no number, as the column's)");
        row("a decimal comma among numbers", ages + "\"1,5\",0\n", "write a point for the decimal comma");
        std::string names = "name,y\n";
        for (int i = 0; i < 257; ++i) {
            names += "n";
            names += std::to_string(i) + ",1\n";
        }
        row("too many categories", names + "x,2\n",
            R"(, line 258, column "name": "n256" is the column's text number 257 that differs from all others)");
        row("nothing to learn", "x,y\n1,a\n2,a\n", R"(column "y": all cells of the target hold a)");
        row("no such target", "size,price\n1,2\n3,4\n",
            R"(has no column "pirce" for data.target; did you mean "price"?)", "pirce");
        row("no such number", "size,price\n1,2\n3,4\n", R"(has no column "3" for data.target; valid are: size, price)",
            "3");
        row("two such targets", "a,a\n1,2\n3,4\n", R"(has 2 columns called "a"; give the number)", "a");
        row("Latin 1", "a,b\n1,\xE9\n2,x\n", ", line 2: cell 2 is not UTF-8: byte 0xe9");
        row("a mark that is not closed", "a,b\n1,\"2\n3,4\n", ", line 2: a quotation mark is opened and not closed");
        row("a mark inside", "a,b\n1,2\"3\n", ", line 2: a quotation mark stands inside a cell");
        row("a huge cell", "a,b\n1,\"" + std::string(2'000'000, 'x'), ", line 2: a cell holds more than 1 MiB");
        row("a huge row", std::string(10'001, ','), ", line 1: more than 10000 cells");
        row("no table", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), "is not UTF-8: byte 0x89");
    }

    void faultsAreNamedWithTheirPlace()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const QByteArray, target);
        QFETCH(const QString, found);
        write(text.toStdString());
        DataConfig config = settings();
        config.target = target.toStdString();
        const QString message = refusal(config);
        QVERIFY2(message.contains("t.csv"), qPrintable(message));
        QVERIFY2(message.contains(found), qPrintable(message));
    }

    void aHeaderThatWasDeniedIsFound()
    {
        std::string text = "age,y\n";
        for (int i = 0; i < 20; ++i) {
            text += "1,2\n";
        }
        write(text);
        DataConfig config = settings();
        config.header = "no";
        const QString message = refusal(config);
        QVERIFY2(message.contains("if this row names the columns, set data.header to yes"), qPrintable(message));
    }

    void hugeFilesAreRefusedInBoundedMemory()
    {
        m_folder.write("t.csv", repeated(gzip(Bytes(std::size_t {1} << 20U, '\n')), 257));
        QVERIFY2(refusal(settings()).contains("holds more than 256 MiB"), qPrintable(refusal(settings())));
    }

    void randomTablesNeverCrash()
    {
        const Philox random(1, randomStream(RandomPurpose::Data, "csv"));
        constexpr std::string_view pieces[] = {",", ",", "\n", "\n", ";", "\t", "\"", "\"\"", "1", "2.5", "x", "nan",
            "-", " ", "\r\n", "\xC3\xA9", "\xFF", "e5"};
        int loaded = 0;
        for (std::uint64_t i = 0; i < 5000; ++i) {
            std::string text;
            if (i % 3 == 0) {
                // A regular table with a few changes, so that some are good.
                for (std::uint32_t row = 0; row < 6; ++row) {
                    text += std::to_string(random(i << 32U | row)[1] % 4) + ",x,"
                        + std::to_string(random(i << 32U | row)[2] % 3) + "\n";
                }
                text[random(i << 32U)[3] % text.size()] = static_cast<char>('\t' + random(i << 32U)[0] % 50);
            } else {
                for (std::uint32_t j = 0; j < random(i << 32U)[0] % 40 + 1; ++j) {
                    text += pieces[random(i << 32U | (j + 1))[0] % std::size(pieces)];
                }
            }
            write(text);
            DataConfig config = settings();
            config.header = i % 2 == 0 ? "auto" : "no";
            const QString message = refusal(config);
            QVERIFY2(message.isEmpty() || message.contains("t.csv"), qPrintable(message));
            if (message.isEmpty()) {
                ++loaded;
                for (const float input : inputsOf(load(config))) {
                    QVERIFY(std::isfinite(input));
                }
            }
        }
        QVERIFY(loaded > 300);
    }
};

QTEST_APPLESS_MAIN(TestCsv)
#include "tst_csv.moc"
