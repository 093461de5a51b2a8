/// What a shared library must export to be a backend of this program.
#pragma once

namespace mantissa {

class Backend;

/// Raised whenever backend.h, or a type that it hands over, changes.
constexpr int pluginAbi = 3;

/// The one exported function. It returns the library's backend, which lives as long as the process, or null if the
/// library was built for another ABI; it does not throw. A backend that cannot be used here says why in device().
using PluginEntry = Backend* (*)(int abi);

constexpr const char* pluginEntryName = "mantissaPluginBackend";

} // namespace mantissa
