// Attention: where q, k, v and their gradients lie, in three tensors or side by side in one.
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mantissa::cuda {

namespace {

/// The strides of q, k and v in `types`, from operand `first` on; the addresses come when they are bound.
struct Places
{
    std::size_t first;
    bool isPacked;
    std::int64_t channels;

    [[nodiscard]] std::size_t operand(int which) const
    {
        return first + (isPacked ? 0 : static_cast<std::size_t>(which));
    }

    [[nodiscard]] Strided at(int which, void* data) const
    {
        return {data, isPacked ? 3 * channels : channels, isPacked ? which * channels : 0};
    }
};

AttentionSetting settingOf(
    const KernelRequest& request, const Shape& y, const std::vector<TensorType>& types, const Places& places)
{
    const auto attributes = attributesOf<AttentionAttributes>(request.attributes);
    const std::size_t operands = places.isPacked ? 1 : 3;
    if (y.rank() != 3 || types.size() != places.first + operands || attributes.heads < 1
        || y.back() % attributes.heads != 0) {
        refuse(request, "q, k and v [b, t, c], or one [b, t, 3c], and heads that divide the channels");
    }
    for (int which = 0; which < 3; ++which) {
        const TensorType& type = types[places.operand(which)];
        if (type.shape.rank() != 3 || type.shape[0] != y[0] || type.dtype != types[places.first].dtype
            || type.shape.back() != y.back() * (places.isPacked ? 3 : 1)) {
            refuse(request, "q, k and v of one format and width");
        }
    }
    const std::int64_t width = y.back() / attributes.heads;
    const std::int64_t keys = types[places.operand(1)].shape[1];
    if (std::max(keys, y[1]) > maxScores) {
        refuse(request, fmt::format("sequences of at most {} tokens", maxScores));
    }
    const float scale
        = attributes.scale != 0 ? attributes.scale : static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
    return {y[0], attributes.heads, y[1], keys, width, scale, attributes.causal, formatOf(types[places.first].dtype)};
}

} // namespace

std::unique_ptr<Kernel> makeAttention(const KernelRequest& request, const Context& /*context*/)
{
    const Shape& y = request.outputs[0].shape;
    const Places places {0, request.inputs.size() == 1, y.rank() == 3 ? y.back() : 0};
    const AttentionSetting setting = settingOf(request, y, request.inputs, places);
    return makeLaunch([views = Views(request), setting, places](const KernelBinding& b, cudaStream_t stream) {
        Strided qkv[3];
        for (int which = 0; which < 3; ++which) {
            qkv[which] = places.at(which, b.inputs[places.operand(which)]);
        }
        runAttention(setting, qkv, views.out(b, 0), views.out(b, 1), stream);
    });
}

std::unique_ptr<Kernel> makeAttentionGrad(const KernelRequest& request, const Context& /*context*/)
{
    const Shape& d = request.inputs[0].shape;
    const bool isPacked = request.inputs.size() == 3;
    const Places places {2, isPacked, d.rank() == 3 ? d.back() : 0};
    const AttentionSetting setting = settingOf(request, d, request.inputs, places);
    const Places gradients {0, isPacked, places.channels};
    if (request.outputs.size() != (isPacked ? 1U : 3U)) {
        refuse(request, "as many gradients as operands");
    }
    return makeLaunch(
        [views = Views(request), setting, places, gradients](const KernelBinding& b, cudaStream_t stream) {
            Strided qkv[3];
            Strided at[3];
            Out out[3];
            for (int which = 0; which < 3; ++which) {
                qkv[which] = places.at(which, b.inputs[places.operand(which)]);
                at[which] = gradients.at(which, nullptr);
                out[which] = views.out(b, gradients.operand(which));
            }
            runAttentionGrad(
                setting, views.in(b, 0), views.in(b, 1), qkv, at, out, static_cast<float*>(b.workspace), stream);
        },
        static_cast<std::size_t>(setting.batches * setting.heads * setting.queries) * sizeof(float));
}

} // namespace mantissa::cuda
