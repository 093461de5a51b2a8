/// The database of runs as the window uses it: every access happens on a thread of its own, results come as signals on
/// the GUI thread. Requests are carried out in the order they were made.
#pragma once

#include "engine/store/run_store.h"

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QThreadPool>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace mantissa {

class RunArchive : public QObject
{
    Q_OBJECT
public:
    enum class Format { Csv, Json };
    using Runs = std::shared_ptr<const std::vector<RunInfo>>;

    explicit RunArchive(std::filesystem::path database, QObject* parent = nullptr);
    ~RunArchive() override; ///< waits for writes that were asked for

    /// Answered by loaded() or loadFailed() with what the file held when this was called, or later. A file that does
    /// not exist holds no runs.
    void reload();
    /// The same where the file differs from when it was read last: cheap enough to ask every second.
    void reloadIfChanged();

    // Each is followed by a reload, and by failed() if it did not work.
    void setTags(RunId run, const QStringList& tags);
    void setNote(RunId run, const QString& note);
    void remove(const QList<RunId>& runs); ///< hides them; restore() brings them back
    void restore(const QList<RunId>& runs);

    /// Answered by exported() or failed().
    void exportRuns(const QList<RunId>& runs, const QString& file, Format format);

signals:
    void loaded(const mantissa::RunArchive::Runs& runs);
    void loadFailed(const QString& why);
    void exported(const QString& file);
    void failed(const QString& why);

private:
    template <typename Work> void write(Work work);
    void load(quint64 version);

    /// When the database and its write-ahead log were written last, and their sizes.
    using Stamp = std::array<std::pair<std::filesystem::file_time_type, std::uintmax_t>, 2>;
    [[nodiscard]] Stamp stamp() const;

    std::filesystem::path m_database;
    Stamp m_read {};
    quint64 m_version = 0; ///< counts writes, so that a list read before one is not shown after it
    bool m_isLoading = false;
    bool m_isWantedAgain = false;
    QThreadPool m_pool;
};

} // namespace mantissa
