#include "engine/verify/metric_value.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

namespace mantissa {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Losses that "at the end" averages over.
constexpr std::size_t lastLosses = 10;

using Records = std::span<const StepRecord>;
using Number = double (*)(const StepRecord&);
using Truth = bool (*)(const StepRecord&);

Records within(const std::vector<StepRecord>& records, const std::optional<StepInterval>& steps)
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
double overSteps(RunMetric metric, Records records)
{
    switch (metric) {
    case RunMetric::FinalLoss:
        return records.empty() ? nothing : records.back().loss;
    case RunMetric::MinLoss:
        return smallest(measured(records, lossOf, any));
    case RunMetric::MeanLoss:
        return meanLoss(records);
    case RunMetric::LossDrop:
        return lossDrop(records);
    case RunMetric::BadLosses:
        return count(records, isBadLoss);
    case RunMetric::FirstBadLoss:
        return firstStep(records, isBadLoss);
    case RunMetric::SkippedSteps:
        return count(records, isSkipped);
    case RunMetric::FirstSkip:
        return firstStep(records, isSkipped);
    case RunMetric::LastSkip:
        return lastStep(records, isSkipped);
    case RunMetric::OverflowSteps:
        return count(records, [](const StepRecord& record) { return record.foundInf; });
    case RunMetric::DroppedMicroBatches:
        return droppedMicroBatches(records);
    case RunMetric::MinScale:
        return smallest(measured(records, scaleOf, any));
    case RunMetric::MaxScale:
        return largest(measured(records, scaleOf, any));
    case RunMetric::Growths:
        return growths(records);
    case RunMetric::MeanGradNorm:
        return mean(measured(
            records, [](const StepRecord& record) { return record.gradNorm; }, isFiniteGradient));
    case RunMetric::MaxGradNorm:
        return largest(measured(
            records, [](const StepRecord& record) { return record.gradNorm; }, isFiniteGradient));
    case RunMetric::MeanGradNormClipped:
        return mean(measured(
            records, [](const StepRecord& record) { return record.gradNormClipped; }, isFiniteGradient));
    case RunMetric::Flushed:
        return mean(measured(
            records, [](const StepRecord& record) { return record.flushed; }, isFiniteGradient));
    case RunMetric::Subnormal:
        return mean(measured(
            records, [](const StepRecord& record) { return record.subnormal; }, isFiniteGradient));
    case RunMetric::Overflowed:
        return mean(measured(
            records, [](const StepRecord& record) { return record.overflowed; }, any));
    case RunMetric::UpdateRatio:
        return median(measured(
            records, [](const StepRecord& record) { return record.updateRatio; }, isTaken));
    case RunMetric::MaxUpdateRatio:
        return largest(measured(
            records, [](const StepRecord& record) { return record.updateRatio; }, isTaken));
    case RunMetric::UnmovedSteps:
        return count(records, [](const StepRecord& record) { return !record.skipped && record.updateRatio == 0; });
    case RunMetric::WeightsDistance:
        return lastDistance(records);
    case RunMetric::DataMs:
        return median(measured(
            records, [](const StepRecord& record) { return static_cast<double>(record.timeMs.dataMs); }, any));
    case RunMetric::StepMs:
        return median(measured(records, stepMs, any));
    default:
        return nothing;
    }
}

/// A metric of the whole run; NaN for any other.
double overRun(RunMetric metric, const RunSummary& summary)
{
    switch (metric) {
    case RunMetric::Steps:
        return static_cast<double>(summary.steps);
    case RunMetric::Diverged:
        return summary.status == RunStatus::Diverged ? 1 : 0;
    case RunMetric::Failed:
        return summary.status == RunStatus::Failed ? 1 : 0;
    case RunMetric::FinalScale:
        return summary.finalScale;
    case RunMetric::ValidationLoss:
        return summary.validationLoss;
    case RunMetric::Accuracy:
        return summary.validationAccuracy;
    case RunMetric::StepsPerSecond:
        return summary.stepsPerSecond;
    case RunMetric::Casts:
        return summary.castsPerStep;
    case RunMetric::BytesWeights:
        return bytes(summary.bytes.weights);
    case RunMetric::BytesCopies:
        return bytes(summary.bytes.copies);
    case RunMetric::BytesGradients:
        return bytes(summary.bytes.gradients);
    case RunMetric::BytesOptimizer:
        return bytes(summary.bytes.optimizer);
    case RunMetric::BytesActivations:
        return bytes(summary.bytes.activations);
    case RunMetric::BytesWorkspace:
        return bytes(summary.bytes.workspace);
    case RunMetric::BytesTotal:
        return bytes(summary.bytes.total());
    default:
        return nothing;
    }
}

/// The layer's measure at the steps that were looked at; what is not known there is left out.
std::vector<double> layerValues(const LaneOutcome& outcome, const Measure& measure, LayerMeasure what)
{
    std::vector<double> values;
    for (const SampledLayers& sample : outcome.sampled) {
        if (measure.steps && (sample.step < measure.steps->first || sample.step > measure.steps->last)) {
            continue;
        }
        const auto layer = std::ranges::find(sample.layers, measure.layer, &LayerFigures::name);
        if (layer != sample.layers.end() && !std::isnan((*layer)[what])) {
            values.push_back((*layer)[what]);
        }
    }
    return values;
}

/// A metric of a layer; NaN for one that is not known by layer.
double overLayer(const LaneOutcome& outcome, const Measure& measure)
{
    const auto values = [&](LayerMeasure what) { return layerValues(outcome, measure, what); };
    const auto finiteNorms = [&] {
        std::vector<double> norms = values(LayerMeasure::GradientNorm);
        std::erase_if(norms, [](double norm) { return !std::isfinite(norm); });
        return norms;
    };
    switch (measure.metric) {
    case RunMetric::MeanGradNorm:
        return mean(finiteNorms());
    case RunMetric::MaxGradNorm:
        return largest(finiteNorms());
    case RunMetric::Flushed:
        return mean(values(LayerMeasure::Flushed));
    case RunMetric::Subnormal:
        return mean(values(LayerMeasure::Subnormal));
    case RunMetric::Overflowed:
        return mean(values(LayerMeasure::Overflowed));
    case RunMetric::UpdateRatio:
        return median(values(LayerMeasure::UpdateRatio));
    case RunMetric::MaxUpdateRatio:
        return largest(values(LayerMeasure::UpdateRatio));
    case RunMetric::UnmovedSteps:
        return static_cast<double>(std::ranges::count(values(LayerMeasure::UpdateRatio), 0.0));
    case RunMetric::Cosine:
        return mean(values(LayerMeasure::Cosine));
    default:
        return nothing;
    }
}

/// A metric of a rank, or over all ranks of a lane; NaN for one that is not known by rank, and of a rank that the lane
/// does not have.
double overRanks(const LaneOutcome& outcome, const Measure& measure)
{
    std::vector<RankRecord> records;
    std::ranges::copy_if(outcome.ranks, std::back_inserter(records), [&measure](const RankRecord& record) {
        const bool isThen
            = !measure.steps || (record.step >= measure.steps->first && record.step <= measure.steps->last);
        return isThen && (!measure.rank || record.rank == *measure.rank);
    });
    const auto values = [&records](double RankRecord::*number) {
        std::vector<double> all;
        for (const RankRecord& record : records) {
            if (!std::isnan(record.*number)) {
                all.push_back(record.*number);
            }
        }
        return all;
    };
    const auto finiteNorms = [&] {
        std::vector<double> norms = values(&RankRecord::gradNorm);
        std::erase_if(norms, [](double norm) { return !std::isfinite(norm); });
        return norms;
    };
    const auto countOf = [&records](auto isCounted) {
        return records.empty() ? nothing : static_cast<double>(std::ranges::count_if(records, isCounted));
    };
    switch (measure.metric) {
    case RunMetric::MeanLoss:
        return mean(values(&RankRecord::loss));
    case RunMetric::SkippedSteps:
        return countOf([](const RankRecord& record) { return record.skipped; });
    case RunMetric::FirstSkip: {
        const auto first = std::ranges::find_if(records, &RankRecord::skipped);
        return first == records.end() ? -1 : static_cast<double>(first->step);
    }
    case RunMetric::OverflowSteps:
        return countOf([](const RankRecord& record) { return record.foundInf; });
    case RunMetric::RankOverflows:
        return countOf([](const RankRecord& record) { return !std::isfinite(record.gradNorm); });
    case RunMetric::MinScale:
        return smallest(values(&RankRecord::scale));
    case RunMetric::MaxScale:
        return largest(values(&RankRecord::scale));
    case RunMetric::MeanGradNorm:
        return mean(finiteNorms());
    case RunMetric::MaxGradNorm:
        return largest(finiteNorms());
    case RunMetric::ExchangeFlushed:
        return mean(values(&RankRecord::flushed));
    case RunMetric::RankDistance: {
        // Of the ranks at the last step at which they were compared.
        std::erase_if(records, [](const RankRecord& record) { return std::isnan(record.distance); });
        const std::int64_t last = records.empty() ? 0 : records.back().step;
        std::erase_if(records, [last](const RankRecord& record) { return record.step != last; });
        return largest(values(&RankRecord::distance));
    }
    default:
        return nothing;
    }
}

} // namespace

MetricValue valueOf(const Measure& measure, const LaneOutcome& outcome)
{
    if (measure.metric == RunMetric::WeightsHash) {
        return outcome.summary.weightsHash;
    }
    if (!measure.layer.empty()) {
        return overLayer(outcome, measure);
    }
    const bool isOfRanks = measure.metric == RunMetric::ExchangeFlushed || measure.metric == RunMetric::RankDistance
        || measure.metric == RunMetric::RankOverflows;
    if (measure.rank || isOfRanks) {
        return overRanks(outcome, measure);
    }
    const auto row = std::ranges::find(runMetricTable(), measure.metric, &RunMetricInfo::metric);
    return row->isPerStep ? overSteps(measure.metric, within(outcome.records, measure.steps))
                          : overRun(measure.metric, outcome.summary);
}

} // namespace mantissa
