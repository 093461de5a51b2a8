#include "ui/views/lane_words.h"

#include "engine/autocast/policy.h"
#include "engine/train/fault.h"
#include "ui/language/language.h"
#include "ui/style/number_format.h"
#include "ui/views/order_words.h"
#include "ui/views/scaler_form.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mantissa {

namespace {

/// Below this share of flushed gradients a lane is not worth a word.
constexpr double worthMentioning = 0.01;
/// So many steps without one applied update: the scaler is not finding a scale.
constexpr std::int64_t manySkips = 40;

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

/// A setting's JSON text as people write it: 65536.0 -> 2^16, "fp16" -> FP16.
QString valueText(const std::string& json)
{
    const nlohmann::json value = nlohmann::json::parse(json, nullptr, false);
    if (value.is_number()) {
        return formatPowerOfTwo(value.get<double>());
    }
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        const auto policies = policyNames();
        return text == "master" || text.starts_with("half")       ? weightsLabel(text)
            : std::ranges::find(policies, text) != policies.end() ? policyLabel(text)
                                                                  : QString::fromStdString(text);
    }
    if (value.is_boolean()) {
        return value.get<bool>() ? tr("yes") : tr("no");
    }
    if (value.is_null() || value.is_discarded()) {
        return json.empty() || value.is_null() ? tr("none") : QString::fromStdString(json);
    }
    return QString::fromStdString(value.dump());
}

/// `sentence`, without its full stop, and where the numbers went wrong first.
QString withOrigin(const QString& sentence, const LaneFacts& facts)
{
    return facts.origin.empty() ? sentence + QLatin1Char('.')
                                : tr("%1; first in %2.").arg(sentence, QString::fromStdString(facts.origin));
}

Sentence endSentence(const LaneStatus& lane, const LaneFacts& facts)
{
    const QString message = QString::fromStdString(lane.message);
    switch (lane.status) {
    case RunStatus::Diverged: {
        if (!message.isEmpty()) {
            return {Tone::Problem, tr("Diverged: %1").arg(message)};
        }
        const std::int64_t step = facts.nonFiniteSince >= 0 ? facts.nonFiniteSince : lane.nextStep;
        return {Tone::Problem, tr("Diverged at step %1.").arg(formatCount(step))};
    }
    case RunStatus::Failed:
        return {Tone::Problem, message.isEmpty() ? tr("Ended by an error.") : message};
    case RunStatus::Stopped:
        return {Tone::Plain, tr("Stopped at step %1.").arg(formatCount(lane.nextStep))};
    case RunStatus::Interrupted:
        return {Tone::Notice, tr("Interrupted at step %1.").arg(formatCount(lane.nextStep))};
    case RunStatus::Finished:
        break;
    case RunStatus::Running:
        return {};
    }
    if (!lane.summary) {
        return {Tone::Good, tr("Finished.")};
    }
    const RunSummary& summary = *lane.summary;
    if (summary.skippedSteps > 0 && summary.skippedSteps == summary.steps) {
        return {Tone::Problem, withOrigin(tr("Finished, but every step was skipped: it learned nothing"), facts)};
    }
    QString text = tr("Finished: loss %1").arg(formatValue(summary.finalLoss));
    if (!std::isnan(summary.validationAccuracy)) {
        text += tr(", %1 right on held-out data").arg(percent(summary.validationAccuracy));
    } else if (!std::isnan(summary.validationLoss)) {
        text += tr(", held-out loss %1").arg(formatValue(summary.validationLoss));
    }
    return {Tone::Good, text + QLatin1Char('.')};
}

} // namespace

QString signOf(Tone tone)
{
    switch (tone) {
    case Tone::Plain:
        return {};
    case Tone::Good:
        return QStringLiteral("\u2713");
    case Tone::Notice:
        return QStringLiteral("\u25B3");
    case Tone::Problem:
        return QStringLiteral("\u25B2");
    }
    return {};
}

Sentence laneSentence(const LaneStatus& lane, const LaneFacts& facts, SessionState state)
{
    const bool hasEnded = lane.status != RunStatus::Running;
    if (hasEnded && lane.status != RunStatus::Finished) {
        return endSentence(lane, facts);
    }
    if (!facts.last) {
        if (hasEnded) {
            return endSentence(lane, facts);
        }
        return {Tone::Plain, state == SessionState::Preparing ? tr("Preparing.") : tr("Ready. Space trains it.")};
    }
    const StepRecord& last = *facts.last;
    const QString flushed = tr("%1 of its gradient flushes to zero").arg(percent(last.flushed));
    const bool losesMuch = last.flushed >= worthMentioning;
    if (facts.nonFiniteSince >= 0) {
        return {Tone::Problem,
            withOrigin(tr("Its loss is not finite since step %1").arg(formatCount(facts.nonFiniteSince)), facts)};
    }
    if (last.gradNorm == 0 && last.loss != 0 && !last.skipped) {
        return {Tone::Problem, withOrigin(tr("Its gradient is zero: nothing reaches the weights"), facts)};
    }
    if (hasEnded) {
        Sentence end = endSentence(lane, facts);
        if (losesMuch) {
            end = {Tone::Notice, end.text + QLatin1Char(' ') + flushed + QLatin1Char('.')};
        }
        return end;
    }
    const std::int64_t sinceApplied = last.step - facts.lastApplied;
    if (last.skipped && sinceApplied >= manySkips) {
        return {Tone::Problem,
            withOrigin(tr("%1 steps skipped in a row: the gradient overflows at every scale tried")
                           .arg(formatCount(sinceApplied)),
                facts)};
    }
    if (losesMuch) {
        const bool hasScaler = lane.config->scaler && lane.config->scaler->family != "none";
        return {Tone::Notice,
            flushed + (hasScaler ? tr(": a larger scale would keep more.") : tr(": it has no scaler to lift it."))};
    }
    if (facts.skipped > 0) {
        const bool isFindingScale = facts.lastSkip == facts.firstSkip + facts.skipped - 1 && facts.firstSkip == 0;
        if (isFindingScale) {
            return {Tone::Plain,
                facts.skipped == 1
                    ? tr("Skipped 1 step while finding its scale (normal).")
                    : tr("Skipped %1 steps while finding its scale (normal).").arg(formatCount(facts.skipped))};
        }
        return {Tone::Plain,
            tr("Skipped %1 in all, last at step %2.").arg(formatCount(facts.skipped), formatCount(facts.lastSkip))};
    }
    return {Tone::Plain, state == SessionState::Running ? tr("Training.") : tr("Paused.")};
}

QString lockSentence(const LaneFacts& facts, bool isBaseline, const QString& baselineName)
{
    if (isBaseline) {
        return tr("The baseline: other lanes are compared with this one.");
    }
    switch (facts.lock) {
    case LockState::Unknown:
        return tr("Not compared with %1 yet.").arg(baselineName);
    case LockState::InitialWeightsDiffer:
        return tr("Differs from %1 from the start: other initial weights.").arg(baselineName);
    case LockState::DataDiffers:
        return tr("Differs from %1 since step %2: other batches or random numbers.")
            .arg(baselineName, formatCount(facts.lockBrokenAt));
    case LockState::Held:
        break;
    }
    const QString same = tr("Same initial weights, batches and random numbers as %1, by hash").arg(baselineName);
    return facts.lockCheckedTo < 0 ? same + QLatin1Char('.')
                                   : same + tr(", up to step %1.").arg(formatCount(facts.lockCheckedTo));
}

QString policyLabel(const std::string& policy)
{
    const QString text = QString::fromStdString(policy);
    if (text.startsWith(QLatin1Char('O'))) {
        return tr("Apex %1").arg(text);
    }
    const QString format = text.section(QLatin1Char('-'), -1).toUpper();
    const QString lists = text.section(QLatin1Char('-'), 0, -2);
    return lists.isEmpty()                ? format
        : lists == QLatin1String("pure")  ? tr("Pure %1").arg(format)
        : lists == QLatin1String("cpu")   ? tr("%1, PyTorch CPU lists").arg(format)
        : lists == QLatin1String("tf")    ? tr("%1, TensorFlow lists").arg(format)
        : lists == QLatin1String("mxnet") ? tr("%1, MXNet lists").arg(format)
                                          : text;
}

QString weightsLabel(const std::string& weights)
{
    return weights == "half"           ? tr("16-bit, no masters")
        : weights == "half-stochastic" ? tr("16-bit, rounded at random")
        : weights == "half-kahan"      ? tr("16-bit, compensated")
                                       : tr("FP32 masters");
}

QString settingsSummary(const LaneConfig& config, double scale, double rate)
{
    QStringList parts {policyLabel(config.precision.policy)};
    if (config.precision.weights != defaultPrecision(config.precision.policy).weights) {
        parts << weightsLabel(config.precision.weights);
    }
    if (config.precision.tf32) {
        parts << QStringLiteral("TF32");
    }
    if (config.precision.reducedSums) {
        parts << tr("sums in FP16");
    }
    const std::string family = config.scaler ? config.scaler->family : "none";
    if (family == "none") {
        parts << tr("no scaler");
    } else {
        parts << scalerTitle(family) + QLatin1Char(' ') + formatPowerOfTwo(scale);
    }
    if (config.clip.order == ClipOrder::UnscaleThenClip) {
        parts << tr("clips");
    } else if (config.clip.order == ClipOrder::ClipThenUnscale) {
        parts << tr("clips too early");
    }
    const std::vector<OrderNote> notes = orderNotes(config, scale);
    if (std::ranges::any_of(notes, [](const OrderNote& note) {
            return note.tone == Tone::Problem && note.block && note.block != StepBlock::Clip;
        })) {
        parts << tr("wrong order");
    }
    parts << tr("rate %1").arg(formatValue(rate));
    return parts.join(QStringLiteral(" \u00B7 "));
}

QString memoryText(const MemoryBytes& bytes)
{
    const std::array<std::pair<QString, std::uint64_t>, 7> rows {{
        {tr("Weights"), bytes.weights},
        {tr("16-bit copies"), bytes.copies},
        {tr("Gradients"), bytes.gradients},
        {tr("Optimizer"), bytes.optimizer},
        {tr("Activations"), bytes.activations},
        {tr("Workspace"), bytes.workspace},
        {tr("Together"), bytes.total()},
    }};
    QStringList lines;
    for (const auto& [name, count] : rows) {
        lines << QStringLiteral("%1: %2").arg(name, formatBytes(count));
    }
    return lines.join(QLatin1Char('\n'));
}

QString settingName(const std::string& path)
{
    static const std::array<std::pair<const char*, const char*>, 41> names {{
        {"scaler.scale", QT_TRANSLATE_NOOP("mantissa", "scale")},
        {"scaler.init_scale", QT_TRANSLATE_NOOP("mantissa", "initial scale")},
        {"scaler.family", QT_TRANSLATE_NOOP("mantissa", "scaler")},
        {"scaler", QT_TRANSLATE_NOOP("mantissa", "scaler")},
        {"scaler.growth_factor", QT_TRANSLATE_NOOP("mantissa", "growth factor")},
        {"scaler.backoff_factor", QT_TRANSLATE_NOOP("mantissa", "backoff factor")},
        {"scaler.growth_interval", QT_TRANSLATE_NOOP("mantissa", "growth interval")},
        {"scaler.frozen", QT_TRANSLATE_NOOP("mantissa", "frozen")},
        {"optimizer.lr", QT_TRANSLATE_NOOP("mantissa", "learning rate")},
        {"precision.policy", QT_TRANSLATE_NOOP("mantissa", "precision")},
        {"precision.weights", QT_TRANSLATE_NOOP("mantissa", "weights")},
        {"precision", QT_TRANSLATE_NOOP("mantissa", "precision")},
        {"precision.overrides", QT_TRANSLATE_NOOP("mantissa", "formats of single ops")},
        {"precision.tf32", QT_TRANSLATE_NOOP("mantissa", "products in TF32")},
        {"precision.reduced_sums", QT_TRANSLATE_NOOP("mantissa", "products summed in FP16")},
        {"clip", QT_TRANSLATE_NOOP("mantissa", "clipping")},
        {"clip.max_norm", QT_TRANSLATE_NOOP("mantissa", "clip threshold")},
        {"clip.order", QT_TRANSLATE_NOOP("mantissa", "clip order")},
        {"clip.per_layer", QT_TRANSLATE_NOOP("mantissa", "clip each layer")},
        {"order", QT_TRANSLATE_NOOP("mantissa", "order of the step")},
        {"optimizer.extra_step", QT_TRANSLATE_NOOP("mantissa", "stray second step")},
        {"optimizer.state_format", QT_TRANSLATE_NOOP("mantissa", "format of the optimizer state")},
        {"optimizer.epsilon_format", QT_TRANSLATE_NOOP("mantissa", "format of epsilon")},
        {"accumulation.steps", QT_TRANSLATE_NOOP("mantissa", "micro-batches")},
        {"accumulation.divide", QT_TRANSLATE_NOOP("mantissa", "loss divided by the micro-batches")},
        {"accumulation.guard", QT_TRANSLATE_NOOP("mantissa", "bad micro-batches dropped")},
        {"accumulation.scaler_per_micro_batch", QT_TRANSLATE_NOOP("mantissa", "scaler updated per micro-batch")},
        {"accumulation.zero_gradients", QT_TRANSLATE_NOOP("mantissa", "gradients zeroed")},
        {"parallel.communication", QT_TRANSLATE_NOOP("mantissa", "format of the exchange")},
        {"parallel.divide", QT_TRANSLATE_NOOP("mantissa", "division by the ranks")},
        {"parallel.gradients", QT_TRANSLATE_NOOP("mantissa", "gradients of the ranks")},
        {"parallel.scaler", QT_TRANSLATE_NOOP("mantissa", "scalers of the ranks")},
        {"parallel.every_micro_batch", QT_TRANSLATE_NOOP("mantissa", "exchange after each micro-batch")},
        {"fault.at_rank", QT_TRANSLATE_NOOP("mantissa", "rank of the faults that follow")},
        {"fault.nan_sample", QT_TRANSLATE_NOOP("mantissa", "injected NaN samples")},
        {"fault.huge_sample", QT_TRANSLATE_NOOP("mantissa", "injected huge sample")},
        {"fault.loss_spike", QT_TRANSLATE_NOOP("mantissa", "injected loss spike")},
        {"fault.gradient_inf", QT_TRANSLATE_NOOP("mantissa", "injected infinite gradient")},
        {"fault.lr_jump", QT_TRANSLATE_NOOP("mantissa", "injected jump of the rate")},
        {"fault.exploding_init", QT_TRANSLATE_NOOP("mantissa", "injected exploding weights")},
        {"fault.saturation", QT_TRANSLATE_NOOP("mantissa", "injected saturation")},
    }};
    for (const auto& [key, name] : names) {
        if (path == key) {
            return tr(name);
        }
    }
    static const std::string scaler = "scaler.";
    const QString words = QString::fromStdString(path);
    return path.starts_with(scaler)
        ? words.mid(static_cast<qsizetype>(scaler.size())).replace(QLatin1Char('_'), QLatin1Char(' '))
        : words;
}

QString eventSentence(const Event& event)
{
    const QString text = inPresentLanguage(QString::fromStdString(event.text));
    const auto withText
        = [&text](const QString& sentence) { return text.isEmpty() ? sentence : tr("%1: %2").arg(sentence, text); };
    switch (event.kind) {
    case EventKind::Set: {
        const QString by = event.scripted ? tr(" (as planned)") : QString();
        if (faultNamed(event.path) != nullptr) {
            const nlohmann::json value = nlohmann::json::parse(event.after, nullptr, false);
            return tr("%1: %2").arg(settingName(event.path),
                       value.is_number() ? formatValue(value.get<double>()) : valueText(event.after))
                + by;
        }
        return tr("%1: %2 \u2192 %3").arg(settingName(event.path), valueText(event.before), valueText(event.after))
            + by;
    }
    case EventKind::LaneAdded:
        return withText(tr("lane added"));
    case EventKind::LaneRemoved:
        return withText(tr("lane removed"));
    case EventKind::Started:
        return tr("started");
    case EventKind::Paused:
        return tr("paused");
    case EventKind::Reset:
        return tr("reset");
    case EventKind::Finished:
        return tr("finished");
    case EventKind::Stopped:
        return tr("stopped");
    case EventKind::Diverged:
        return withText(tr("diverged"));
    case EventKind::Failed:
        return withText(tr("failed"));
    case EventKind::Numerics:
    case EventKind::Exchange:
        return text;
    case EventKind::Checkpoint:
        return text.isEmpty() ? tr("checkpoint: %1").arg(QString::fromStdString(event.path)) : text;
    case EventKind::Resumed:
        return withText(tr("resumed from %1").arg(QString::fromStdString(event.path)));
    case EventKind::Weights:
        return withText(tr("starts from the weights in %1").arg(QString::fromStdString(event.path)));
    case EventKind::Watch:
        return tr("watchpoint %1 (%2)").arg(QString::fromStdString(event.path), text);
    case EventKind::Refused:
        return withText(tr("refused"));
    }
    return text;
}

} // namespace mantissa
