/// Where the window's files are: remembered state, settings (XDG base directories).
#pragma once

#include "ui/language/language.h"

#include <QSettings>
#include <QString>
#include <QStringList>

#include <memory>

namespace mantissa {

/// What a person chose: $XDG_CONFIG_HOME/mantissa/mantissa.ini.
std::unique_ptr<QSettings> openSettings();

/// What the window remembers by itself (layout, recent files): $XDG_STATE_HOME/mantissa/window.ini.
std::unique_ptr<QSettings> openState();

/// What was chosen under View, Language; the system's if nothing was.
Language storedLanguage();

/// Experiment files opened last, newest first, those that are gone left out.
QStringList recentExperiments();
void addRecentExperiment(const QString& file);

} // namespace mantissa
