/// The first NVIDIA GPU that CUDA shows (CUDA_VISIBLE_DEVICES chooses; processes that train together on a machine take
/// one each, in turn): products through cuBLASLt, own kernels for the
/// rest.
#pragma once

#include "engine/backends/backend.h"

#include <memory>

namespace mantissa::cuda {

/// Always an object: where CUDA cannot be used, its device() says why, and nothing else of it may be called.
std::unique_ptr<Backend> makeCudaBackend();

} // namespace mantissa::cuda
