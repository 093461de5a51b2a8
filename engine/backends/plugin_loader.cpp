#include "engine/backends/plugin_loader.h"

#include "engine/backends/plugin_abi.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace mantissa {

namespace {

/// The folder of the library that this code is in.
std::filesystem::path engineFolder()
{
    Dl_info info {};
    if (dladdr(reinterpret_cast<const void*>(&loadPlugin), &info) == 0 || info.dli_fname == nullptr) {
        return {};
    }
    std::error_code ignored;
    const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, ignored);
    return file.parent_path();
}

/// dlopen says "libcublasLt.so.13: cannot open shared object file: No such file or directory".
std::string wordsFor(const std::string& file, const std::string& error)
{
    constexpr const char* missing = ": cannot open shared object file";
    const std::size_t end = error.find(missing);
    if (end == std::string::npos) {
        return fmt::format(
            "The CUDA plug-in {} could not be loaded: {}. Build it again with this version.", file, error);
    }
    const std::string library = error.substr(0, end);
    return fmt::format("The CUDA plug-in needs the library {}, which is not installed or not found. Install the CUDA "
                       "libraries of that version, or name their folder in LD_LIBRARY_PATH.",
        library);
}

} // namespace

LoadedPlugin loadPlugin(const std::string& file)
{
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        return {
            nullptr, fmt::format("There is no CUDA plug-in ({}). Build it where a CUDA toolkit is installed.", file)};
    }
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* const error = dlerror();
        return {nullptr, wordsFor(file, error == nullptr ? "no reason given" : error)};
    }
    const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, pluginEntryName));
    if (entry == nullptr) {
        return {nullptr, fmt::format("{} is no plug-in of this program: it lacks {}.", file, pluginEntryName)};
    }
    Backend* const backend = entry(pluginAbi);
    if (backend == nullptr) {
        return {nullptr,
            fmt::format("The CUDA plug-in {} could not start, or was built for another version of this "
                        "program. Build it again.",
                file)};
    }
    return {backend, {}};
}

LoadedPlugin loadCudaPlugin()
{
    if (const char* const named = std::getenv("MANTISSA_CUDA_PLUGIN"); named != nullptr) {
        return loadPlugin(named);
    }
    const std::string file = (engineFolder() / "mantissa_cuda.so").string();
    std::error_code ignored;
    // The plug-in brings cuBLASLt, half a second and 200 MB of it: not for a machine that has no driver.
    if (std::filesystem::exists(file, ignored) && dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) {
        return {nullptr, "There is no NVIDIA driver (libcuda.so.1). Install the driver of your GPU."};
    }
    return loadPlugin(file);
}

} // namespace mantissa
