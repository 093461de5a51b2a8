#include "ui/time/phase_words.h"

#include "ui/style/number_format.h"

#include <QCoreApplication>

#include <array>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

} // namespace

QString titleOf(StepPhase phase)
{
    switch (phase) {
    case StepPhase::Forward:
        return tr("Forward");
    case StepPhase::Backward:
        return tr("Backward");
    case StepPhase::Unscale:
        return tr("Unscale and check");
    case StepPhase::Clip:
        return tr("Clip");
    case StepPhase::Optimizer:
        return tr("Optimizer");
    case StepPhase::Load:
        return tr("Load the batch");
    case StepPhase::Wait:
        return tr("Wait for the batch");
    case StepPhase::Instruments:
        return tr("Instruments");
    case StepPhase::Evaluation:
        return tr("Evaluation");
    }
    return {};
}

QString explanationOf(StepPhase phase)
{
    switch (phase) {
    case StepPhase::Forward:
        return tr("The ops up to the loss, casts of weights and activations among them");
    case StepPhase::Backward:
        return tr("The ops that make the gradients, casts among them");
    case StepPhase::Unscale:
        return tr("One pass over the gradients: times 1 / scale, is everything finite, the norm");
    case StepPhase::Clip:
        return tr("Multiplying the gradients down to the threshold");
    case StepPhase::Optimizer:
        return tr("Moving the weights; also the moving average, if one is kept");
    case StepPhase::Load:
        return tr("Copying the batch to where the step reads it");
    case StepPhase::Wait:
        return tr("The loader had no batch ready");
    case StepPhase::Instruments:
        return tr("Looking at sampled steps, FP32\u2019s gradient included, and distances between lanes");
    case StepPhase::Evaluation:
        return tr("Judging the held-out samples, after the step");
    }
    return {};
}

QString keyOf(StepPhase phase)
{
    constexpr std::array keys {
        "forward", "backward", "unscale", "clip", "optimizer", "load", "wait", "instruments", "evaluation"};
    static_assert(keys.size() == allStepPhases.size());
    return QString::fromLatin1(keys[static_cast<std::size_t>(phase)]);
}

QString durationText(double milliseconds)
{
    return milliseconds > 0 && milliseconds < 0.1 ? tr("%1 \u00B5s").arg(formatValue(milliseconds * 1000, 3))
                                                  : tr("%1 ms").arg(formatValue(milliseconds, 3));
}

double trainingMs(const PhaseMs& mean)
{
    return mean.total() - mean[StepPhase::Instruments] - mean[StepPhase::Evaluation];
}

QString sentenceOf(const TimeSummary& summary)
{
    const PhaseMs& mean = summary.mean;
    QString text = summary.baseline.isEmpty()
        ? tr("%1: a step takes %2.").arg(summary.lane, durationText(trainingMs(mean)))
        : tr("%1: a step takes %2, %3 times %4\u2019s.")
              .arg(summary.lane, durationText(trainingMs(mean)), formatValue(summary.ratio, 3), summary.baseline);
    text += QLatin1Char(' ')
        + (summary.casts == 0 ? tr("It casts nothing.") : tr("Casts in it: %1.").arg(formatCount(summary.casts)));
    const double scaler = mean.share(StepPhase::Unscale) + mean.share(StepPhase::Clip);
    text += QLatin1Char(' ') + tr("Unscaling, checking and clipping take %1 of the time.").arg(percent(scaler));
    constexpr double muchWaiting = 0.2;
    if (mean.share(StepPhase::Wait) >= muchWaiting) {
        text += QLatin1Char(' ')
            + tr("%1 of it is waiting for data, which no precision makes faster.")
                  .arg(percent(mean.share(StepPhase::Wait)));
    }
    constexpr double muchLooking = 0.1;
    if (mean.share(StepPhase::Instruments) >= muchLooking) {
        text += QLatin1Char(' ')
            + tr("Looking at sampled steps adds %1: look less often to train faster.")
                  .arg(percent(mean[StepPhase::Instruments] / trainingMs(mean)));
    }
    return text;
}

QString sentenceOf(const GpuReport& report)
{
    QStringList sentences;
    for (const GpuReading& gpu : report.gpus) {
        QStringList parts;
        if (gpu.busyPercent) {
            parts << tr("%1 % busy").arg(*gpu.busyPercent);
        }
        if (gpu.totalBytes > 0) {
            parts << tr("%1 of %2 in use").arg(formatBytes(gpu.usedBytes), formatBytes(gpu.totalBytes));
        }
        if (!parts.isEmpty()) {
            sentences << tr("%1: %2.").arg(QString::fromStdString(gpu.name), parts.join(QStringLiteral(", ")));
        }
    }
    return sentences.join(QLatin1Char(' '));
}

} // namespace mantissa
