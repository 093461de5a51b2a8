#include "engine/autocast/policy.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

struct NamedPolicy
{
    std::string_view name;
    DType lower;
    OpLists lists;
};

constexpr std::array policyTable {
    NamedPolicy {"fp32", DType::Float32, OpLists::PyTorchCuda},
    NamedPolicy {"fp16", DType::Float16, OpLists::PyTorchCuda},
    NamedPolicy {"bf16", DType::BFloat16, OpLists::PyTorchCuda},
    NamedPolicy {"cpu-fp16", DType::Float16, OpLists::PyTorchCpu},
    NamedPolicy {"cpu-bf16", DType::BFloat16, OpLists::PyTorchCpu},
    NamedPolicy {"tf-fp16", DType::Float16, OpLists::TensorFlow},
    NamedPolicy {"tf-bf16", DType::BFloat16, OpLists::TensorFlow},
    NamedPolicy {"mxnet-fp16", DType::Float16, OpLists::MxNet},
    NamedPolicy {"mxnet-bf16", DType::BFloat16, OpLists::MxNet},
    NamedPolicy {"O0", DType::Float32, OpLists::PyTorchCuda},
    NamedPolicy {"O1", DType::Float16, OpLists::ApexO1},
    NamedPolicy {"O2", DType::Float16, OpLists::ApexO2},
    NamedPolicy {"O3", DType::Float16, OpLists::ApexO3},
    NamedPolicy {"pure-fp16", DType::Float16, OpLists::Pure},
    NamedPolicy {"pure-bf16", DType::BFloat16, OpLists::Pure},
};

/// What a list says of an op, where that is not what PyTorch says on CUDA.
struct Exception
{
    Op op;
    PrecisionClass precision;
};

using enum PrecisionClass;

constexpr std::array pyTorchCpu {
    Exception {Op::Softmax, Follow},
    Exception {Op::LogSoftmax, Follow},
    Exception {Op::Exp, Follow},
    Exception {Op::Log, Follow},
    Exception {Op::Sum, Follow},
    Exception {Op::LayerNorm, AsIs},
    Exception {Op::GroupNorm, AsIs},
    Exception {Op::RmsNorm, AsIs},
};

// MatMul and Attention stand for batch_dot and the attention ops built on it.
constexpr std::array mxNetFloat16 {
    Exception {Op::MatMul, Follow},
    Exception {Op::Attention, Follow},
    Exception {Op::Softmax, Float32},
    Exception {Op::LogSoftmax, Float32},
    Exception {Op::Sum, Float32},
    Exception {Op::Mean, Float32},
};

constexpr std::array mxNetBFloat16 {
    Exception {Op::MatMul, Follow},
    Exception {Op::Attention, Follow},
    Exception {Op::Softmax, Follow},
    Exception {Op::LogSoftmax, Follow},
    Exception {Op::Sum, Follow},
    Exception {Op::LayerNorm, AsIs},
    Exception {Op::Dropout, Float32},
    Exception {Op::Embedding, Float32},
};

constexpr std::array apexO1 {
    Exception {Op::Gelu, Float32},
    Exception {Op::Softmax, Float32},
    Exception {Op::LogSoftmax, Float32},
    Exception {Op::Sum, Float32},
};

std::span<const Exception> exceptionsOf(const Policy& policy)
{
    switch (policy.lists) {
    case OpLists::PyTorchCpu:
        return pyTorchCpu;
    case OpLists::MxNet:
        return policy.lower == DType::BFloat16 ? std::span<const Exception>(mxNetBFloat16) : mxNetFloat16;
    case OpLists::ApexO1:
        return apexO1;
    default:
        return {};
    }
}

bool isLoss(Op op)
{
    return op == Op::SoftmaxCrossEntropy || op == Op::NllLoss || op == Op::MseLoss || op == Op::BceWithLogits;
}

/// Lists that convert the model as a whole rather than op by op.
bool isWholeModel(OpLists lists)
{
    return lists == OpLists::ApexO2 || lists == OpLists::ApexO3 || lists == OpLists::Pure;
}

PrecisionClass listed(const Policy& policy, Op op)
{
    const PrecisionClass usual = opDef(op).precision;
    if (isWholeModel(policy.lists)) {
        const bool isOutside = usual == Fixed || (isLoss(op) && policy.lists != OpLists::Pure);
        return isOutside ? usual : op == Op::BatchNorm2d && policy.lists == OpLists::ApexO2 ? AsIs : Lower;
    }
    const auto exceptions = exceptionsOf(policy);
    const auto found = std::ranges::find(exceptions, op, &Exception::op);
    return found == exceptions.end() ? usual : found->precision;
}

} // namespace

std::vector<std::string> policyNames()
{
    std::vector<std::string> names;
    for (const NamedPolicy& row : policyTable) {
        names.emplace_back(row.name);
    }
    return names;
}

Policy policyNamed(std::string_view name)
{
    const auto row = std::ranges::find(policyTable, name, &NamedPolicy::name);
    if (row == policyTable.end()) {
        std::string known;
        for (const NamedPolicy& policy : policyTable) {
            known += (known.empty() ? "" : ", ") + std::string(policy.name);
        }
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("There is no precision policy \"{}\"; there are {}.", name, known));
    }
    const bool storesHalf = row->lists == OpLists::ApexO3 || row->lists == OpLists::Pure;
    return {std::string(name), row->lower, {}, row->lists, {}, storesHalf ? row->lower : DType::Float32};
}

std::vector<PrecisionClass> precisionClasses(const Graph& forward, const Policy& policy)
{
    if (policy.lists == OpLists::TensorFlow) {
        return paintTensorFlow(forward, policy.lower);
    }
    std::vector<PrecisionClass> classes;
    for (const Node& node : forward.nodes()) {
        classes.push_back(listed(policy, node.op));
    }
    return classes;
}

} // namespace mantissa
