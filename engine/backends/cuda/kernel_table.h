/// Op -> operands and factory of the CUDA backend.
#pragma once

#include "engine/backends/cuda/kernel_factories.h"

namespace mantissa::cuda {

/// Checks the operands' number and dtypes and prepares a kernel. Throws Error (UnsupportedDtype) naming the op, the
/// operand, what it is and what it must be.
std::unique_ptr<Kernel> prepareKernel(const KernelRequest& request, const Context& context);

} // namespace mantissa::cuda
