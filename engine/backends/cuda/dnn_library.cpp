#include "engine/backends/cuda/dnn_library.h"

#include "engine/backends/cuda/dnn.h"
#include "engine/backends/cuda/library_calls.h"
#include "engine/core/error.h"

#include <fmt/format.h>

namespace mantissa::cuda {

DnnLibrary::DnnLibrary()
{
    const std::string reason = reasonAgainst();
    m_support = {reason.empty(), reason};
}

DnnLibrary::~DnnLibrary()
{
    if (m_handle != nullptr) {
        calls.Destroy(m_handle);
    }
}

std::string DnnLibrary::reasonAgainst()
{
    const char* const file = libraryName("MANTISSA_CUDNN", "libcudnn.so.9");
    // It stays loaded, as the plug-in does.
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return fmt::format("cuDNN missing ({})", file);
    }
    const char* missing = nullptr;
#define MANTISSA_DNN_CALL(name)                                                                                        \
    if (!find(library, "cudnn" #name, calls.name)) {                                                                   \
        missing = "cudnn" #name;                                                                                       \
    }
    MANTISSA_DNN_CALLS
#undef MANTISSA_DNN_CALL
    if (missing != nullptr) {
        return fmt::format("cuDNN of another version: {} has no {}", file, missing);
    }
    if (const cudnnStatus_t status = calls.Create(&m_handle); status != CUDNN_STATUS_SUCCESS) {
        m_handle = nullptr;
        return fmt::format("cuDNN could not be started: {}", calls.GetErrorString(status));
    }
    return {};
}

void DnnLibrary::check(cudnnStatus_t status, const char* attempt) const
{
    if (status == CUDNN_STATUS_SUCCESS) {
        return;
    }
    const bool isMemory
        = status == CUDNN_STATUS_ALLOC_FAILED || status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
    throw Error(isMemory ? ErrorCode::OutOfMemory : ErrorCode::BackendFailure,
        fmt::format("cuDNN could not {}: {} (status {}).{}", attempt, calls.GetErrorString(status),
            static_cast<int>(status), isMemory ? " Choose a smaller batch or model, or fewer lanes." : ""));
}

LoadedDnn loadDnn()
{
    auto library = std::make_shared<const DnnLibrary>();
    if (!library->support().ok) {
        return {nullptr, library->support().reason};
    }
    const std::size_t version = library->calls.GetVersion();
    return {library, fmt::format("cuDNN {}.{}.{}", version / 10000, version / 100 % 100, version % 100)};
}

DnnHandle::DnnHandle(const DnnLibrary& library, cudaStream_t stream)
    : m_library(library)
{
    library.check(library.calls.Create(&m_handle), "be started");
    if (const cudnnStatus_t status = library.calls.SetStream(m_handle, stream); status != CUDNN_STATUS_SUCCESS) {
        library.calls.Destroy(m_handle);
        library.check(status, "take a stream");
    }
}

DnnHandle::~DnnHandle()
{
    m_library.calls.Destroy(m_handle);
}

} // namespace mantissa::cuda
