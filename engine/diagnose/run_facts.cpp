#include "engine/diagnose/run_facts.h"

#include "engine/autocast/policy.h"
#include "engine/core/phrase.h"
#include "engine/core/statistics.h"
#include "engine/train/fault.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace mantissa {

namespace {

constexpr std::size_t lossWindow = 10;

double stepMsOf(const StepRecord& record)
{
    const PhaseTimes& t = record.timeMs;
    return double {t.dataMs} + t.forwardMs + t.backwardMs + t.unscaleMs + t.clipMs + t.optimizerMs + t.instrumentsMs;
}

/// 0 if none is a number.
template <typename Number> double medianOf(std::span<const StepRecord> records, Number number)
{
    std::vector<double> values;
    values.reserve(records.size());
    std::ranges::transform(records, std::back_inserter(values), number);
    const double median = mantissa::medianOf(std::move(values));
    return std::isnan(median) ? 0 : median;
}

bool hasFiniteGradient(const StepSample& sample)
{
    return std::ranges::none_of(sample.tensors, [](const TensorSample& tensor) {
        const Census& census = tensor.census;
        return tensor.role == TensorRole::Scaled && census.infinite + census.overflowed + census.nan > 0;
    });
}

std::vector<LayerFigures> laterMedians(std::span<const StepSample> samples)
{
    std::vector<std::vector<LayerFigures>> steps;
    for (const StepSample& sample : samples.subspan(samples.size() / 2)) {
        if (hasFiniteGradient(sample)) {
            steps.push_back(figuresOf(sample, LayerGrouping::Layers));
        }
    }
    if (steps.empty()) {
        return {};
    }
    std::vector<LayerFigures> medians;
    for (const LayerFigures& layer : steps.back()) {
        LayerFigures& row = medians.emplace_back();
        row.name = layer.name;
        for (std::size_t measure = 0; measure < row.values.size(); ++measure) {
            std::vector<double> values;
            for (const std::vector<LayerFigures>& step : steps) {
                const auto same = std::ranges::find(step, layer.name, &LayerFigures::name);
                if (same != step.end()) { // a policy that changed has other nodes
                    values.push_back(same->values[measure]);
                }
            }
            row.values[measure] = mantissa::medianOf(std::move(values));
        }
    }
    return medians;
}

/// The stretches of steps for which `holds`.
template <typename Holds> std::vector<StepRange> stretches(std::span<const StepRecord> records, Holds holds)
{
    std::vector<StepRange> list;
    for (const StepRecord& record : records) {
        if (!holds(record)) {
            continue;
        }
        if (list.empty() || list.back().last + 1 != record.step) {
            list.push_back({record.step, record.step});
        }
        list.back().last = record.step;
    }
    return list;
}

template <typename Records> double meanLoss(Records records)
{
    double sum = 0;
    std::size_t count = 0;
    for (const StepRecord& record : records) {
        if (std::isfinite(record.loss) && count < lossWindow) {
            sum += record.loss;
            ++count;
        }
    }
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

double startLossOf(const RunFacts& facts)
{
    const std::span<const StepRecord> records = facts.run.records;
    if (facts.isFresh && std::isfinite(records.front().loss)) {
        return records.front().loss;
    }
    constexpr std::size_t beginning = 20;
    double largest = std::numeric_limits<double>::quiet_NaN();
    for (const StepRecord& record : records.first(std::min(records.size(), beginning))) {
        largest = std::isfinite(record.loss) ? std::fmax(largest, record.loss) : largest;
    }
    return largest;
}

/// The policy's, or of an FP32 policy that of the ops that are overridden: FP16, if there are both.
DType lowerFormatOf(const PrecisionConfig& precision)
{
    DType lower = policyNamed(precision.policy).lower;
    if (lower == DType::Float32) {
        for (const auto& [op, format] : precision.overrides) {
            if (op.ends_with(".accumulate")) {
                continue; // of sums; the tensors stay
            }
            lower = format == nameOf(DType::Float16)                           ? DType::Float16
                : format == nameOf(DType::BFloat16) && lower != DType::Float16 ? DType::BFloat16
                                                                               : lower;
        }
    }
    return lower;
}

bool isSetByHand(std::span<const Event> events, std::int64_t step)
{
    return std::ranges::any_of(events, [step](const Event& event) {
        return event.kind == EventKind::Set && event.step == step && event.path.starts_with("scaler");
    });
}

void countScaleMoves(RunFacts& facts)
{
    const std::span<const StepRecord> records = facts.run.records;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const double before = records[i - 1].scale;
        const double after = records[i].scale;
        if (after != before && !isSetByHand(facts.run.events, records[i].step)) {
            facts.growths += after > before ? 1 : 0;
            facts.backoffs += after < before && records[i - 1].step > facts.leadingSkips.last ? 1 : 0;
        }
    }
}

} // namespace

bool RunFacts::isBroken() const
{
    const bool endsBadly = !badLosses.empty() && badLosses.back().last == lastStep && badLosses.back().length() >= 5;
    return run.status == RunStatus::Diverged || endsBadly;
}

bool RunFacts::hasRisen() const
{
    return steps >= 30 && lastLoss > 1.5 * startLoss;
}

bool RunFacts::isStill() const
{
    return steps >= 50 && std::abs(lastLoss - firstLoss) <= 0.02 * std::abs(firstLoss);
}

bool RunFacts::fp32DivergesToo() const
{
    return lower != DType::Float32 && !run.siblings.empty() && std::ranges::all_of(run.siblings, &Sibling::hasDiverged);
}

double RunFacts::lossBefore(std::int64_t step) const
{
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(step - firstStep, 0, steps));
    std::vector<StepRecord> before(run.records.begin(), run.records.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::reverse(before);
    return meanLoss(std::span<const StepRecord>(before));
}

RunFacts factsOf(const RunView& run)
{
    RunFacts facts {.run = run, .config = run.config};
    facts.lower = lowerFormatOf(run.config.precision);
    facts.hasScaler = run.config.scaler && run.config.scaler->family != "none";
    const std::span<const StepRecord> records = run.records;
    facts.steps = static_cast<std::int64_t>(records.size());
    for (const Event& event : run.events) {
        if (event.kind == EventKind::Numerics && !event.path.empty() && facts.origin.empty()) {
            facts.origin = event.path;
            facts.originStep = event.step;
        }
        if (event.kind == EventKind::Set && faultNamed(event.path) != nullptr) {
            facts.faults.push_back(&event);
        }
    }
    if (records.empty()) {
        return facts;
    }
    facts.firstStep = records.front().step;
    facts.lastStep = records.back().step;
    facts.isFresh = facts.firstStep == 0 && run.config.model.weights.empty();
    facts.skips = stretches(records, [](const StepRecord& record) { return record.skipped; });
    facts.leadingSkips = {facts.firstStep, facts.firstStep - 1};
    if (!facts.skips.empty() && facts.skips.front().first == facts.firstStep) {
        facts.leadingSkips = facts.skips.front();
    }
    facts.badLosses = stretches(records, [](const StepRecord& record) { return !record.lossFinite; });
    facts.minScale = records.front().scale;
    facts.maxScale = records.front().scale;
    std::int64_t counted = 0;
    for (const StepRecord& record : records) {
        facts.skippedLater += record.skipped && record.step > facts.leadingSkips.last ? 1 : 0;
        facts.zeroGradients += record.gradNorm == 0 && record.loss != 0 && record.lossFinite ? 1 : 0;
        facts.clipped += record.gradNormClipped < record.gradNorm * (1 - 1e-5) ? 1 : 0;
        facts.unmoved += !record.skipped && !record.foundInf && record.updateRatio == 0 && record.lr > 0 ? 1 : 0;
        facts.minScale = std::min(facts.minScale, record.scale);
        facts.maxScale = std::max(facts.maxScale, record.scale);
        if (!record.foundInf && !std::isnan(record.flushed)) {
            facts.flushed += record.flushed;
            ++counted;
        }
    }
    facts.flushed /= static_cast<double>(std::max<std::int64_t>(counted, 1));
    countScaleMoves(facts);
    facts.updateRatio = medianOf(records, [](const StepRecord& record) {
        return record.skipped ? std::numeric_limits<double>::quiet_NaN() : record.updateRatio;
    });
    facts.startLoss = startLossOf(facts);
    facts.firstLoss = meanLoss(records);
    std::vector<StepRecord> reversed(records.rbegin(),
        records.rbegin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(records.size(), 5 * lossWindow)));
    facts.lastLoss = meanLoss(std::span<const StepRecord>(reversed));
    facts.stepMs = medianOf(records, stepMsOf);
    facts.waitMs = medianOf(records, [](const StepRecord& record) { return double {record.timeMs.waitMs}; });
    facts.scalerMs = medianOf(
        records, [](const StepRecord& record) { return double {record.timeMs.unscaleMs} + record.timeMs.clipMs; });
    facts.layers = laterMedians(run.samples);
    return facts;
}

std::string faultSentence(const Event& fault)
{
    return phrase("{} = {} was injected at step {}. ", fault.path, fault.after, fault.step);
}

} // namespace mantissa
