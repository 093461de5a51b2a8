// In the place of dnn_library.cpp and dnn_conv.cpp where cuDNN's header was not found.
#include "engine/backends/cuda/dnn.h"

namespace mantissa::cuda {

LoadedDnn loadDnn()
{
    return {nullptr, "this plug-in was built without cuDNN"};
}

std::unique_ptr<Kernel> makeDnnConv(
    const KernelRequest& /*request*/, const Context& /*context*/, const ConvSetting& /*setting*/)
{
    return nullptr;
}

} // namespace mantissa::cuda
