// Pooling and convolution of images [n, h, w, c].
#include "engine/backends/cuda/dnn.h"
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

namespace mantissa::cuda {

namespace {

Image imageOf(const KernelRequest& request, const TensorType& type)
{
    if (type.shape.rank() != 4) {
        refuse(request, "images [n, h, w, c]");
    }
    return {type.shape[1], type.shape[2], type.shape[3]};
}

} // namespace

std::unique_ptr<Kernel> makePool(const KernelRequest& request, const Context& /*context*/)
{
    const auto attributes = attributesOf<Pool2dAttributes>(request.attributes);
    const bool isGrad = request.op == Op::MaxPool2dGrad || request.op == Op::AvgPool2dGrad;
    const TensorType& x = isGrad ? request.outputs[0] : request.inputs[0];
    const TensorType& y = isGrad ? request.inputs[0] : request.outputs[0];
    if (attributes.kernel[0] * attributes.kernel[1] > 256) {
        refuse(request, "windows of at most 256 elements");
    }
    const PoolSetting setting {imageOf(request, x), imageOf(request, y), {attributes.kernel[0], attributes.kernel[1]},
        {attributes.stride[0], attributes.stride[1]}, {attributes.padding[0], attributes.padding[1]},
        attributes.countPadding};
    const std::int64_t n = request.outputs[0].shape.elements();
    return makeLaunch(
        [views = Views(request), n, setting, op = request.op](const KernelBinding& b, cudaStream_t stream) {
            switch (op) {
            case Op::MaxPool2d:
                runMaxPool(setting, views.in(b, 0), views.out(b, 0), outputAs<std::uint8_t>(b, 1), n, stream);
                return;
            case Op::MaxPool2dGrad:
                runMaxPoolGrad(setting, views.in(b, 0), constantIn<std::uint8_t>(b, 1), views.out(b, 0), n, stream);
                return;
            case Op::AvgPool2d:
                runAvgPool(setting, views.in(b, 0), views.out(b, 0), n, stream);
                return;
            default:
                runAvgPoolGrad(setting, views.in(b, 0), views.out(b, 0), n, stream);
            }
        });
}

std::unique_ptr<Kernel> makeConv(const KernelRequest& request, const Context& context)
{
    const auto attributes = attributesOf<Conv2dAttributes>(request.attributes);
    const bool isForward = request.op == Op::Conv2d;
    const bool isWeightGrad = request.op == Op::Conv2dWeightGrad;
    const TensorType& x = isForward ? request.inputs[0] : isWeightGrad ? request.inputs[1] : request.outputs[0];
    const TensorType& y = isForward ? request.outputs[0] : request.inputs[0];
    const TensorType& w = isWeightGrad ? request.outputs[0] : request.inputs[1];
    if (w.shape.rank() != 4 || attributes.groups < 1) {
        refuse(request, "weights [o, c / groups, kh, kw]");
    }
    const Image image = imageOf(request, x);
    if (w.shape[1] * attributes.groups != image.channels || w.shape[0] % attributes.groups != 0
        || imageOf(request, y).channels != w.shape[0]) {
        refuse(request, "channels that fit its weights and groups");
    }
    const ConvSetting setting {x.shape[0], image, imageOf(request, y), {w.shape[2], w.shape[3]},
        {attributes.stride[0], attributes.stride[1]}, {attributes.padding[0], attributes.padding[1]},
        {attributes.dilation[0], attributes.dilation[1]}, attributes.groups};
    if (std::unique_ptr<Kernel> kernel = makeDnnConv(request, context, setting)) {
        return kernel;
    }
    const std::int64_t n = request.outputs[0].shape.elements();
    return makeLaunch(
        [views = Views(request), n, setting, op = request.op](const KernelBinding& b, cudaStream_t stream) {
            switch (op) {
            case Op::Conv2d:
                runConv(setting, views.in(b, 0), views.in(b, 1), views.optionalIn(b, 2), views.out(b, 0), n, stream);
                return;
            case Op::Conv2dInputGrad:
                runConvInputGrad(setting, views.in(b, 0), views.in(b, 1), views.out(b, 0), n, stream);
                return;
            default:
                runConvWeightGrad(setting, views.in(b, 0), views.in(b, 1), views.out(b, 0), n, stream);
            }
        });
}

} // namespace mantissa::cuda
