// The only list of ops.
#include "engine/ops/rules.h"

#include <algorithm>
#include <array>
#include <limits>

namespace mantissa {

namespace {

using enum PrecisionClass;
using namespace ops;

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

// op, name, inputs at least and at most, precision class, inputs that autocast casts, shape rule, gradient rule
constexpr std::array opTable {
    OpDef {Op::Linear, "linear", 2, 3, Lower, 3, linearTypes, linearGradient},
    OpDef {Op::MatMul, "matmul", 2, 2, Lower, 2, matMulTypes, matMulGradient},
    OpDef {Op::Conv2d, "conv2d", 2, 3, Lower, 3, conv2dTypes, conv2dGradient},
    OpDef {Op::MaxPool2d, "max_pool2d", 1, 1, Follow, 1, maxPool2dTypes, maxPool2dGradient},
    OpDef {Op::AvgPool2d, "avg_pool2d", 1, 1, Follow, 1, avgPool2dTypes, avgPool2dGradient},
    OpDef {Op::GlobalAvgPool, "global_avg_pool", 1, 1, Follow, 1, globalAvgPoolTypes, globalAvgPoolGradient},
    OpDef {Op::BatchNorm2d, "batch_norm", 5, 5, Follow, 1, batchNorm2dTypes, batchNorm2dGradient, 2},
    OpDef {Op::GroupNorm, "group_norm", 3, 3, Float32, 3, groupNormTypes, normGradient},
    OpDef {Op::LayerNorm, "layer_norm", 2, 3, Float32, 3, layerNormTypes, normGradient},
    OpDef {Op::RmsNorm, "rms_norm", 2, 2, Float32, 2, rmsNormTypes, normGradient},
    OpDef {Op::Embedding, "embedding", 2, 2, Follow, 1, embeddingTypes, embeddingGradient},
    OpDef {Op::Attention, "attention", 1, 3, Lower, 3, attentionTypes, attentionGradient},
    OpDef {Op::ScaleMask, "scale_mask", 1, 1, Follow, 1, scaleMaskTypes, scaleMaskGradient},
    OpDef {Op::Softmax, "softmax", 1, 1, Float32Output, 1, rowwiseTypes, gradientFromOutput<Op::SoftmaxGrad>},
    OpDef {Op::LogSoftmax, "log_softmax", 1, 1, Float32Output, 1, rowwiseTypes, gradientFromOutput<Op::LogSoftmaxGrad>},
    OpDef {Op::BiasAdd, "bias_add", 2, 2, Follow, 2, biasAddTypes, biasAddGradient},
    OpDef {Op::Add, "add", 2, 2, Follow, 2, broadcastTypes, addGradient},
    OpDef {Op::Mul, "mul", 2, 2, Follow, 2, broadcastTypes, mulGradient},
    OpDef {Op::Relu, "relu", 1, 1, Follow, 1, likeFirst, gradientFromOutput<Op::ReluGrad>},
    OpDef {Op::Gelu, "gelu", 1, 1, Follow, 1, likeFirst, gradientFromInput<Op::GeluGrad>},
    OpDef {Op::Silu, "silu", 1, 1, Follow, 1, likeFirst, gradientFromInput<Op::SiluGrad>},
    OpDef {Op::Tanh, "tanh", 1, 1, Follow, 1, likeFirst, gradientFromOutput<Op::TanhGrad>},
    OpDef {Op::Sigmoid, "sigmoid", 1, 1, Follow, 1, likeFirst, gradientFromOutput<Op::SigmoidGrad>},
    OpDef {Op::Exp, "exp", 1, 1, Float32, 1, likeFirst, gradientFromOutput<Op::Mul>},
    OpDef {Op::Log, "log", 1, 1, Float32, 1, likeFirst, gradientFromInput<Op::LogGrad>},
    OpDef {Op::Dropout, "dropout", 2, 2, Follow, 1, dropoutTypes, dropoutGradient},
    OpDef {Op::Sum, "sum", 1, 1, Float32Output, 1, reduceTypes, sumGradient},
    OpDef {Op::Mean, "mean", 1, 1, Follow, 1, reduceTypes, meanGradient},
    OpDef {Op::Expand, "expand", 1, 1, Follow, 1, expandTypes, expandGradient},
    OpDef {Op::Reshape, "reshape", 1, 1, Follow, 1, reshapeTypes, reshapeGradient},
    OpDef {Op::Permute, "permute", 1, 1, Follow, 1, permuteTypes, permuteGradient},
    OpDef {Op::Concat, "concat", 1, any, Follow, any, concatTypes, concatGradient},
    OpDef {Op::Slice, "slice", 1, 1, Follow, 1, sliceTypes, sliceGradient},
    OpDef {Op::SoftmaxCrossEntropy, "cross_entropy", 2, 2, Float32, 1, softmaxCrossEntropyTypes,
        softmaxCrossEntropyGradient},
    OpDef {Op::NllLoss, "nll_loss", 2, 2, Float32, 1, nllLossTypes, nllLossGradient},
    OpDef {Op::MseLoss, "mse", 2, 2, Float32, 1, elementLossTypes, elementLossGradient<Op::MseLossGrad>},
    OpDef {Op::BceWithLogits, "bce_with_logits", 2, 2, Float32, 1, elementLossTypes,
        elementLossGradient<Op::BceWithLogitsGrad>},
    OpDef {Op::Cast, "cast", 1, 1, Fixed, 0, likeFirst, castGradient},
    OpDef {Op::Scale, "scale", 2, 2, Follow, 1, likeFirst, scaleGradient},
    OpDef {Op::SumRows, "sum_rows", 1, 1, Fixed, 0, sumRowsTypes, nullptr},
    OpDef {Op::Conv2dInputGrad, "conv2d_input_grad", 2, 2, Fixed, 0, nullptr, nullptr},
    OpDef {Op::Conv2dWeightGrad, "conv2d_weight_grad", 2, 2, Fixed, 0, nullptr, nullptr},
    OpDef {Op::MaxPool2dGrad, "max_pool2d_grad", 2, 2, Fixed, 0, nullptr, nullptr},
    OpDef {Op::AvgPool2dGrad, "avg_pool2d_grad", 1, 1, Fixed, 0, nullptr, nullptr},
    OpDef {Op::BatchNorm2dGrad, "batch_norm_grad", 5, 5, Fixed, 0, nullptr, nullptr},
    OpDef {Op::NormGrad, "norm_grad", 4, 5, Fixed, 0, nullptr, nullptr},
    OpDef {Op::EmbeddingGrad, "embedding_grad", 2, 2, Fixed, 0, nullptr, nullptr},
    OpDef {Op::AttentionGrad, "attention_grad", 3, 5, Fixed, 0, nullptr, nullptr},
    OpDef {Op::SoftmaxGrad, "softmax_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::LogSoftmaxGrad, "log_softmax_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::LogGrad, "log_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::SliceGrad, "slice_grad", 1, 1, Fixed, 0, nullptr, nullptr},
    OpDef {Op::NllLossGrad, "nll_loss_grad", 2, 2, Fixed, 0, nullptr, nullptr},
    OpDef {Op::ReluGrad, "relu_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::GeluGrad, "gelu_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::SiluGrad, "silu_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::TanhGrad, "tanh_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::SigmoidGrad, "sigmoid_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::DropoutGrad, "dropout_grad", 2, 2, Fixed, 0, likeBoth, nullptr},
    OpDef {Op::SoftmaxCrossEntropyGrad, "cross_entropy_grad", 3, 3, Fixed, 0, lossGradTypes, nullptr},
    OpDef {Op::MseLossGrad, "mse_grad", 3, 3, Fixed, 0, lossGradTypes, nullptr},
    OpDef {Op::BceWithLogitsGrad, "bce_with_logits_grad", 3, 3, Fixed, 0, lossGradTypes, nullptr},
    OpDef {Op::Accumulate, "accumulate", 3, 3, Fixed, 0, accumulateTypes, nullptr},
    OpDef {Op::GradientNorm, "gradient_norm", 1, any, Fixed, 0, nullptr, nullptr},
    OpDef {Op::Unscale, "unscale", 2, any, Fixed, 0, nullptr, nullptr},
    OpDef {Op::ClipByNorm, "clip_by_norm", 3, any, Fixed, 0, nullptr, nullptr},
    OpDef {Op::ClipByValue, "clip_by_value", 2, any, Fixed, 0, nullptr, nullptr},
    OpDef {Op::SgdUpdate, "sgd_update", 4, any, Fixed, 0, nullptr, nullptr},
    OpDef {Op::AdamUpdate, "adam_update", 7, any, Fixed, 0, nullptr, nullptr},
    OpDef {Op::EmaUpdate, "ema_update", 4, any, Fixed, 0, nullptr, nullptr},
    OpDef {Op::ScalerUpdate, "scaler_update", 9, 9, Fixed, 0, nullptr, nullptr},
};

constexpr bool isInEnumOrder()
{
    for (std::size_t i = 0; i < opTable.size(); ++i) {
        if (static_cast<std::size_t>(opTable[i].op) != i) {
            return false;
        }
    }
    return opTable.back().op == Op::ScalerUpdate;
}

static_assert(isInEnumOrder(), "opDef() finds a row by its op's number");

} // namespace

std::span<const OpDef> allOps()
{
    return opTable;
}

const OpDef& opDef(Op op)
{
    return opTable.at(static_cast<std::size_t>(op));
}

std::optional<Op> opFromName(std::string_view name)
{
    const auto row = std::ranges::find(opTable, name, &OpDef::name);
    return row == opTable.end() ? std::nullopt : std::optional(row->op);
}

} // namespace mantissa
