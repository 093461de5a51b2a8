/// cuDNN as the rest of the backend sees it, whether it was there when this was built or not.
#pragma once

#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"

#include <memory>
#include <string>

namespace mantissa::cuda {

class DnnLibrary;

/// cuDNN and what it is called with its version, or null and why, in words for the user.
struct LoadedDnn
{
    std::shared_ptr<const DnnLibrary> library;
    std::string text;
};

/// Needs a device that works.
LoadedDnn loadDnn();

/// A convolution, or one of its gradients, through the context's cuDNN; null where that has none, or there is no cuDNN.
std::unique_ptr<Kernel> makeDnnConv(const KernelRequest& request, const Context& context, const ConvSetting& setting);

} // namespace mantissa::cuda
