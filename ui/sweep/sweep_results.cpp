#include "ui/sweep/sweep_results.h"

#include "ui/style/number_format.h"

#include <QCoreApplication>

#include <cmath>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

} // namespace

QString resultTitle(SweepResult result)
{
    switch (result) {
    case SweepResult::FinalLoss:
        return tr("Final loss");
    case SweepResult::ValidationLoss:
        return tr("Held-out loss");
    case SweepResult::ValidationAccuracy:
        return tr("Accuracy");
    case SweepResult::Skipped:
        return tr("Skipped steps");
    case SweepResult::FinalScale:
        return tr("Final scale");
    case SweepResult::StepsPerSecond:
        return tr("Steps per second");
    }
    return {};
}

double resultOf(const RunInfo& run, SweepResult result)
{
    switch (result) {
    case SweepResult::FinalLoss:
        return run.finalLoss;
    case SweepResult::ValidationLoss:
        return run.validationLoss;
    case SweepResult::ValidationAccuracy:
        return run.validationAccuracy;
    case SweepResult::Skipped:
        return static_cast<double>(run.skippedSteps);
    case SweepResult::FinalScale:
        return run.finalScale;
    case SweepResult::StepsPerSecond:
        return run.stepsPerSecond;
    }
    return 0;
}

bool isKnown(const RunInfo& run, SweepResult result)
{
    const double value = resultOf(run, result);
    return !std::isnan(value) || (result == SweepResult::FinalLoss && run.steps > 0);
}

QString resultText(double value, SweepResult result)
{
    switch (result) {
    case SweepResult::ValidationAccuracy:
        return std::isnan(value) ? QStringLiteral("\u2013") : percent(value);
    case SweepResult::Skipped:
        return formatCount(static_cast<std::int64_t>(value));
    case SweepResult::FinalScale:
        return formatPowerOfTwo(value);
    default:
        return formatValue(value);
    }
}

QString settingTitle(const std::string& column)
{
    return column == "variant" ? tr("Variant") : column == "lane" ? tr("Lane") : QString::fromStdString(column);
}

} // namespace mantissa
