/// The phases of a step, and what its time says, in words.
#pragma once

#include "engine/probe/gpu_meter.h"
#include "ui/time/time_history.h"

#include <QString>

#include <optional>

namespace mantissa {

QString titleOf(StepPhase phase); ///< "Forward"
QString explanationOf(StepPhase phase);
QString keyOf(StepPhase phase); ///< "forward": as files spell it

/// "0.5123 ms", "12.4 µs"
QString durationText(double milliseconds);

/// A lane's step in short: what it takes, and what stands out.
struct TimeSummary
{
    QString lane;
    PhaseMs mean {};
    int casts = 0; ///< a step
    QString baseline {}; ///< the lane that it is compared with; empty: itself, or there is none
    double ratio = 0; ///< of the baseline's time, evaluation and instruments left out
};

QString sentenceOf(const TimeSummary& summary);

/// "NVIDIA H200: 43 % busy, 12.3 of 139.8 GiB in use." Empty where there is no GPU to read.
QString sentenceOf(const GpuReport& report);

/// Of training alone: what evaluating and looking cost is the person's choice.
double trainingMs(const PhaseMs& mean);

} // namespace mantissa
