/// A number in one format: bits, value, error, spacing.
#pragma once

#include "app/cli/exact_input.h"
#include "engine/formats/dtype.h"

#include <cstdint>
#include <string>

namespace mantissa::cli {

struct NumberReport
{
    DType format = DType::Float32;
    std::uint64_t bits = 0;
    std::string bitsText; ///< "0|01011|1111100111": sign, exponent, fraction
    std::string hex; ///< "0x2fe7"
    double value = 0; ///< exactly the format's number
    double error = 0; ///< value minus input
    double ulp = 0; ///< distance to the next larger magnitude; NaN for infinity and NaN
    std::string category; ///< "zero", "subnormal", "normal", "inf", "nan"
    double below = 0; ///< the neighbour below; NaN for NaN
    double above = 0;
};

/// Rounds to nearest, ties to even, once. `format` is Float16, BFloat16 or Float32.
NumberReport reportRounded(const ExactInput& input, DType format);

/// The number whose bits these are.
NumberReport reportBits(std::uint64_t bits, DType format);

/// Bits of a format: 16 or 32.
int widthOf(DType format);

} // namespace mantissa::cli
