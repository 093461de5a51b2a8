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
    double pairs[sumLanes];
    for (std::size_t i = 0; i < sumLanes; ++i) {
        pairs[i] = sums.lane[i];
    }
    for (std::size_t half = sumLanes / 2; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) {
            pairs[i] += pairs[i + half];
        }
    }
    return pairs[0];
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
