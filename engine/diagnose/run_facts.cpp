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
    bool held = false;
    std::int64_t before = 0;
    for (const StepRecord& record : records) {
        const bool holdsHere = holds(record);
        if (holdsHere && !held) {
            list.push_back({record.step, record.step});
        } else if (holdsHere) {
            list.back().gaps += record.step - before - 1;
            list.back().last = record.step;
        }
        held = holdsHere;
        before = record.step;
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

/// The setting, or the median of the steps that the scale stood still before it grew.
double growthIntervalOf(const RunFacts& facts, std::vector<double> seen)
{
    if (facts.knows(KnownSettings)) {
        return facts.hasScaler ? valueOf(*facts.config.scaler, "growth_interval").value_or(0) : 0;
    }
    const double median = mantissa::medianOf(std::move(seen));
    return std::isnan(median) ? 0 : median;
}

void countScaleMoves(RunFacts& facts)
{
    const StepRecord* before = nullptr;
    std::int64_t moved = -1;
    std::vector<double> untilGrowth;
    for (const StepRecord& record : facts.run.records) {
        if (std::isnan(record.scale)) {
            continue;
        }
        if (before != nullptr && record.scale != before->scale && !isSetByHand(facts.run.events, record.step)) {
            const bool grows = record.scale > before->scale;
            facts.growths += grows ? 1 : 0;
            facts.backoffs += !grows && before->step > facts.leadingSkips.last ? 1 : 0;
            if (grows && moved >= 0) {
                untilGrowth.push_back(static_cast<double>(record.step - moved));
            }
            moved = record.step;
        }
        before = &record;
    }
    facts.growthInterval = growthIntervalOf(facts, std::move(untilGrowth));
}

/// Where a log does not say which steps were skipped, each halving of the scale stands for one at least.
void countFalls(RunFacts& facts)
{
    const StepRecord* before = nullptr;
    bool isLeading = true;
    for (const StepRecord& record : facts.run.records) {
        if (std::isnan(record.scale)) {
            continue;
        }
        const bool falls = before != nullptr && record.scale < before->scale && record.scale > 0;
        if (before != nullptr) {
            isLeading = isLeading && falls;
        }
        if (falls && isLeading) {
            facts.leadingSkips.last = before->step;
        } else if (falls) {
            const double halvings = std::log2(before->scale / record.scale);
            facts.skippedLater += std::max<std::int64_t>(1, std::isfinite(halvings) ? std::llround(halvings) : 1);
        }
        before = &record;
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
    return steps >= 30 && startLoss > 0 && lastLoss > 1.5 * startLoss;
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
    const std::size_t count = run.records.size() - since(step).size();
    std::vector<StepRecord> before(run.records.begin(), run.records.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::reverse(before);
    return meanLoss(std::span<const StepRecord>(before));
}

std::span<const StepRecord> RunFacts::since(std::int64_t step) const
{
    return {std::ranges::lower_bound(run.records, step, {}, &StepRecord::step), run.records.end()};
}

RunFacts factsOf(const RunView& run)
{
    RunFacts facts {.run = run, .config = run.config};
    facts.lower = lowerFormatOf(run.config.precision);
    facts.hasScaler = facts.knows(KnownSettings) ? run.config.scaler && run.config.scaler->family != "none"
                                                 : facts.knows(KnownScales);
    facts.knowsSkips = facts.knows(KnownSkips);
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
    facts.isFresh = facts.knows(KnownSettings) && facts.firstStep == 0 && run.config.model.weights.empty();
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
        facts.minScale = std::fmin(facts.minScale, record.scale);
        facts.maxScale = std::fmax(facts.maxScale, record.scale);
        if (!record.foundInf && !std::isnan(record.flushed)) {
            facts.flushed += record.flushed;
            ++counted;
        }
    }
    facts.flushed /= static_cast<double>(std::max<std::int64_t>(counted, 1));
    if (!facts.knowsSkips) {
        countFalls(facts);
    }
    countScaleMoves(facts);
    facts.updateRatio = medianOf(records, [](const StepRecord& record) {
        return record.skipped ? std::numeric_limits<double>::quiet_NaN() : record.updateRatio;
    });
    facts.startLoss = startLossOf(facts);
    facts.firstLoss = meanLoss(records);
    // The log of an imported run may have few rows with a loss among its last.
    const std::size_t latest = facts.knows(KnownSettings) ? 5 * lossWindow : records.size();
    std::vector<StepRecord> reversed(
        records.rbegin(), records.rbegin() + static_cast<std::ptrdiff_t>(std::min(records.size(), latest)));
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
