/// Means and variances in a 16-bit format: every operand and every intermediate result rounded to it, sums from the
/// first element to the last (see `accumulate` in op_attributes.h).
#pragma once

#include "engine/backends/cpu/operands.h"

#include <array>
#include <cmath>

namespace mantissa::cpu {

/// Rounds n FP32 values to a 16-bit format and back. Sums and products of two 16-bit values are rounded as if at once:
/// FP32 has more than twice their precision (Figueroa, "When is double rounding innocuous?", 1995).
inline void roundThrough(DType format, float* values, std::size_t n)
{
    std::array<std::uint16_t, blockElements> bits;
    forBlocks(n, [&](std::size_t offset, std::size_t count) {
        const Target half {format, bits.data()};
        half.finish(0, count, values + offset);
        expand(format, bits.data(), values + offset, count);
    });
}

inline float roundedThrough(DType format, double value)
{
    auto single = static_cast<float>(value);
    // To an odd last bit first, so that the second rounding does not round a tie that FP32 made.
    if (static_cast<double>(single) != value && std::isfinite(single)) {
        const float toward
            = std::abs(static_cast<double>(single)) > std::abs(value) ? std::nextafter(single, 0.0F) : single;
        const auto bits = std::bit_cast<std::uint32_t>(toward) | 1U;
        single = std::bit_cast<float>(bits);
    }
    roundThrough(format, &single, 1);
    return single;
}

struct MomentRequest
{
    DType format = DType::Float16;
    std::size_t lanes = 0; ///< independent sets of elements
    std::size_t count = 0; ///< elements of each
    double epsilon = 0;
    bool isCentred = true; ///< false: mean 0, and the variance is the mean square
};

/// Calls gather(values, first lane, lanes, i) for element i of some lanes, and store(lane, mean, variance, rstd) for
/// each.
template <typename Gather, typename Store> void storageMoments(const MomentRequest& request, Gather gather, Store store)
{
    const DType format = request.format;
    const auto n = static_cast<double>(request.count);
    forBlocks(request.lanes, [&](std::size_t first, std::size_t lanes) {
        Block value;
        Block mean {};
        Block square {};
        const auto element = [&](std::size_t i) {
            gather(value.values, first, lanes, i);
            roundThrough(format, value.values, lanes);
        };
        const auto add = [&](Block& sum) {
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                sum.values[lane] += value.values[lane];
            }
            roundThrough(format, sum.values, lanes);
        };
        for (std::size_t i = 0; request.isCentred && i < request.count; ++i) {
            element(i);
            add(mean);
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            mean.values[lane] = roundedThrough(format, double {mean.values[lane]} / n);
        }
        for (std::size_t i = 0; i < request.count; ++i) {
            element(i);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                value.values[lane] -= mean.values[lane];
            }
            roundThrough(format, value.values, lanes);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                value.values[lane] *= value.values[lane];
            }
            roundThrough(format, value.values, lanes);
            add(square);
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const float variance = roundedThrough(format, double {square.values[lane]} / n);
            const float shifted = roundedThrough(format, double {variance} + request.epsilon);
            const float root = roundedThrough(format, std::sqrt(double {shifted}));
            store(first + lane, mean.values[lane], variance, roundedThrough(format, 1.0 / double {root}));
        }
    });
}

} // namespace mantissa::cpu
