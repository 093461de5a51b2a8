#include "ui/session/checkpoint_reader.h"

#include "engine/core/clock.h"
#include "engine/store/run_checkpoints.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <chrono>
#include <functional>
#include <system_error>
#include <utility>

namespace mantissa {

namespace {

/// What goes wrong with a file is its entry's story, not the list's.
FoundCheckpoint lookAt(const WrittenCheckpoint& written)
{
    FoundCheckpoint found {.file = written.file, .unixSeconds = written.unixSeconds};
    try {
        Checkpoint checkpoint = readCheckpoint(written.file);
        checkpoint.state.tensors.clear();
        found.summary = std::make_shared<const Checkpoint>(std::move(checkpoint));
    } catch (const std::exception& error) {
        found.problem = QString::fromUtf8(error.what());
    }
    return found;
}

/// As the file system says.
double writtenAt(const std::filesystem::path& file)
{
    std::error_code error;
    const auto time = std::filesystem::last_write_time(file, error);
    const auto age = std::filesystem::file_time_type::clock::now() - time;
    return error ? 0 : unixSeconds() - std::chrono::duration<double>(age).count();
}

} // namespace

CheckpointReader::CheckpointReader(QObject* parent)
    : QObject(parent)
    , m_isCancelled(std::make_shared<std::atomic<bool>>(false))
{
}

CheckpointReader::~CheckpointReader()
{
    m_isCancelled->store(true);
}

/// Runs `work`, which may throw, on another thread; what it hands to its argument is called on this one as long as
/// there is a reader.
template <typename Work> void CheckpointReader::start(Work work)
{
    QThreadPool::globalInstance()->start(
        [reader = QPointer<CheckpointReader>(this), isCancelled = m_isCancelled, work = std::move(work)] {
            const auto deliver = [&reader](std::function<void(CheckpointReader*)> message) {
                QMetaObject::invokeMethod(qApp, [reader, message = std::move(message)] {
                    if (!reader.isNull()) {
                        message(reader);
                    }
                });
            };
            try {
                work(deliver, *isCancelled);
            } catch (const std::exception& error) {
                deliver([why = QString::fromUtf8(error.what())](CheckpointReader* to) { emit to->failed(why); });
            }
        });
}

void CheckpointReader::listRun(const std::filesystem::path& database, RunId run)
{
    start([database, run](const auto& deliver, const std::atomic<bool>& isCancelled) {
        const std::vector<WrittenCheckpoint> all = checkpointsOf(RunStore(database, StoreAccess::ReadOnly), run);
        for (const WrittenCheckpoint& written : all) {
            if (isCancelled) {
                return;
            }
            deliver([found = lookAt(written)](CheckpointReader* to) { emit to->found(found); });
        }
        deliver([](CheckpointReader* to) { emit to->listed(); });
    });
}

void CheckpointReader::listFile(const std::filesystem::path& file)
{
    start([file](const auto& deliver, const std::atomic<bool>&) {
        deliver([found = lookAt({.file = file, .unixSeconds = writtenAt(file)})](
                    CheckpointReader* to) { emit to->found(found); });
        deliver([](CheckpointReader* to) { emit to->listed(); });
    });
}

void CheckpointReader::load(const std::filesystem::path& file, const ResumeChanges& changes)
{
    start([file, changes](const auto& deliver, const std::atomic<bool>&) {
        const ResumedLane lane {std::make_shared<const Checkpoint>(withChanges(readCheckpoint(file), changes)), file};
        deliver([lane](CheckpointReader* to) { emit to->loaded(lane); });
    });
}

} // namespace mantissa
