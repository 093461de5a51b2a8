/// Rounding to a 16-bit format together with exact counts of what it did, in one pass; and the counts alone in FP32.
#pragma once

#include "engine/formats/bfloat16.h"
#include "engine/formats/census.h"
#include "engine/formats/float16.h"

#include <span>

namespace mantissa {

/// dst[i] = src[i] as convert() gives it; *adds* the counts of all elements to `census` (see census.h).
/// src and dst have equal length and do not overlap. Runs on the calling thread and allocates nothing.
/// Errors: ShapeMismatch when the lengths differ.
void roundWithCensus(std::span<const float> src, std::span<Float16> dst, Census& census);
void roundWithCensus(std::span<const float> src, std::span<BFloat16> dst, Census& census);

/// The same, and adds the exponents of the source to `histogram`.
void roundWithCensus(std::span<const float> src, std::span<Float16> dst, Census& census, ExponentHistogram& histogram);
void roundWithCensus(std::span<const float> src, std::span<BFloat16> dst, Census& census, ExponentHistogram& histogram);

/// Counts of FP32 values as they are; nothing is rounded, so flushed and overflowed stay zero.
Census census(std::span<const float> src);
Census census(std::span<const float> src, ExponentHistogram& histogram);

} // namespace mantissa
