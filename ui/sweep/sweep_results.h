/// What a run of a sweep came to, as columns of its table and axes of its plot.
#pragma once

#include "engine/store/run_store.h"

#include <QString>

#include <array>

namespace mantissa {

enum class SweepResult { FinalLoss, ValidationLoss, ValidationAccuracy, Skipped, FinalScale, StepsPerSecond };

inline constexpr std::array allSweepResults {SweepResult::FinalLoss, SweepResult::ValidationLoss,
    SweepResult::ValidationAccuracy, SweepResult::Skipped, SweepResult::FinalScale, SweepResult::StepsPerSecond};

QString resultTitle(SweepResult result);
/// NaN where it is not known: of the validation of a run that was stopped.
double resultOf(const RunInfo& run, SweepResult result);
/// Whether a value that is no number is what the run came to, rather than unknown.
bool isKnown(const RunInfo& run, SweepResult result);
QString resultText(double value, SweepResult result);

/// "Learning rate", for the settings that people know by a name, or the path.
QString settingTitle(const std::string& column);

} // namespace mantissa
