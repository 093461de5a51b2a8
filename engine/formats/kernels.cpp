#include "engine/formats/kernels.h"

#include "engine/core/cpu_features.h"

namespace mantissa::kernels {

const Table& active()
{
#if defined(MANTISSA_X86_KERNELS)
    switch (cpuIsa()) {
    case CpuIsa::Avx512Bf16: // its conversion flushes FP32 subnormals to zero, so it is of no use here
    case CpuIsa::Avx512:
        return avx512;
    case CpuIsa::Avx2:
        return avx2;
    case CpuIsa::Baseline:
        break;
    }
#endif
    return portable;
}

} // namespace mantissa::kernels
