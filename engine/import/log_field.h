/// What a column of a training log can mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mantissa {

enum class LogField : std::uint8_t {
    Step,
    Run, ///< names the run that a row belongs to
    Loss,
    GradNorm, ///< before clipping
    GradNormClipped,
    GradMax,
    Scale,
    GrowthTracker,
    LearningRate,
    FoundInf,
    Skipped, ///< 0 or 1 by step, or a count that only grows
    Flushed,
    Subnormal,
    Overflowed,
    UpdateRatio,
    ValidationLoss,
    ValidationAccuracy, ///< a share
    WallTime, ///< seconds, since 1970 or since whatever
};

inline constexpr std::size_t logFieldCount = 18;

/// As the records of a run name it: "loss", "lr"; and "step", "run".
std::string_view nameOf(LogField field);
std::optional<LogField> logFieldNamed(std::string_view name);
/// In the order of the enumeration.
std::span<const LogField> allLogFields();
/// In words, for a person who assigns columns: "loss scale".
std::string_view wordsFor(LogField field);

/// Whether NaN is something that was measured, rather than nothing: a loss can be NaN, a learning rate hardly.
bool mayBeNaN(LogField field);

} // namespace mantissa
