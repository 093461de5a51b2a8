/// The window's entry point.
#include "app/gui/application.h"

#include <QApplication>

#include <cstdio>
#include <exception>
#include <string_view>

namespace {

bool needsNoDisplay(int argc, char** argv)
{
    for (int index = 1; index < argc; ++index) {
        const std::string_view argument = argv[index];
        if (argument.rfind("--screenshot", 0) == 0 || argument == "--help" || argument == "-h"
            || argument == "--version" || argument == "-v") {
            return true;
        }
    }
    return false;
}

bool hasDisplay()
{
    return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY")
        || qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

} // namespace

int main(int argc, char** argv)
{
    if (needsNoDisplay(argc, argv)) {
        if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
            qputenv("QT_QPA_PLATFORM", "offscreen");
        }
    } else if (!hasDisplay()) {
        std::fputs("mantissa: there is no display to open a window on (DISPLAY and WAYLAND_DISPLAY are not set).\n"
                   "Use mantissa-cli to train without one, or mantissa --screenshot FILE for a picture.\n",
            stderr);
        return 1;
    }
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("mantissa"));
    QApplication::setApplicationDisplayName(QStringLiteral("Mantissa"));
    QApplication::setApplicationVersion(QStringLiteral(MANTISSA_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("mantissa"));
    QApplication::setStyle(QStringLiteral("Fusion"));
    try {
        return mantissa::launch(mantissa::parseCommandLine(application));
    } catch (const mantissa::UsageError& error) {
        std::fprintf(stderr, "mantissa: %s\nmantissa --help lists the options.\n", qPrintable(error.text));
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mantissa: %s\n", error.what());
        return 1;
    }
}
