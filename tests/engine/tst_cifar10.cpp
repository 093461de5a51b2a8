// CIFAR-10's binary version: good folders come back exactly, broken ones are refused by name.
#include "data_files.h"
#include "engine/core/philox.h"

#include <algorithm>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr std::size_t recordBytes = 3073;

/// Red, green and blue of a pixel tell image, place and colour apart.
unsigned char pixelOf(std::size_t image, std::size_t channel, std::size_t place)
{
    return static_cast<unsigned char>(image * 7 + channel * 85 + place);
}

Bytes records(std::size_t count, std::size_t first = 0)
{
    Bytes bytes;
    for (std::size_t image = first; image < first + count; ++image) {
        bytes.push_back(static_cast<unsigned char>(image % 10));
        for (std::size_t channel = 0; channel < 3; ++channel) {
            for (std::size_t place = 0; place < 1024; ++place) {
                bytes.push_back(pixelOf(image, channel, place));
            }
        }
    }
    return bytes;
}

} // namespace

class TestCifar10 : public QObject
{
    Q_OBJECT

    DataFolder m_folder;

private slots:

    void init() { m_folder.clear(); }

    void goodFoldersComeBackExactly_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<bool>("compressed");
        QTest::newRow("plain") << "" << false;
        QTest::newRow("gz") << "" << true;
        QTest::newRow("the folder above") << "cifar-10-batches-bin/" << false;
    }

    void goodFoldersComeBackExactly()
    {
        QFETCH(const QString, folder);
        QFETCH(const bool, compressed);
        QVERIFY(QDir().mkpath(m_folder.path(folder)));
        const QString ending = compressed ? ".bin.gz" : ".bin";
        // Files 2 and 4 are missing; that for testing is never read.
        m_folder.write(folder + "data_batch_5" + ending, compressed ? gzip(records(2, 5)) : records(2, 5));
        m_folder.write(folder + "data_batch_1" + ending, compressed ? gzip(records(3)) : records(3));
        m_folder.write(folder + "data_batch_3" + ending, compressed ? gzip(records(2, 3)) : records(2, 3));
        m_folder.write(folder + "test_batch.bin", bytesOf("not read"));

        const Dataset dataset = loadDataset(m_folder.settings("cifar10"), 1, ".");
        QCOMPARE(dataset.samples, std::int64_t {7});
        QCOMPARE(dataset.sampleShape, (Shape {32, 32, 3}));
        QCOMPARE(dataset.classes, std::int64_t {10});
        QCOMPARE(dataset.classNames[9], std::string("truck"));
        QCOMPARE(dataset.train.size() + dataset.validation.size(), std::size_t {7});
        QCOMPARE(dataset.labels, (std::vector<std::int32_t> {0, 1, 2, 3, 4, 5, 6}));
        std::vector<float> inputs(7 * 3072);
        gatherInputs(dataset, std::vector<std::uint32_t> {0, 1, 2, 3, 4, 5, 6}, inputs);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const unsigned char expected = pixelOf(i / 3072, i % 3, i % 3072 / 3);
            QCOMPARE(inputs[i], static_cast<float>(expected) / 255.0F);
        }
    }

    void brokenFilesAreRefusedByName_data()
    {
        QTest::addColumn<Bytes>("bytes");
        QTest::addColumn<QString>("found");
        const auto cut = [](Bytes bytes, std::size_t size) {
            bytes.resize(size);
            return bytes;
        };
        Bytes badLabel = records(3);
        badLabel[2 * recordBytes] = 10;
        QTest::newRow("empty") << Bytes {} << "is empty";
        QTest::newRow("one byte") << Bytes {3} << "holds 1 bytes, which are not records of 3073";
        QTest::newRow("a byte short") << cut(records(2), 2 * recordBytes - 1) << "holds 6145 bytes";
        QTest::newRow("a byte long") << cut(records(2), 2 * recordBytes + 1) << "holds 6147 bytes";
        QTest::newRow("a label of 10") << badLabel << "gives image 2 the label 10; it must be from 0 to 9";
        QTest::newRow("CIFAR-100") << Bytes(2 * 3074, 1) << "holds 6148 bytes";
        QTest::newRow("gz: nothing in it") << gzip({}) << "holds 0 bytes";
        QTest::newRow("gz: cut") << cut(gzip(records(3)), 100) << "is cut off";
        QTest::newRow("too many images") << gzip(Bytes(10'001 * recordBytes)) << "holds more than 10000 images";
    }

    void brokenFilesAreRefusedByName()
    {
        QFETCH(const Bytes, bytes);
        QFETCH(const QString, found);
        m_folder.write("data_batch_1.bin", records(2));
        m_folder.write("data_batch_2.bin", bytes);
        const QString message = refusal(m_folder.settings("cifar10"));
        QVERIFY2(message.contains("data_batch_2.bin"), qPrintable(message));
        QVERIFY2(message.contains(found), qPrintable(message));
    }

    void foldersWithoutFilesAreRefused()
    {
        const QString nothing = refusal(m_folder.settings("cifar10"));
        QVERIFY2(nothing.contains("holds none of data_batch_1.bin to data_batch_5.bin"), qPrintable(nothing));
        m_folder.write("data_batch_1", bytesOf("pickle"));
        QVERIFY(refusal(m_folder.settings("cifar10")).contains("the Python version, fetch the binary one"));
        QVERIFY(refusal(m_folder.settings("cifar10", "data_batch_1")).contains("is not a folder"));
        QVERIFY(QDir(m_folder.path()).mkdir("data_batch_1.bin"));
        QVERIFY(refusal(m_folder.settings("cifar10")).contains("data_batch_1.bin is not a file"));
    }

    void randomBytesNeverCrash()
    {
        const Philox random(1, randomStream(RandomPurpose::Data, "cifar"));
        for (std::uint64_t i = 0; i < 500; ++i) {
            Bytes bytes(random(i)[0] % (3 * recordBytes) + 1);
            for (std::size_t j = 0; j < bytes.size(); ++j) {
                bytes[j] = static_cast<unsigned char>(random(i << 32U | j)[1]);
            }
            bytes[0] &= 7U;
            m_folder.write("data_batch_1.bin", bytes);
            const QString message = refusal(m_folder.settings("cifar10"));
            QVERIFY(message.isEmpty() ? bytes.size() % recordBytes == 0 : message.contains("data_batch_1.bin"));
        }
    }
};

QTEST_APPLESS_MAIN(TestCifar10)
#include "tst_cifar10.moc"
