/// The backend that is always there: matrix products on oneDNN, everything else in own SIMD loops with run-time
/// dispatch. A stream runs at once on the thread that calls it. FP16 is emulated exactly (expand, FP32, round once);
/// BF16 multiplies natively where the CPU has AVX512_BF16 and is emulated the same way where not.
/// Elementwise results are the same bits on every instruction set; matrix products are so only on one instruction set
/// and thread count.
#pragma once

#include "engine/backends/backend.h"

#include <cstdint>
#include <memory>

namespace mantissa {

std::unique_ptr<Backend> makeCpuBackend();

/// oneDNN primitives created so far in this process; a steady step adds none.
std::uint64_t cpuPrimitivesCreated();

} // namespace mantissa
