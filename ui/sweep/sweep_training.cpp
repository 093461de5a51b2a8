#include "ui/sweep/sweep_training.h"

#include "engine/sweep/sweep_run.h"

#include <QCoreApplication>

namespace mantissa {

namespace {

QString train(const SweepPlan& plan, const Sweep& sweep, const BackgroundRuns::GoOn& goOn)
{
    const auto total = static_cast<int>(sweep.points.size());
    int done = 0;
    double share = 0;
    QString failures;
    const SweepOutcome outcome = runSweep(
        sweep, plan,
        [&](const PointNews& news) {
            share = news.state == PointState::Trains ? news.share : 0;
            done += news.state == PointState::Trains ? 0 : 1;
            if (news.state == PointState::Failed && failures.isEmpty()) {
                failures = QString::fromStdString(news.message);
            }
        },
        [&] { return goOn(done, total, share); });
    return outcome.failed == 0
        ? QString()
        : QCoreApplication::translate("mantissa::SweepPanel", "%1 of %2 points failed; the first: %3")
              .arg(outcome.failed)
              .arg(total)
              .arg(failures);
}

} // namespace

BackgroundRuns::Work sweepRuns(const std::filesystem::path& database, const std::string& device, const Sweep& sweep)
{
    return [plan = SweepPlan {.database = database, .device = device}, sweep](
               const BackgroundRuns::GoOn& goOn) { return train(plan, sweep, goOn); };
}

} // namespace mantissa
