// Sums, softmax and normalisations: ops that add up rows, columns or channels.
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

namespace mantissa::cuda {

namespace {

std::unique_ptr<Kernel> reduceAxes(
    const KernelRequest& request, std::size_t begin, std::size_t end, bool isMean, DType accumulate)
{
    const Shape& x = request.inputs[0].shape;
    if (begin > end || end > x.rank()) {
        refuse(request, "axes of its operand");
    }
    const ReduceSetting setting {product(x, 0, begin), product(x, begin, end), product(x, end, x.rank()),
        static_cast<float>(product(x, begin, end)), isMean, formatOf(accumulate)};
    requireElements(request, request.outputs[0], setting.outer * setting.inner);
    return makeLaunch([views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
        runReduce(setting, views.in(b, 0), views.out(b, 0), stream);
    });
}

struct Rows
{
    std::int64_t count;
    std::int64_t length;
};

Rows rowsOf(const KernelRequest& request, const TensorType& type)
{
    if (type.shape.rank() == 0 || type.shape.back() == 0) {
        refuse(request, "rows of at least one element");
    }
    return {type.shape.elements() / type.shape.back(), type.shape.back()};
}

/// Of groups of channels per image, or of rows.
NormBlocks blocksOf(const KernelRequest& request, const Shape& x, std::int64_t groups, bool isRowwise)
{
    if (x.rank() == 0 || x.elements() == 0 || groups < 1 || x.back() % groups != 0) {
        refuse(request, "channels that its groups divide");
    }
    const std::int64_t spatial = isRowwise ? 1 : x.elements() / x[0] / x.back();
    return {x.elements() / (spatial * x.back()) * groups, spatial, x.back(), groups};
}

BatchNormSetting batchNormSetting(const KernelRequest& request, const Shape& x)
{
    const auto attributes = attributesOf<BatchNormAttributes>(request.attributes);
    if (x.rank() == 0 || x.elements() == 0) {
        refuse(request, "an operand with channels");
    }
    if (request.ranks != nullptr) {
        refuse(request, "statistics of each rank by itself");
    }
    return {x.elements() / x.back(), x.back(), attributes.epsilon, attributes.momentum, formatOf(attributes.accumulate),
        attributes.training};
}

} // namespace

std::unique_ptr<Kernel> makeReduce(const KernelRequest& request, const Context& /*context*/)
{
    const auto attributes = attributesOf<ReduceAttributes>(request.attributes);
    if (request.op == Op::GlobalAvgPool) {
        return reduceAxes(request, 1, 3, true, attributes.accumulate);
    }
    const auto begin = static_cast<std::size_t>(attributes.firstAxis);
    const std::size_t end
        = attributes.axes < 0 ? request.inputs[0].shape.rank() : begin + static_cast<std::size_t>(attributes.axes);
    return reduceAxes(request, begin, end, request.op == Op::Mean, attributes.accumulate);
}

std::unique_ptr<Kernel> makeSumRows(const KernelRequest& request, const Context& /*context*/)
{
    return reduceAxes(request, 0, request.inputs[0].shape.rank() - 1, false, DType::Float32);
}

std::unique_ptr<Kernel> makeSoftmax(const KernelRequest& request, const Context& /*context*/)
{
    const Rows rows = rowsOf(request, request.inputs[0]);
    requireElements(request, request.outputs[0], rows.count * rows.length);
    const Format accumulate = formatOf(attributesOf<SoftmaxAttributes>(request.attributes).accumulate);
    return makeLaunch(
        [=, views = Views(request), isLog = request.op == Op::LogSoftmax](const KernelBinding& b, cudaStream_t stream) {
            runSoftmax(isLog, accumulate, views.in(b, 0), views.out(b, 0), rows.count, rows.length, stream);
        });
}

std::unique_ptr<Kernel> makeSoftmaxGrad(const KernelRequest& request, const Context& /*context*/)
{
    const Rows rows = rowsOf(request, request.inputs[1]);
    requireElements(request, request.inputs[0], rows.count * rows.length);
    requireElements(request, request.outputs[0], rows.count * rows.length);
    return makeLaunch([=, views = Views(request), isLog = request.op == Op::LogSoftmaxGrad](
                          const KernelBinding& b, cudaStream_t stream) {
        runSoftmaxGrad(isLog, views.in(b, 0), views.in(b, 1), views.out(b, 0), rows.count, rows.length, stream);
    });
}

std::unique_ptr<Kernel> makeNorm(const KernelRequest& request, const Context& /*context*/)
{
    const auto attributes = attributesOf<NormAttributes>(request.attributes);
    const bool isRowwise = request.op != Op::GroupNorm;
    const bool isCentred = request.op != Op::RmsNorm;
    const NormBlocks blocks = blocksOf(request, request.inputs[0].shape, isRowwise ? 1 : attributes.groups, isRowwise);
    requireElements(request, request.inputs[1], blocks.channels);
    requireElements(request, request.outputs.back(), blocks.count);
    const NormSetting setting {blocks, attributes.epsilon, formatOf(attributes.accumulate), isCentred};
    return makeLaunch([views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
        const bool hasMean = setting.isCentred;
        runNorm(setting,
            {views.in(b, 0), views.in(b, 1), views.optionalIn(b, 2), views.out(b, 0),
                hasMean ? views.out(b, 1) : Out {nullptr, Format::Float32, nullptr, nullptr},
                views.out(b, hasMean ? 2 : 1)},
            stream);
    });
}

std::unique_ptr<Kernel> makeNormGrad(const KernelRequest& request, const Context& /*context*/)
{
    const std::int64_t groups = attributesOf<NormAttributes>(request.attributes).groups;
    const Shape& x = request.inputs[1].shape;
    const bool isRowwise = groups == 1 && x.rank() > 0 && request.inputs[3].shape.elements() * x.back() == x.elements();
    const NormBlocks blocks = blocksOf(request, x, groups, isRowwise);
    requireElements(request, request.inputs[3], blocks.count);
    requireElements(request, request.outputs[1], blocks.channels);
    const NormSetting setting {blocks, 0, Format::Float32, request.inputs.size() > 4};
    return makeLaunch([views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
        runNormGrad(setting,
            {views.in(b, 0), views.in(b, 1), views.in(b, 2), views.in(b, 3), views.optionalIn(b, 4), views.out(b, 0),
                views.out(b, 1), views.optionalOut(b, 2)},
            stream);
    });
}

std::unique_ptr<Kernel> makeBatchNorm(const KernelRequest& request, const Context& /*context*/)
{
    const BatchNormSetting setting = batchNormSetting(request, request.inputs[0].shape);
    return makeLaunch([views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
        runBatchNorm(setting,
            {views.in(b, 0), views.in(b, 1), views.in(b, 2), views.in(b, 3), views.in(b, 4), views.out(b, 0),
                views.out(b, 1), views.out(b, 2), views.out(b, 3), views.out(b, 4)},
            stream);
    });
}

std::unique_ptr<Kernel> makeBatchNormGrad(const KernelRequest& request, const Context& /*context*/)
{
    const BatchNormSetting setting = batchNormSetting(request, request.inputs[1].shape);
    return makeLaunch([views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
        runBatchNormGrad(setting,
            {views.in(b, 0), views.in(b, 1), views.in(b, 2), views.in(b, 4), views.in(b, 3), views.out(b, 0),
                views.out(b, 1), views.out(b, 2)},
            stream);
    });
}

} // namespace mantissa::cuda
