/// Backends in shared libraries, which may be absent without harm.
#pragma once

#include <string>

namespace mantissa {

class Backend;

/// A backend, or why there is none, in words for the user.
struct LoadedPlugin
{
    Backend* backend = nullptr;
    std::string reason;
};

/// Loads mantissa_cuda.so from the folder of the engine's library, if there is a driver, or the file that
/// MANTISSA_CUDA_PLUGIN names. The library stays loaded. Does not throw.
LoadedPlugin loadCudaPlugin();

/// The same for any file.
LoadedPlugin loadPlugin(const std::string& file);

} // namespace mantissa
