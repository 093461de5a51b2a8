// The cuDNN calls in use, as a library to be found when the program runs. Strict where cuDNN is: channels last, sizes
// that fit, operands inside allocations, workspace.
#include "tests/cuda/host_layer/host_layer.h"

#include <cudnn.h>

#include <array>
#include <functional>

struct cudnnContext
{
    cudaStream_t stream = nullptr;
};

struct cudnnTensorStruct
{
    std::int64_t n = 0;
    std::int64_t c = 0;
    std::int64_t h = 0;
    std::int64_t w = 0;

    [[nodiscard]] std::int64_t at(std::int64_t image, std::int64_t row, std::int64_t column, std::int64_t channel) const
    {
        return ((image * h + row) * w + column) * c + channel;
    }

    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(n * c * h * w) * sizeof(float); }
};

struct cudnnFilterStruct
{
    std::int64_t k = 0;
    std::int64_t c = 0;
    std::int64_t h = 0;
    std::int64_t w = 0;

    [[nodiscard]] std::int64_t at(std::int64_t out, std::int64_t row, std::int64_t column, std::int64_t channel) const
    {
        return ((out * h + row) * w + column) * c + channel;
    }

    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(k * c * h * w) * sizeof(float); }
};

struct cudnnConvolutionStruct
{
    std::array<std::int64_t, 2> padding {};
    std::array<std::int64_t, 2> stride {};
    std::array<std::int64_t, 2> dilation {};
    std::int64_t groups = 1;
};

namespace mantissa::host_layer {

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work);

namespace {

/// Asked for, so that a caller who forgets the workspace is found out.
constexpr std::size_t neededWorkspace = 1024;

bool fits(const cudnnTensorStruct& x, const cudnnFilterStruct& w, const cudnnConvolutionStruct& conv,
    const cudnnTensorStruct& y)
{
    const auto size = [&conv](std::int64_t in, std::int64_t kernel, std::size_t axis) {
        return (in + 2 * conv.padding[axis] - conv.dilation[axis] * (kernel - 1) - 1) / conv.stride[axis] + 1;
    };
    return x.n == y.n && x.c == w.c * conv.groups && y.c == w.k && w.k % conv.groups == 0 && y.h == size(x.h, w.h, 0)
        && y.w == size(x.w, w.w, 1);
}

/// Calls visit(index in x, index in w, index in y) for every product.
template <typename Visit>
void everyProduct(const cudnnTensorStruct& x, const cudnnFilterStruct& w, const cudnnConvolutionStruct& conv,
    const cudnnTensorStruct& y, Visit visit)
{
    for (std::int64_t image = 0; image < y.n; ++image) {
        for (std::int64_t row = 0; row < y.h; ++row) {
            for (std::int64_t column = 0; column < y.w; ++column) {
                for (std::int64_t out = 0; out < y.c; ++out) {
                    const std::int64_t firstChannel = out / (w.k / conv.groups) * w.c;
                    for (std::int64_t i = 0; i < w.h * w.w * w.c; ++i) {
                        const std::int64_t kernelRow = i / (w.w * w.c);
                        const std::int64_t kernelColumn = i / w.c % w.w;
                        const std::int64_t channel = i % w.c;
                        const std::int64_t from = row * conv.stride[0] - conv.padding[0] + kernelRow * conv.dilation[0];
                        const std::int64_t at
                            = column * conv.stride[1] - conv.padding[1] + kernelColumn * conv.dilation[1];
                        if (from >= 0 && from < x.h && at >= 0 && at < x.w) {
                            visit(x.at(image, from, at, firstChannel + channel),
                                w.at(out, kernelRow, kernelColumn, channel), y.at(image, row, column, out));
                        }
                    }
                }
            }
        }
    }
}

struct Call
{
    cudnnContext* handle;
    cudnnTensorStruct x;
    cudnnFilterStruct w;
    cudnnConvolutionStruct conv;
    cudnnTensorStruct y;
    void* workspace;
    std::size_t workspaceBytes;
};

bool isOne(const void* alpha, const void* beta)
{
    return *static_cast<const float*>(alpha) == 1.0F && *static_cast<const float*>(beta) == 0.0F;
}

/// `result` is cleared, then add(index in x, index in w, index in y) goes through all products.
template <typename Add>
cudnnStatus_t convolve(
    const Call& call, const void* x, const void* w, const void* y, float* result, std::size_t resultBytes, Add add)
{
    if (!fits(call.x, call.w, call.conv, call.y) || !isDeviceRange(x, call.x.bytes())
        || !isDeviceRange(w, call.w.bytes()) || !isDeviceRange(y, call.y.bytes())
        || call.workspaceBytes < neededWorkspace || !isDeviceRange(call.workspace, call.workspaceBytes)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    const cudaError_t status = enqueue(call.handle->stream, [=] {
        std::fill(result, result + resultBytes / sizeof(float), 0.0F);
        everyProduct(call.x, call.w, call.conv, call.y, add);
        return cudaSuccess;
    });
    return status == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

cudnnStatus_t workspaceFor(const char* name, const cudnnTensorStruct& x, const cudnnFilterStruct& w,
    const cudnnConvolutionStruct& conv, const cudnnTensorStruct& y, std::size_t* bytes)
{
    if (isFailing(name)) {
        return CUDNN_STATUS_INTERNAL_ERROR;
    }
    if (!fits(x, w, conv, y)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *bytes = neededWorkspace;
    return CUDNN_STATUS_SUCCESS;
}

template <typename Descriptor> cudnnStatus_t create(const char* name, Descriptor** descriptor)
{
    if (isFailing(name)) {
        return CUDNN_STATUS_ALLOC_FAILED;
    }
    *descriptor = new Descriptor;
    return CUDNN_STATUS_SUCCESS;
}

template <typename Descriptor> cudnnStatus_t destroy(Descriptor* descriptor)
{
    delete descriptor;
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

} // namespace mantissa::host_layer

using namespace mantissa::host_layer;

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle)
{
    return create("cudnnCreate", handle);
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    return destroy(handle);
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return isFailing("cudnnSetStream") ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

std::size_t cudnnGetVersion()
{
    return CUDNN_VERSION;
}

const char* cudnnGetErrorString(cudnnStatus_t /*status*/)
{
    return "an error of the host layer";
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor)
{
    return create("cudnnCreateTensorDescriptor", tensor);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor)
{
    return destroy(tensor);
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int n, int c, int h,
    int w, int nStride, int cStride, int hStride, int wStride)
{
    if (isFailing("cudnnSetTensor4dDescriptorEx") || type != CUDNN_DATA_FLOAT || nStride != h * w * c || cStride != 1
        || hStride != w * c || wStride != c) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *tensor = {n, c, h, w};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter)
{
    return create("cudnnCreateFilterDescriptor", filter);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter)
{
    return destroy(filter);
}

cudnnStatus_t cudnnSetFilter4dDescriptor(
    cudnnFilterDescriptor_t filter, cudnnDataType_t type, cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    if (isFailing("cudnnSetFilter4dDescriptor") || type != CUDNN_DATA_FLOAT || format != CUDNN_TENSOR_NHWC) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *filter = {k, c, h, w};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* conv)
{
    return create("cudnnCreateConvolutionDescriptor", conv);
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t conv)
{
    return destroy(conv);
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t conv, int padH, int padW, int strideH,
    int strideW, int dilationH, int dilationW, cudnnConvolutionMode_t mode, cudnnDataType_t type)
{
    if (isFailing("cudnnSetConvolution2dDescriptor") || mode != CUDNN_CROSS_CORRELATION || type != CUDNN_DATA_FLOAT) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    conv->padding = {padH, padW};
    conv->stride = {strideH, strideW};
    conv->dilation = {dilationH, dilationW};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t conv, int groups)
{
    conv->groups = groups;
    return isFailing("cudnnSetConvolutionGroupCount") ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t /*conv*/, cudnnMathType_t /*math*/)
{
    return isFailing("cudnnSetConvolutionMathType") ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t /*handle*/, cudnnTensorDescriptor_t x,
    cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t /*algorithm*/, std::size_t* bytes)
{
    return workspaceFor("cudnnGetConvolutionForwardWorkspaceSize", *x, *w, *conv, *y, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t /*handle*/, cudnnFilterDescriptor_t w,
    cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t x,
    cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes)
{
    return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1
        ? workspaceFor("cudnnGetConvolutionBackwardDataWorkspaceSize", *x, *w, *conv, *y, bytes)
        : CUDNN_STATUS_BAD_PARAM; // the others' sums come in any order
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t /*handle*/, cudnnTensorDescriptor_t x,
    cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t conv, cudnnFilterDescriptor_t w,
    cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes)
{
    return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1
        ? workspaceFor("cudnnGetConvolutionBackwardFilterWorkspaceSize", *x, *w, *conv, *y, bytes)
        : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t xDesc,
    const void* x, cudnnFilterDescriptor_t wDesc, const void* w, cudnnConvolutionDescriptor_t conv,
    cudnnConvolutionFwdAlgo_t /*algorithm*/, void* workspace, std::size_t workspaceBytes, const void* beta,
    cudnnTensorDescriptor_t yDesc, void* y)
{
    if (isFailing("cudnnConvolutionForward") || !isOne(alpha, beta)) {
        return CUDNN_STATUS_EXECUTION_FAILED;
    }
    const auto* const left = static_cast<const float*>(x);
    const auto* const right = static_cast<const float*>(w);
    auto* const result = static_cast<float*>(y);
    return convolve({handle, *xDesc, *wDesc, *conv, *yDesc, workspace, workspaceBytes}, x, w, y, result, yDesc->bytes(),
        [=](std::int64_t i, std::int64_t j, std::int64_t k) { result[k] += left[i] * right[j]; });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha, cudnnFilterDescriptor_t wDesc,
    const void* w, cudnnTensorDescriptor_t dyDesc, const void* dy, cudnnConvolutionDescriptor_t conv,
    cudnnConvolutionBwdDataAlgo_t /*algorithm*/, void* workspace, std::size_t workspaceBytes, const void* beta,
    cudnnTensorDescriptor_t dxDesc, void* dx)
{
    if (isFailing("cudnnConvolutionBackwardData") || !isOne(alpha, beta)) {
        return CUDNN_STATUS_EXECUTION_FAILED;
    }
    const auto* const left = static_cast<const float*>(dy);
    const auto* const right = static_cast<const float*>(w);
    auto* const result = static_cast<float*>(dx);
    return convolve({handle, *dxDesc, *wDesc, *conv, *dyDesc, workspace, workspaceBytes}, dx, w, dy, result,
        dxDesc->bytes(), [=](std::int64_t i, std::int64_t j, std::int64_t k) { result[i] += left[k] * right[j]; });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t xDesc,
    const void* x, cudnnTensorDescriptor_t dyDesc, const void* dy, cudnnConvolutionDescriptor_t conv,
    cudnnConvolutionBwdFilterAlgo_t /*algorithm*/, void* workspace, std::size_t workspaceBytes, const void* beta,
    cudnnFilterDescriptor_t dwDesc, void* dw)
{
    if (isFailing("cudnnConvolutionBackwardFilter") || !isOne(alpha, beta)) {
        return CUDNN_STATUS_EXECUTION_FAILED;
    }
    const auto* const left = static_cast<const float*>(x);
    const auto* const right = static_cast<const float*>(dy);
    auto* const result = static_cast<float*>(dw);
    return convolve({handle, *xDesc, *dwDesc, *conv, *dyDesc, workspace, workspaceBytes}, x, dw, dy, result,
        dwDesc->bytes(), [=](std::int64_t i, std::int64_t j, std::int64_t k) { result[j] += left[i] * right[k]; });
}
}
