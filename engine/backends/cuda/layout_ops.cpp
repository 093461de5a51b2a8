// Ops that move elements, and rows of a table by index.
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

#include <fmt/format.h>

namespace mantissa::cuda {

namespace {

AxisView viewOf(const KernelRequest& request, const Shape& shape, std::int64_t axis)
{
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.rank())) {
        refuse(request, fmt::format("an axis of the tensor, not {},", axis));
    }
    const auto at = static_cast<std::size_t>(axis);
    return {shape[at], product(shape, at + 1, shape.rank())};
}

} // namespace

std::unique_ptr<Kernel> makePermute(const KernelRequest& request, const Context& /*context*/)
{
    const auto axes = attributesOf<PermuteAttributes>(request.attributes).axes;
    const Shape& x = request.inputs[0].shape;
    const Shape& y = request.outputs[0].shape;
    if (axes.size() != x.rank() || y.rank() != x.rank() || axes.size() > static_cast<std::size_t>(maxAxes)) {
        refuse(request, fmt::format("a permutation of at most {} axes", maxAxes));
    }
    PermuteSetting setting {static_cast<int>(axes.size()), {}, {}};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        setting.sizes[axis] = y[axis];
        setting.strides[axis] = product(x, static_cast<std::size_t>(axes[axis]) + 1, x.rank());
    }
    const std::int64_t n = y.elements();
    requireElements(request, request.inputs[0], n);
    return makeLaunch([views = Views(request), n, setting](const KernelBinding& b, cudaStream_t stream) {
        runPermute(setting, views.in(b, 0), views.out(b, 0), n, stream);
    });
}

std::unique_ptr<Kernel> makeConcat(const KernelRequest& request, const Context& /*context*/)
{
    struct Part
    {
        AxisView view;
        std::int64_t begin;
        std::int64_t elements;
    };

    const std::int64_t axis = attributesOf<ConcatAttributes>(request.attributes).axis;
    const AxisView whole = viewOf(request, request.outputs[0].shape, axis);
    std::vector<Part> parts;
    std::int64_t begin = 0;
    std::int64_t elements = 0;
    for (const TensorType& input : request.inputs) {
        parts.push_back({viewOf(request, input.shape, axis), begin, input.shape.elements()});
        begin += parts.back().view.size;
        elements += parts.back().elements;
    }
    requireElements(request, request.outputs[0], elements);
    return makeLaunch([views = Views(request), whole, parts](const KernelBinding& b, cudaStream_t stream) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            runConcat(parts[i].view, whole, parts[i].begin, views.in(b, i), views.out(b, 0), parts[i].elements, stream);
        }
    });
}

std::unique_ptr<Kernel> makeSlice(const KernelRequest& request, const Context& /*context*/)
{
    const auto attributes = attributesOf<SliceAttributes>(request.attributes);
    const bool isGrad = request.op == Op::SliceGrad;
    const Shape& partShape = (isGrad ? request.inputs[0] : request.outputs[0]).shape;
    const Shape& wholeShape = (isGrad ? request.outputs[0] : request.inputs[0]).shape;
    const AxisView part = viewOf(request, partShape, attributes.axis);
    const AxisView whole = viewOf(request, wholeShape, attributes.axis);
    if (attributes.begin < 0 || part.size != attributes.length || attributes.begin + part.size > whole.size
        || part.inner != whole.inner) {
        refuse(request, "a part that lies within the axis");
    }
    const std::int64_t n = request.outputs[0].shape.elements();
    return makeLaunch(
        [=, views = Views(request), begin = attributes.begin](const KernelBinding& b, cudaStream_t stream) {
            (isGrad ? runSliceGrad : runSlice)(part, whole, begin, views.in(b, 0), views.out(b, 0), n, stream);
        });
}

std::unique_ptr<Kernel> makeExpand(const KernelRequest& request, const Context& /*context*/)
{
    const auto attributes = attributesOf<ExpandAttributes>(request.attributes);
    const Shape& x = request.inputs[0].shape;
    const std::int64_t inner = product(x, static_cast<std::size_t>(attributes.firstAxis), x.rank());
    const std::int64_t copies = attributes.sizes.elements();
    const std::int64_t n = request.outputs[0].shape.elements();
    if (x.elements() * copies != n) {
        refuse(request, "a result of as many elements as its operand's times the copies");
    }
    return makeLaunch(
        [=, views = Views(request), divisor = static_cast<float>(attributes.divisor)](const KernelBinding& b,
            cudaStream_t stream) { runExpand(inner, copies, divisor, views.in(b, 0), views.out(b, 0), n, stream); });
}

std::unique_ptr<Kernel> makeEmbedding(const KernelRequest& request, const Context& /*context*/)
{
    const Shape& w = request.inputs[0].shape;
    const std::int64_t n = request.outputs[0].shape.elements();
    if (w.rank() != 2 || request.inputs[1].shape.elements() * w[1] != n) {
        refuse(request, "a table [v, c] and a result of c elements per index");
    }
    return makeLaunch(
        [views = Views(request), n, rows = w[0], channels = w[1]](const KernelBinding& b, cudaStream_t stream) {
            runEmbedding(views.in(b, 0), rows, channels, constantIn<std::int32_t>(b, 1), views.out(b, 0), n, stream);
        });
}

std::unique_ptr<Kernel> makeEmbeddingGrad(const KernelRequest& request, const Context& /*context*/)
{
    const Shape& dw = request.outputs[0].shape;
    const std::int64_t count = request.inputs[1].shape.elements();
    if (dw.rank() != 2 || request.inputs[0].shape.elements() != count * dw[1]) {
        refuse(request, "a result [v, c] and c elements per index");
    }
    return makeLaunch([views = Views(request), count, n = dw.elements(), channels = dw[1]](
                          const KernelBinding& b, cudaStream_t stream) {
        runEmbeddingGrad(views.in(b, 0), channels, constantIn<std::int32_t>(b, 1), count, views.out(b, 0), n, stream);
    });
}

} // namespace mantissa::cuda
