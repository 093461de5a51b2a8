/// Bulk conversion between FP32 and the 16-bit formats with the widest instructions the CPU has.
#pragma once

#include "engine/formats/bfloat16.h"
#include "engine/formats/dtype.h"
#include "engine/formats/float16.h"

#include <cstddef>
#include <span>

namespace mantissa {

/// dst[i] = src[i], exactly as Float16::fromFloat(), BFloat16::fromFloat() and their toFloat() define it, for every
/// bit pattern and on every path. src and dst have equal length and do not overlap.
/// Runs on the calling thread and allocates nothing.
/// Errors: ShapeMismatch when the lengths differ.
void convert(std::span<const float> src, std::span<Float16> dst);
void convert(std::span<const float> src, std::span<BFloat16> dst);
void convert(std::span<const Float16> src, std::span<float> dst);
void convert(std::span<const BFloat16> src, std::span<float> dst);

/// The same for the bytes of a tensor whose format, a floating one of at most 32 bits, is known at run time only. FP32
/// is copied bit for bit. Errors: ShapeMismatch when src does not hold as many elements as dst.
void toFloats(DType format, std::span<const std::byte> src, std::span<float> dst);
void fromFloats(DType format, std::span<const float> src, std::span<std::byte> dst);

} // namespace mantissa
