/// NaN-aware comparison with tolerances that come from the formats.
#pragma once

#include "engine/formats/census.h"
#include "tests/support/host_tensor.h"

#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace mantissa::test {

/// Unit roundoff of FP32: the relative error of one FP32 operation.
inline constexpr double unit = 0x1p-24;
/// Half the smallest FP32 subnormal: the absolute error of one FP32 operation that underflows.
inline constexpr double tiny = 0x1p-150;
/// The error of a value whose FP32 computation overflows on the way: nothing can be said.
inline constexpr double anything = std::numeric_limits<double>::infinity();

/// A value known in double, and how far off a computation in FP32 may be before it rounds to its dtype.
struct Expectation
{
    double exact = 0;
    double error = 0;

    /// Rounding is monotone, so whatever FP32 computes inside [exact - error, exact + error] must round into
    /// [round(exact - error), round(exact + error)]: equality, unless a rounding boundary lies within the error.
    [[nodiscard]] bool accepts(DType dtype, double actual) const;
    [[nodiscard]] std::string text(DType dtype) const;
};

/// The census class (0 zero ... 6 NaN, in the order of Census) of a source value rounded to a 16-bit dtype, found by
/// its definition in census.h; the source passes through FP32 as the census demands.
std::size_t censusClass(DType dtype, double source);
std::uint64_t censusCount(const Census& census, std::size_t censusClass);

/// What a census (and its histogram, if there is one) may be when each source value is only known within its error. The
/// message says what is wrong.
std::optional<std::string> checkCensus(DType dtype, const std::vector<Expectation>& sources, const Census& census,
    const ExponentHistogram* histogram = nullptr);

} // namespace mantissa::test
