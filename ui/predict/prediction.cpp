#include "ui/predict/prediction.h"

#include "ui/style/number_format.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <numeric>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

QString shareOfHands(int hands, int all)
{
    return tr("%1 of %2 hands").arg(hands).arg(all);
}

} // namespace

QString titleOf(FailureCause cause)
{
    switch (cause) {
    case FailureCause::Flushes:
        return tr("small gradients flush to zero");
    case FailureCause::Overflows:
        return tr("numbers overflow to infinity");
    case FailureCause::LosesUpdates:
        return tr("small updates are rounded away");
    case FailureCause::WrongOrder:
        return tr("the blocks of the step stand in a wrong order");
    case FailureCause::LearningRate:
        return tr("the learning rate is too high");
    case FailureCause::Data:
        return tr("the data are bad");
    case FailureCause::Other:
        return tr("something else");
    }
    return {};
}

FailureCause causeOf(std::string_view rule)
{
    static const std::map<std::string_view, FailureCause> causes {
        {"underflow", FailureCause::Flushes},
        {"underflow_without_scaler", FailureCause::Flushes},
        {"layer_gradient_lost", FailureCause::Flushes},
        {"scale_collapse", FailureCause::Overflows},
        {"non_finite", FailureCause::Overflows},
        {"scale_at_floor", FailureCause::Overflows},
        {"skips_in_a_rhythm", FailureCause::Overflows},
        {"skips_often", FailureCause::Overflows},
        {"scale_runs_away", FailureCause::Overflows},
        {"statistics_in_16_bits", FailureCause::Overflows},
        {"log_of_softmax", FailureCause::Flushes},
        {"updates_below_half_ulp", FailureCause::LosesUpdates},
        {"average_sticks", FailureCause::LosesUpdates},
        {"second_moment_sticks", FailureCause::LosesUpdates},
        {"clip_before_unscale", FailureCause::WrongOrder},
        {"clip_after_step", FailureCause::WrongOrder},
        {"step_before_unscale", FailureCause::WrongOrder},
        {"check_after_step", FailureCause::WrongOrder},
        {"scaler_updated_early", FailureCause::WrongOrder},
        {"schedule_before_step", FailureCause::WrongOrder},
        {"double_step", FailureCause::WrongOrder},
        {"gradients_not_zeroed", FailureCause::WrongOrder},
        {"scaler_per_micro_batch", FailureCause::WrongOrder},
        {"diverges", FailureCause::LearningRate},
        {"bad_batch", FailureCause::Data},
    };
    const auto found = causes.find(rule);
    return found == causes.end() ? FailureCause::Other : found->second;
}

LaneFate fateOf(const QString& name, const std::vector<Finding>& findings)
{
    const auto worst = std::ranges::find(findings, Severity::Problem, &Finding::severity); // the surest comes first
    return {name, worst == findings.end() ? std::nullopt : std::optional(*worst)};
}

QStringList revealOf(const Prediction& prediction, const std::vector<LaneFate>& fates)
{
    QStringList lines;
    const LaneFate* first = nullptr; // the lane that failed first
    std::size_t failed = 0;
    int right = 0;
    for (std::size_t i = 0; i < fates.size(); ++i) {
        const LaneFate& fate = fates[i];
        if (!fate.problem) {
            lines << tr("%1 trains.").arg(fate.name);
            continue;
        }
        ++failed;
        right += prediction.hands[i];
        const QString why = QString::fromStdString(fate.problem->title);
        lines << (fate.problem->firstStep < 0
                ? tr("%1 fails: %2").arg(fate.name, why)
                : tr("%1 fails from step %2 on: %3").arg(fate.name, formatCount(fate.problem->firstStep), why));
        if (first == nullptr || fate.problem->firstStep < first->problem->firstStep) {
            first = &fate;
        }
    }
    const int all = std::accumulate(prediction.hands.begin(), prediction.hands.end(), prediction.none);
    if (all > 0) {
        const int saw = failed == 0 ? prediction.none : right;
        lines << (saw == 0    ? tr("Nobody saw it coming: none of %1 hands.").arg(all)
                : failed == 0 ? tr("%1 saw that none fails.").arg(shareOfHands(saw, all))
                              : tr("%1 were for a lane that fails.").arg(shareOfHands(saw, all)));
    }
    if (first != nullptr && prediction.step && first->problem->firstStep >= 0) {
        const std::int64_t off = *prediction.step - first->problem->firstStep;
        lines << (off == 0 ? tr("The step was guessed exactly.")
                : off > 0  ? tr("It began %1 steps earlier than guessed.").arg(formatCount(off))
                           : tr("It began %1 steps later than guessed.").arg(formatCount(-off)));
    }
    if (first != nullptr && prediction.cause) {
        const FailureCause cause = causeOf(first->problem->rule);
        lines << (cause == *prediction.cause
                ? tr("The cause was guessed: %1.").arg(titleOf(cause))
                : tr("The guess was that %1; it is that %2.").arg(titleOf(*prediction.cause), titleOf(cause)));
    }
    return lines;
}

} // namespace mantissa
