#include "ui/models/run_archive.h"

#include "engine/core/error.h"
#include "engine/store/run_export.h"

#include <QMetaObject>

#include <fstream>
#include <system_error>
#include <utility>

namespace mantissa {

namespace {

/// What went wrong in `work`, in words; empty if nothing did.
template <typename Work> QString complaintOf(Work&& work)
{
    try {
        work();
        return {};
    } catch (const std::exception& exception) {
        return QString::fromUtf8(exception.what());
    }
}

std::vector<RunInfo> readRuns(const std::filesystem::path& database)
{
    std::error_code error;
    if (!std::filesystem::exists(database, error)) {
        return {};
    }
    return RunStore(database, StoreAccess::ReadOnly).runs();
}

/// A file that could not be written whole must not replace the one that was there.
void exportTo(const std::filesystem::path& database, const QList<RunId>& runs, const std::filesystem::path& file,
    RunArchive::Format format)
{
    const RunStore store(database, StoreAccess::ReadOnly);
    const std::filesystem::path partial = file.string() + ".part";
    try {
        std::ofstream out(partial, std::ios::binary);
        const std::span<const RunId> ids(runs.constData(), static_cast<std::size_t>(runs.size()));
        if (format == RunArchive::Format::Csv) {
            exportCsv(out, store, ids);
        } else {
            exportJson(out, store, ids);
        }
        out.close();
        std::filesystem::rename(partial, file);
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove(partial, ignored);
        throw;
    }
}

} // namespace

RunArchive::RunArchive(std::filesystem::path database, QObject* parent)
    : QObject(parent)
    , m_database(std::move(database))
{
    m_pool.setMaxThreadCount(1);
}

RunArchive::~RunArchive()
{
    m_pool.waitForDone();
}

void RunArchive::reload()
{
    // A list that is being read may not hold yet what was written just before this was asked for.
    m_isWantedAgain = m_isLoading;
    if (!m_isLoading) {
        m_isLoading = true;
        m_read = stamp();
        load(m_version);
    }
}

void RunArchive::reloadIfChanged()
{
    if (!m_isLoading && stamp() != m_read) {
        reload();
    }
}

RunArchive::Stamp RunArchive::stamp() const
{
    Stamp stamp {};
    for (std::size_t i = 0; i < stamp.size(); ++i) {
        const std::filesystem::path file = m_database.string() + (i == 0 ? "" : "-wal");
        std::error_code missing;
        stamp[i].first = std::filesystem::last_write_time(file, missing);
        stamp[i].second = missing ? 0 : std::filesystem::file_size(file, missing);
    }
    return stamp;
}

void RunArchive::load(quint64 version)
{
    m_pool.start([this, version] {
        Runs runs;
        const QString why
            = complaintOf([&] { runs = std::make_shared<const std::vector<RunInfo>>(readRuns(m_database)); });
        QMetaObject::invokeMethod(
            this,
            [this, version, runs, why] {
                if (version != m_version) {
                    load(m_version);
                    return;
                }
                m_isLoading = false;
                if (m_isWantedAgain) {
                    reload();
                }
                if (runs) {
                    emit loaded(runs);
                } else {
                    m_read = {}; // so that it is tried again
                    emit loadFailed(why);
                }
            },
            Qt::QueuedConnection);
    });
}

template <typename Work> void RunArchive::write(Work work)
{
    ++m_version;
    m_pool.start([this, work = std::move(work)] {
        const QString why = complaintOf([&] {
            RunStore store(m_database);
            work(store);
        });
        if (!why.isEmpty()) {
            QMetaObject::invokeMethod(
                this, [this, why] { emit failed(why); }, Qt::QueuedConnection);
        }
    });
    reload();
}

void RunArchive::setTags(RunId run, const QStringList& tags)
{
    std::vector<std::string> texts;
    for (const QString& tag : tags) {
        texts.push_back(tag.toStdString());
    }
    write([run, texts](RunStore& store) { store.setTags(run, texts); });
}

void RunArchive::setNote(RunId run, const QString& note)
{
    write([run, text = note.toStdString()](RunStore& store) { store.setNote(run, text); });
}

void RunArchive::remove(const QList<RunId>& runs)
{
    write([runs](RunStore& store) {
        store.markDeleted(std::span(runs.constData(), static_cast<std::size_t>(runs.size())));
    });
}

void RunArchive::restore(const QList<RunId>& runs)
{
    write(
        [runs](RunStore& store) { store.restore(std::span(runs.constData(), static_cast<std::size_t>(runs.size()))); });
}

void RunArchive::exportRuns(const QList<RunId>& runs, const QString& file, Format format)
{
    m_pool.start([this, runs, file, format] {
        const QString why = complaintOf([&] { exportTo(m_database, runs, file.toStdString(), format); });
        QMetaObject::invokeMethod(
            this,
            [this, why, file] {
                if (why.isEmpty()) {
                    emit exported(file);
                } else {
                    emit failed(why);
                }
            },
            Qt::QueuedConnection);
    });
}

} // namespace mantissa
