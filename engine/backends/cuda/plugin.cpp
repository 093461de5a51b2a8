// The entry point of the plug-in; see engine/backends/plugin_abi.h.
#include "engine/backends/cuda/cuda_backend.h"
#include "engine/backends/plugin_abi.h"

#include <exception>

extern "C" __attribute__((visibility("default"))) mantissa::Backend* mantissaPluginBackend(int abi)
{
    if (abi != mantissa::pluginAbi) {
        return nullptr;
    }
    try {
        static const std::unique_ptr<mantissa::Backend> backend = mantissa::cuda::makeCudaBackend();
        return backend.get();
    } catch (const std::exception&) {
        return nullptr;
    }
}
