/// What the kernels of one GPU share.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstddef>

namespace mantissa::cuda {

struct Context
{
    cublasLtHandle_t blas = nullptr;
    cudaStream_t setup = nullptr; ///< for the tables that kernels upload when they are bound
    bool hasBFloat16 = true; ///< in its matrix units; without, BF16 products are computed in FP32
    bool usesTf32 = false;
    std::size_t blasWorkspace = 0;
};

} // namespace mantissa::cuda
