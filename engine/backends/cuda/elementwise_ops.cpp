// Ops that work element by element.
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

namespace mantissa::cuda {

namespace {

Map mapOf(const KernelRequest& request)
{
    const bool isTanhForm = attributesOf<GeluAttributes>(request.attributes).tanhForm;
    switch (request.op) {
    case Op::Relu:
        return Map::Relu;
    case Op::ReluGrad:
        return Map::ReluGrad;
    case Op::Gelu:
        return isTanhForm ? Map::GeluTanh : Map::Gelu;
    case Op::GeluGrad:
        return isTanhForm ? Map::GeluTanhGrad : Map::GeluGrad;
    case Op::Silu:
        return Map::Silu;
    case Op::SiluGrad:
        return Map::SiluGrad;
    case Op::Tanh:
        return Map::Tanh;
    case Op::TanhGrad:
        return Map::TanhGrad;
    case Op::Sigmoid:
        return Map::Sigmoid;
    case Op::SigmoidGrad:
        return Map::SigmoidGrad;
    case Op::Exp:
        return Map::Exp;
    case Op::Log:
        return Map::Log;
    case Op::LogGrad:
        return Map::LogGrad;
    default:
        return Map::Copy; // Cast and Reshape
    }
}

float keepFactor(const DropoutAttributes& attributes)
{
    // 0 where nothing is kept, as in PyTorch.
    return attributes.probability >= 1 ? 0.0F : static_cast<float>(1 / (1 - double {attributes.probability}));
}

} // namespace

std::unique_ptr<Kernel> makeMap(const KernelRequest& request, const Context& /*context*/)
{
    const std::int64_t n = request.outputs[0].shape.elements();
    for (const TensorType& input : request.inputs) {
        requireElements(request, input, n);
    }
    return makeLaunch([map = mapOf(request), views = Views(request), n](const KernelBinding& b, cudaStream_t stream) {
        runMap(map, {views.in(b, 0), views.optionalIn(b, 1), 0, 0}, views.out(b, 0), n, stream);
    });
}

std::unique_ptr<Kernel> makeBroadcast(const KernelRequest& request, const Context& /*context*/)
{
    const std::int64_t n = request.outputs[0].shape.elements();
    const std::int64_t period = request.inputs[1].shape.elements();
    requireElements(request, request.inputs[0], n);
    if (period == 0 ? n != 0 : n % period != 0) {
        refuse(request, "a second operand whose shape ends that of the first");
    }
    const Map map = request.op == Op::Mul ? Map::Mul : Map::Add;
    return makeLaunch([map, views = Views(request), n, period](const KernelBinding& b, cudaStream_t stream) {
        runMap(map, {views.in(b, 0), views.in(b, 1), period, 0}, views.out(b, 0), n, stream);
    });
}

std::unique_ptr<Kernel> makeScale(const KernelRequest& request, const Context& /*context*/)
{
    const std::int64_t n = request.outputs[0].shape.elements();
    requireElements(request, request.inputs[0], n);
    requireElements(request, request.inputs[1], 1);
    return makeLaunch([views = Views(request), n](const KernelBinding& b, cudaStream_t stream) {
        runMap(Map::Scale, {views.in(b, 0), views.in(b, 1), 1, 0}, views.out(b, 0), n, stream);
    });
}

std::unique_ptr<Kernel> makeAccumulate(const KernelRequest& request, const Context& /*context*/)
{
    const std::int64_t n = request.outputs[0].shape.elements();
    requireElements(request, request.inputs[0], n);
    return makeLaunch([views = Views(request), n](const KernelBinding& b, cudaStream_t stream) {
        runAccumulate(views.in(b, 0), constantIn<float>(b, 1), constantIn<float>(b, 2), views.out(b, 0), n, stream);
    });
}

std::unique_ptr<Kernel> makeDropout(const KernelRequest& request, const Context& /*context*/)
{
    const auto attributes = attributesOf<DropoutAttributes>(request.attributes);
    const std::int64_t n = request.outputs[0].shape.elements();
    requireElements(request, request.inputs[0], n);
    requireElements(request, request.outputs[1], n);
    const DropoutSetting setting {attributes.probability, keepFactor(attributes), attributes.seed, attributes.stream,
        static_cast<std::int64_t>(attributes.first)};
    return makeLaunch([views = Views(request), n, setting](const KernelBinding& b, cudaStream_t stream) {
        runDropout(setting, views.in(b, 0), constantIn<std::int32_t>(b, 1), views.out(b, 0),
            outputAs<std::uint8_t>(b, 1), n, stream);
    });
}

std::unique_ptr<Kernel> makeDropoutGrad(const KernelRequest& request, const Context& /*context*/)
{
    const float factor = keepFactor(attributesOf<DropoutAttributes>(request.attributes));
    const std::int64_t n = request.outputs[0].shape.elements();
    requireElements(request, request.inputs[0], n);
    requireElements(request, request.inputs[1], n);
    return makeLaunch([views = Views(request), n, factor](const KernelBinding& b, cudaStream_t stream) {
        runMap(Map::DropoutGrad, {views.in(b, 0), views.in(b, 1), 0, factor}, views.out(b, 0), n, stream);
    });
}

std::unique_ptr<Kernel> makeScaleMask(const KernelRequest& request, const Context& /*context*/)
{
    const auto attributes = attributesOf<ScaleMaskAttributes>(request.attributes);
    const Shape& shape = request.inputs[0].shape;
    const std::int64_t n = request.outputs[0].shape.elements();
    requireElements(request, request.inputs[0], n);
    if (shape.rank() < 2) {
        refuse(request, "scores of at least two dimensions");
    }
    const ScaleMaskSetting setting {
        attributes.factor, attributes.maskValue, shape[shape.rank() - 2], shape.back(), attributes.causal};
    return makeLaunch([views = Views(request), n, setting](const KernelBinding& b, cudaStream_t stream) {
        runScaleMask(setting, views.in(b, 0), views.out(b, 0), n, stream);
    });
}

} // namespace mantissa::cuda
