/// Cases of convolution and pooling.
#include "tests/support/op_cases.h"

#include <cmath>

namespace mantissa::test {

namespace {

/// A convolution for each size, with what is uneven about it.
struct ConvSize
{
    Shape x;
    Shape w;
    Shape y;
    Conv2dAttributes attributes;
};

ConvSize convSize(std::int64_t size)
{
    switch (size) {
    case 1:
        return {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {}};
    case 3:
        return {{2, 5, 3, 1}, {3, 1, 3, 3}, {2, 5, 3, 3}, {.padding = {1, 1}}};
    case 17:
        return {{1, 9, 7, 5}, {9, 5, 3, 3}, {1, 5, 4, 9}, {.stride = {2, 2}, .padding = {1, 1}}};
    case 33:
        return {{2, 6, 5, 17}, {10, 17, 1, 1}, {2, 3, 3, 10}, {.stride = {2, 2}}};
    case 128:
        return {{2, 7, 8, 6}, {4, 3, 3, 3}, {2, 7, 8, 4}, {.padding = {1, 1}, .groups = 2}};
    case 257:
        return {{2, 9, 9, 16}, {24, 16, 3, 2}, {2, 5, 7, 24}, {.stride = {1, 1}, .dilation = {2, 2}}};
    default:
        return {{2, 6, 6, 8}, {8, 1, 3, 3}, {2, 6, 6, 8}, {.padding = {1, 1}, .groups = 8}};
    }
}

OpCase convCase(Op op, const CaseSpec& spec, bool hasBias, RandomValues& random)
{
    const ConvSize size = convSize(spec.size);
    const auto tensor = [&](const Shape& shape) { return random.tensor(spec.dtype, shape, spec.fill); };
    OpCall call {op, size.attributes, {}, {}};
    if (op == Op::Conv2d) {
        call.inputs = {tensor(size.x), tensor(size.w)};
        call.outputs = {fresh(spec.dtype, size.y)};
    } else if (op == Op::Conv2dInputGrad) {
        call.inputs = {tensor(size.y), tensor(size.w)};
        call.outputs = {fresh(spec.dtype, size.x)};
    } else {
        call.inputs = {tensor(size.y), tensor(size.x)};
        call.outputs = {fresh(spec.dtype, size.w)};
    }
    if (hasBias) {
        call.inputs.push_back(tensor({size.w[0]}));
    }
    // The longest sum: over a window for the forward pass, over all positions for the weights.
    const std::int64_t terms
        = op == Op::Conv2dWeightGrad ? size.y.elements() / size.w[0] : size.w.elements() * (op == Op::Conv2d ? 1 : 4);
    ErrorBound bound = sumOfProducts(call, static_cast<double>(terms + 3));
    const bool isPadded = size.attributes.padding != std::array<std::int64_t, 2> {0, 0};
    if (spec.fill == Fill::Special && (isPadded || op != Op::Conv2d)) {
        // Whether an infinity meets the zeros around an image, or between the gradients of a strided one, is left open.
        bound = [bound](const Exact& exact, std::int64_t i) {
            for (const HostTensor& input : exact.call.inputs) {
                for (std::int64_t j = 0; j < input.size(); ++j) {
                    if (!std::isfinite(input.at(j))) {
                        return anything;
                    }
                }
            }
            return bound(exact, i);
        };
    }
    return {hasBias ? "with bias" : "without bias", std::move(call), {{std::move(bound)}}};
}

/// An image, its windows and what comes out.
struct PoolSize
{
    Shape x;
    Shape y;
    Pool2dAttributes attributes;
};

PoolSize poolSize(std::int64_t size)
{
    switch (size) {
    case 1:
        return {{1, 1, 1, 1}, {1, 1, 1, 1}, {.kernel = {1, 1}, .stride = {1, 1}}};
    case 3:
        return {{2, 4, 6, 3}, {2, 2, 3, 3}, {}};
    case 17:
        return {{1, 7, 6, 5}, {1, 4, 6, 5}, {.kernel = {3, 3}, .stride = {2, 1}, .padding = {1, 1}}};
    case 33:
        return {{2, 16, 16, 9}, {2, 1, 1, 9}, {.kernel = {16, 16}, .stride = {16, 16}}};
    case 128:
        return {{2, 8, 8, 16}, {2, 4, 4, 16}, {}};
    case 257:
        return {{1, 5, 5, 33}, {1, 3, 3, 33}, {.kernel = {3, 3}, .stride = {1, 1}}};
    default:
        return {{2, 3, 3, 1030}, {2, 2, 2, 1030}, {.kernel = {2, 2}, .stride = {2, 2}, .padding = {1, 1}}};
    }
}

std::vector<OpCase> poolCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    const PoolSize size = poolSize(spec.size);
    const bool isMax = op == Op::MaxPool2d || op == Op::MaxPool2dGrad;
    const bool isForward = op == Op::MaxPool2d || op == Op::AvgPool2d;
    const auto window = static_cast<double>(size.attributes.kernel[0] * size.attributes.kernel[1]);
    std::vector<OpCase> cases;
    for (const bool countPadding : {true, false}) {
        Pool2dAttributes attributes = size.attributes;
        attributes.countPadding = countPadding;
        OpCall call {op, attributes, {random.tensor(spec.dtype, isForward ? size.x : size.y, spec.fill)},
            {fresh(spec.dtype, isForward ? size.y : size.x)}};
        std::vector<OutputRule> rules;
        if (op == Op::MaxPool2d) {
            call.outputs.push_back(fresh(DType::UInt8, size.y));
            rules = {{noError()}, {noError()}};
        } else {
            if (isMax) {
                // Places as the forward op finds them.
                const OpCall forward {Op::MaxPool2d, attributes, {random.tensor(spec.dtype, size.x, spec.fill)},
                    {fresh(spec.dtype, size.y), fresh(DType::UInt8, size.y)}};
                call.inputs.push_back(exactOutputs(forward)[1]);
            }
            rules = {{sumOfProducts(call, window + 4)}};
        }
        cases.push_back({countPadding ? "" : "padding not counted", std::move(call), std::move(rules)});
        if (isMax) {
            break;
        }
    }
    return cases;
}

OpCase globalPoolCase(const CaseSpec& spec, RandomValues& random)
{
    const PoolSize size = poolSize(spec.size);
    OpCall call {Op::GlobalAvgPool, {}, {random.tensor(spec.dtype, size.x, spec.fill)},
        {fresh(spec.dtype, {size.x[0], size.x[3]})}};
    ErrorBound bound = sumOfProducts(call, static_cast<double>(size.x[1] * size.x[2] + 3));
    return {{}, std::move(call), {{std::move(bound)}}};
}

} // namespace

std::vector<OpCase> imageCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    switch (op) {
    case Op::Conv2d:
        return {convCase(op, spec, false, random), convCase(op, spec, true, random)};
    case Op::Conv2dInputGrad:
    case Op::Conv2dWeightGrad:
        return {convCase(op, spec, false, random)};
    case Op::MaxPool2d:
    case Op::MaxPool2dGrad:
    case Op::AvgPool2d:
    case Op::AvgPool2dGrad:
        return poolCases(op, spec, random);
    case Op::GlobalAvgPool:
        return {globalPoolCase(spec, random)};
    default:
        return {};
    }
}

} // namespace mantissa::test
