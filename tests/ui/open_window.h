/// The real window with a database of its own, for tests that drive it.
#pragma once

#include "ui/views/main_window.h"

#include <QFile>
#include <QTemporaryDir>

#include <memory>
#include <string>

namespace mantissa::test {

/// Keeps the window's settings, state and data away from the person's own. Once per program.
inline void useOwnHome()
{
    static QTemporaryDir home;
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"}) {
        qputenv(name, home.path().toUtf8());
    }
}

/// 1280x800, shown, its runs in the folder's "runs.db".
inline std::unique_ptr<MainWindow> openWindow(const QTemporaryDir& folder)
{
    MainWindow::Options options;
    options.database = folder.filePath(QStringLiteral("runs.db")).toStdString();
    options.remembersState = false;
    auto window = std::make_unique<MainWindow>(options);
    window->resize(1280, 800);
    window->show();
    return window;
}

/// Returns the file's path.
inline QString writeFileIn(const QTemporaryDir& folder, const QString& name, const std::string& text)
{
    const QString path = folder.filePath(name);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(QByteArray::fromStdString(text)) < 0) {
        qFatal("cannot write a test's file");
    }
    return path;
}

} // namespace mantissa::test
