/// Values of a log as the records that a run consists of.
#pragma once

#include "engine/import/column_map.h"
#include "engine/import/log_values.h"
#include "engine/store/import_source.h"
#include "engine/train/run_observer.h"

#include <cstdint>
#include <span>
#include <string>

namespace mantissa {

/// Whether the field is 0 or 1 in a record, which cannot be NaN where nothing is known.
bool isFlag(LogField field);

class RecordMaker
{
public:
    /// Times are counted from `beginning`.
    RecordMaker(std::uint32_t lane, double beginning)
        : m_lane(lane)
        , m_beginning(beginning)
    {
    }

    [[nodiscard]] StepRecord recordOf(
        std::int64_t step, const LogValues::Values& values, const LogValues::Present& isPresent) const;
    /// What has come later for the same step.
    void addTo(StepRecord& record, const LogValues::Values& values, const LogValues::Present& isPresent) const;

    [[nodiscard]] bool has(const StepRecord& record, LogField field) const;

    /// Adds the fields that the record has and the source does not know yet; flags are known from the beginning or
    /// never.
    void learn(ImportSource& source, const StepRecord& record, const ColumnMap& map,
        std::span<const std::string> columns) const;

private:
    std::uint32_t m_lane;
    double m_beginning;
};

/// Brings the totals up to the record.
void addTo(RunSummary& summary, const StepRecord& record);

} // namespace mantissa
