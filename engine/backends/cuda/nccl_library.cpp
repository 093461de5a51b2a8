#include "engine/backends/cuda/nccl_library.h"

#include "engine/backends/cuda/library_calls.h"

#include <fmt/format.h>

namespace mantissa::cuda {

namespace {

/// As NCCL_VERSION_CODE has been made since 2.9.
std::string versionText(int code)
{
    return fmt::format("NCCL {}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

} // namespace

NcclLibrary::NcclLibrary()
{
    const std::string reason = reasonAgainst();
    m_support = {reason.empty(), reason};
}

std::string NcclLibrary::reasonAgainst()
{
    const char* const file = libraryName("MANTISSA_NCCL", "libnccl.so.2");
    // It stays loaded, as the plug-in does.
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return fmt::format("NCCL missing ({})", file);
    }
    const char* missing = nullptr;
#define MANTISSA_NCCL_CALL(name)                                                                                       \
    if (!find(library, "nccl" #name, calls.name)) {                                                                    \
        missing = "nccl" #name;                                                                                        \
    }
    MANTISSA_NCCL_CALLS
#undef MANTISSA_NCCL_CALL
    int version = 0;
    if (calls.GetVersion == nullptr || calls.GetVersion(&version) != ncclSuccess) {
        version = 0;
    }
    m_text = version == 0 ? "" : versionText(version);
    constexpr int oldest = NCCL_VERSION(2, 14, 0);
    if (version != 0 && version < oldest) {
        return fmt::format("{} is too old: {} or newer is needed", m_text, versionText(oldest));
    }
    if (missing != nullptr || version == 0) {
        return fmt::format("no NCCL that can be used: {} has no {}", file, missing != nullptr ? missing : "version");
    }
    return {};
}

} // namespace mantissa::cuda
