/// Reads checkpoints on other threads: which there are, whether they are good, and the one that is wanted. Files may be
/// large; whoever destroys a reader does not wait for it.
#pragma once

#include "engine/store/run_store.h"
#include "engine/train/resume_changes.h"
#include "engine/train/session.h"

#include <QObject>
#include <QString>

#include <atomic>
#include <filesystem>
#include <memory>

namespace mantissa {

struct FoundCheckpoint
{
    std::filesystem::path file;
    double unixSeconds = 0; ///< when it was written
    std::shared_ptr<const Checkpoint> summary {}; ///< without its tensors; null if the file is of no use
    QString problem {}; ///< then: why
};

class CheckpointReader : public QObject
{
    Q_OBJECT
public:
    explicit CheckpointReader(QObject* parent = nullptr);
    ~CheckpointReader() override; ///< nothing is sent from then on

    /// found() for each checkpoint of the run, newest first, then listed() or failed().
    void listRun(const std::filesystem::path& database, RunId run);
    void listFile(const std::filesystem::path& file);
    /// Answered by loaded() or failed().
    void load(const std::filesystem::path& file, const ResumeChanges& changes);

signals:
    void found(const mantissa::FoundCheckpoint& checkpoint);
    void listed();
    void loaded(const mantissa::ResumedLane& lane);
    void failed(const QString& why);

private:
    template <typename Work> void start(Work work);

    std::shared_ptr<std::atomic<bool>> m_isCancelled;
};

} // namespace mantissa
