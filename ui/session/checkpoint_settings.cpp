#include "ui/session/checkpoint_settings.h"

#include "engine/train/checkpoint_folder.h"
#include "ui/session/app_paths.h"

#include <QRegularExpression>

#include <algorithm>
#include <system_error>
#include <vector>

namespace mantissa {

namespace {

namespace fs = std::filesystem;

const QString onKey = QStringLiteral("checkpoints/on");
const QString stepsKey = QStringLiteral("checkpoints/every_steps");
const QString secondsKey = QStringLiteral("checkpoints/every_seconds");
const QString keptKey = QStringLiteral("checkpoints/kept");
const QString gibKey = QStringLiteral("checkpoints/most_gib");
const QString extension = QStringLiteral(".safetensors");

/// As sessionFolderName() gives them.
bool isSessionFolder(const fs::directory_entry& entry)
{
    static const QRegularExpression begin(QStringLiteral("^\\d{4}-\\d\\d-\\d\\d_\\d\\d-\\d\\d-\\d\\d-\\d{3}_"));
    std::error_code error;
    return entry.is_directory(error) && !entry.is_symlink(error)
        && begin.match(QString::fromStdString(entry.path().filename().string())).hasMatch();
}

std::vector<fs::path> entriesOf(const fs::path& folder)
{
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        entries.push_back(entry->path());
    }
    return entries;
}

std::vector<fs::path> checkpointsIn(const fs::path& session)
{
    std::vector<fs::path> files;
    for (const fs::path& lane : entriesOf(session)) {
        for (const fs::path& file : entriesOf(lane)) {
            if (file.extension().string() == extension.toStdString()) {
                files.push_back(file);
            }
        }
    }
    return files;
}

/// What else lies in the folders stays, and they with it.
void removeSession(const fs::path& session)
{
    std::error_code ignored;
    for (const fs::path& file : checkpointsIn(session)) {
        fs::remove(file, ignored);
        fs::remove(file.parent_path(), ignored);
    }
    fs::remove(session, ignored);
}

} // namespace

CheckpointSettings readCheckpointSettings()
{
    const auto stored = openSettings();
    const CheckpointSettings usual;
    CheckpointSettings settings;
    settings.isOn = stored->value(onKey, usual.isOn).toBool();
    settings.everySteps = std::max<qint64>(0, stored->value(stepsKey, qint64 {usual.everySteps}).toLongLong());
    settings.everySeconds = std::max(0.0, stored->value(secondsKey, usual.everySeconds).toDouble());
    settings.kept = std::max<qint64>(1, stored->value(keptKey, qint64 {usual.kept}).toLongLong());
    settings.mostGib = std::max(0.0, stored->value(gibKey, usual.mostGib).toDouble());
    return settings;
}

void writeCheckpointSettings(const CheckpointSettings& settings)
{
    const auto stored = openSettings();
    stored->setValue(onKey, settings.isOn);
    stored->setValue(stepsKey, qint64 {settings.everySteps});
    stored->setValue(secondsKey, settings.everySeconds);
    stored->setValue(keptKey, qint64 {settings.kept});
    stored->setValue(gibKey, settings.mostGib);
}

CheckpointPlan checkpointPlan(
    const CheckpointSettings& settings, const std::filesystem::path& database, const std::string& experiment)
{
    if (!settings.isOn || database.empty()) {
        return {};
    }
    return {.folder = checkpointsFolder(database) / sessionFolderName(experiment),
        .everySteps = settings.everySteps,
        .everySeconds = settings.everySeconds,
        .kept = settings.kept};
}

void removeOldCheckpoints(const std::filesystem::path& folder, std::uintmax_t mostBytes)
{
    std::vector<fs::path> sessions = entriesOf(folder);
    std::erase_if(sessions, [](const fs::path& path) { return !isSessionFolder(fs::directory_entry(path)); });
    std::ranges::sort(sessions, std::ranges::greater());
    std::uintmax_t bytes = 0;
    for (const fs::path& session : sessions) {
        for (const fs::path& file : checkpointsIn(session)) {
            std::error_code error;
            const std::uintmax_t size = fs::file_size(file, error);
            bytes += error ? 0 : size;
        }
        if (bytes > mostBytes && session != sessions.front()) {
            removeSession(session);
        }
    }
}

} // namespace mantissa
