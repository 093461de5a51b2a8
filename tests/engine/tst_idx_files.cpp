// MNIST-style folders: good ones come back exactly, broken ones are refused by name without a crash or a large
// allocation.
#include "data_files.h"
#include "engine/core/philox.h"
#include "engine/data/idx_file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr auto imagesFile = "train-images-idx3-ubyte";
constexpr auto labelsFile = "train-labels-idx1-ubyte";

Bytes idx(std::uint32_t magic, const std::vector<std::uint32_t>& dims, const Bytes& values)
{
    Bytes bytes;
    const auto append = [&bytes](std::uint32_t number) {
        for (const unsigned shift : {24U, 16U, 8U, 0U}) {
            bytes.push_back(static_cast<unsigned char>(number >> shift));
        }
    };
    append(magic);
    for (const std::uint32_t dim : dims) {
        append(dim);
    }
    bytes.insert(bytes.end(), values.begin(), values.end());
    return bytes;
}

Bytes imageBytes(std::uint32_t count)
{
    Bytes pixels(std::size_t {count} * 6);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = static_cast<unsigned char>(i * 17);
    }
    return idx(0x803, {count, 2, 3}, pixels);
}

Bytes labelBytes(std::uint32_t count)
{
    Bytes labels(count);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<unsigned char>(i % 10);
    }
    return idx(0x801, {count}, labels);
}

Bytes withoutLast(Bytes bytes, std::size_t count)
{
    bytes.resize(bytes.size() - count);
    return bytes;
}

Bytes joined(Bytes a, const Bytes& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Bytes randomBytes(std::size_t count)
{
    const Philox random(1, randomStream(RandomPurpose::Data, "noise"));
    Bytes bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<unsigned char>(random(i)[0]);
    }
    return bytes;
}

long peakMemoryKiB()
{
    rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

QString refusalOfFile(const QString& path, IdxContents contents)
{
    try {
        readIdxFile(path.toStdString(), contents);
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

} // namespace

class TestIdxFiles : public QObject
{
    Q_OBJECT

    DataFolder m_folder;

    [[nodiscard]] QString refusalOfFolder() const { return refusal(m_folder.settings("mnist")); }

private slots:

    void init() { m_folder.clear(); }

    void goodFoldersComeBackExactly_data()
    {
        QTest::addColumn<QString>("imagesName");
        QTest::addColumn<QString>("labelsName");
        QTest::addColumn<bool>("compressed");
        QTest::newRow("plain") << imagesFile << labelsFile << false;
        QTest::newRow("gz") << "train-images-idx3-ubyte.gz"
                            << "train-labels-idx1-ubyte.gz" << true;
        QTest::newRow("dots") << "train-images.idx3-ubyte"
                              << "train-labels.idx1-ubyte" << false;
        QTest::newRow("gz without its ending") << imagesFile << labelsFile << true;
        QTest::newRow("plain with an ending") << "train-images-idx3-ubyte.gz"
                                              << "train-labels-idx1-ubyte.gz" << false;
    }

    void goodFoldersComeBackExactly()
    {
        QFETCH(const QString, imagesName);
        QFETCH(const QString, labelsName);
        QFETCH(const bool, compressed);
        m_folder.write(imagesName, compressed ? gzip(imageBytes(25)) : imageBytes(25));
        m_folder.write(labelsName, compressed ? gzip(labelBytes(25)) : labelBytes(25));

        for (const char* kind : {"mnist", "fashion_mnist"}) {
            DataConfig settings;
            settings.kind = std::string(kind);
            settings.path = std::string("."); // relative to the experiment
            const Dataset dataset = loadDataset(settings, 1, m_folder.path().toStdString());
            QCOMPARE(dataset.name, std::string(kind));
            QCOMPARE(dataset.sampleShape, (Shape {2, 3}));
            QCOMPARE(dataset.samples, std::int64_t {25});
            QCOMPARE(dataset.classes, std::int64_t {10});
            QCOMPARE(dataset.classNames.size(), std::size_t {10});
            QCOMPARE(dataset.train.size() + dataset.validation.size(), std::size_t {25});
            std::vector<std::uint32_t> all(25);
            std::iota(all.begin(), all.end(), 0U);
            std::vector<float> inputs(150);
            gatherInputs(dataset, all, inputs);
            for (std::size_t i = 0; i < 150; ++i) {
                QCOMPARE(inputs[i], static_cast<float>(i * 17 % 256) / 255.0F);
            }
            for (std::size_t i = 0; i < 25; ++i) {
                QCOMPARE(dataset.labels[i], static_cast<std::int32_t>(i % 10));
            }
        }
    }

    void brokenFilesAreRefusedByName_data()
    {
        QTest::addColumn<Bytes>("images");
        QTest::addColumn<Bytes>("labels");
        QTest::addColumn<QString>("file"); ///< the one to be named
        QTest::addColumn<QString>("found");
        const Bytes images = imageBytes(20);
        const Bytes labels = labelBytes(20);
        const auto badImages = [&](const char* name, const Bytes& bytes, const QString& found) {
            QTest::newRow(name) << bytes << labels << QString(imagesFile) << found;
        };
        const auto badLabels = [&](const char* name, const Bytes& bytes, const QString& found) {
            QTest::newRow(name) << images << bytes << QString(labelsFile) << found;
        };
        const Bytes png {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13};

        badImages("empty", {}, "is empty");
        badImages("one byte", {0}, "cut off within its header");
        badImages("half a header", withoutLast(idx(0x803, {20, 2, 3}, {}), 1), "cut off within its header");
        badImages("a picture", png, "it begins with 0x89504e47 instead of 0x00000803");
        badImages("floats", idx(0xD03, {20, 2, 3}, Bytes(480)), "it begins with 0x00000d03");
        badImages("labels as images", labels, "holds labels (magic 0x00000801), not images");
        badLabels("images as labels", images, "holds images (magic 0x00000803), not labels");
        badImages("no image", idx(0x803, {0, 2, 3}, {}), "holds nothing: its header says 0 x 2 x 3");
        badImages("no row", idx(0x803, {20, 0, 3}, {}), "holds nothing");
        badImages("no values", idx(0x803, {20, 2, 3}, {}), "is cut off: its header says 20 x 2 x 3");
        badImages("one value short", withoutLast(images, 1),
            "is cut off: its header says 20 x 2 x 3 values, but it can "
            "hold at most 119");
        badImages("one value long", joined(images, {0}), "is longer than the 120 values");
        badImages("largest header", idx(0x803, {~0U, ~0U, ~0U}, Bytes(100)),
            "says in its header that it holds 4294967295 x 4294967295 x 4294967295 values");
        // 2^32 * 2^32 wraps to 0, and so does 2^31 * 2^31 * 4.
        badImages(
            "wrapping header", idx(0x803, {0x80000000U, 0x80000000U, 4}, Bytes(100)), "at most 268435456 are read");
        badImages("huge header", idx(0x803, {342'392, 28, 28}, Bytes(100)), "is cut off");
        badLabels("huge labels", idx(0x801, {~0U}, Bytes(100)), "says in its header that it holds 4294967295 values");
        badLabels("fewer labels", labelBytes(19), "holds 19 labels");
        badImages("fewer images", imageBytes(1), "holds 1 images but");
        badLabels("a label of 10", idx(0x801, {20}, joined(Bytes(19), {10})), "label 19 is 10; it must be from 0 to 9");

        badImages("gz: nothing in it", gzip({}), "cut off within its header");
        badImages("gz: header only", gzip(idx(0x803, {20, 2, 3}, {})), "is cut off");
        badImages("gz: a value short", gzip(withoutLast(images, 1)), "is cut off: 119 of 120 values are there");
        badImages("gz: a value long", gzip(joined(images, {0})), "is longer than the 120 values");
        badImages("gz: of a gz", gzip(gzip(images)), "it begins with 0x1f8b");
        badImages("gz: labels as images", gzip(labels), "holds labels");
        badImages("gz: more than it could unpack to", gzip(idx(0x803, {60'000, 28, 28}, {})), "is cut off: its header");
        badImages("gz: cut", withoutLast(gzip(images), 12), "is cut off: its compressed data ends too early");
        badImages("gz: checksum cut", withoutLast(gzip(images), 8), "is cut off: its compressed data ends too early");
        Bytes wrongChecksum = gzip(images);
        wrongChecksum[wrongChecksum.size() - 8] ^= 1;
        badImages("gz: wrong checksum", wrongChecksum, "is damaged (");
        badImages("gz: header, then noise", joined(withoutLast(gzip({}), 10), randomBytes(200)), "is damaged (");
    }

    void brokenFilesAreRefusedByName()
    {
        QFETCH(const Bytes, images);
        QFETCH(const Bytes, labels);
        QFETCH(const QString, file);
        QFETCH(const QString, found);
        m_folder.write(imagesFile, images);
        m_folder.write(labelsFile, labels);
        const QString message = refusalOfFolder();
        QVERIFY2(message.contains(file), qPrintable(message));
        QVERIFY2(message.contains(found), qPrintable(message));
    }

    void anyCutOrFlippedBitIsFoundOrHarmless()
    {
        const Bytes plain = imageBytes(20);
        const IdxArray whole = parseIdx(plain, IdxContents::Images, "whole");
        const QString path = m_folder.path("file");
        for (const Bytes& good : {plain, gzip(plain)}) {
            for (std::size_t size = 0; size < good.size(); ++size) {
                m_folder.write("file", Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
                QVERIFY2(refusalOfFile(path, IdxContents::Images).contains(path), qPrintable(QString::number(size)));
            }
        }
        // In the plain form a flipped value is another value; the gzip form has a checksum over everything but a few
        // header bytes (time, system, hints).
        const Bytes packed = gzip(plain);
        for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
            Bytes flipped = packed;
            flipped[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
            m_folder.write("file", flipped);
            if (const QString message = refusalOfFile(path, IdxContents::Images); message.isEmpty()) {
                QCOMPARE(readIdxFile(path.toStdString(), IdxContents::Images).values, whole.values);
            } else {
                QVERIFY2(message.contains(path), qPrintable(message));
            }
        }
    }

    void randomHeadersNeverCrash()
    {
        const Philox random(1, randomStream(RandomPurpose::Data, "headers"));
        for (std::uint64_t i = 0; i < 3000; ++i) {
            const auto numbers = random(i);
            const auto dim = [](std::uint32_t bits) { return bits >> (bits % 32); };
            const Bytes bytes = idx(0x803, {dim(numbers[0]), dim(numbers[1]), dim(numbers[2])}, Bytes(numbers[3] % 64));
            try {
                const IdxArray array = parseIdx(bytes, IdxContents::Images, "random");
                QCOMPARE(array.values.size() + 16, bytes.size());
            } catch (const Error& error) {
                QCOMPARE(error.code(), ErrorCode::InvalidArgument);
            }
        }
    }

    void aHeaderThatAsksForMuchGetsNoMemory()
    {
        // Noise does not compress, so the packed file is large enough for its claim of 256 Mi values to be possible.
        m_folder.write("file.gz", gzip(idx(0x803, {1U << 14U, 1U << 7U, 1U << 7U}, randomBytes(400'000))));
        const long before = peakMemoryKiB();
        QVERIFY(refusalOfFile(m_folder.path("file.gz"), IdxContents::Images)
                    .contains("is cut off: 400000 of 268435456 values are there"));
        QVERIFY2(peakMemoryKiB() - before < 32 * 1024, qPrintable(QString::number(peakMemoryKiB() - before)));
    }

    void whatIsNoFileIsRefused()
    {
        QVERIFY(refusalOfFolder().contains("holds no train-labels-idx1-ubyte (plain or .gz)"));
        m_folder.write(labelsFile, labelBytes(20));
        QVERIFY(refusalOfFolder().contains("holds no train-images-idx3-ubyte (plain or .gz)"));
        QVERIFY(refusal(m_folder.settings("mnist", labelsFile)).contains("is not a folder"));
        QVERIFY(QDir(m_folder.path()).mkdir(imagesFile));
        QVERIFY(refusalOfFolder().contains("train-images-idx3-ubyte is not a file"));
        QVERIFY(QDir(m_folder.path()).rmdir(imagesFile));
        // Opening a pipe that nobody writes to would wait for ever.
        QCOMPARE(mkfifo(m_folder.path(imagesFile).toUtf8().constData(), 0600), 0);
        QVERIFY(refusalOfFolder().contains("train-images-idx3-ubyte is not a file"));
    }
};

QTEST_APPLESS_MAIN(TestIdxFiles)
#include "tst_idx_files.moc"
