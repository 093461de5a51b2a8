/// Puts the window together from the command line.
#pragma once

#include "ui/language/language.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <optional>

class QApplication;

namespace mantissa {

struct LaunchOptions
{
    QString experiment; ///< empty: the default one
    std::filesystem::path database; ///< empty: runs are not stored
    QString screenshot; ///< file to write; empty: a window for people
    QSize size {1280, 800};
    std::optional<Language> language; ///< nothing: the one that was chosen in the window
    QString theme; ///< "light", "dark", or empty
    long long runSteps = 0; ///< before the screenshot
    bool keepRunning = false; ///< take it while training goes on
    bool presenter = false;
    QStringList triggers; ///< actions by object name, triggered before the screenshot
};

/// What a wrong command line is answered with.
struct UsageError
{
    QString text;
};

/// Throws UsageError. `--help` and `--version` print and end the program.
LaunchOptions parseCommandLine(const QApplication& application);

/// Shows the window and runs the event loop, or writes the screenshot. Returns the exit code.
int launch(const LaunchOptions& options);

} // namespace mantissa
