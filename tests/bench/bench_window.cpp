// What the window costs training: the same experiment in a bare session, and in the open window with its database.
// Measured in turn, so that a drifting machine cannot tilt the ratio. Usage: bench_window [rounds [experiment file]].
// Not a test: times are never asserted.
#include "engine/core/error.h"
#include "tests/bench/timing.h"
#include "ui/views/main_window.h"

#include <QApplication>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace mantissa;

namespace {

double trainBare(const Experiment& experiment)
{
    Session session(experiment, {});
    session.waitUntilIdle();
    return secondsOf([&session] {
        session.run();
        session.waitUntilIdle();
    });
}

struct WindowTimes
{
    double seconds = 0;
    double uiShare = 0; ///< of one core
};

WindowTimes trainInWindow(MainWindow& window, const QString& file)
{
    const auto stateIs = [&window](SessionState state) {
        const auto status = window.controller()->status();
        return status && status->state == state;
    };
    window.openFile(file);
    while (!stateIs(SessionState::Ready)) {
        QApplication::processEvents(QEventLoop::AllEvents, 10);
    }
    const double cpu = threadSeconds();
    WindowTimes times;
    times.seconds = secondsOf([&] {
        window.controller()->run();
        while (!stateIs(SessionState::Finished)) {
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
    });
    times.uiShare = (threadSeconds() - cpu) / times.seconds;
    return times;
}

void print(const char* what, std::vector<double> values)
{
    std::ranges::sort(values);
    std::printf("%-44s %6.3f   (%.3f to %.3f)\n", what, values[values.size() / 2], values.front(), values.back());
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
    const char* file = argc > 2 ? argv[2] : "experiments/default.json";
    try {
        const Experiment experiment = loadExperiment(file);
        const QTemporaryDir folder;
        MainWindow window({folder.filePath("runs.db").toStdString(), false});
        window.resize(1600, 900);
        window.show();
        std::vector<double> ratios;
        std::vector<double> shares;
        for (int round = 0; round < rounds; ++round) {
            const double bare = trainBare(experiment);
            const WindowTimes shown = trainInWindow(window, QString::fromLocal8Bit(file));
            ratios.push_back(shown.seconds / bare);
            shares.push_back(shown.uiShare);
        }
        print("time in window with database / bare session", ratios);
        print("UI thread, share of one core", shares);
    } catch (const Error& error) {
        std::fprintf(stderr, "bench_window: %s\n", error.what());
        return 1;
    }
    return 0;
}
