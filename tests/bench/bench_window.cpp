// What the window and its database cost training: the same experiment in a session alone, which looks at the same
// steps, and in the open window. Measured in turn, so that a drifting machine cannot tilt the ratios; CPU times of the
// whole program, since other programs disturb the clock on the wall, and of the two threads that training has not
// alone, which are exact where the first is noisy: as noisy as the session alone against itself. Usage: bench_window
// [rounds [experiment file]]. Not a test: times are never asserted.
#include "engine/core/error.h"
#include "tests/bench/timing.h"
#include "ui/views/main_window.h"

#include <QApplication>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

using namespace mantissa;

namespace {

/// Of a training run, from the first step to the last.
struct Cost
{
    double wall = 0; ///< seconds
    double cpu = 0; ///< seconds of all threads
    double ui = 0; ///< seconds of this thread
    double writer = 0; ///< seconds of the thread that writes the database
};

Cost costOf(const std::function<void()>& work)
{
    const double cpu = programSeconds();
    const double ui = threadSeconds();
    const double writer = threadSeconds("run writer");
    Cost cost;
    cost.wall = secondsOf(work);
    cost.cpu = programSeconds() - cpu;
    cost.ui = threadSeconds() - ui;
    cost.writer = threadSeconds("run writer") - writer;
    return cost;
}

Cost trainAlone(const Experiment& experiment, const SamplingPlan& sampling)
{
    SessionOptions options;
    options.sampling = sampling;
    Session session(experiment, options);
    session.waitUntilIdle();
    return costOf([&session] {
        session.run();
        session.waitUntilIdle();
    });
}

Cost trainInWindow(MainWindow& window, const QString& file)
{
    const auto stateIs = [&window](SessionState state) {
        const auto status = window.controller()->status();
        return status && status->state == state;
    };
    window.openFile(file);
    while (!stateIs(SessionState::Ready)) {
        QApplication::processEvents(QEventLoop::AllEvents, 10);
    }
    return costOf([&] {
        window.controller()->run();
        while (!stateIs(SessionState::Finished)) {
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
    });
}

void print(const char* what, std::vector<double> values)
{
    std::ranges::sort(values);
    std::printf("%-48s %6.3f   (%.3f to %.3f)\n", what, values[values.size() / 2], values.front(), values.back());
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
        std::vector<double> again;
        std::vector<double> wall;
        std::vector<double> cpu;
        std::vector<double> ui;
        std::vector<double> writer;
        for (int round = 0; round < rounds; ++round) {
            const Cost alone = trainAlone(experiment, window.controller()->sampling());
            again.push_back(trainAlone(experiment, window.controller()->sampling()).cpu / alone.cpu);
            const Cost shown = trainInWindow(window, QString::fromLocal8Bit(file));
            wall.push_back(shown.wall / alone.wall);
            cpu.push_back(shown.cpu / alone.cpu);
            ui.push_back(shown.ui / alone.cpu);
            writer.push_back(shown.writer / alone.cpu);
        }
        print("CPU time, session alone, a second time / the first", again);
        print("CPU time, window and database / session alone", cpu);
        print("of it, UI thread / session alone", ui);
        print("of it, database thread / session alone", writer);
        print("wall time, window and database / session alone", wall);
    } catch (const Error& error) {
        std::fprintf(stderr, "bench_window: %s\n", error.what());
        return 1;
    }
    return 0;
}
