// Moves a loss scale behind a step.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"
#include "engine/scaling/pytorch_rule.h"

#include <array>

namespace mantissa::cpu {

namespace {

class ScalerKernel final : public Kernel
{
public:
    void bind(const KernelBinding& binding) override { m_binding = binding; }

    void run(Stream& /*stream*/) override
    {
        const auto single = [this](std::size_t i) { return scalarAt(m_binding.inputs[i]); };
        const auto wide = [this](std::size_t i) { return *static_cast<const double*>(m_binding.inputs[i]); };
        const PytorchRule rule {wide(1), wide(2), wide(3), single(4) != 0.0F};
        const DeviceScale next
            = moved(DeviceScale {{single(5), wide(6)}, single(7), single(8)}, rule, single(0) != 0.0F);
        *static_cast<float*>(m_binding.outputs[0]) = next.machine.scale;
        *static_cast<double*>(m_binding.outputs[1]) = next.machine.tracker;
        *static_cast<float*>(m_binding.outputs[2]) = next.lossScale;
        *static_cast<float*>(m_binding.outputs[3]) = next.inverseScale;
    }

private:
    KernelBinding m_binding;
};

} // namespace

std::unique_ptr<Kernel> makeScaler(const KernelRequest& request)
{
    constexpr std::array inputs {DType::Float32, DType::Float64, DType::Float64, DType::Float64, DType::Float32,
        DType::Float32, DType::Float64, DType::Float32, DType::Float32};
    constexpr std::array outputs {DType::Float32, DType::Float64, DType::Float32, DType::Float32};
    requireArity(request, inputs.size(), outputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        requireDType(request, request.inputs[i], inputs[i]);
        requireElements(request, request.inputs[i], 1);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        requireDType(request, request.outputs[i], outputs[i]);
        requireElements(request, request.outputs[i], 1);
    }
    return std::make_unique<ScalerKernel>();
}

} // namespace mantissa::cpu
