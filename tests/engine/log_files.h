/// Logs for tests: written, read whole, imported into a database.
#pragma once

#include "engine/import/log_import.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <map>
#include <string>

namespace logtest {

/// A folder with log files and a database.
class Logs
{
public:
    [[nodiscard]] std::filesystem::path path(const QString& name) const
    {
        return m_folder.filePath(name).toStdString();
    }

    std::filesystem::path write(const QString& name, const QByteArray& bytes) const
    {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) {
            qFatal("cannot write a test's file");
        }
        return file.fileName().toStdString();
    }

    static void append(const std::filesystem::path& path, const QByteArray& bytes)
    {
        QFile file(QString::fromStdString(path.string()));
        if (!file.open(QIODevice::Append) || file.write(bytes) != bytes.size()) {
            qFatal("cannot write a test's file");
        }
    }

    [[nodiscard]] std::filesystem::path database() const { return path("runs.db"); }

    /// The runs that came of it, in order.
    [[nodiscard]] std::vector<mantissa::RunId> import(
        const std::filesystem::path& file, const mantissa::LogImportOptions& options = {}) const
    {
        mantissa::RunWriter writer(database());
        mantissa::LogImport log(file, options);
        while (log.readOn()) { }
        log.settle();
        log.write(writer);
        std::vector<mantissa::RunId> ids;
        for (const mantissa::ImportedRun& run : log.runs()) {
            ids.push_back(writer.runOf(run.lane));
        }
        return ids;
    }

private:
    QTemporaryDir m_folder;
};

inline QByteArray contents(const QString& file)
{
    QFile opened(file);
    if (!opened.open(QIODevice::ReadOnly)) {
        qFatal("cannot read %s", qPrintable(file));
    }
    return opened.readAll();
}

/// What an Error says; empty if none was thrown.
template <typename Call> QString complaintOf(Call&& call)
{
    try {
        call();
    } catch (const mantissa::Error& error) {
        return error.what();
    }
    return {};
}

} // namespace logtest
