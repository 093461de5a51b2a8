// Files of named tensors: what is written comes back, other writers' files are read, and bad ones are refused by name.
#include "engine/core/error.h"
#include "engine/tensor/safetensors.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <bit>
#include <cstring>
#include <span>
#include <string>

using namespace mantissa;

namespace {

QString complaint(const std::filesystem::path& file)
{
    try {
        readSafetensors(file);
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

std::string lengthOf(std::uint64_t bytes)
{
    std::string text(8, '\0');
    std::memcpy(text.data(), &bytes, text.size());
    return text;
}

std::string fileOf(const std::string& header, const std::string& data)
{
    return lengthOf(header.size()) + header + data;
}

std::vector<std::byte> bytesOf(const std::string& text)
{
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

} // namespace

class TestSafetensors : public QObject
{
    Q_OBJECT

private slots:

    /// A link stays one, and what is no file is not replaced.
    void onlyFilesAreReplaced()
    {
        const QTemporaryDir folder;
        const std::filesystem::path home = folder.path().toStdString();
        Safetensors contents;
        contents.tensors.push_back({"w", "F32", Shape {1}, std::vector<std::byte>(4)});
        writeSafetensors(home / "real.safetensors", contents);
        std::filesystem::create_symlink(home / "real.safetensors", home / "link.safetensors");
        contents.tensors.front().name = std::string("v");
        writeSafetensors(home / "link.safetensors", contents);
        QVERIFY(std::filesystem::is_symlink(home / "link.safetensors"));
        QCOMPARE(readSafetensors(home / "real.safetensors").tensors.front().name, std::string("v"));
        std::filesystem::create_directory(home / "folder");
        QVERIFY_THROWS_EXCEPTION(Error, writeSafetensors(home / "folder", contents));
        QVERIFY_THROWS_EXCEPTION(Error, writeSafetensors("/dev/null", contents));
        QVERIFY(!std::filesystem::is_regular_file("/dev/null"));
    }

    void writtenFilesComeBack()
    {
        Safetensors contents;
        contents.metadata = {{"format", "pt"}, {"note", "quotes \" and \xC3\xA9"}};
        contents.tensors = {{"fc1.weight", "F32", Shape {2, 1}, bytesOf("12345678")},
            {"fc1.bias", "BF16", Shape {3}, bytesOf("abcdef")}, {"step", "F32", Shape {}, bytesOf("0000")},
            {"empty", "F16", Shape {0, 7}, {}}};
        writeSafetensors(path("a.safetensors"), contents);
        const Safetensors back = readSafetensors(path("a.safetensors"));
        QCOMPARE(back.metadata, contents.metadata);
        QCOMPARE(back.tensors.size(), contents.tensors.size());
        for (const StoredTensor& tensor : contents.tensors) {
            const StoredTensor* found = back.find(tensor.name);
            QVERIFY(found != nullptr);
            QVERIFY(found->bytes == tensor.bytes && found->shape == tensor.shape && found->dtype == tensor.dtype);
        }
        QVERIFY(back.find("fc1.bias")->type() == DType::BFloat16);
        QVERIFY(back.find("fc2.bias") == nullptr);
        // The data is aligned to eight bytes, as readers that map the file need it.
        QFile file(m_folder.filePath("a.safetensors"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        std::uint64_t length = 0;
        std::memcpy(&length, file.read(8).constData(), 8);
        QCOMPARE(length % 8, std::uint64_t {0});
        QVERIFY(!QFile::exists(m_folder.filePath("a.safetensors.partial")));
    }

    /// As Hugging Face's own writer lays it out: keys in any order, types that Mantissa does not compute with.
    void filesOfOtherWritersAreRead()
    {
        const std::string header = R"({"n":{"shape":[],"data_offsets":[0,8],"dtype":"I64"},)"
                                   R"("w":{"dtype":"F16","shape":[1,2],"data_offsets":[8,12]}}   )";
        write("other.safetensors", fileOf(header, "ABCDEFGHabcd"));
        const Safetensors back = readSafetensors(path("other.safetensors"));
        QVERIFY(!back.find("n")->type());
        QVERIFY(back.find("w")->bytes == bytesOf("abcd"));
        QVERIFY(back.metadata.empty());
    }

    void badFilesAreRefused_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* name, const std::string& bytes, const QString& reason) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << reason;
        };
        const auto entry = [](const std::string& description, const std::string& data) {
            return fileOf("{\"w\":" + description + "}", data);
        };
        const std::string good = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
        row("empty", "", "is too short");
        row("three bytes", "abc", "is too short");
        row("huge header", lengthOf(~std::uint64_t {0}) + "{}", "18446744073709551615 bytes, but only 2 follow");
        row("header beyond the file", lengthOf(100) + "{}", "100 bytes, but only 2 follow");
        row("text", "this is a text file, not tensors", "is cut off, or no safetensors file");
        row("empty header", lengthOf(0), "does not begin with");
        row("a list", fileOf("[1]", ""), "does not begin with");
        row("broken JSON", fileOf("{\"w\":", ""), "header:1:");
        row("a name twice", fileOf("{\"w\":" + good + ",\"w\":" + good + "}", "1234"), "w");
        row("deep", fileOf(std::string(5000, '{'), ""), "header");
        row("metadata number", fileOf(R"({"__metadata__":{"a":1}})", ""), "\"a\" is 1; it must be a text");
        row("no offsets", entry(R"({"dtype":"F32","shape":[1]})", "1234"), "lacks dtype, shape or data_offsets");
        row("unknown dtype", entry(R"({"dtype":"F31","shape":[1],"data_offsets":[0,4]})", "1234"),
            "unknown dtype \"F31\"");
        row("negative size", entry(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", "1234"),
            "shape of the tensor");
        row("overflowing size",
            entry(R"({"dtype":"F32","shape":[4611686018427387905,4611686018427387904],"data_offsets":[0,4]})", "1234"),
            "does not take the 4 bytes");
        row("wrong size", entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", "1234"),
            "does not take the 4 bytes");
        row("backward", entry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", "1234"),
            "data_offsets of the tensor");
        row("fraction", entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4.5]})", "1234"),
            "data_offsets of the tensor");
        row("cut off", entry(good, "12"), "ends at byte 4 of the data, but there are only 2");
        row("gap before", entry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", "12345678"), "leaves a gap");
        row("rest", entry(good, "12345"), "1 bytes at its end belong to no tensor");
        row("overlap",
            fileOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                   R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                "12345678"),
            "overlaps another");
    }

    void badFilesAreRefused()
    {
        QFETCH(const QByteArray, bytes);
        QFETCH(const QString, reason);
        write("bad.safetensors", bytes.toStdString());
        const QString text = complaint(path("bad.safetensors"));
        QVERIFY2(text.contains("bad.safetensors"), qPrintable(text));
        QVERIFY2(text.contains(reason), qPrintable(text));
    }

    void whatCannotBeReadOrWrittenSaysWhy()
    {
        QVERIFY(complaint(path("absent.safetensors")).contains("cannot be read"));
        QVERIFY(complaint(m_folder.path().toStdString()).contains("cannot be read"));
        try {
            writeSafetensors("/proc/none/a.safetensors", {});
            QFAIL("no error");
        } catch (const Error& error) {
            QCOMPARE(error.code(), ErrorCode::Io);
        }
        Safetensors twice;
        twice.tensors = {{"w", "U8", Shape {1}, bytesOf("1")}, {"w", "U8", Shape {1}, bytesOf("2")}};
        QVERIFY_EXCEPTION_THROWN(writeSafetensors(path("twice.safetensors"), twice), Error);
        QVERIFY(!QFile::exists(m_folder.filePath("twice.safetensors")));
    }

    /// /dev/full takes no byte: the old file stays as it was.
    void aFullDiskLeavesTheOldFile()
    {
        write("kept.safetensors", fileOf("{}", ""));
        QVERIFY(QFile::link("/dev/full", m_folder.filePath("kept.safetensors.partial")));
        Safetensors contents;
        contents.tensors = {{"w", "U8", Shape {1}, bytesOf("1")}};
        QVERIFY_EXCEPTION_THROWN(writeSafetensors(path("kept.safetensors"), contents), Error);
        QVERIFY(readSafetensors(path("kept.safetensors")).tensors.empty());
    }

private:
    [[nodiscard]] std::filesystem::path path(const char* name) const
    {
        return m_folder.filePath(QString::fromUtf8(name)).toStdString();
    }

    void write(const char* name, const std::string& bytes) const
    {
        QFile file(m_folder.filePath(QString::fromUtf8(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(bytes));
    }

    QTemporaryDir m_folder;
};

QTEST_APPLESS_MAIN(TestSafetensors)
#include "tst_safetensors.moc"
