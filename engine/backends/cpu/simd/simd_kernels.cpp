#include "engine/backends/cpu/simd/simd_kernels.h"

#include "engine/core/cpu_features.h"

namespace mantissa {

const SimdKernels& simdKernels()
{
#if defined(__x86_64__)
    switch (cpuIsa()) {
    case CpuIsa::Avx512Bf16:
    case CpuIsa::Avx512:
        return avx512Kernels;
    case CpuIsa::Avx2:
        return avx2Kernels;
    case CpuIsa::Baseline:
        break;
    }
#endif
    return baselineKernels;
}

double total(const LaneSums& sums)
{
    // Halves onto halves, with lengths that the compiler knows: this runs once per row of every norm and softmax.
    static_assert(sumLanes == 16);
    double eight[8];
    for (std::size_t i = 0; i < 8; ++i) {
        eight[i] = sums.lane[i] + sums.lane[i + 8];
    }
    double four[4];
    for (std::size_t i = 0; i < 4; ++i) {
        four[i] = eight[i] + eight[i + 4];
    }
    return (four[0] + four[2]) + (four[1] + four[3]);
}

float maximum(const GradientLanes& lanes)
{
    float largest = 0.0F;
    for (const float lane : lanes.maxAbs) {
        largest = lane > largest ? lane : largest;
    }
    return largest;
}

} // namespace mantissa
