/// The inner loops for every CPU of the architecture.
#include "engine/backends/cpu/simd/simd_kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define MANTISSA_SIMD_LANES 4

namespace mantissa {

namespace {

#include "engine/backends/cpu/simd/table_body.h"

} // namespace

constinit const SimdKernels baselineKernels = table("baseline");

} // namespace mantissa
