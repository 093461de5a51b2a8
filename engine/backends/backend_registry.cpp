#include "engine/backends/backend_registry.h"

#include "engine/backends/cpu/cpu_backend.h"
#include "engine/backends/plugin_loader.h"
#include "engine/backends/reference/reference_backend.h"
#include "engine/core/error.h"

#include <array>
#include <string_view>

namespace mantissa {

namespace {

/// A backend that may be here.
struct Entry
{
    std::string_view name;
    LoadedPlugin (*find)();
    std::string_view label;
};

/// One object per process, made when first asked for.
template <std::unique_ptr<Backend> (*make)()> LoadedPlugin only()
{
    static const std::unique_ptr<Backend> backend = make();
    return {backend.get(), {}};
}

LoadedPlugin cudaPlugin()
{
    static const LoadedPlugin plugin = loadCudaPlugin();
    return plugin;
}

/// Best first: "auto" takes the first available one.
constexpr std::array entries {
    Entry {"cuda", cudaPlugin, "CUDA"},
    Entry {"cpu", only<makeCpuBackend>, "CPU"},
    Entry {"reference", only<makeReferenceBackend>, "Reference"},
};

DeviceInfo describe(const Entry& entry)
{
    const LoadedPlugin found = entry.find();
    if (found.backend != nullptr) {
        return found.backend->device();
    }
    DeviceInfo info;
    info.name = entry.label;
    info.backend = entry.name;
    info.available = {false, found.reason};
    return info;
}

std::string availableNames()
{
    std::string names = "auto";
    for (const Entry& entry : entries) {
        if (describe(entry).available.ok) {
            names += ", " + std::string(entry.name);
        }
    }
    return names;
}

} // namespace

std::vector<DeviceInfo> listDevices()
{
    std::vector<DeviceInfo> devices;
    for (const Entry& entry : entries) {
        devices.push_back(describe(entry));
    }
    return devices;
}

Backend& backendByName(const std::string& name)
{
    for (const Entry& entry : entries) {
        const bool isWanted = name == entry.name || name == "auto";
        const Support available = isWanted ? describe(entry).available : Support {false, {}};
        if (available.ok) {
            return *entry.find().backend;
        }
        if (name == entry.name) {
            throw Error(ErrorCode::BackendUnavailable,
                "The device \"" + name + "\" is not available: " + available.reason + " Available: " + availableNames()
                    + ".");
        }
    }
    throw Error(
        ErrorCode::BackendUnavailable, "There is no device \"" + name + "\". Available: " + availableNames() + ".");
}

} // namespace mantissa
