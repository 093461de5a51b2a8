/// Rounding by the host functions of NVIDIA's cuda_fp16.h and cuda_bf16.h, for tests. Needs the CUDA toolkit's headers.
#pragma once

#include "engine/formats/bfloat16.h"
#include "engine/formats/float16.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace mantissa::test {

/// The last argument only names the format.
inline std::uint16_t nvidiaRound(float value, Float16 /*format*/)
{
    return static_cast<__half_raw>(__float2half_rn(value)).x;
}

inline std::uint16_t nvidiaRound(float value, BFloat16 /*format*/)
{
    return static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(value)).x;
}

} // namespace mantissa::test
