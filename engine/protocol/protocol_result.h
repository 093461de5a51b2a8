/// What the protocol found out: FP32 and AMP side by side, judged. A value; everything in it comes from the records.
#pragma once

#include "engine/backends/device_info.h"
#include "engine/diagnose/finding.h"
#include "engine/protocol/curve_comparison.h"
#include "engine/train/event.h"
#include "engine/train/experiment.h"
#include "engine/train/run_observer.h"
#include "engine/train/step_record.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// One training, kept whole.
struct ProtocolRun
{
    LaneConfig config {}; ///< as it began
    std::string initialWeightsHash {};
    RunSummary summary {};
    std::vector<StepRecord> records {}; ///< by step
    std::vector<Event> events {};
};

/// What was trained, and where. The runs are in the order of their seeds; FP32's and AMP's share the place and the
/// seed.
struct ProtocolRuns
{
    std::string experiment {}; ///< its name
    std::string lane {}; ///< that AMP's settings come from; empty: the protocol's own
    std::int64_t steps = 0; ///< asked for
    DeviceInfo device {};
    int threads = 1; ///< per lane
    double unixSeconds = 0; ///< when it began
    std::vector<ProtocolRun> fp32 {};
    std::vector<ProtocolRun> amp {};
};

enum class CheckLevel : std::uint8_t {
    Fine,
    Note, ///< worth knowing; says nothing against AMP
    Caution,
    Problem,
};

/// A question that the protocol asks, and its answer.
struct ProtocolCheck
{
    std::string id; ///< "curves": stable, for programs
    CheckLevel level = CheckLevel::Fine;
    std::string question {};
    std::string answer {}; ///< one or two sentences
};

struct ProtocolFinding
{
    Finding finding {}; ///< of the first seed that has it
    int seeds = 1; ///< that have it
    bool isInAmp = true;
    bool isInFp32 = false;
};

/// Means over the seeds, unless it says otherwise. NaN where there is none.
struct ProtocolNumbers
{
    double finalLoss = 0; ///< mean over the last quarter of the steps
    double validationLoss = 0;
    double validationAccuracy = 0;
    double jitter = 0; ///< of the loss around its trend, second half
    double gradNorm = 0; ///< mean over the second half, where finite
    double flushed = 0; ///< share of gradient elements
    double updateRatio = 0; ///< median
    double finalScale = 1;
    std::int64_t skipped = 0; ///< steps, all seeds together
    double stepMs = 0; ///< lower quartile over the steps, then the median over the seeds
    MemoryBytes bytes {}; ///< of the first seed; they do not depend on it
    int casts = 0; ///< in a step
};

enum class ProtocolVerdict : std::uint8_t { Healthy, Caution, Problem };

struct ProtocolResult
{
    ProtocolRuns runs {};
    CurveComparison curves {};
    ProtocolNumbers fp32 {};
    ProtocolNumbers amp {};
    std::vector<ProtocolFinding> findings {}; ///< the worst first; those that AMP has before those of FP32 alone
    std::vector<ProtocolCheck> checks {}; ///< in the order in which they read
    ProtocolVerdict verdict = ProtocolVerdict::Healthy;

    [[nodiscard]] double speedUp() const { return fp32.stepMs / amp.stepMs; }

    /// AMP's bytes over FP32's.
    [[nodiscard]] double memoryShare() const
    {
        return static_cast<double>(amp.bytes.total()) / static_cast<double>(fp32.bytes.total());
    }
};

std::string_view nameOf(CheckLevel level); ///< "fine", "note", "caution", "problem"
std::string_view nameOf(ProtocolVerdict verdict); ///< "healthy", "caution", "problem"

} // namespace mantissa
