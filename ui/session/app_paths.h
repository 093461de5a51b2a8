/// Where the window's files are: shipped experiments, remembered state, settings (XDG base directories).
#pragma once

#include <QSettings>
#include <QString>
#include <QStringList>

#include <memory>

namespace mantissa {

/// The folder of the experiments that ship: $MANTISSA_EXPERIMENTS, the source tree the program was built in, or
/// share/mantissa/experiments beside its bin folder. Empty if there is none.
QString shippedExperimentsFolder();

/// The shipped experiments, sorted by file name; "default.json" first.
QStringList shippedExperiments();

/// What a person chose: $XDG_CONFIG_HOME/mantissa/mantissa.ini.
std::unique_ptr<QSettings> openSettings();

/// What the window remembers by itself (layout, recent files): $XDG_STATE_HOME/mantissa/window.ini.
std::unique_ptr<QSettings> openState();

/// Experiment files opened last, newest first, those that are gone left out.
QStringList recentExperiments();
void addRecentExperiment(const QString& file);

} // namespace mantissa
