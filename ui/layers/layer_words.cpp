#include "ui/layers/layer_words.h"

#include "ui/style/number_format.h"

#include <QCoreApplication>
#include <QStringList>

#include <cmath>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

/// What the value says, %1 being its text.
QString statementOf(LayerMeasure measure)
{
    switch (measure) {
    case LayerMeasure::GradientNorm:
        return tr("the norm of the gradient is %1.");
    case LayerMeasure::Flushed:
        return tr("%1 of the gradient's elements are flushed to zero.");
    case LayerMeasure::Subnormal:
        return tr("%1 of the gradient's elements are subnormal.");
    case LayerMeasure::Overflowed:
        return tr("%1 of the gradient's elements overflow.");
    case LayerMeasure::Cosine:
        return tr("the cosine between its gradient and that of FP32 is %1.");
    case LayerMeasure::RelativeError:
        return tr("its gradient differs from that of FP32 by %1 of its norm.");
    case LayerMeasure::UpdateRatio:
        return tr("the update is %1 times as large as the weights.");
    case LayerMeasure::BelowHalfUlp:
        return tr("%1 of the updated elements would not move 16-bit weights.");
    case LayerMeasure::Unmoved:
        return tr("%1 of the elements with a gradient kept their bits.");
    case LayerMeasure::ActivationLargest:
        return tr("the largest activation is %1.");
    case LayerMeasure::Dead:
        return tr("%1 of its units are zero for every sample of the batch.");
    case LayerMeasure::Saturated:
        return tr("%1 of its elements are saturated.");
    }
    return {};
}

QString times(std::int64_t count)
{
    return count == 1 ? tr("once") : tr("%1 times").arg(formatCount(count));
}

/// "< 0.1 %" rather than "0.0 %" for what is there.
QString shareText(double share)
{
    constexpr double least = 0.0005;
    if (share == 0 || share == 1) {
        return share == 0 ? tr("0 %") : tr("100 %");
    }
    return share < least ? tr("< 0.1 %") : share > 1 - least ? tr("> 99.9 %") : percent(share);
}

} // namespace

QString titleOf(LayerMeasure measure)
{
    switch (measure) {
    case LayerMeasure::GradientNorm:
        return tr("Gradient norm");
    case LayerMeasure::Flushed:
        return tr("Flushed");
    case LayerMeasure::Subnormal:
        return tr("Subnormal");
    case LayerMeasure::Overflowed:
        return tr("Overflowed");
    case LayerMeasure::Cosine:
        return tr("Cosine to FP32");
    case LayerMeasure::RelativeError:
        return tr("Error to FP32");
    case LayerMeasure::UpdateRatio:
        return tr("Update / weight");
    case LayerMeasure::BelowHalfUlp:
        return tr("Below half an ulp");
    case LayerMeasure::Unmoved:
        return tr("Unmoved");
    case LayerMeasure::ActivationLargest:
        return tr("Largest activation");
    case LayerMeasure::Dead:
        return tr("Dead units");
    case LayerMeasure::Saturated:
        return tr("Saturated");
    }
    return {};
}

QString explanationOf(LayerMeasure measure)
{
    switch (measure) {
    case LayerMeasure::GradientNorm:
        return tr("Euclidean norm of the true gradient, divided by the scale");
    case LayerMeasure::Flushed:
        return tr("Share of the scaled gradient's elements that its rounding made zero");
    case LayerMeasure::Subnormal:
        return tr("Share of the scaled gradient's elements that are subnormal after their rounding: they have fewer "
                  "digits");
    case LayerMeasure::Overflowed:
        return tr("Share of the scaled gradient's elements that their rounding made infinite");
    case LayerMeasure::Cosine:
        return tr("Cosine between the gradient and that of FP32 with the same weights and batch: 1 is the same "
                  "direction");
    case LayerMeasure::RelativeError:
        return tr("|gradient \u2212 FP32's| / |FP32's|, with the same weights and batch");
    case LayerMeasure::UpdateRatio:
        return tr("|update| / |weights|: how much of itself the layer changes in the step");
    case LayerMeasure::BelowHalfUlp:
        return tr("Share of the updated elements whose update is less than half the distance to the next 16-bit "
                  "number: without FP32 masters they would stay");
    case LayerMeasure::Unmoved:
        return tr("Share of the elements with a gradient whose weight kept its bits");
    case LayerMeasure::ActivationLargest:
        return tr("Largest finite magnitude of what the layer gives in the forward pass");
    case LayerMeasure::Dead:
        return tr("Share of a ReLU's units that are zero for every sample of the batch");
    case LayerMeasure::Saturated:
        return tr("Share of a sigmoid's or tanh's elements whose derivative is below 1 % of the largest");
    }
    return {};
}

QString valueText(LayerMeasure measure, double value)
{
    if (std::isnan(value)) {
        return {};
    }
    return isShare(measure) && std::isfinite(value) ? shareText(value) : formatValue(value);
}

QString cellSentence(const LayerGrid& grid, std::size_t row, std::size_t column, LayerMeasure measure)
{
    const QString place
        = tr("%1 at step %2: ").arg(QString::fromStdString(grid.rows()[row]), formatCount(grid.step(column)));
    const double value = grid.value(row, column, measure);
    if (!std::isnan(value)) {
        return place + statementOf(measure).arg(valueText(measure, value));
    }
    return place
        + (grid.applies(row, measure) ? tr("%1 is not a number here.").arg(titleOf(measure))
                                      : tr("%1 does not apply.").arg(titleOf(measure)));
}

QString absenceSentence(LayerMeasure measure, bool isHalf)
{
    switch (measure) {
    case LayerMeasure::Cosine:
    case LayerMeasure::RelativeError:
        return tr("This lane is FP32 itself: there is no other gradient to compare its own with.");
    case LayerMeasure::BelowHalfUlp:
        return isHalf ? tr("None of the sampled steps moved a weight.")
                      : tr("This lane has no 16-bit format in which its updates could be lost.");
    case LayerMeasure::UpdateRatio:
    case LayerMeasure::Unmoved:
        return tr("None of the sampled steps was to move a weight.");
    case LayerMeasure::Dead:
        return tr("This model has no ReLU, so no unit can be dead.");
    case LayerMeasure::Saturated:
        return tr("This model has neither sigmoid nor tanh, so nothing saturates.");
    default:
        return tr("No layer has a value of this measure.");
    }
}

QString titleOf(SurvivalKind kind)
{
    switch (kind) {
    case SurvivalKind::Raw:
        return tr("unscaled, in 16 bits");
    case SurvivalKind::Scaled:
        return tr("times the scale");
    case SurvivalKind::Cast:
        return tr("after backward");
    case SurvivalKind::Unscaled:
        return tr("unscaled");
    case SurvivalKind::Clipped:
        return tr("clipped");
    case SurvivalKind::Applied:
        return tr("applied");
    }
    return {};
}

QString explanationOf(SurvivalKind kind, const StepSample& sample)
{
    switch (kind) {
    case SurvivalKind::Raw:
        return tr("FP32's gradient of the same weights and batch, as %1 would hold it without a scale")
            .arg(QString::fromUtf8(nameOf(sample.lower).data()).toUpper());
    case SurvivalKind::Scaled:
        return tr("The same times the step's scale, %1").arg(formatScale(sample.scale));
    case SurvivalKind::Cast:
        return tr("The scaled gradient as backward left it, rounded in every op on the way");
    case SurvivalKind::Unscaled:
        return tr("The same divided by the scale: what is lost by now does not come back");
    case SurvivalKind::Clipped:
        return sample.clipLimit > 0 ? tr("The same clipped to a norm of %1").arg(formatValue(sample.clipLimit))
                                    : tr("The same clipped");
    case SurvivalKind::Applied:
        return tr("Weights that the optimizer moved; unmoved: the gradient is not zero, yet not one bit has changed");
    }
    return {};
}

QString sharesText(const SurvivalStage& stage)
{
    QStringList parts;
    const auto add = [&parts](double share, const QString& text) {
        if (share > 0) {
            parts << text.arg(shareText(share));
        }
    };
    if (stage.kind == SurvivalKind::Applied) {
        add(stage.normal, tr("%1 moved"));
        add(stage.flushed, tr("%1 unmoved"));
        add(stage.zero, tr("%1 zero"));
    } else {
        add(stage.normal, tr("%1 normal"));
        add(stage.subnormal, tr("%1 subnormal"));
        add(stage.flushed, tr("%1 flushed"));
        add(stage.overflowed, tr("%1 overflowed"));
        add(stage.zero, tr("%1 zero"));
    }
    return parts.join(QStringLiteral(", "));
}

QString worstText(const SurvivalStage& stage)
{
    QStringList parts;
    for (const auto& [layer, share] : stage.worst) {
        parts << QStringLiteral("%1 %2").arg(QString::fromStdString(layer), shareText(share));
    }
    return parts.isEmpty() ? QString() : tr("worst: %1").arg(parts.join(QStringLiteral(", ")));
}

QString ledgerSentence(const SkipLedger& ledger)
{
    if (ledger.empty()) {
        return tr("No step yet.");
    }
    const LedgerCount count = ledger.count(ledger.firstStep(), ledger.lastStep());
    QString text = count.taken == 1 ? tr("1 step taken") : tr("%1 steps taken").arg(formatCount(count.taken));
    text += count.skipped == 0 ? tr(", none skipped") : tr(", %1 skipped").arg(formatCount(count.skipped));
    if (count.grown > 0) {
        text += tr("; scale grown %1").arg(times(count.grown));
    }
    if (count.backedOff > 0) {
        text += count.grown > 0 ? tr(", backed off %1").arg(times(count.backedOff))
                                : tr("; scale backed off %1").arg(times(count.backedOff));
    }
    if (const std::int64_t lead = ledger.scheduleLead(); lead > 0) {
        text += tr("; the schedule counts skipped steps: %1 ahead of the optimizer").arg(formatCount(lead));
    } else if (count.skipped > 0) {
        text += tr("; the schedule keeps pace with the optimizer");
    }
    text += tr(".");
    return text;
}

QString ledgerStepsText(const SkipLedger& ledger, std::int64_t first, std::int64_t last)
{
    const LedgerCount count = ledger.count(first, last);
    if (count.taken + count.skipped == 0) {
        return {};
    }
    QStringList parts;
    QString place;
    if (first == last) {
        place = tr("Step %1: ").arg(formatCount(first));
        parts << (count.skipped > 0 ? tr("skipped") : tr("taken"));
        if (count.grown > 0) {
            parts << tr("with a grown scale from here on");
        }
        if (count.backedOff > 0) {
            parts << tr("with a lower scale from here on");
        }
    } else {
        place = tr("Steps %1 to %2: ").arg(formatCount(first), formatCount(last));
        parts << tr("%1 taken").arg(formatCount(count.taken)) << tr("%1 skipped").arg(formatCount(count.skipped));
        if (count.grown > 0) {
            parts << tr("scale grown %1").arg(times(count.grown));
        }
        if (count.backedOff > 0) {
            parts << tr("backed off %1").arg(times(count.backedOff));
        }
    }
    QString text = place + parts.join(QStringLiteral(", ")) + QLatin1Char('.');
    const std::int64_t skip = ledger.nextSkip(first);
    if (const Event* cause = skip >= 0 && skip <= last ? ledger.causeOf(skip) : nullptr; cause != nullptr) {
        const QString what = QString::fromStdString(cause->text);
        text += QLatin1Char('\n')
            + (cause->step == skip ? what : tr("As at step %1: %2").arg(formatCount(cause->step), what));
    }
    return text;
}

} // namespace mantissa
