/// cuDNN, which is looked for when the program runs: convolutions use it where it is, and own kernels where not.
#pragma once

#include "engine/backends/backend.h"

#include <cuda_runtime.h>
#include <cudnn.h>

#include <mutex>
#include <string>

static_assert(CUDNN_MAJOR == 9, "the calls below are those of cuDNN 9");

namespace mantissa::cuda {

/// The calls in use.
struct DnnCalls
{
#define MANTISSA_DNN_CALL(name) decltype(&cudnn##name) name = nullptr;
#define MANTISSA_DNN_CALLS                                                                                             \
    MANTISSA_DNN_CALL(Create)                                                                                          \
    MANTISSA_DNN_CALL(Destroy)                                                                                         \
    MANTISSA_DNN_CALL(SetStream)                                                                                       \
    MANTISSA_DNN_CALL(GetVersion)                                                                                      \
    MANTISSA_DNN_CALL(GetErrorString)                                                                                  \
    MANTISSA_DNN_CALL(CreateTensorDescriptor)                                                                          \
    MANTISSA_DNN_CALL(DestroyTensorDescriptor)                                                                         \
    MANTISSA_DNN_CALL(SetTensor4dDescriptorEx)                                                                         \
    MANTISSA_DNN_CALL(CreateFilterDescriptor)                                                                          \
    MANTISSA_DNN_CALL(DestroyFilterDescriptor)                                                                         \
    MANTISSA_DNN_CALL(SetFilter4dDescriptor)                                                                           \
    MANTISSA_DNN_CALL(CreateConvolutionDescriptor)                                                                     \
    MANTISSA_DNN_CALL(DestroyConvolutionDescriptor)                                                                    \
    MANTISSA_DNN_CALL(SetConvolution2dDescriptor)                                                                      \
    MANTISSA_DNN_CALL(SetConvolutionGroupCount)                                                                        \
    MANTISSA_DNN_CALL(SetConvolutionMathType)                                                                          \
    MANTISSA_DNN_CALL(GetConvolutionForwardWorkspaceSize)                                                              \
    MANTISSA_DNN_CALL(GetConvolutionBackwardDataWorkspaceSize)                                                         \
    MANTISSA_DNN_CALL(GetConvolutionBackwardFilterWorkspaceSize)                                                       \
    MANTISSA_DNN_CALL(ConvolutionForward)                                                                              \
    MANTISSA_DNN_CALL(ConvolutionBackwardData)                                                                         \
    MANTISSA_DNN_CALL(ConvolutionBackwardFilter)
    MANTISSA_DNN_CALLS
#undef MANTISSA_DNN_CALL
};

class DnnLibrary
{
public:
    /// Looks for libcudnn.so.9, or the file that MANTISSA_CUDNN names. Needs a device that works.
    DnnLibrary();
    ~DnnLibrary();
    DnnLibrary(const DnnLibrary&) = delete;
    DnnLibrary& operator=(const DnnLibrary&) = delete;

    /// Whether it is there; if not, why, in words for the user.
    [[nodiscard]] const Support& support() const { return m_support; }

    /// Throws Error unless the call succeeded; `attempt` completes "cuDNN could not ...".
    void check(cudnnStatus_t status, const char* attempt) const;

    /// For questions, from any thread: `ask` is called with a handle that no other thread uses meanwhile.
    template <typename Ask> auto asked(Ask ask) const
    {
        const std::lock_guard lock(m_mutex);
        return ask(m_handle);
    }

    DnnCalls calls;

private:
    std::string reasonAgainst();

    mutable std::mutex m_mutex;
    cudnnHandle_t m_handle = nullptr;
    Support m_support;
};

/// For the work of one stream.
class DnnHandle
{
public:
    DnnHandle(const DnnLibrary& library, cudaStream_t stream);
    ~DnnHandle();
    DnnHandle(const DnnHandle&) = delete;
    DnnHandle& operator=(const DnnHandle&) = delete;

    [[nodiscard]] cudnnHandle_t get() const { return m_handle; }

private:
    const DnnLibrary& m_library;
    cudnnHandle_t m_handle = nullptr;
};

} // namespace mantissa::cuda
