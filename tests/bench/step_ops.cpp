#include "tests/bench/step_ops.h"

namespace mantissa {

StepSet mlpOps(std::int64_t batch, std::int64_t width)
{
    const Shape activation {batch, width};
    const Shape weight {width, width};
    const Shape bias {width};
    const auto f32 = [](const Shape& shape) { return TensorType {DType::Float32, shape}; };
    const TensorType scalar = f32({});
    const TensorType sum {DType::Float64, {}};
    return {"mlp",
        {
            {"cast weight to half", 2, true,
                [=](DType t) {
                    return KernelRequest {Op::Cast, {}, {f32(weight)}, {{t, weight}}, 1};
                }},
            {"linear", 2, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::Linear, {}, {{t, activation}, {t, weight}, {t, bias}}, {{t, activation}}, 1};
                }},
            {"relu", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::Relu, {}, {{t, activation}}, {{t, activation}}, 1};
                }},
            {"gelu", 0, false,
                [=](DType t) {
                    return KernelRequest {Op::Gelu, GeluAttributes {}, {{t, activation}}, {{t, activation}}, 1};
                }},
            {"dropout", 0, false,
                [=](DType t) {
                    return KernelRequest {Op::Dropout, DropoutAttributes {}, {{t, activation}, {DType::Int32, {}}},
                        {{t, activation}, {DType::UInt8, activation}}, 1};
                }},
            {"relu_grad", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::ReluGrad, {}, {{t, activation}, {t, activation}}, {{t, activation}}, 1};
                }},
            {"gelu_grad", 0, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::GeluGrad, GeluAttributes {}, {{t, activation}, {t, activation}}, {{t, activation}}, 1};
                }},
            {"matmul for input gradient", 2, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::MatMul, MatMulAttributes {}, {{t, activation}, {t, weight}}, {{t, activation}}, 1};
                }},
            {"matmul for weight gradient", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::MatMul, MatMulAttributes {true, false},
                        {{t, activation}, {t, activation}}, {{t, weight}}, 1};
                }},
            {"sum_rows", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::SumRows, {}, {{t, activation}}, {{t, bias}}, 1};
                }},
            {"cast gradient to fp32", 2, true,
                [=](DType t) {
                    return KernelRequest {Op::Cast, {}, {{t, weight}}, {f32(weight)}, 1};
                }},
            {"unscale", 2, false,
                [=](DType) {
                    return KernelRequest {
                        Op::Unscale, {}, {scalar, f32(weight)}, {f32(weight), scalar, sum, scalar}, 1};
                }},
            {"adam_update", 2, false,
                [=](DType) {
                    const TensorType w = f32(weight);
                    return KernelRequest {Op::AdamUpdate, AdamAttributes {}, {scalar, scalar, w, w, w, w, scalar},
                        {w, w, w, scalar, sum, sum}, 1};
                }},
            {"adam_update without masters", 0, false,
                [=](DType t) {
                    const TensorType w {t, weight};
                    return KernelRequest {Op::AdamUpdate, AdamAttributes {.arithmetic = t},
                        {scalar, scalar, w, w, w, w, scalar}, {w, w, w, scalar, sum, sum}, 1};
                }},
        }};
}

StepSet resnetOps()
{
    const Shape image {32, 16, 16, 64};
    const Shape weight {64, 64, 3, 3};
    const TensorType c {DType::Float32, {64}};
    const TensorType places {DType::UInt8, {32, 8, 8, 64}};
    const Shape pooled {32, 8, 8, 64};
    const Conv2dAttributes padded {.padding = {1, 1}};
    return {"resnet",
        {
            {"cast weight to half", 2, true,
                [=](DType t) {
                    return KernelRequest {Op::Cast, {}, {{DType::Float32, weight}}, {{t, weight}}, 1};
                }},
            {"conv2d", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::Conv2d, padded, {{t, image}, {t, weight}}, {{t, image}}, 1};
                }},
            {"batch_norm", 2, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::BatchNorm2d, BatchNormAttributes {}, {{t, image}, c, c, c, c}, {{t, image}, c, c, c, c}, 1};
                }},
            {"relu", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::Relu, {}, {{t, image}}, {{t, image}}, 1};
                }},
            {"add", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::Add, {}, {{t, image}, {t, image}}, {{t, image}}, 1};
                }},
            {"relu_grad", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::ReluGrad, {}, {{t, image}, {t, image}}, {{t, image}}, 1};
                }},
            {"batch_norm_grad", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::BatchNorm2dGrad, BatchNormAttributes {},
                        {{t, image}, {t, image}, c, c, c}, {{t, image}, c, c}, 1};
                }},
            {"conv2d_input_grad", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::Conv2dInputGrad, padded, {{t, image}, {t, weight}}, {{t, image}}, 1};
                }},
            {"conv2d_weight_grad", 2, false,
                [=](DType t) {
                    return KernelRequest {Op::Conv2dWeightGrad, padded, {{t, image}, {t, image}}, {{t, weight}}, 1};
                }},
            {"cast gradient to fp32", 2, true,
                [=](DType t) {
                    return KernelRequest {Op::Cast, {}, {{t, weight}}, {{DType::Float32, weight}}, 1};
                }},
            {"max_pool2d", 0, false,
                [=](DType t) {
                    return KernelRequest {Op::MaxPool2d, Pool2dAttributes {}, {{t, image}}, {{t, pooled}, places}, 1};
                }},
            {"max_pool2d_grad", 0, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::MaxPool2dGrad, Pool2dAttributes {}, {{t, pooled}, places}, {{t, image}}, 1};
                }},
            {"avg_pool2d", 0, false,
                [=](DType t) {
                    return KernelRequest {Op::AvgPool2d, Pool2dAttributes {}, {{t, image}}, {{t, pooled}}, 1};
                }},
            {"global_avg_pool", 0, false,
                [=](DType t) {
                    return KernelRequest {Op::GlobalAvgPool, {}, {{t, image}}, {{t, {32, 64}}}, 1};
                }},
            {"group_norm", 0, false,
                [=](DType t) {
                    const TensorType perGroup {DType::Float32, {32, 8}};
                    return KernelRequest {Op::GroupNorm, NormAttributes {.groups = 8}, {{t, image}, c, c},
                        {{t, image}, perGroup, perGroup}, 1};
                }},
        }};
}

StepSet transformerOps()
{
    const auto f32 = [](Shape shape) { return TensorType {DType::Float32, std::move(shape)}; };
    const Shape tokens {16, 128, 128};
    const Shape packed {16, 128, 384};
    const Shape hidden {16, 128, 512};
    const Shape scores {64, 128, 128};
    const Shape heads {64, 128, 32};
    const TensorType channels = f32({128});
    const TensorType perToken = f32({16, 128});
    const TensorType logSumExp = f32({16, 4, 128});
    const AttentionAttributes causal {.heads = 4, .causal = true};
    const auto linear = [](Shape x, Shape y) {
        return [x, y](DType t) {
            return KernelRequest {Op::Linear, {}, {{t, x}, {t, {y.back(), x.back()}}, {t, {y.back()}}}, {{t, y}}, 1};
        };
    };
    const auto inputGrad = [](Shape x, Shape y) {
        return [x, y](DType t) {
            return KernelRequest {Op::MatMul, MatMulAttributes {}, {{t, y}, {t, {y.back(), x.back()}}}, {{t, x}}, 1};
        };
    };
    const auto weightGrad = [](Shape x, Shape y) {
        return [x, y](DType t) {
            return KernelRequest {Op::MatMul, MatMulAttributes {.transposeA = true, .joinRows = true}, {{t, y}, {t, x}},
                {{t, {y.back(), x.back()}}}, 1};
        };
    };
    return {"transformer",
        {
            {"cast tokens to half", 4, true,
                [=](DType t) {
                    return KernelRequest {Op::Cast, {}, {f32(tokens)}, {{t, tokens}}, 1};
                }},
            {"cast tokens to fp32", 4, true,
                [=](DType t) {
                    return KernelRequest {Op::Cast, {}, {{t, tokens}}, {f32(tokens)}, 1};
                }},
            {"layer_norm (fp32)", 2, false,
                [=](DType) {
                    return KernelRequest {
                        Op::LayerNorm, {}, {f32(tokens), channels, channels}, {f32(tokens), perToken, perToken}, 1};
                }},
            {"linear 128 to 384", 1, false, linear(tokens, packed)},
            {"attention", 1, false,
                [=](DType t) {
                    return KernelRequest {Op::Attention, causal, {{t, packed}}, {{t, tokens}, logSumExp}, 1};
                }},
            {"linear 128 to 128", 1, false, linear(tokens, tokens)},
            {"add (fp32)", 4, false,
                [=](DType) {
                    return KernelRequest {Op::Add, {}, {f32(tokens), f32(tokens)}, {f32(tokens)}, 1};
                }},
            {"linear 128 to 512", 1, false, linear(tokens, hidden)},
            {"gelu", 1, false,
                [=](DType t) {
                    return KernelRequest {Op::Gelu, GeluAttributes {}, {{t, hidden}}, {{t, hidden}}, 1};
                }},
            {"linear 512 to 128", 1, false, linear(hidden, tokens)},
            {"input grad 512 to 128", 1, false, inputGrad(hidden, tokens)},
            {"weight grad 512 to 128", 1, false, weightGrad(hidden, tokens)},
            {"gelu_grad", 1, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::GeluGrad, GeluAttributes {}, {{t, hidden}, {t, hidden}}, {{t, hidden}}, 1};
                }},
            {"input grad 128 to 512", 1, false, inputGrad(tokens, hidden)},
            {"weight grad 128 to 512", 1, false, weightGrad(tokens, hidden)},
            {"sum_rows", 4, false,
                [=](DType t) {
                    return KernelRequest {Op::SumRows, {}, {{t, tokens}}, {{t, {128}}}, 1};
                }},
            {"layer_norm_grad (fp32)", 2, false,
                [=](DType) {
                    return KernelRequest {Op::NormGrad, {}, {f32(tokens), f32(tokens), channels, perToken, perToken},
                        {f32(tokens), channels, channels}, 1};
                }},
            {"input grad 128 to 128", 1, false, inputGrad(tokens, tokens)},
            {"weight grad 128 to 128", 1, false, weightGrad(tokens, tokens)},
            {"attention_grad", 1, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::AttentionGrad, causal, {{t, tokens}, logSumExp, {t, packed}}, {{t, packed}}, 1};
                }},
            {"input grad 128 to 384", 1, false, inputGrad(tokens, packed)},
            {"weight grad 128 to 384", 1, false, weightGrad(tokens, packed)},
            {"softmax to fp32", 0, false,
                [=](DType t) {
                    return KernelRequest {Op::Softmax, {}, {{t, scores}}, {f32(scores)}, 1};
                }},
            {"softmax_grad", 0, false,
                [=](DType t) {
                    return KernelRequest {Op::SoftmaxGrad, {}, {f32(scores), f32(scores)}, {{t, scores}}, 1};
                }},
            {"batched scores q k^T", 0, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::MatMul, MatMulAttributes {.transposeB = true}, {{t, heads}, {t, heads}}, {{t, scores}}, 1};
                }},
            {"permute to heads", 0, false,
                [=](DType t) {
                    return KernelRequest {Op::Permute, PermuteAttributes {{0, 2, 1, 3}}, {{t, {16, 128, 4, 32}}},
                        {{t, {16, 4, 128, 32}}}, 1};
                }},
            {"embedding", 0, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::Embedding, {}, {{t, {256, 128}}, {DType::Int32, {16, 128}}}, {{t, tokens}}, 1};
                }},
            {"embedding_grad", 0, false,
                [=](DType t) {
                    return KernelRequest {
                        Op::EmbeddingGrad, {}, {{t, tokens}, {DType::Int32, {16, 128}}}, {{t, {256, 128}}}, 1};
                }},
        }};
}

} // namespace mantissa
