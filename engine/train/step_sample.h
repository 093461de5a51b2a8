/// A step looked at tensor by tensor while it trains, with the gradient that FP32 would have had.
#pragma once

#include "engine/probe/tensor_sample.h"
#include "engine/train/step_record.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace mantissa {

class Lane;

struct StepSample
{
    std::int64_t step = 0;
    std::uint32_t lane = 0;
    std::uint32_t generation = 0; ///< as in StepRecord
    DType lower = DType::Float32; ///< the lane's 16-bit format; Float32: it has none
    double scale = 1; ///< that the step's loss was multiplied with
    double clipLimit = 0; ///< of the gradient's norm; 0: the lane does not clip by norm
    double milliseconds = 0; ///< that the looking took
    std::vector<TensorSample> tensors {}; ///< in the order of the step: weights, activations, ...
};

/// Which steps are sampled.
struct SamplingPlan
{
    static constexpr std::int64_t usually = 50; ///< for `every`, where a person looks on

    std::int64_t every = 0; ///< 0: none
    /// Ever less often as a run gets longer, so that some hundreds of samples span it, however long it is.
    bool thins = true;
    std::int64_t keepsElementsOf = -1; ///< this step's tensors are kept whole; -1: no step's
    /// Whether roundings are counted in steps that are not sampled too: what a record's shares and the search for the
    /// origin of a non-finite number are made of.
    bool countsEveryStep = true;

    [[nodiscard]] bool isDue(std::int64_t step) const;
    bool operator==(const SamplingPlan&) const = default;
};

/// Trains steps of one lane and looks at them. What the lane computes is the same to the last bit as without.
class StepSampler
{
public:
    StepSampler();
    ~StepSampler();

    /// Trains the lane's next step, as Lane::step() does. The first call, and one after a change of settings, also
    /// compiles the FP32 twin of the lane that gives the reference gradient.
    StepRecord step(Lane& lane, StepSample& into, bool keepsElements = false);

    struct Scratch;

private:
    struct Twin;

    std::unique_ptr<Scratch> m_scratch; ///< what looking needs and nobody else
    std::unique_ptr<Twin> m_twin; ///< nothing for a lane that is FP32 itself
};

} // namespace mantissa
