/// Why a step is not finite: where infinity or NaN arose first, and what would have kept it away, found by training the
/// step again and again on copies of the lane.
#pragma once

#include "engine/formats/dtype.h"
#include "engine/graph/graph.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

class Lane;

/// What an op read.
struct TracedOperand
{
    std::string name;
    DType format = DType::Float32;
    double smallest = 0; ///< magnitude of an element that is not zero; 0: all are
    double largest = 0;
};

/// The first op of a step, forward or backward, that makes infinity or NaN from finite numbers. The -inf that an
/// attention mask writes is none.
struct NonFiniteOrigin
{
    std::string op; ///< "fc1", "act1.backward.input"
    std::string kind; ///< "linear"
    std::string tensor; ///< what it wrote
    DType format = DType::Float32;
    Phase phase = Phase::Forward;
    std::uint64_t elements = 0;
    std::uint64_t infinite = 0;
    std::uint64_t nan = 0;
    std::vector<TracedOperand> inputs {};
    std::vector<std::int64_t> samples {}; ///< of the batch that are concerned, the first six; empty: not told apart
};

enum class BlameCause : std::uint8_t {
    Nothing, ///< the step is finite
    Data, ///< a sample is not finite
    Weights, ///< a weight was not finite before the step
    Scale, ///< at the scale 1 the step is finite
    Formats, ///< with some ops in FP32 it is
    HalfElsewhere, ///< a plain FP32 lane is finite, but no op's format alone mends it: sums, weights or settings are at
                   ///< fault
    NotPrecision, ///< a plain FP32 lane is not finite either
};

std::string_view nameOf(BlameCause cause); ///< "nothing", "data", "weights", "scale", ...

struct Blame
{
    std::int64_t step = 0;
    BlameCause cause = BlameCause::Nothing;
    std::optional<NonFiniteOrigin> origin {}; ///< nothing where it arose behind backward
    std::vector<std::int64_t> samples {}; ///< of Data, the first six
    std::vector<std::string> weights {}; ///< of Weights
    double safeScale = 1; ///< of Scale: the largest power of two at which the step is finite
    /// Of Formats: a set of ops that mends the step in FP32 and of which none can be left out.
    std::vector<std::string> ops {};
    nlohmann::json fix {}; ///< a merge patch of the lane's settings that mends the step; null: there is none
    int trials = 0; ///< steps that were trained to find out
    std::string text {}; ///< all of it in a few sentences
};

/// What `text` says, in the language of the moment.
std::string textOf(const Blame& blame);

/// `lane`: a copy that stands before the step; it is left somewhere else. Stops early, with what is known, once
/// `isCancelled` says so.
Blame blameOf(Lane& lane, const std::function<bool()>& isCancelled = {});

} // namespace mantissa
