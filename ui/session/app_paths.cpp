#include "ui/session/app_paths.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include <algorithm>

namespace mantissa {

namespace {

constexpr qsizetype mostRecent = 10;
const QString recentKey = QStringLiteral("recent/experiments");

QString stateFolder()
{
    // The base directory specification has relative paths ignored.
    const QString given = qEnvironmentVariable("XDG_STATE_HOME");
    return QDir::isAbsolutePath(given) ? given : QDir::homePath() + QStringLiteral("/.local/state");
}

} // namespace

std::unique_ptr<QSettings> openSettings()
{
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation);
    return std::make_unique<QSettings>(folder + QStringLiteral("/mantissa/mantissa.ini"), QSettings::IniFormat);
}

std::unique_ptr<QSettings> openState()
{
    return std::make_unique<QSettings>(stateFolder() + QStringLiteral("/mantissa/window.ini"), QSettings::IniFormat);
}

Language storedLanguage()
{
    const QString code = openSettings()->value(QStringLiteral("language")).toString();
    return languageFromCode(code).value_or(Language::System);
}

QStringList recentExperiments()
{
    QStringList files = openState()->value(recentKey).toStringList();
    files.removeIf([](const QString& file) { return !QFileInfo::exists(file); });
    return files;
}

void addRecentExperiment(const QString& file)
{
    const QString path = QFileInfo(file).absoluteFilePath();
    QStringList files = recentExperiments();
    files.removeAll(path);
    files.prepend(path);
    files = files.mid(0, mostRecent);
    openState()->setValue(recentKey, files);
}

} // namespace mantissa
