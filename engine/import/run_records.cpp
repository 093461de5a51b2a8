#include "engine/import/run_records.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

/// The number of a record that a field is; null for flags and what is no number.
double* numberIn(StepRecord& record, LogField field)
{
    switch (field) {
    case LogField::Loss:
        return &record.loss;
    case LogField::GradNorm:
        return &record.gradNorm;
    case LogField::GradNormClipped:
        return &record.gradNormClipped;
    case LogField::GradMax:
        return &record.gradMax;
    case LogField::Scale:
        return &record.scale;
    case LogField::LearningRate:
        return &record.lr;
    case LogField::Flushed:
        return &record.flushed;
    case LogField::Subnormal:
        return &record.subnormal;
    case LogField::Overflowed:
        return &record.overflowed;
    case LogField::UpdateRatio:
        return &record.updateRatio;
    case LogField::ValidationLoss:
        return &record.validationLoss;
    case LogField::ValidationAccuracy:
        return &record.validationAccuracy;
    case LogField::WallTime:
        return &record.wallSeconds;
    case LogField::Step:
    case LogField::Run:
    case LogField::GrowthTracker:
    case LogField::FoundInf:
    case LogField::Skipped:
        return nullptr;
    }
    return nullptr;
}

} // namespace

bool isFlag(LogField field)
{
    return field == LogField::GrowthTracker || field == LogField::FoundInf || field == LogField::Skipped;
}

StepRecord RecordMaker::recordOf(
    std::int64_t step, const LogValues::Values& values, const LogValues::Present& isPresent) const
{
    StepRecord record = unmeasuredRecord();
    record.lane = m_lane;
    record.step = step;
    addTo(record, values, isPresent);
    return record;
}

void RecordMaker::addTo(StepRecord& record, const LogValues::Values& values, const LogValues::Present& isPresent) const
{
    for (const LogField field : allLogFields()) {
        const double value = values[static_cast<std::size_t>(field)];
        if (!isPresent[static_cast<std::size_t>(field)]) {
            continue;
        }
        if (double* number = numberIn(record, field)) {
            *number = field == LogField::WallTime ? value - m_beginning : value;
        } else if (field == LogField::FoundInf) {
            record.foundInf = value != 0;
        } else if (field == LogField::Skipped) {
            record.skipped = value != 0;
        } else if (field == LogField::GrowthTracker) {
            constexpr double most = std::numeric_limits<std::int32_t>::max();
            record.growthTracker = static_cast<std::int32_t>(std::clamp(value, 0.0, most));
        }
    }
    if (isPresent[static_cast<std::size_t>(LogField::Loss)]) {
        record.lossFinite = std::isfinite(record.loss);
    }
}

bool RecordMaker::has(const StepRecord& record, LogField field) const
{
    StepRecord copy = record;
    const double* number = numberIn(copy, field);
    return number != nullptr && (!std::isnan(*number) || (field == LogField::Loss && !record.lossFinite));
}

void RecordMaker::learn(
    ImportSource& source, const StepRecord& record, const ColumnMap& map, std::span<const std::string> columns) const
{
    for (const LogField field : allLogFields()) {
        const auto column = map.columnOf(field);
        if (!source.knows(nameOf(field)) && has(record, field)) {
            source.fields.emplace_back(nameOf(field), column ? columns[*column] : std::string("the log's own times"));
            if (field == LogField::Loss) {
                source.fields.emplace_back("loss_finite", columns[*column]);
            }
        }
    }
}

void addTo(RunSummary& summary, const StepRecord& record)
{
    ++summary.steps;
    if (!std::isnan(record.loss) || !record.lossFinite) {
        summary.finalLoss = record.loss;
        summary.minLoss = std::fmin(summary.minLoss, record.loss);
    }
    summary.finalScale = std::isnan(record.scale) ? summary.finalScale : record.scale;
    summary.validationLoss = std::isnan(record.validationLoss) ? summary.validationLoss : record.validationLoss;
    summary.validationAccuracy
        = std::isnan(record.validationAccuracy) ? summary.validationAccuracy : record.validationAccuracy;
    if (record.skipped) {
        ++summary.skippedSteps;
        summary.firstSkip = summary.firstSkip < 0 ? record.step : summary.firstSkip;
    }
}

} // namespace mantissa
