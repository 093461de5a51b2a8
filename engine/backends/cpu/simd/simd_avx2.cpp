/// The inner loops for AVX2.
#include "engine/backends/cpu/simd/simd_kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define MANTISSA_SIMD_LANES 8

namespace mantissa {

namespace {

#include "engine/backends/cpu/simd/table_body.h"

} // namespace

constinit const SimdKernels avx2Kernels = table("avx2");

} // namespace mantissa
