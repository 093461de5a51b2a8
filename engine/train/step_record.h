/// What one lane reports about one step (design, section 4).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace mantissa {

struct PhaseTimes
{
    float dataMs = 0;
    float waitMs = 0; ///< of dataMs: for the batch to be there
    float forwardMs = 0;
    float backwardMs = 0;
    float unscaleMs = 0;
    float clipMs = 0;
    float optimizerMs = 0;
    float instrumentsMs = 0;
    float evaluationMs = 0; ///< after the step
};

/// Device memory that a lane holds.
struct MemoryBytes
{
    std::uint64_t weights = 0; ///< and running statistics
    std::uint64_t copies = 0; ///< of weights, in 16 bits
    std::uint64_t gradients = 0;
    std::uint64_t optimizer = 0;
    std::uint64_t activations = 0; ///< at the peak, and the batch
    std::uint64_t workspace
        = 0; ///< scratch of the kernels, scalars, census; what is kept to judge the lane as it trains

    [[nodiscard]] std::uint64_t total() const
    {
        return weights + copies + gradients + optimizer + activations + workspace;
    }

    bool operator==(const MemoryBytes&) const = default;

    MemoryBytes& operator+=(const MemoryBytes& other)
    {
        weights += other.weights;
        copies += other.copies;
        gradients += other.gradients;
        optimizer += other.optimizer;
        activations += other.activations;
        workspace += other.workspace;
        return *this;
    }
};

/// Numbers of a step that is over. Gradient figures are true ones (unscaled). A value that was not measured is NaN.
struct StepRecord
{
    std::int64_t step = 0; ///< counted from 0
    std::uint32_t lane = 0; ///< Session's lane id
    std::uint32_t generation = 0; ///< resets of the session before this step: tells an earlier run's records apart
    bool lossFinite = true;
    bool foundInf = false; ///< a gradient was not finite
    bool skipped = false; ///< the optimizer did not step
    std::int32_t growthTracker = 0;
    std::int32_t hysteresis = -1; ///< -1: the scaler has none
    std::int32_t droppedMicroBatches = 0;
    double loss = 0;
    double gradNorm = 0; ///< before clipping
    double gradNormClipped = 0; ///< after clipping
    double gradMax = 0; ///< largest magnitude
    double scale = 1; ///< the scale this step's loss was multiplied with
    double lr = 0;
    double flushed = 0; ///< share of parameter-gradient elements flushed to zero at their rounding; NaN: not counted
    double subnormal = 0; ///< ... that became subnormal
    double overflowed = 0; ///< ... that overflowed to infinity
    double updateRatio = 0; ///< |update| / |weights|, both Euclidean
    double validationLoss = std::numeric_limits<double>::quiet_NaN(); ///< with the weights after this step
    double validationAccuracy = std::numeric_limits<double>::quiet_NaN();
    double baselineDistance = 0; ///< |w - w_baseline| / |w_baseline|; NaN where not measured
    std::uint64_t batchHash = 0; ///< fingerprint of all batches and random streams so far: equal lanes saw equal data
    PhaseTimes timeMs;
    double wallSeconds = 0; ///< since the session started, pauses included
    MemoryBytes bytes;

    /// A loss that is itself NaN cannot be told from none; the accuracy then is a number.
    [[nodiscard]] bool wasValidated() const { return !std::isnan(validationLoss) || !std::isnan(validationAccuracy); }
};

} // namespace mantissa
