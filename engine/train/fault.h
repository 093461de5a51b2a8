/// Faults that a person injects to see what they do. They are set like settings, by a path and a value, before a step:
/// {"fault.nan_sample": 1}. So they are events of the lane, and a replay meets them again.
#pragma once

#include "engine/train/experiment.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class FaultKind : std::uint8_t {
    NanSample, ///< value: how many samples, the first ones of the step, are NaN throughout
    HugeSample, ///< factor on the first sample of the step
    LossSpike, ///< factor on the loss of the step
    GradientInf, ///< layer or parameter, in whose gradient one element is infinite in the step
    LrJump, ///< factor on the learning rate of the step
    ExplodingInit, ///< all weights become this factor times what the seed draws
    Saturation, ///< factor on the weights of the first layer, from here on
    Rank, ///< of a data-parallel lane: what is set after it for the step befalls that rank alone. Its path comes before
          ///< all others in the order of names, in which the changes of one event happen
};

/// One kind's row.
struct FaultInfo
{
    FaultKind kind;
    std::string_view path; ///< "fault.nan_sample"
    std::string_view example; ///< a value, as JSON text
};

std::span<const FaultInfo> faultTable();

/// Nothing for paths that are no fault's.
const FaultInfo* faultNamed(std::string_view path);

/// Says what is wrong with a fault's value for this lane ("is 0; it must be ..."), or nothing. Whether the layer that
/// it names exists, the lane tells when the fault happens.
std::string faultProblem(const LaneConfig& lane, const FaultInfo& fault, const nlohmann::json& value);

/// The faults that the next step of a lane will meet.
struct ArmedFaults
{
    std::optional<int> rank; ///< that the faults armed after it befall
    std::int64_t nanSamples = 0;
    std::int64_t firstNan = 0; ///< the first of them, counted over the batch of all ranks
    double sampleFactor = 1;
    std::int64_t hugeSample = 0; ///< the one that sampleFactor is for
    double lossFactor = 1;
    double lrFactor = 1;
    std::vector<std::string> infiniteGradients; ///< parameters

    [[nodiscard]] bool touchSamples() const { return nanSamples > 0 || sampleFactor != 1; }

    bool operator==(const ArmedFaults&) const = default;
};

} // namespace mantissa
