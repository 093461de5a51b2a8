/// NCCL, which is looked for when the program runs: without it gradients go from GPU to GPU through the host.
#pragma once

#include "engine/backends/device_info.h"

#include <nccl.h>

#include <memory>
#include <string>

static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 14, 0), "calls that do not block began with NCCL 2.14");

namespace mantissa::cuda {

/// The calls in use.
struct NcclCalls
{
#define MANTISSA_NCCL_CALL(name) decltype(&nccl##name) name = nullptr;
#define MANTISSA_NCCL_CALLS                                                                                            \
    MANTISSA_NCCL_CALL(GetVersion)                                                                                     \
    MANTISSA_NCCL_CALL(GetErrorString)                                                                                 \
    MANTISSA_NCCL_CALL(GetUniqueId)                                                                                    \
    MANTISSA_NCCL_CALL(CommInitRankConfig)                                                                             \
    MANTISSA_NCCL_CALL(CommGetAsyncError)                                                                              \
    MANTISSA_NCCL_CALL(CommAbort)                                                                                      \
    MANTISSA_NCCL_CALL(AllGather)
    MANTISSA_NCCL_CALLS
#undef MANTISSA_NCCL_CALL
};

class NcclLibrary
{
public:
    /// Looks for libnccl.so.2, or the file that MANTISSA_NCCL names.
    NcclLibrary();

    /// Whether it can be used; if not, why, in words for the user.
    [[nodiscard]] const Support& support() const { return m_support; }

    /// "NCCL 2.28.9"; empty where it has no version.
    [[nodiscard]] const std::string& text() const { return m_text; }

    NcclCalls calls;

private:
    std::string reasonAgainst();

    Support m_support;
    std::string m_text;
};

} // namespace mantissa::cuda
