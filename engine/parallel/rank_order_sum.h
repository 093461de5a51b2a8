/// The sum that every Communicator makes, so that threads, processes and tests agree to the last bit.
#pragma once

#include "engine/formats/dtype.h"

#include <span>

namespace mantissa {

/// `values` rounded to `format` (FP32: left as they are; FP16 or BF16: nearest even).
void roundToFormat(std::span<float> values, DType format);

/// sum = round(sum + round(values)), element by element: the next rank's part joins the sum of the ranks before it.
/// Rounding the FP32 sum of two 16-bit numbers to 16 bits is rounding their exact sum, since 24 >= 2 p + 2 for the p
/// bits of either format (Figueroa, "When is double rounding innocuous?", 1995).
void addInFormat(std::span<float> sum, std::span<const float> values, DType format);

} // namespace mantissa
