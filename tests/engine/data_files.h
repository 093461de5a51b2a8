/// Files of data for tests: a folder of their own, and what loading says.
#pragma once

#include "engine/core/error.h"
#include "engine/data/dataset.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

namespace mantissa::test {

using Bytes = std::vector<unsigned char>;

inline Bytes bytesOf(std::string_view text)
{
    return {text.begin(), text.end()};
}

inline Bytes gzip(const Bytes& plain)
{
    z_stream stream {};
    constexpr int gzipWrapper = 15 + 16;
    if (deflateInit2(&stream, 6, Z_DEFLATED, gzipWrapper, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return {};
    }
    Bytes packed(deflateBound(&stream, static_cast<uLong>(plain.size())) + 32);
    stream.next_in = const_cast<unsigned char*>(plain.data());
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = packed.data();
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

/// Packed files one after another are one packed file.
inline Bytes repeated(const Bytes& packed, int times)
{
    Bytes all;
    for (int i = 0; i < times; ++i) {
        all.insert(all.end(), packed.begin(), packed.end());
    }
    return all;
}

class DataFolder
{
public:
    [[nodiscard]] QString path(const QString& name = {}) const { return m_folder.filePath(name); }

    [[nodiscard]] DataConfig settings(const char* kind, const QString& name = {}) const
    {
        DataConfig result;
        result.kind = std::string(kind);
        result.path = path(name).toStdString();
        return result;
    }

    void write(const QString& name, const Bytes& bytes) const
    {
        QFile file(path(name));
        file.remove(); // some file systems wait for the disk when a file is overwritten
        const auto size = static_cast<qint64>(bytes.size());
        if (!file.open(QIODevice::WriteOnly) || file.write(reinterpret_cast<const char*>(bytes.data()), size) != size) {
            qFatal("cannot write a test's file");
        }
    }

    void clear() const
    {
        QDir folder(m_folder.path());
        for (const QString& name : folder.entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot)) {
            const QString entry = folder.filePath(name);
            QVERIFY(QFileInfo(entry).isDir() ? QDir(entry).removeRecursively() : folder.remove(name));
        }
    }

private:
    QTemporaryDir m_folder;
};

/// The message of the Error that loading gives; empty if there was none.
inline QString refusal(const DataConfig& settings)
{
    try {
        loadDataset(settings, 1, ".");
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

} // namespace mantissa::test
