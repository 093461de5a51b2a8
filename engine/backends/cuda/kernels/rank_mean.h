/// What rank_mean.cu does: gradients on their way over the ranks. n > 0; otherwise as kernels.h.
#pragma once

#include "engine/backends/cuda/kernels/views.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace mantissa::cuda {

struct RankMeanSetting
{
    Format communication; ///< FP32, FP16 or BF16
    int ranks;
    bool dividesFirst; ///< each rank's gradient by their number, and not the sum
};

constexpr int rankMeanBlocks = 256;

/// What is seen on the way; all zero to begin with.
struct RankFigures
{
    double squares[rankMeanBlocks]; ///< parts of the sum over this rank's own gradients, to be added in this order
    unsigned long long zeros; ///< among them
    unsigned long long sentZeros; ///< among what they were rounded to
    unsigned long long notFinite; ///< among the means
};

/// What this rank gives to the others.
void runRankParcel(const RankMeanSetting& setting, const In& gradients, void* parcel, RankFigures* figures,
    std::int64_t n, cudaStream_t stream);

/// From all ranks' parcels, each `stride` elements behind the one before.
void runRankMean(const RankMeanSetting& setting, const void* parcels, std::int64_t stride, const Out& gradients,
    RankFigures* figures, std::int64_t n, cudaStream_t stream);

} // namespace mantissa::cuda
