#include "engine/backends/reference/kernel_table.h"

#include "engine/backends/reference/kernels.h"
#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <algorithm>
#include <array>
#include <string>

namespace mantissa::reference {

namespace {

constexpr std::array table {
    KernelEntry {Op::Linear, "fff?", "f", linear},
    KernelEntry {Op::MatMul, "ff", "f", matMul},
    KernelEntry {Op::Conv2d, "fff?", "f", conv2d},
    KernelEntry {Op::Conv2dInputGrad, "ff", "f", conv2dInputGrad},
    KernelEntry {Op::Conv2dWeightGrad, "ff", "f", conv2dWeightGrad},
    KernelEntry {Op::MaxPool2d, "f", "fu", maxPool2d},
    KernelEntry {Op::MaxPool2dGrad, "fu", "f", maxPool2dGrad},
    KernelEntry {Op::AvgPool2d, "f", "f", avgPool2d},
    KernelEntry {Op::AvgPool2dGrad, "f", "f", avgPool2dGrad},
    KernelEntry {Op::GlobalAvgPool, "f", "f", globalAvgPool},
    KernelEntry {Op::BatchNorm2d, "fffff", "fffff", batchNorm2d},
    KernelEntry {Op::BatchNorm2dGrad, "fffff", "fff", batchNorm2dGrad},
    KernelEntry {Op::GroupNorm, "fff", "fff", groupNorm},
    KernelEntry {Op::LayerNorm, "fff?", "fff", layerNorm},
    KernelEntry {Op::RmsNorm, "ff", "ff", rmsNorm},
    KernelEntry {Op::NormGrad, "fffff?", "fff?", normGrad},
    KernelEntry {Op::Embedding, "fi", "f", embedding},
    KernelEntry {Op::EmbeddingGrad, "fi", "f", embeddingGrad},
    KernelEntry {Op::Attention, "f*", "ff", attention},
    KernelEntry {Op::AttentionGrad, "fff*", "f*", attentionGrad},
    KernelEntry {Op::ScaleMask, "f", "f", scaleMask},
    KernelEntry {Op::Softmax, "f", "f", softmax},
    KernelEntry {Op::SoftmaxGrad, "ff", "f", softmaxGrad},
    KernelEntry {Op::LogSoftmax, "f", "f", logSoftmax},
    KernelEntry {Op::LogSoftmaxGrad, "ff", "f", logSoftmaxGrad},
    KernelEntry {Op::Sum, "f", "f", sum},
    KernelEntry {Op::Mean, "f", "f", mean},
    KernelEntry {Op::Expand, "f", "f", expandAxes},
    KernelEntry {Op::Reshape, "f", "f", reshape},
    KernelEntry {Op::Permute, "f", "f", permute},
    KernelEntry {Op::Concat, "f*", "f", concat},
    KernelEntry {Op::Slice, "f", "f", slice},
    KernelEntry {Op::SliceGrad, "f", "f", sliceGrad},
    KernelEntry {Op::Mul, "ff", "f", mul},
    KernelEntry {Op::Exp, "f", "f", exp},
    KernelEntry {Op::Log, "f", "f", log},
    KernelEntry {Op::LogGrad, "ff", "f", logGrad},
    KernelEntry {Op::NllLoss, "fi", "f", nllLoss},
    KernelEntry {Op::NllLossGrad, "fi", "f", nllLossGrad},
    KernelEntry {Op::BiasAdd, "ff", "f", biasAdd},
    KernelEntry {Op::Add, "ff", "f", add},
    KernelEntry {Op::Relu, "f", "f", relu},
    KernelEntry {Op::Gelu, "f", "f", gelu},
    KernelEntry {Op::Silu, "f", "f", silu},
    KernelEntry {Op::Tanh, "f", "f", tanh},
    KernelEntry {Op::Sigmoid, "f", "f", sigmoid},
    KernelEntry {Op::Dropout, "fi", "fu", dropout},
    KernelEntry {Op::SoftmaxCrossEntropy, "fi", "ff", softmaxCrossEntropy},
    KernelEntry {Op::MseLoss, "ff", "f", mseLoss},
    KernelEntry {Op::BceWithLogits, "ff", "f", bceWithLogits},
    KernelEntry {Op::Cast, "n", "f", cast},
    KernelEntry {Op::Scale, "ff", "f", scale},
    KernelEntry {Op::SumRows, "f", "f", sumRows},
    KernelEntry {Op::ReluGrad, "ff", "f", reluGrad},
    KernelEntry {Op::GeluGrad, "ff", "f", geluGrad},
    KernelEntry {Op::SiluGrad, "ff", "f", siluGrad},
    KernelEntry {Op::TanhGrad, "ff", "f", tanhGrad},
    KernelEntry {Op::SigmoidGrad, "ff", "f", sigmoidGrad},
    KernelEntry {Op::DropoutGrad, "fu", "f", dropoutGrad},
    KernelEntry {Op::SoftmaxCrossEntropyGrad, "ffi", "f", softmaxCrossEntropyGrad},
    KernelEntry {Op::MseLossGrad, "fff", "f", mseLossGrad},
    KernelEntry {Op::BceWithLogitsGrad, "fff", "f", bceWithLogitsGrad},
    KernelEntry {Op::Accumulate, "fff", "f", accumulate},
    KernelEntry {Op::GradientNorm, "*", "fff", gradientNorm},
    KernelEntry {Op::Unscale, "f*", "fff*", unscale},
    KernelEntry {Op::ClipByNorm, "ff*", "f*", clipByNorm},
    KernelEntry {Op::ClipByValue, "f*", "*", clipByValue},
    KernelEntry {Op::SgdUpdate, "ffn*", "ff*", sgdUpdate},
    KernelEntry {Op::AdamUpdate, "ffn*", "fff*", adamUpdate},
    KernelEntry {Op::EmaUpdate, "ff*", "*", emaUpdate},
    KernelEntry {Op::ScalerUpdate, "fffffffff", "ffff", scalerUpdate},
};

bool isFloating(DType dtype)
{
    return dtype == DType::Float32 || dtype == DType::Float64 || isHalf(dtype);
}

bool accepts(char letter, DType dtype)
{
    switch (letter) {
    case 'i':
        return dtype == DType::Int32;
    case 'u':
        return dtype == DType::UInt8;
    case 'n':
        return true;
    default:
        return isFloating(dtype);
    }
}

std::string_view meaning(char letter)
{
    return letter == 'i' ? "int32" : letter == 'u' ? "uint8" : "a floating dtype";
}

void check(
    const KernelEntry& entry, const char* side, std::string_view pattern, const std::vector<TensorType>& operands)
{
    const bool isOpen = pattern.back() == '*';
    const bool isOptional = pattern.back() == '?';
    const std::size_t most = pattern.size() - (isOpen || isOptional ? 1 : 0);
    const std::size_t least = isOptional ? most - 1 : most;
    if (operands.size() < least || (operands.size() > most && !isOpen)) {
        throw Error(ErrorCode::InvalidArgument,
            "[" + std::string(opDef(entry.op).name) + "] expected " + std::to_string(least)
                + (isOpen ? " or more " : " ") + side + ", got " + std::to_string(operands.size()) + ".");
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const char letter = i < most ? pattern[i] : pattern.ends_with("n*") ? 'n' : 'f';
        if (!accepts(letter, operands[i].dtype)) {
            throw Error(ErrorCode::UnsupportedDtype,
                "[" + std::string(opDef(entry.op).name) + "] " + side + " " + std::to_string(i) + " is "
                    + std::string(nameOf(operands[i].dtype)) + "; it must be " + std::string(meaning(letter)) + ".");
        }
    }
}

} // namespace

const KernelEntry& kernelFor(const KernelRequest& request)
{
    const auto* const entry
        = std::find_if(table.begin(), table.end(), [&](const KernelEntry& e) { return e.op == request.op; });
    if (entry == table.end()) {
        throw Error(ErrorCode::UnsupportedDtype,
            "The reference backend has no kernel for op number " + std::to_string(static_cast<int>(request.op)) + ".");
    }
    check(*entry, "inputs", entry->inputs, request.inputs);
    check(*entry, "outputs", entry->outputs, request.outputs);
    return *entry;
}

} // namespace mantissa::reference
