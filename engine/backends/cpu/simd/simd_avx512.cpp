/// The inner loops for AVX-512 F, BW, VL and DQ.
#include "engine/backends/cpu/simd/simd_kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define MANTISSA_SIMD_LANES 16

namespace mantissa {

namespace {

#include "engine/backends/cpu/simd/table_body.h"

} // namespace

constinit const SimdKernels avx512Kernels = table("avx512");

} // namespace mantissa
