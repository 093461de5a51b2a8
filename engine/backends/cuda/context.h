/// What the kernels of one GPU share.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <memory>

namespace mantissa::cuda {

class DnnLibrary;

struct Context
{
    int device = 0; ///< as CUDA counts them
    cublasLtHandle_t blas = nullptr;
    cudaStream_t setup = nullptr; ///< for the tables that kernels upload when they are bound
    bool hasAmpereUnits = true; ///< matrix units for BF16 and TF32; without, BF16 products are computed in FP32
    std::size_t blasWorkspace = 0;
    std::shared_ptr<const DnnLibrary> dnn; ///< null: own kernels do what it would
};

} // namespace mantissa::cuda
