#include "engine/verify/metric_value.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace mantissa {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Losses that "at the end" averages over.
constexpr std::size_t lastLosses = 10;

using Records = std::span<const StepRecord>;
using Number = double (*)(const StepRecord&);
using Truth = bool (*)(const StepRecord&);

Records within(const std::vector<StepRecord>& records, const std::optional<StepSpan>& steps)
{
    if (!steps) {
        return records;
    }
    const auto begin = std::ranges::lower_bound(records, steps->first, {}, &StepRecord::step);
    const auto end = std::ranges::upper_bound(records, steps->last, {}, &StepRecord::step);
    return {begin, end};
}

double count(Records records, Truth isCounted)
{
    return static_cast<double>(std::ranges::count_if(records, isCounted));
}

double firstStep(Records records, Truth isMeant)
{
    const auto found = std::ranges::find_if(records, isMeant);
    return found == records.end() ? -1 : static_cast<double>(found->step);
}

double lastStep(Records records, Truth isMeant)
{
    for (std::size_t i = records.size(); i-- > 0;) {
        if (isMeant(records[i])) {
            return static_cast<double>(records[i].step);
        }
    }
    return -1;
}

/// Of the values that were measured.
std::vector<double> measured(Records records, Number value, Truth isMeant)
{
    std::vector<double> values;
    for (const StepRecord& record : records) {
        if (isMeant(record) && !std::isnan(value(record))) {
            values.push_back(value(record));
        }
    }
    return values;
}

double mean(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return values.empty() ? nothing : sum / static_cast<double>(values.size());
}

double largest(const std::vector<double>& values)
{
    return values.empty() ? nothing : *std::ranges::max_element(values);
}

double smallest(const std::vector<double>& values)
{
    return values.empty() ? nothing : *std::ranges::min_element(values);
}

double median(std::vector<double> values)
{
    if (values.empty()) {
        return nothing;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

bool any(const StepRecord&)
{
    return true;
}

bool isSkipped(const StepRecord& record)
{
    return record.skipped;
}

bool isBadLoss(const StepRecord& record)
{
    return !std::isfinite(record.loss);
}

bool isFiniteGradient(const StepRecord& record)
{
    return !record.foundInf && std::isfinite(record.gradNorm);
}

bool isTaken(const StepRecord& record)
{
    return !record.skipped;
}

double lossOf(const StepRecord& record)
{
    return record.loss;
}

double scaleOf(const StepRecord& record)
{
    return record.scale;
}

/// NaN if one of the losses is.
double meanLoss(Records records)
{
    std::vector<double> losses(records.size());
    std::ranges::transform(records, losses.begin(), lossOf);
    return mean(losses);
}

double lossDrop(Records records)
{
    if (records.empty()) {
        return nothing;
    }
    return records.front().loss - meanLoss(records.last(std::min(lastLosses, records.size())));
}

double growths(Records records)
{
    double number = 0;
    for (std::size_t i = 1; i < records.size(); ++i) {
        number += records[i].scale > records[i - 1].scale ? 1 : 0;
    }
    return number;
}

double droppedMicroBatches(Records records)
{
    double number = 0;
    for (const StepRecord& record : records) {
        number += record.droppedMicroBatches;
    }
    return number;
}

double lastDistance(Records records)
{
    const std::vector<double> values = measured(
        records, [](const StepRecord& record) { return record.baselineDistance; }, any);
    return values.empty() ? nothing : values.back();
}

double stepMs(const StepRecord& record)
{
    const PhaseTimes& t = record.timeMs;
    return t.dataMs + t.forwardMs + t.backwardMs + t.unscaleMs + t.clipMs + t.optimizerMs;
}

double bytes(std::uint64_t number)
{
    return static_cast<double>(number);
}

/// A metric of steps; NaN for one of the whole run.
double overSteps(Metric metric, Records records)
{
    switch (metric) {
    case Metric::FinalLoss:
        return records.empty() ? nothing : records.back().loss;
    case Metric::MinLoss:
        return smallest(measured(records, lossOf, any));
    case Metric::MeanLoss:
        return meanLoss(records);
    case Metric::LossDrop:
        return lossDrop(records);
    case Metric::BadLosses:
        return count(records, isBadLoss);
    case Metric::FirstBadLoss:
        return firstStep(records, isBadLoss);
    case Metric::SkippedSteps:
        return count(records, isSkipped);
    case Metric::FirstSkip:
        return firstStep(records, isSkipped);
    case Metric::LastSkip:
        return lastStep(records, isSkipped);
    case Metric::OverflowSteps:
        return count(records, [](const StepRecord& record) { return record.foundInf; });
    case Metric::DroppedMicroBatches:
        return droppedMicroBatches(records);
    case Metric::MinScale:
        return smallest(measured(records, scaleOf, any));
    case Metric::MaxScale:
        return largest(measured(records, scaleOf, any));
    case Metric::Growths:
        return growths(records);
    case Metric::MeanGradNorm:
        return mean(measured(
            records, [](const StepRecord& record) { return record.gradNorm; }, isFiniteGradient));
    case Metric::MaxGradNorm:
        return largest(measured(
            records, [](const StepRecord& record) { return record.gradNorm; }, isFiniteGradient));
    case Metric::MeanGradNormClipped:
        return mean(measured(
            records, [](const StepRecord& record) { return record.gradNormClipped; }, isFiniteGradient));
    case Metric::Flushed:
        return mean(measured(
            records, [](const StepRecord& record) { return record.flushed; }, isFiniteGradient));
    case Metric::Subnormal:
        return mean(measured(
            records, [](const StepRecord& record) { return record.subnormal; }, isFiniteGradient));
    case Metric::Overflowed:
        return mean(measured(
            records, [](const StepRecord& record) { return record.overflowed; }, any));
    case Metric::UpdateRatio:
        return median(measured(
            records, [](const StepRecord& record) { return record.updateRatio; }, isTaken));
    case Metric::UnmovedSteps:
        return count(records, [](const StepRecord& record) { return !record.skipped && record.updateRatio == 0; });
    case Metric::WeightsDistance:
        return lastDistance(records);
    case Metric::DataMs:
        return median(measured(
            records, [](const StepRecord& record) { return static_cast<double>(record.timeMs.dataMs); }, any));
    case Metric::StepMs:
        return median(measured(records, stepMs, any));
    default:
        return nothing;
    }
}

/// A metric of the whole run; NaN for any other.
double overRun(Metric metric, const RunSummary& summary)
{
    switch (metric) {
    case Metric::Steps:
        return static_cast<double>(summary.steps);
    case Metric::Diverged:
        return summary.status == RunStatus::Diverged ? 1 : 0;
    case Metric::Failed:
        return summary.status == RunStatus::Failed ? 1 : 0;
    case Metric::FinalScale:
        return summary.finalScale;
    case Metric::ValidationLoss:
        return summary.validationLoss;
    case Metric::Accuracy:
        return summary.validationAccuracy;
    case Metric::StepsPerSecond:
        return summary.stepsPerSecond;
    case Metric::Casts:
        return summary.castsPerStep;
    case Metric::BytesWeights:
        return bytes(summary.bytes.weights);
    case Metric::BytesCopies:
        return bytes(summary.bytes.copies);
    case Metric::BytesGradients:
        return bytes(summary.bytes.gradients);
    case Metric::BytesOptimizer:
        return bytes(summary.bytes.optimizer);
    case Metric::BytesActivations:
        return bytes(summary.bytes.activations);
    case Metric::BytesWorkspace:
        return bytes(summary.bytes.workspace);
    case Metric::BytesTotal:
        return bytes(summary.bytes.total());
    default:
        return nothing;
    }
}

} // namespace

MetricValue valueOf(const Measure& measure, const LaneOutcome& outcome)
{
    if (measure.metric == Metric::WeightsHash) {
        return outcome.summary.weightsHash;
    }
    const auto row = std::ranges::find(metricTable(), measure.metric, &MetricInfo::metric);
    return row->isPerStep ? overSteps(measure.metric, within(outcome.records, measure.steps))
                          : overRun(measure.metric, outcome.summary);
}

} // namespace mantissa
