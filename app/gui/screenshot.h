/// A picture of the window, made without a display: for the README and for reviewing how it looks.
#pragma once

#include "app/gui/application.h"

namespace mantissa {

class MainWindow;

/// Trains as asked, grabs the window, writes the file. Returns the exit code; a failure is told on stderr.
int takeScreenshot(MainWindow& window, const LaunchOptions& options);

} // namespace mantissa
