#include "engine/backends/cuda/kernel_table.h"

#include "engine/backends/cuda/operands.h"
#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace mantissa::cuda {

namespace {

struct Entry
{
    Op op;
    /// One letter per operand: f fp32 or 16-bit, s fp32, d fp64, i int32, u uint8, n anything. At the end ? makes the
    /// last one optional, * stands for any number of f, and & for any number that the factory checks itself.
    std::string_view inputs;
    std::string_view outputs;
    Factory make;
};

constexpr std::array table {
    Entry {Op::Linear, "fff?", "f", makeMatMul},
    Entry {Op::MatMul, "ff", "f", makeMatMul},
    Entry {Op::Conv2d, "fff?", "f", makeConv},
    Entry {Op::MaxPool2d, "f", "fu", makePool},
    Entry {Op::AvgPool2d, "f", "f", makePool},
    Entry {Op::GlobalAvgPool, "f", "f", makeReduce},
    Entry {Op::BatchNorm2d, "fffff", "fffff", makeBatchNorm},
    Entry {Op::GroupNorm, "fff", "fff", makeNorm},
    Entry {Op::LayerNorm, "fff?", "fff", makeNorm},
    Entry {Op::RmsNorm, "ff", "ff", makeNorm},
    Entry {Op::Embedding, "fi", "f", makeEmbedding},
    Entry {Op::Attention, "f*", "fs", makeAttention},
    Entry {Op::ScaleMask, "f", "f", makeScaleMask},
    Entry {Op::Softmax, "f", "f", makeSoftmax},
    Entry {Op::LogSoftmax, "f", "f", makeSoftmax},
    Entry {Op::BiasAdd, "ff", "f", makeBroadcast},
    Entry {Op::Add, "ff", "f", makeBroadcast},
    Entry {Op::Mul, "ff", "f", makeBroadcast},
    Entry {Op::Relu, "f", "f", makeMap},
    Entry {Op::Gelu, "f", "f", makeMap},
    Entry {Op::Silu, "f", "f", makeMap},
    Entry {Op::Tanh, "f", "f", makeMap},
    Entry {Op::Sigmoid, "f", "f", makeMap},
    Entry {Op::Exp, "f", "f", makeMap},
    Entry {Op::Log, "f", "f", makeMap},
    Entry {Op::Dropout, "fi", "fu", makeDropout},
    Entry {Op::Sum, "f", "f", makeReduce},
    Entry {Op::Mean, "f", "f", makeReduce},
    Entry {Op::Expand, "f", "f", makeExpand},
    Entry {Op::Reshape, "f", "f", makeMap},
    Entry {Op::Permute, "f", "f", makePermute},
    Entry {Op::Concat, "f*", "f", makeConcat},
    Entry {Op::Slice, "f", "f", makeSlice},
    Entry {Op::SoftmaxCrossEntropy, "fi", "fs", makeCrossEntropy},
    Entry {Op::NllLoss, "fi", "f", makeNll},
    Entry {Op::MseLoss, "fs", "f", makeElementLoss},
    Entry {Op::BceWithLogits, "fs", "f", makeElementLoss},
    Entry {Op::Cast, "n", "f", makeMap},
    Entry {Op::Scale, "fs", "f", makeScale},
    Entry {Op::SumRows, "f", "f", makeSumRows},
    Entry {Op::Conv2dInputGrad, "ff", "f", makeConv},
    Entry {Op::Conv2dWeightGrad, "ff", "f", makeConv},
    Entry {Op::MaxPool2dGrad, "fu", "f", makePool},
    Entry {Op::AvgPool2dGrad, "f", "f", makePool},
    Entry {Op::BatchNorm2dGrad, "fffff", "fff", makeBatchNormGrad},
    Entry {Op::NormGrad, "fffff?", "fff?", makeNormGrad},
    Entry {Op::EmbeddingGrad, "fi", "f", makeEmbeddingGrad},
    Entry {Op::AttentionGrad, "fsf*", "f*", makeAttentionGrad},
    Entry {Op::SoftmaxGrad, "ff", "f", makeSoftmaxGrad},
    Entry {Op::LogSoftmaxGrad, "ff", "f", makeSoftmaxGrad},
    Entry {Op::LogGrad, "ff", "f", makeMap},
    Entry {Op::SliceGrad, "f", "f", makeSlice},
    Entry {Op::NllLossGrad, "si", "f", makeNllGrad},
    Entry {Op::ReluGrad, "ff", "f", makeMap},
    Entry {Op::GeluGrad, "ff", "f", makeMap},
    Entry {Op::SiluGrad, "ff", "f", makeMap},
    Entry {Op::TanhGrad, "ff", "f", makeMap},
    Entry {Op::SigmoidGrad, "ff", "f", makeMap},
    Entry {Op::DropoutGrad, "fu", "f", makeDropoutGrad},
    Entry {Op::SoftmaxCrossEntropyGrad, "ssi", "f", makeCrossEntropyGrad},
    Entry {Op::MseLossGrad, "sfs", "f", makeElementLossGrad},
    Entry {Op::BceWithLogitsGrad, "sfs", "f", makeElementLossGrad},
    Entry {Op::Accumulate, "fss", "f", makeAccumulate},
    Entry {Op::GradientNorm, "f*", "sds", makeUnscale},
    Entry {Op::Unscale, "sf*", "f&", makeUnscale},
    Entry {Op::ClipByNorm, "sdf*", "f*", makeClip},
    Entry {Op::ClipByValue, "sf*", "f*", makeClip},
    Entry {Op::SgdUpdate, "ssf&", "f&", makeSgd},
    Entry {Op::AdamUpdate, "ssf&", "f&", makeAdam},
    Entry {Op::EmaUpdate, "ssf*", "f*", makeEma},
    Entry {Op::ScalerUpdate, "sdddssdss", "sdss", makeScaler},
};

bool accepts(char letter, DType dtype)
{
    switch (letter) {
    case 's':
        return dtype == DType::Float32;
    case 'd':
        return dtype == DType::Float64;
    case 'i':
        return dtype == DType::Int32;
    case 'u':
        return dtype == DType::UInt8;
    case 'n':
        return true;
    default:
        return dtype == DType::Float32 || isHalf(dtype);
    }
}

std::string_view meaning(char letter)
{
    switch (letter) {
    case 's':
        return "fp32";
    case 'd':
        return "fp64";
    case 'i':
        return "int32";
    case 'u':
        return "uint8";
    default:
        return "fp32, fp16 or bf16";
    }
}

void checkOperands(const KernelRequest& request, std::string_view side, std::string_view pattern,
    const std::vector<TensorType>& operands)
{
    const char end = pattern.back();
    const bool isOpen = end == '*' || end == '&';
    const std::size_t letters = pattern.size() - (isOpen || end == '?' ? 1 : 0);
    const std::size_t least = end == '?' ? letters - 1 : letters;
    if (operands.size() < least || (operands.size() > letters && !isOpen)) {
        refuse(request, fmt::format("{}{} {}", least, isOpen || end == '?' ? " or more" : "", side));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const bool isCheckedLater = end == '&' && i >= letters;
        const char letter = i < letters ? pattern[i] : 'f';
        if (!isCheckedLater && !accepts(letter, operands[i].dtype)) {
            refuse(request,
                fmt::format(
                    "{} as number {} of its {}, not {}", meaning(letter), i + 1, side, nameOf(operands[i].dtype)));
        }
    }
}

} // namespace

std::unique_ptr<Kernel> prepareKernel(const KernelRequest& request, const Context& context)
{
    const auto* const entry
        = std::find_if(table.begin(), table.end(), [&](const Entry& candidate) { return candidate.op == request.op; });
    if (entry == table.end()) {
        throw Error(ErrorCode::UnsupportedDtype,
            fmt::format("The CUDA backend has no {} yet. Train this model on the CPU.", opDef(request.op).name));
    }
    checkOperands(request, "inputs", entry->inputs, request.inputs);
    checkOperands(request, "outputs", entry->outputs, request.outputs);
    return entry->make(request, context);
}

} // namespace mantissa::cuda
