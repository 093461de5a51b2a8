/// What a run of an experiment should show: the `expect` and `claim` of its file (design.md, section 9). engine/verify
/// judges them.
#pragma once

#include "engine/train/claim.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

struct LaneConfig;

enum class RunMetric : std::uint8_t {
    FinalLoss,
    MinLoss,
    MeanLoss,
    LossDrop,
    BadLosses,
    FirstBadLoss,
    SkippedSteps,
    FirstSkip,
    LastSkip,
    OverflowSteps,
    DroppedMicroBatches,
    MinScale,
    MaxScale,
    Growths,
    MeanGradNorm,
    MaxGradNorm,
    MeanGradNormClipped,
    Flushed,
    Subnormal,
    Overflowed,
    UpdateRatio,
    MaxUpdateRatio,
    UnmovedSteps,
    Cosine,
    WeightsDistance,
    DataMs,
    StepMs,
    ExchangeFlushed,
    RankDistance,
    RankOverflows,
    Steps,
    Diverged,
    Failed,
    FinalScale,
    ValidationLoss,
    Accuracy,
    WeightsHash,
    StepsPerSecond,
    Casts,
    BytesWeights,
    BytesCopies,
    BytesGradients,
    BytesOptimizer,
    BytesActivations,
    BytesWorkspace,
    BytesTotal,
};

/// Whether a metric can be one layer's.
enum class LayerUse : std::uint8_t { No, May, Must };

/// Whether a metric can be one rank's, of a data-parallel lane.
enum class RankUse : std::uint8_t { No, May };

/// One metric's row.
struct RunMetricInfo
{
    RunMetric metric;
    std::string_view name; ///< "loss_drop"
    bool isPerStep; ///< a range of steps may restrict it
    LayerUse layer = LayerUse::No;
    RankUse rank = RankUse::No;
};

std::span<const RunMetricInfo> runMetricTable();

enum class Comparison : std::uint8_t { Less, LessOrEqual, Greater, GreaterOrEqual, Equal, NotEqual };

/// "<", "<=", ...
std::string_view nameOf(Comparison op);
std::optional<Comparison> comparisonNamed(std::string_view name);

/// The first and the last step, both included.
struct StepInterval
{
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// A metric of a lane.
struct Measure
{
    std::string lane;
    RunMetric metric = RunMetric::FinalLoss;
    std::optional<StepInterval> steps {}; ///< nothing: all
    std::string layer {}; ///< of this layer alone, at the steps that are looked at; empty: of the whole lane
    std::optional<std::int32_t> rank {}; ///< of this rank alone; nothing: of the lane, or over all of its ranks
};

/// One comparison: left op number, or left op number * right.
struct Expectation
{
    std::string that; ///< in words
    Measure left;
    Comparison op = Comparison::Less;
    std::optional<Measure> right {};
    double number = 1;
};

/// Reads a list of expectations. Throws Error (InvalidArgument) naming the JSON path, the value, and the nearest valid
/// key, metric or lane. `source` names the file in messages.
std::vector<Expectation> readExpectations(
    const nlohmann::json& expect, std::span<const std::string> lanes, const std::string& source);

/// Checks that each layer named is one of its lane's model, as far as that can be known without the lane's data, and
/// each rank one that it has. Throws as readExpectations().
void checkLayers(
    std::span<const Expectation> expectations, std::span<const LaneConfig> lanes, const std::string& source);

/// As readExpectations(), for a claim.
Claim readClaim(const nlohmann::json& claim, const std::string& source);
nlohmann::json claimAsJson(const Claim& claim);

} // namespace mantissa
