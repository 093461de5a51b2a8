#include "app/gui/screenshot.h"

#include "ui/session/session_controller.h"
#include "ui/views/main_window.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPainter>
#include <QPixmap>
#include <QTimer>

#include <cstdio>
#include <functional>

namespace mantissa {

namespace {

constexpr int patienceMs = 600'000;
/// Numbers are refreshed a few times a second; a picture waits until they are the last ones.
constexpr int settleMs = 700;

bool waitUntil(const std::function<bool()>& isReached, int timeoutMs)
{
    QElapsedTimer elapsed;
    elapsed.start();
    while (!isReached() && elapsed.elapsed() < timeoutMs) {
        QApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 20);
    }
    return isReached();
}

/// With the dialogs that are open over it.
QPixmap pictureOf(MainWindow& window)
{
    QPixmap picture = window.grab();
    QPainter painter(&picture);
    for (QDialog* dialog : window.findChildren<QDialog*>()) {
        if (dialog->isVisible()) {
            const QPixmap top = dialog->grab();
            const QPoint corner((window.width() - dialog->width()) / 2, (window.height() - dialog->height()) / 2);
            painter.drawPixmap(corner, top);
            painter.drawRect(QRect(corner, dialog->size()).adjusted(-1, -1, 0, 0));
        }
    }
    return picture;
}

} // namespace

int takeScreenshot(MainWindow& window, const LaunchOptions& options)
{
    SessionController* controller = window.controller();
    const auto state = [controller] {
        const auto status = controller->status();
        return status ? status->state : SessionState::Preparing;
    };
    waitUntil([&] { return state() != SessionState::Preparing; }, patienceMs);
    if (options.runSteps > 0 && state() != SessionState::Failed) {
        if (options.keepRunning) {
            controller->run();
        } else {
            controller->runSteps(options.runSteps);
        }
        const auto isThere = [&] {
            const bool hasSteps = controller->status()->step >= options.runSteps;
            const bool hasEnded = state() == SessionState::Finished || state() == SessionState::Failed;
            return hasEnded || (hasSteps && (options.keepRunning || state() != SessionState::Running));
        };
        if (!waitUntil(isThere, patienceMs)) {
            std::fputs("mantissa: training took longer than ten minutes; ask for fewer steps\n", stderr);
            return 1;
        }
    }
    for (const QString& name : options.triggers) {
        QAction* action = window.actionNamed(name);
        if (!action) {
            std::fprintf(stderr, "mantissa: there is no action \"%s\"\n", qPrintable(name));
            return 2;
        }
        action->trigger();
    }
    QElapsedTimer settling;
    settling.start();
    waitUntil([&] { return settling.elapsed() > settleMs; }, 2 * settleMs);
    // Layouts of layouts: each round may ask for another.
    for (int round = 0; round < 5; ++round) {
        QApplication::sendPostedEvents();
        QApplication::processEvents();
    }
    if (!pictureOf(window).save(options.screenshot)) {
        std::fprintf(stderr, "mantissa: %s can't be written\n", qPrintable(options.screenshot));
        return 1;
    }
    return 0;
}

} // namespace mantissa
