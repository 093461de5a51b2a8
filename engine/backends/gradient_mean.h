/// Gradients that become their mean over the ranks without leaving the devices, where those can reach each other.
#pragma once

#include "engine/formats/dtype.h"

#include <cstddef>
#include <memory>
#include <string>

namespace mantissa {

class Stream;

/// How the mean is made: each rank's gradient, divided by the number of ranks if `dividesFirst`, is rounded to the
/// communication format; sums are made in rank order, each rounded to it (see Communicator::allReduceSum); then they
/// are divided if they were not before. The mean is FP32, rounded to the gradients' own format.
struct MeanRule
{
    DType gradients = DType::Float32;
    DType communication = DType::Float32; ///< FP32, FP16 or BF16
    bool dividesFirst = true;
};

/// What was seen on the way.
struct MeanFindings
{
    double sumOfSquares = 0; ///< of this rank's own gradients
    std::size_t zeros = 0; ///< among these
    std::size_t sentZeros = 0; ///< among what they were rounded to
    bool isFinite = true; ///< the mean
};

class GradientMean
{
public:
    virtual ~GradientMean() = default;

    /// Collective, and fails as Communicator's calls do: `count` gradients in device memory become what
    /// Communicator::allReduceSum would make of them, bit for bit, but for which NaN a NaN is; sumOfSquares may differ
    /// in its last bits. Work enqueued on the stream is done before, and all of it when this returns. Allocates when it
    /// is first called with so many.
    virtual MeanFindings average(void* gradients, std::size_t count, const MeanRule& rule, Stream& stream) = 0;

    /// Device memory of its own.
    [[nodiscard]] virtual std::size_t deviceBytes() const = 0;
};

struct FoundMean
{
    std::unique_ptr<GradientMean> mean; ///< null: gradients go through the host
    std::string text; ///< for the user: what carries them, and if it is the host, why; may be empty
};

} // namespace mantissa
