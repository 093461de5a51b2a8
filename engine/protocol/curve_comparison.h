/// Two loss curves compared over stretches of steps, against the noise that such a curve has anyway.
///
/// The steps are cut into blocks, at most 20 of at least 10 steps; a block's value is its mean loss. The noise of a
/// block is one standard deviation of the difference that two trainings of the same kind would show:
/// - several seeds: the spread of FP32's block over the seeds (sample standard deviation, pooled with the neighbouring
///   blocks), and not less than what the FP32 curve's step-to-step jitter leaves in a mean of that many steps;
/// - one seed: what two orders of the batches would make, sqrt(2) x jitter / sqrt(steps), or the block-to-block jitter
///   of the difference of the two curves where that is larger. It knows nothing of other initial weights, so it is the
///   lower of the two estimates, and the band of what counts as equal is three times as wide as it instead of twice.
/// Jitter is the standard deviation of the loss around its trend, from differences of neighbouring steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mantissa {

struct CurveBlock
{
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    double fp32 = 0; ///< mean loss, over the seeds too; NaN where most losses are not finite
    double amp = 0;
    double noise = 0; ///< one standard deviation
    double band = 0; ///< half the width of what counts as equal: CurveComparison::timesNoise of it
};

struct CurveComparison
{
    bool usesSeeds = false; ///< the noise is FP32's spread over seeds
    double timesNoise = 2; ///< 2 with several seeds; 3 with one, whose estimate is the lower
    std::vector<CurveBlock> blocks {};
    double fp32Start = 0; ///< loss of the first step, mean over the seeds
    double fp32End = 0; ///< means over the last quarter of the blocks, here and below
    double ampEnd = 0;
    double gap = 0; ///< ampEnd - fp32End; infinite where AMP's loss is not finite there
    double noiseEnd = 0; ///< one standard deviation, not reduced by averaging: such a difference drifts
    double tolerance = 0; ///< timesNoise noiseEnd, or 1 % of what FP32 learnt where that is more
    std::int64_t apartSince = -1; ///< first step of the last stretch of blocks outside their band; -1: it ends inside
    std::int64_t blocksOutside = 0;
    double fp32Jitter = 0; ///< over the second half
    double ampJitter = 0;

    /// How far FP32's loss fell; not above zero if it did not.
    [[nodiscard]] double learnt() const { return fp32Start - fp32End; }

    [[nodiscard]] bool isEqual() const { return gap <= tolerance && gap >= -tolerance; }
};

/// The losses of each seed by step, FP32's and AMP's of the same seed at the same place. Series that end early count as
/// not finite from there. `steps` is how long they should be, at least 4.
CurveComparison compareCurves(
    std::span<const std::vector<double>> fp32, std::span<const std::vector<double>> amp, std::int64_t steps);

} // namespace mantissa
