// What a frame of the dashboard costs the UI thread: taking in records, refresh, replot, paint.
// Times are the thread's CPU times, so that other programs do not disturb them; run it on an idle machine all the same.
// Usage: bench_dashboard [lanes [steps]]; prints a table, exits with 1 if a frame took 33 ms or more.
#include "tests/bench/timing.h"
#include "ui/plots/dashboard.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QUndoStack>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

using namespace mantissa;

namespace {

constexpr double budgetMs = 33;

struct Timing
{
    double median = 0;
    double worst = 0;
};

std::vector<StepRecord> makeRecords(int lanes, std::int64_t first, std::int64_t count)
{
    std::mt19937 random(static_cast<std::uint32_t>(first) + 1);
    std::normal_distribution<double> noise(0, 1);
    std::vector<StepRecord> records;
    records.reserve(static_cast<std::size_t>(count * lanes));
    for (std::int64_t step = first; step < first + count; ++step) {
        for (int lane = 0; lane < lanes; ++lane) {
            StepRecord record;
            record.step = step;
            record.lane = static_cast<std::uint32_t>(lane);
            record.loss = 2.3 * std::exp(-static_cast<double>(step) / 2e5) + 0.1 * lane + 0.3 + 0.2 * noise(random);
            record.gradNorm = std::exp(0.5 * noise(random) - lane * 0.3);
            record.gradNormClipped = std::min(1.0, record.gradNorm);
            record.skipped = step % 2000 == 1999;
            record.scale = std::ldexp(1.0, 16 - lane % 3 - (step % 2000 > 1000 ? 1 : 0));
            record.baselineDistance = lane * 1e-3 * std::sqrt(static_cast<double>(step));
            records.push_back(record);
        }
    }
    return records;
}

Timing measure(Dashboard& dashboard, int frames, const std::function<void(int)>& before)
{
    std::vector<double> times;
    for (int frame = 0; frame < frames; ++frame) {
        const auto frames0 = dashboard.frameTime().frames;
        QElapsedTimer patience;
        patience.start();
        const double start = threadSeconds();
        before(frame);
        dashboard.refresh();
        do {
            QApplication::processEvents();
        } while (dashboard.frameTime().frames == frames0 && patience.elapsed() < 5000);
        times.push_back((threadSeconds() - start) * 1e3);
    }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.back()};
}

bool report(std::int64_t steps, const char* what, const Timing& timing)
{
    const bool fits = timing.worst < budgetMs;
    std::printf("%9lld  %-34s %8.1f %8.1f %s\n", static_cast<long long>(steps), what, timing.median, timing.worst,
        fits ? "" : "  over 33 ms");
    std::fflush(stdout);
    return fits;
}

bool benchLive(int lanes, std::int64_t steps)
{
    Dashboard dashboard;
    dashboard.resize(1600, 900);
    for (int lane = 0; lane < lanes; ++lane) {
        dashboard.addLane({static_cast<quint64>(lane), QStringLiteral("lane %1").arg(lane + 1), laneColor(lane, false),
            laneStyle(lane), true, DType::Float16});
    }
    constexpr std::int64_t block = 10'000;
    for (std::int64_t first = 0; first < steps; first += block) {
        dashboard.append(makeRecords(lanes, first, std::min(block, steps - first)));
    }
    dashboard.show();
    QApplication::processEvents();

    bool fits = true;
    std::int64_t next = steps;
    constexpr int frames = 40;
    std::vector<std::vector<StepRecord>> batches;
    constexpr std::int64_t perFrame = 100;
    for (int frame = 0; frame < 6 * frames; ++frame) {
        batches.push_back(makeRecords(lanes, next + frame * perFrame, perFrame));
    }
    std::size_t batch = 0;
    const auto train = [&](int) { dashboard.append(batches[batch++]); };
    fits = report(steps, "training, 100 steps per frame", measure(dashboard, frames, train)) && fits;
    double weight = 0.5;
    fits = report(steps, "dragging the smoothing slider", measure(dashboard, frames, [&](int) {
        weight = 1 - (1 - weight) * 0.87;
        dashboard.setSmoothing(weight);
    })) && fits;
    dashboard.setSmoothing(0.984);
    fits = report(steps, "training, smoothing 0.984", measure(dashboard, frames, train)) && fits;
    dashboard.setSmoothing(0);
    fits = report(steps, "zooming", measure(dashboard, frames, [&](int frame) {
        frame < frames / 2 ? dashboard.zoomIn() : dashboard.zoomOut();
    })) && fits;
    dashboard.fit();
    fits = report(steps, "moving the crosshair", measure(dashboard, 10, [&](int) {
        dashboard.moveCursor(-3);
        dashboard.append(batches[batch++]);
    })) && fits;
    fits = report(steps, "opening the difference", measure(dashboard, frames, [&](int frame) {
        dashboard.setDifferenceVisible(true);
        if (frame > 0) {
            dashboard.append(batches[batch++]);
        }
    })) && fits;
    dashboard.highlightLane(2);
    fits = report(steps, "training, difference, highlight", measure(dashboard, frames, train)) && fits;
    return fits;
}

bool benchStored(int lanes, std::int64_t steps)
{
    Dashboard dashboard;
    dashboard.resize(1600, 900);
    dashboard.show();
    for (int lane = 0; lane < lanes; ++lane) {
        const quint64 key = Dashboard::storedKey(lane + 1);
        dashboard.addLane({key, QStringLiteral("run %1").arg(lane + 1), laneColor(lane, false), Qt::SolidLine, false,
            DType::Float16});
        RunColumns columns;
        for (const StepRecord& record : makeRecords(1, lane * 7, steps)) {
            columns.step.push_back(record.step);
            columns.loss.push_back(record.loss);
            columns.gradNorm.push_back(record.gradNorm);
            columns.gradNormClipped.push_back(record.gradNormClipped);
            columns.scale.push_back(record.scale);
            columns.skipped.push_back(record.skipped ? 1 : 0);
        }
        dashboard.setColumns(key, std::move(columns));
    }
    const int frames = static_cast<int>(std::max<std::int64_t>(10, steps * lanes / 100'000));
    return report(
        steps, "reopening stored runs", measure(dashboard, frames, [&](int) { dashboard.setExpectedSteps(steps); }));
}

} // namespace

int main(int argc, char** argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    const int lanes = argc > 1 ? std::max(1, std::atoi(argv[1])) : 8;
    std::printf(
        "%d lanes, 1600x900 at scale %.2g; CPU milliseconds per frame\n", lanes, application.devicePixelRatio());
    std::printf("%9s  %-34s %8s %8s\n", "steps", "what", "median", "worst");
    bool fits = true;
    const std::vector<std::int64_t> counts = argc > 2 ? std::vector<std::int64_t> {std::atoll(argv[2])}
                                                      : std::vector<std::int64_t> {1'000, 100'000, 1'000'000};
    for (const std::int64_t steps : counts) {
        fits = benchLive(lanes, steps) && fits;
        fits = benchStored(lanes, steps) && fits;
    }
    return fits ? 0 : 1;
}
