/// What one rank of a data-parallel lane reports about one step, beside the lane's own record.
#pragma once

#include <cstdint>
#include <limits>

namespace mantissa {

/// Gradient figures are true ones (unscaled). A value that was not measured is NaN.
struct RankRecord
{
    std::int64_t step = 0;
    std::uint32_t lane = 0; ///< Session's lane id
    std::uint32_t generation = 0; ///< as in StepRecord
    std::int32_t rank = 0;
    bool foundInf = false; ///< by this rank's own check
    bool skipped = false; ///< this rank's optimizer did not step
    double loss = 0; ///< over this rank's share of the batch
    double scale = 1; ///< of this rank's scaler, that this step's loss was multiplied with
    double gradNorm = 0; ///< of this rank's own gradient, before it is exchanged
    double flushed = 0; ///< share of its elements that became zero where they were rounded to be exchanged
    double distance = std::numeric_limits<double>::quiet_NaN(); ///< |w - w_0| / |w_0| to rank 0's weights
};

} // namespace mantissa
