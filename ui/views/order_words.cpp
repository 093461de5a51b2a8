#include "ui/views/order_words.h"

#include "engine/formats/dtype.h"
#include "engine/formats/round_value.h"
#include "ui/style/number_format.h"

#include <QCoreApplication>

#include <cmath>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

/// Collects the notes on one lane.
class Notes
{
    Q_DECLARE_TR_FUNCTIONS(mantissa)

public:
    Notes(const LaneConfig& lane, double scale)
        : m_lane(lane)
        , m_scale(scale)
        , m_hasScaler(lane.scaler && lane.scaler->family != "none")
    {
    }

    std::vector<OrderNote> take() &&
    {
        noteClip();
        noteStep();
        noteCheck();
        noteUpdate();
        noteSchedule();
        noteOptimizer();
        noteAccumulation();
        noteAverage();
        return std::move(m_notes);
    }

private:
    [[nodiscard]] bool isBefore(StepBlock first, StepBlock second) const
    {
        return comesBefore(m_lane.order, first, second);
    }

    void add(std::optional<StepBlock> block, const QString& text, Tone tone = Tone::Problem)
    {
        m_notes.push_back({block, tone, text});
    }

    void noteClip()
    {
        const ClipConfig& clip = m_lane.clip;
        if (clip.order == ClipOrder::Off) {
            return;
        }
        const double threshold = clip.maxNorm.value_or(clip.maxValue.value_or(0));
        if (isBefore(StepBlock::Step, StepBlock::Clip)) {
            add(StepBlock::Clip, tr("Clips after the step: too late, it has no effect."));
        } else if (isBefore(StepBlock::Clip, StepBlock::Unscale)) {
            if (m_scale == 1) {
                add(StepBlock::Clip, tr("Clips before unscaling: harmless while the scale is 1."), Tone::Plain);
            } else {
                add(StepBlock::Clip,
                    tr("Clips gradients that still carry the scale: the threshold acts as %1 / %2 = %3.")
                        .arg(formatValue(threshold), formatScale(m_scale), formatValue(threshold / m_scale)));
            }
        }
        if (clip.maxValue && isBefore(StepBlock::Clip, StepBlock::Check)
            && isBefore(StepBlock::Clip, StepBlock::Step)) {
            const bool isScaled = isBefore(StepBlock::Clip, StepBlock::Unscale);
            const bool hides = isScaled || isBefore(StepBlock::Unscale, StepBlock::Clip);
            if (hides && m_hasScaler) {
                add(StepBlock::Check,
                    tr("Looks for infinity after clamping: an infinite gradient has become %1, and the step is taken.")
                        .arg(formatValue(isScaled ? threshold / m_scale : threshold)));
            }
        }
    }

    void noteStep()
    {
        if (!isBefore(StepBlock::Step, StepBlock::Unscale)) {
            return;
        }
        const OptimizerConfig& config = m_lane.optimizer;
        if (m_scale == 1) {
            add(StepBlock::Step, tr("Steps before unscaling: harmless while the scale is 1."), Tone::Plain);
        } else if (config.kind == "sgd") {
            add(StepBlock::Step,
                tr("Steps on gradients that still carry the scale: the rate acts as %1 \u00D7 %2 = %3.")
                    .arg(formatValue(config.lr), formatScale(m_scale), formatValue(config.lr * m_scale)));
        } else {
            add(StepBlock::Step,
                tr("Steps on gradients that still carry the scale. Adam divides it out again; only its epsilon acts as "
                   "%1 / %2 = %3, and a scale that moves leaves its moments behind.")
                    .arg(formatValue(config.epsilon), formatScale(m_scale), formatValue(config.epsilon / m_scale)));
        }
    }

    void noteCheck()
    {
        if (isBefore(StepBlock::Step, StepBlock::Check)) {
            if (m_hasScaler) {
                add(StepBlock::Check,
                    tr("Looks for infinity after the step: the first overflow reaches the weights, which are NaN from "
                       "there on."));
            }
        } else if (isBefore(StepBlock::Check, StepBlock::Unscale)) {
            add(StepBlock::Check, tr("Checks before unscaling: finds the same infinities, in a pass of its own."),
                Tone::Plain);
        }
    }

    void noteUpdate()
    {
        if (!m_hasScaler) {
            return;
        }
        if (isBefore(StepBlock::Update, StepBlock::Unscale)) {
            add(StepBlock::Update,
                tr("Moves the scale before unscaling: in a step in which it goes from %1 to %2, the gradients come out "
                   "half as large.")
                    .arg(formatScale(m_scale), formatScale(m_scale * 2)));
        }
        if (isBefore(StepBlock::Update, StepBlock::Check)) {
            add(StepBlock::Update,
                tr("Moves the scale before the check: it knows of an overflow one step later, and skips twice."));
        }
    }

    void noteSchedule()
    {
        if (!isBefore(StepBlock::Schedule, StepBlock::Step)) {
            return;
        }
        const bool isConstant = m_lane.schedule.kind == "constant" && m_lane.schedule.warmupSteps == 0;
        add(StepBlock::Schedule,
            isConstant ? tr("Advances before the step: harmless, the rate is constant.")
                       : tr("Advances before the step: every rate is used one step early, and the first one never."),
            isConstant ? Tone::Plain : Tone::Problem);
        if (!m_lane.schedule.countSkipped && isBefore(StepBlock::Schedule, StepBlock::Check)) {
            add(StepBlock::Schedule, tr("It cannot know yet whether the step will be skipped, so it counts them all."));
        }
    }

    void noteOptimizer()
    {
        const OptimizerConfig& config = m_lane.optimizer;
        if (config.extraStep) {
            add({},
                tr("A stray second step: on clean steps the rate acts as 2 \u00D7 %1 = %2; a step that the scaler "
                   "skips "
                   "is applied all the same, infinities and all.")
                    .arg(formatValue(config.lr), formatValue(2 * config.lr)));
        }
        if (config.kind == "sgd") {
            return;
        }
        const auto epsilonFormat = dtypeFromName(config.epsilonFormat).value_or(DType::Float32);
        const double epsilon = roundValue(epsilonFormat, config.epsilon);
        if (isHalf(epsilonFormat) && std::abs(epsilon - config.epsilon) > 0.01 * config.epsilon) {
            add({},
                tr("Adam's epsilon %1 is %2 in %3%4")
                    .arg(formatValue(config.epsilon), formatValue(epsilon),
                        config.epsilonFormat == "fp16" ? tr("FP16") : tr("BF16"),
                        epsilon == 0 ? tr(": where a gradient has always been 0, 0 is divided by 0.") : tr(".")));
        }
        if (config.stateFormat == "fp16") {
            add({},
                tr("Moments in FP16: a squared gradient below %1 is 0, that is a gradient below %2.")
                    .arg(formatValue(limitsOf(DType::Float16).flushesUpTo / (1 - config.beta2)),
                        formatValue(std::sqrt(limitsOf(DType::Float16).flushesUpTo / (1 - config.beta2)))));
        } else if (config.stateFormat == "bf16" && 1 - config.beta2 < limitsOf(DType::BFloat16).epsilon / 4) {
            add({},
                tr("Moments in BF16: the second one decays by %1 of itself in a step, less than half a unit in its "
                   "last "
                   "place, so it never falls.")
                    .arg(formatValue(1 - config.beta2)));
        }
    }

    void noteAccumulation()
    {
        const AccumulationConfig& config = m_lane.accumulation;
        const auto parts = static_cast<double>(config.steps);
        if (config.steps > 1 && !config.divide) {
            add({},
                m_lane.optimizer.kind == "sgd"
                    ? tr("The sum of %1 micro-batches, not their mean: the rate acts as %1 \u00D7 %2 = %3.")
                          .arg(formatCount(config.steps), formatValue(m_lane.optimizer.lr),
                              formatValue(m_lane.optimizer.lr * parts))
                    : tr("The sum of %1 micro-batches, not their mean: gradients are %1 times as large, nearer to "
                         "overflow. Adam divides that out again; clipping does not.")
                          .arg(formatCount(config.steps)));
        }
        if (config.scalerPerMicroBatch && m_hasScaler) {
            const auto interval = m_lane.scaler->parameters.find("growth_interval");
            QString text
                = tr("The scaler judges every micro-batch: a scale that moves within a step mixes gradients of "
                     "two scales, and one overflow halves it once for each micro-batch left.");
            if (config.steps > 1 && interval != m_lane.scaler->parameters.end()) {
                text += QLatin1Char(' ')
                    + tr("Its growth interval of %1 is %2 steps.")
                          .arg(formatValue(interval->second), formatValue(interval->second / parts));
            }
            add({}, text);
        }
        if (!config.zeroGradients) {
            add({},
                m_scale == 1
                    ? tr("Gradients are not zeroed: every step adds to all those before.")
                    : tr("Gradients are not zeroed: those of the step before are divided by %1 once more, which "
                         "hides them; an infinite one stays, and every step after it is skipped.")
                          .arg(formatScale(m_scale)));
        }
    }

    void noteAverage()
    {
        const EmaConfig& config = m_lane.ema;
        const auto format = dtypeFromName(config.format).value_or(DType::Float32);
        if (config.decay > 0 && isHalf(format)) {
            // Half a unit in the last place is between a quarter and a half of epsilon, relative to the value.
            const double least = limitsOf(format).epsilon / 4 / (1 - config.decay);
            add({},
                tr("An average in %1 moves only where a weight differs from it by more than %2 to %3 of itself.")
                    .arg(config.format == "fp16" ? tr("FP16") : tr("BF16"), percent(least), percent(2 * least)));
        }
    }

    const LaneConfig& m_lane;
    double m_scale;
    bool m_hasScaler;
    std::vector<OrderNote> m_notes;
};

} // namespace

std::vector<OrderNote> orderNotes(const LaneConfig& lane, double scale)
{
    return Notes(lane, scale).take();
}

QString blockLabel(StepBlock block)
{
    // A context of their own: these words mean something else elsewhere.
    switch (block) {
    case StepBlock::Unscale:
        return QCoreApplication::translate("StepBlock", "unscale");
    case StepBlock::Check:
        return QCoreApplication::translate("StepBlock", "check");
    case StepBlock::Clip:
        return QCoreApplication::translate("StepBlock", "clip");
    case StepBlock::Step:
        return QCoreApplication::translate("StepBlock", "step");
    case StepBlock::Update:
        return QCoreApplication::translate("StepBlock", "update");
    case StepBlock::Schedule:
        return QCoreApplication::translate("StepBlock", "schedule");
    }
    return {};
}

QString blockHint(StepBlock block)
{
    switch (block) {
    case StepBlock::Unscale:
        return tr("Divides the gradients by the scale");
    case StepBlock::Check:
        return tr("Looks for infinity and NaN; if there is one, the step is skipped");
    case StepBlock::Clip:
        return tr("Shortens gradients beyond the threshold");
    case StepBlock::Step:
        return tr("The optimizer changes the weights");
    case StepBlock::Update:
        return tr("The scaler backs off or grows");
    case StepBlock::Schedule:
        return tr("Advances to the next learning rate");
    }
    return {};
}

} // namespace mantissa
