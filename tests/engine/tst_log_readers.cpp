// Readers of training logs give back what other programs' writers wrote, and no damage makes them do more than stop.
#include "engine/core/error.h"
#include "engine/import/column_names.h"
#include "engine/import/log_reader.h"
#include "engine/import/masked_crc32c.h"
#include "log_files.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <cmath>
#include <cstring>
#include <random>

using namespace mantissa;
using logtest::complaintOf;
using logtest::contents;
using logtest::Logs;

namespace {

using Table = std::map<std::int64_t, std::map<std::string, double>>; ///< step -> column -> value

QString fixture(const char* name)
{
    return QStringLiteral(MANTISSA_SOURCE_DIR "/tests/fixtures/import/") + QLatin1String(name);
}

struct WholeLog
{
    Table numbers;
    std::uint64_t rows = 0;
    std::string format;
    std::vector<std::string> columns;
    std::vector<std::string> runs;
    std::vector<std::string> notes;
    bool isDamaged = false;
};

/// Rows without a step of their own are numbered.
WholeLog readWhole(LogReader& reader, std::uint64_t atOnce = 1U << 20U)
{
    WholeLog log;
    const auto take = [&log, &reader](const LogRow& row) {
        auto& cells = log.numbers[row.step.value_or(static_cast<std::int64_t>(log.rows))];
        ++log.rows;
        for (const LogCell& cell : row.cells) {
            if (cell.isNumber) {
                cells[reader.columns().at(cell.column)] = cell.number;
            }
        }
    };
    while (reader.read(atOnce, take)) { }
    reader.finish(take);
    log.format = reader.format();
    log.columns = reader.columns();
    log.runs = reader.runs();
    log.notes = reader.notes();
    log.isDamaged = reader.isDamaged();
    return log;
}

WholeLog readWhole(const std::filesystem::path& file)
{
    return readWhole(*openLog(file));
}

/// As the generator of the fixtures wrote it down.
Table expectedOf(const char* name)
{
    Table table;
    for (const QByteArray& line : contents(fixture(name)).split('\n')) {
        const QJsonObject object = QJsonDocument::fromJson(line).object();
        for (auto value = object.begin(); value != object.end(); ++value) {
            if (value.key() != "step") {
                table[object["step"].toInteger()][value.key().toStdString()]
                    = value->isString() ? numberFrom(value->toString().toStdString()).value() : value->toDouble();
            }
        }
    }
    return table;
}

bool same(double a, double b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

bool same(const Table& a, const Table& b)
{
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
        return x.first == y.first && std::ranges::equal(x.second, y.second, [](const auto& v, const auto& w) {
            return v.first == w.first && same(v.second, w.second);
        });
    });
}

/// A record as TFRecord frames it.
QByteArray framed(const QByteArray& data)
{
    const auto number = [](auto value) { return QByteArray(reinterpret_cast<const char*>(&value), sizeof value); };
    const auto checksum = [&number](const QByteArray& bytes) {
        return number(
            masked(crc32c(std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))))));
    };
    const QByteArray length = number(static_cast<std::uint64_t>(data.size()));
    return length + checksum(length) + data + checksum(data);
}

QByteArray lengthOnly(std::uint64_t length)
{
    QByteArray bytes(reinterpret_cast<const char*>(&length), sizeof length);
    const std::uint32_t crc = masked(crc32c(std::as_bytes(std::span(bytes.constData(), 8))));
    return bytes + QByteArray(reinterpret_cast<const char*>(&crc), sizeof crc);
}

/// The bytes of an Event with one scalar; `value` is what stands behind the tag in the Summary.Value.
QByteArray scalarEvent(char step, const QByteArray& tag, const QByteArray& value)
{
    const auto bytes
        = [](char key, const QByteArray& data) { return QByteArray(1, key) + static_cast<char>(data.size()) + data; };
    return QByteArray("\x10") + step + bytes(0x2a, bytes(0x0a, bytes(0x0a, tag) + value));
}

} // namespace

class TestLogReaders : public QObject
{
    Q_OBJECT

private slots:

    void checksumIsTheOneOfTheRfc()
    {
        // RFC 3720, appendix B.4
        const std::vector<std::byte> zeros(32);
        QCOMPARE(crc32c(zeros), 0x8a9136aaU);
        const std::vector<std::byte> ones(32, std::byte {0xff});
        QCOMPARE(crc32c(ones), 0x62a8ab43U);
        std::vector<std::byte> rising(32);
        for (std::size_t i = 0; i < rising.size(); ++i) {
            rising[i] = static_cast<std::byte>(i);
        }
        QCOMPARE(crc32c(rising), 0x46dd794eU);
        QCOMPARE(crc32c(std::span(rising).subspan(7), crc32c(std::span(rising).first(7))), 0x46dd794eU);
    }

    void eventFilesGiveBackWhatWasWritten_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("tensorboardX") << "tensorboardx";
        QTest::newRow("simple_value, as torch.utils.tensorboard") << "torch";
        QTest::newRow("tensors, as TensorFlow 2") << "tensors";
    }

    void eventFilesGiveBackWhatWasWritten()
    {
        QFETCH(QString, name);
        const WholeLog log = readWhole(fixture(qPrintable(name + ".tfevents")).toStdString());
        QCOMPARE(log.format, "tfevents");
        QVERIFY(same(log.numbers, expectedOf(qPrintable(name + ".expected.jsonl"))));
        QVERIFY2(log.notes.empty(), log.notes.empty() ? "" : log.notes.front().c_str());
        QVERIFY(!log.isDamaged);
    }

    void foldersAreRunsAndFilesOfOneGoOn()
    {
        const auto reader = openLog(fixture("runs").toStdString());
        int continuations = 0;
        std::map<std::string, std::vector<std::int64_t>> steps;
        const auto take = [&](const LogRow& row) {
            steps[reader->runs().at(row.run)].push_back(*row.step);
            if (row.beginsFile) {
                ++continuations;
                QCOMPARE(*row.step, 30);
            }
        };
        while (reader->read(100, take)) { }
        QCOMPARE(steps.size(), 2U);
        QCOMPARE(steps["fp32"].size(), 40U);
        QCOMPARE(steps["amp"].size(), 70U);
        QCOMPARE(continuations, 1);
    }

    void tensorsOfAllTypesAreNumbers_data()
    {
        QTest::addColumn<QByteArray>("tensor");
        QTest::addColumn<double>("value");
        const auto tensor = [](char type, const QByteArray& rest) { return QByteArray("\x08") + type + rest; };
        QTest::newRow("float_val, packed") << tensor(1, QByteArray::fromHex("2a040000c03f")) << 1.5;
        QTest::newRow("float_val, not packed") << tensor(1, QByteArray::fromHex("2d0000c03f")) << 1.5;
        QTest::newRow("double, as content") << tensor(2, QByteArray::fromHex("2208000000000000f83f")) << 1.5;
        QTest::newRow("int64_val") << tensor(9, QByteArray::fromHex("5201 07")) << 7.0;
        QTest::newRow("negative int32_val") << tensor(3, QByteArray::fromHex("3a0affffffffffffffffff01")) << -1.0;
        QTest::newRow("bool_val") << tensor(10, QByteArray::fromHex("5a0101")) << 1.0;
        QTest::newRow("bfloat16, as content") << tensor(14, QByteArray::fromHex("2202c03f")) << 1.5;
        QTest::newRow("half_val") << tensor(19, QByteArray::fromHex("6a0380f801")) << double {INFINITY};
    }

    void tensorsOfAllTypesAreNumbers()
    {
        QFETCH(QByteArray, tensor);
        QFETCH(double, value);
        const Logs logs;
        const auto file = logs.write(
            "a.tfevents", framed(scalarEvent(3, "loss", QByteArray("\x42") + static_cast<char>(tensor.size()) + tensor)));
        const WholeLog log = readWhole(file);
        QVERIFY(log.numbers.contains(3));
        QVERIFY(same(log.numbers.at(3).at("loss"), value));
    }

    void tensorsOfSeveralElementsAndTextsAreNoScalars()
    {
        const Logs logs;
        const QByteArray two = QByteArray::fromHex("0801120412020802 2a080000c03f0000c03f"); // shape [2]
        const QByteArray text = QByteArray::fromHex("08074203616263");
        QByteArray bytes;
        for (const QByteArray& tensor : {two, text}) {
            bytes += framed(scalarEvent(1, "a", QByteArray("\x42") + static_cast<char>(tensor.size()) + tensor));
        }
        bytes += framed(scalarEvent(2, "b", QByteArray::fromHex("150000803f")));
        const WholeLog log = readWhole(logs.write("a.tfevents", bytes));
        QCOMPARE(log.columns, std::vector<std::string> {"b"});
        QCOMPARE(log.rows, 1U);
    }

    void aFileCutAnywhereGivesItsWholeRecordsAndGoesOnWhenItGrows()
    {
        const QByteArray whole = contents(fixture("torch.tfevents")).left(900);
        const Logs logs;
        const auto file = logs.path("growing.tfevents");
        for (int cut = 12; cut < whole.size(); ++cut) {
            logs.write("growing.tfevents", whole.left(cut));
            const auto reader = openLog(file);
            std::uint64_t rows = 0;
            const auto take = [&rows](const LogRow&) { ++rows; };
            while (reader->read(1U << 20U, take)) { }
            QVERIFY(!reader->isDamaged());
            const std::uint64_t before = rows;
            Logs::append(file, whole.mid(cut));
            while (reader->read(1U << 20U, take)) { }
            QCOMPARE(rows, readWhole(file).rows);
            QVERIFY(rows >= before);
        }
    }

    void aFlippedBitAnywhereStopsThereOrChangesNothing()
    {
        const QByteArray whole = contents(fixture("torch.tfevents")).left(600);
        const Logs logs;
        const Table before = readWhole(logs.write("whole.tfevents", whole)).numbers;
        for (int bit = 12 * 8; bit < whole.size() * 8; ++bit) {
            QByteArray damaged = whole;
            damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
            const WholeLog log = readWhole(logs.write("damaged.tfevents", damaged));
            QVERIFY(log.isDamaged || bit >= whole.size() * 8 - 8 * 80); // the last record is not whole, so not checked
            QVERIFY(!log.isDamaged || QString::fromStdString(log.notes.front()).contains("a checksum is wrong"));
            for (const auto& [step, cells] : log.numbers) { // what was read before it is right
                for (const auto& [tag, value] : cells) {
                    QVERIFY(same(value, before.at(step).at(tag)));
                }
            }
        }
    }

    void aHugeLengthIsWaitedForAndNothingIsAllocated()
    {
        const Logs logs;
        for (const std::uint64_t length :
            {std::uint64_t {1} << 40U, ~std::uint64_t {0}, ~std::uint64_t {0} - 11, std::uint64_t {1} << 63U}) {
            const QByteArray good = framed(scalarEvent(1, "loss", QByteArray::fromHex("150000803f")));
            const WholeLog log = readWhole(logs.write("huge.tfevents", good + lengthOnly(length) + "abc"));
            QCOMPARE(log.rows, 1U);
            QVERIFY(QString::fromStdString(log.notes.front()).contains("ends within a record"));
        }
    }

    void recordsThatAreNoEventsArePassedOver()
    {
        const Logs logs;
        std::mt19937 random(1);
        QByteArray bytes = framed(scalarEvent(1, "loss", QByteArray::fromHex("150000803f")));
        for (int i = 0; i < 2000; ++i) {
            QByteArray data(static_cast<int>(random() % 40), '\0');
            for (char& byte : data) {
                byte = static_cast<char>(random());
            }
            bytes += framed(data);
        }
        bytes += framed(scalarEvent(2, "loss", QByteArray::fromHex("150000803f")));
        const WholeLog log = readWhole(logs.write("odd.tfevents", bytes));
        QVERIFY(!log.isDamaged);
        QVERIFY(same(log.numbers.at(1).at("loss"), 1));
        QVERIFY(same(log.numbers.at(2).at("loss"), 1));
        QVERIFY(QString::fromStdString(log.notes.front()).contains("is no event"));
    }

    void tablesOfAllKindsAreRead_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("format");
        QTest::newRow("csv") << QByteArray("step,loss\n0,2.5\n1,nan\n2,\n") << "csv";
        QTest::newRow("csv with BOM and CR LF")
            << QByteArray("\xEF\xBB\xBFstep,loss\r\n0,2.5\r\n1,NaN\r\n2,None\r\n") << "csv";
        QTest::newRow("semicolons, quotes, no end of line")
            << QByteArray("\"step\";\"loss\"\n0;\"2.5\"\n1;nan\n2;") << "csv";
        QTest::newRow("tabs") << QByteArray("step\tloss\n\n0\t2.5\n1\t-nan\n2\tnull\n") << "csv";
        QTest::newRow("json lines") << QByteArray(
            "{\"step\": 0, \"loss\": 2.5}\n{\"step\": 1, \"loss\": NaN}\n{\"step\": 2, \"loss\": null}")
                                    << "jsonl";
        QTest::newRow("json lines as we write them")
            << QByteArray("{\"step\": 0, \"loss\": 2.5}\r\n\n{\"step\": 1, \"loss\": \"nan\"}\n{\"step\": 2}\n")
            << "jsonl";
        QTest::newRow("an array") << QByteArray(
            "[{\"step\": 0, \"loss\": 2.5},\n {\"step\": 1, \"loss\": NaN}, {\"step\": 2}]")
                                  << "json";
        QTest::newRow("trainer_state.json") << QByteArray(
            "{\n \"best_metric\": null,\n \"log_history\": [{\"step\": 0, \"loss\": 2.5},\n {\"step\": 1, \"loss\": "
            "NaN}, {\"step\": 2}],\n \"max_steps\": 3}\n")
                                            << "json";
        QTest::newRow("trainer_state.json on one line") << QByteArray(
            "{\"log_history\": [{\"step\": 0, \"loss\": 2.5}, {\"step\": 1, \"loss\": NaN}, {\"step\": 2}]}")
                                                        << "json";
    }

    void tablesOfAllKindsAreRead()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, format);
        const Logs logs;
        const WholeLog log = readWhole(logs.write("log", text));
        QCOMPARE(QString::fromStdString(log.format), format);
        QCOMPARE(log.rows, 3U);
        QVERIFY(same(log.numbers.at(0).at("loss"), 2.5));
        QVERIFY(std::isnan(log.numbers.at(1).at("loss")));
        QVERIFY(!log.numbers.at(2).contains("loss"));
        QVERIFY2(log.notes.empty(), log.notes.empty() ? "" : log.notes.front().c_str());
    }

    void numbersAreReadInEverySpelling()
    {
        for (const auto& [text, value] : std::vector<std::pair<const char*, double>> {{"1e-3", 1e-3}, {"+5", 5},
                 {" 2 ", 2}, {"inf", INFINITY}, {"-Infinity", -INFINITY}, {"1e999", INFINITY}, {"-1e999", -INFINITY},
                 {"1e-999", 0}, {"True", 1}, {"false", 0}, {"65536.0", 65536}}) {
            QVERIFY2(numberFrom(text) == value, text);
        }
        QVERIFY(std::isnan(numberFrom("NaN").value()));
        for (const char* text : {"", "tensor(2.5)", "1,5", "0x10", "2.5 s", "--1"}) {
            QVERIFY2(!numberFrom(text), text);
        }
    }

    void objectsWithinBecomeColumns()
    {
        const Logs logs;
        const auto file = logs.write("a.jsonl",
            "{\"step\": 4, \"train\": {\"loss\": 1, \"deep\": {\"x\": true}}, \"list\": [1], \"name\": \"a "
            "\\\"NaN\\\"\"}\n");
        const WholeLog log = readWhole(file);
        QVERIFY(same(log.numbers.at(0).at("train/loss"), 1));
        QVERIFY(same(log.numbers.at(0).at("train/deep/x"), 1));
        QVERIFY(!log.numbers.at(0).contains("name"));
    }

    void tablesOfWeightsAndBiasesNameRuns()
    {
        const Logs logs;
        const auto file = logs.write("wandb.csv",
            "\"Step\",\"calm-fog-1 - train/loss\",\"calm-fog-1 - train/loss__MIN\",\"calm-fog-1 - "
            "train/loss__MAX\",\"odd - 2 - "
            "train/loss\"\n\"0\",\"2.5\",\"2.5\",\"2.5\",\"\"\n\"1\",\"2.25\",\"2.25\",\"2.25\",\"3\"\n");
        const auto reader = openLog(file);
        std::map<std::string, std::vector<double>> losses;
        reader->read(1000, [&](const LogRow& row) {
            for (const LogCell& cell : row.cells) {
                if (reader->columns()[cell.column] == "train/loss") {
                    losses[reader->runs()[row.run]].push_back(cell.number);
                }
            }
        });
        QCOMPARE(losses["calm-fog-1"], (std::vector<double> {2.5, 2.25}));
        QCOMPARE(losses["odd - 2"], std::vector<double> {3});
        QCOMPARE(reader->columns(), (std::vector<std::string> {"Step", "train/loss"}));
    }

    void damagedLinesArePassedOverAndTold()
    {
        const Logs logs;
        const WholeLog json = readWhole(logs.write("a.jsonl",
            "{\"step\": 0, \"loss\": 1}\nWARNING: something\n{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"lo"));
        QCOMPARE(json.rows, 2U);
        QCOMPARE(json.notes.size(), 2U);
        QVERIFY(QString::fromStdString(json.notes[0]).contains("line 2"));
        QVERIFY(QString::fromStdString(json.notes[1]).contains("cut off"));
        const WholeLog csv = readWhole(logs.write("a.csv", "step,loss\n0,1\n1,2,3\nstep,loss\n2,3\n3"));
        QCOMPARE(csv.rows, 3U);
        QCOMPARE(csv.notes.size(), 3U);
    }

    void filesThatAreNoLogsAreRefusedInWords_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("words");
        QByteArray garbage(5000, '\0');
        for (int i = 0; i < garbage.size(); ++i) {
            garbage[i] = static_cast<char>(i * 37 + i / 7);
        }
        QTest::newRow("empty") << QByteArray() << "is empty";
        QTest::newRow("garbage") << garbage << "is no text and no event file";
        QTest::newRow("gzip") << QByteArray::fromHex("1f8b0800000000000003") << "unpack";
        QTest::newRow("UTF-16") << QByteArray::fromHex("fffe73007400") << "event file";
        QTest::newRow("prose") << QByteArray("This is no log.\nReally.\n") << "has no cells";
        QTest::newRow("an experiment") << QByteArray("{\n\"mantissa\": 1\n}\n") << "is opened, not imported";
        QTest::newRow("half a document") << QByteArray("[{\"step\": 0},\n{\"st") << "line 2";
        QTest::newRow("blanks") << QByteArray("  \n \n") << "blanks";
    }

    void filesThatAreNoLogsAreRefusedInWords()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, words);
        const Logs logs;
        const auto file = logs.write("file", bytes);
        const QString complaint = complaintOf([&] { readWhole(file); });
        QVERIFY2(complaint.contains(words), qPrintable(complaint));
        QVERIFY(complaint.contains("file"));
    }

    void foldersWithoutEventFilesAndMissingFilesAreRefused()
    {
        const Logs logs;
        QVERIFY(complaintOf([&] { openLog(logs.path(".")); }).contains("has no event files"));
        QVERIFY(complaintOf([&] { openLog(logs.path("nowhere.csv")); }).contains("there is no file"));
        QVERIFY(complaintOf([&] { openLog("/dev/zero"); }).contains("no file that can be read twice"));
    }

    void randomBytesNeverDoMoreThanThrow()
    {
        const Logs logs;
        std::mt19937 random(7);
        const std::vector<QByteArray> seeds {contents(fixture("tensors.tfevents")).left(800),
            "step,loss\n0,1\n1,\"2\n3\"\n", "{\"step\": 0, \"loss\": [1, {\"a\": NaN}]}\n{\"step\": 1}\n",
            "[{\"step\": 0}, {\"log_history\": 1}]"};
        for (int round = 0; round < 2000; ++round) {
            QByteArray bytes = seeds[random() % seeds.size()];
            for (std::uint32_t change = 0; change < 1 + random() % 8; ++change) {
                bytes[static_cast<int>(random() % static_cast<std::uint32_t>(bytes.size()))]
                    = static_cast<char>(random());
            }
            const auto file = logs.write("mutant", bytes);
            complaintOf([&] { readWhole(file); });
        }
    }

    void columnsAreKnownByTheirNames_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("field");
        for (const auto& [name, field] : std::vector<std::pair<const char*, const char*>> {{"loss", "loss"},
                 {"train/loss", "loss"}, {"train_loss_step", "loss"}, {"trainLoss", "loss"}, {"Loss/train", "loss"},
                 {"lm loss", "loss"}, {"lm-loss-training/lm loss", "loss"}, {"loss_scale", "scale"},
                 {"loss-scale", "scale"}, {"train/amp_scale", "scale"}, {"lossScale", "scale"},
                 {"scaler/scale", "scale"}, {"grad_scale", "scale"}, {"fp16 loss scale", "scale"}, {"scale", "scale"},
                 {"gnorm", "grad_norm"}, {"train/grad_norm", "grad_norm"}, {"grad_2.0_norm_total", "grad_norm"},
                 {"total_norm", "grad_norm"}, {"global_grad_norm", "grad_norm"},
                 {"grad_norm_clipped", "grad_norm_clipped"}, {"lr", "lr"}, {"lr-AdamW", "lr"}, {"lr-AdamW/pg1", "lr"},
                 {"train/learning_rate", "lr"}, {"eval_loss", "validation_loss"}, {"val/loss", "validation_loss"},
                 {"valid_loss_epoch", "validation_loss"}, {"val_acc", "validation_accuracy"},
                 {"found_inf", "found_inf"}, {"overflow", "found_inf"}, {"skipped", "skipped"},
                 {"number of skipped iterations", "skipped"}, {"_step", "step"}, {"Step", "step"},
                 {"trainer/global_step", "step"}, {"iteration", "step"}, {"lane", "run"}, {"wall_time", "wall_seconds"},
                 {"_timestamp", "wall_seconds"}, {"scaled_loss", ""}, {"image_scale", ""}, {"lr_scale", ""},
                 {"max_grad_norm", ""}, {"grad_norm/fc1.weight", ""}, {"train/accuracy", ""}, {"loss_weight", ""},
                 {"best_val_loss", ""}, {"layer_norm", ""}, {"samples_per_second", ""}}) {
            QTest::newRow(name) << name << field;
        }
    }

    void columnsAreKnownByTheirNames()
    {
        QFETCH(QString, name);
        QFETCH(QString, field);
        QString best;
        int fit = 0;
        for (const LogField each : allLogFields()) {
            if (fitOf(name.toStdString(), each) > fit) {
                fit = fitOf(name.toStdString(), each);
                best = QString::fromStdString(std::string(nameOf(each)));
            }
        }
        QCOMPARE(best, field);
    }
};

QTEST_GUILESS_MAIN(TestLogReaders)
#include "tst_log_readers.moc"
