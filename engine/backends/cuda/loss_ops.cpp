// Mean losses and their gradients.
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

namespace mantissa::cuda {

namespace {

ElementLoss elementLossOf(Op op)
{
    return op == Op::MseLoss || op == Op::MseLossGrad ? ElementLoss::Mse : ElementLoss::BceWithLogits;
}

LabelSetting labelSetting(const KernelRequest& request, const TensorType& labels, const TensorType& scores)
{
    const auto attributes = attributesOf<CrossEntropyAttributes>(request.attributes);
    const std::int64_t rows = labels.shape.elements();
    const std::int64_t n = scores.shape.elements();
    if (rows == 0 || n == 0 || n % rows != 0) {
        refuse(request, "a row of classes per label");
    }
    return {rows, n / rows, attributes.labelSmoothing, attributes.ignoreIndex};
}

} // namespace

std::unique_ptr<Kernel> makeElementLoss(const KernelRequest& request, const Context& /*context*/)
{
    const std::int64_t n = request.inputs[0].shape.elements();
    requireElements(request, request.inputs[1], n);
    return makeLaunch(
        [views = Views(request), n, loss = elementLossOf(request.op)](const KernelBinding& b, cudaStream_t stream) {
            runElementLoss(loss, views.in(b, 0), views.in(b, 1), views.out(b, 0), n, b.workspace, stream);
        },
        lossWorkspace);
}

std::unique_ptr<Kernel> makeElementLossGrad(const KernelRequest& request, const Context& /*context*/)
{
    const std::int64_t n = request.inputs[1].shape.elements();
    requireElements(request, request.inputs[2], n);
    requireElements(request, request.outputs[0], n);
    return makeLaunch(
        [views = Views(request), n, loss = elementLossOf(request.op)](const KernelBinding& b, cudaStream_t stream) {
            runElementLossGrad(loss, views.in(b, 0), views.in(b, 1), views.in(b, 2), views.out(b, 0), n, stream);
        });
}

std::unique_ptr<Kernel> makeCrossEntropy(const KernelRequest& request, const Context& /*context*/)
{
    const LabelSetting setting = labelSetting(request, request.inputs[1], request.inputs[0]);
    requireElements(request, request.outputs[1], setting.rows * setting.classes);
    return makeLaunch(
        [views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
            runCrossEntropy(setting, views.in(b, 0), constantIn<std::int32_t>(b, 1), views.out(b, 0), views.out(b, 1),
                b.workspace, stream);
        },
        lossWorkspace + static_cast<std::size_t>(setting.rows) * sizeof(float));
}

std::unique_ptr<Kernel> makeCrossEntropyGrad(const KernelRequest& request, const Context& /*context*/)
{
    const LabelSetting setting = labelSetting(request, request.inputs[2], request.outputs[0]);
    requireElements(request, request.inputs[1], setting.rows * setting.classes);
    return makeLaunch(
        [views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
            runCrossEntropyGrad(setting, views.in(b, 0), views.in(b, 1), constantIn<std::int32_t>(b, 2),
                views.out(b, 0), b.workspace, stream);
        },
        sizeof(float));
}

std::unique_ptr<Kernel> makeNll(const KernelRequest& request, const Context& /*context*/)
{
    const LabelSetting setting = labelSetting(request, request.inputs[1], request.inputs[0]);
    return makeLaunch(
        [views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
            runNll(setting, views.in(b, 0), constantIn<std::int32_t>(b, 1), views.out(b, 0), b.workspace, stream);
        },
        lossWorkspace);
}

std::unique_ptr<Kernel> makeNllGrad(const KernelRequest& request, const Context& /*context*/)
{
    const LabelSetting setting = labelSetting(request, request.inputs[1], request.outputs[0]);
    return makeLaunch(
        [views = Views(request), setting](const KernelBinding& b, cudaStream_t stream) {
            runNllGrad(setting, views.in(b, 0), constantIn<std::int32_t>(b, 1), views.out(b, 0), b.workspace, stream);
        },
        sizeof(float));
}

} // namespace mantissa::cuda
