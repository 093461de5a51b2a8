#include "engine/backends/cpu/operands.h"

#include "engine/backends/cpu/kernel_factories.h"
#include "engine/core/error.h"
#include "engine/formats/convert.h"
#include "engine/formats/round_census.h"
#include "engine/graph/op_def.h"

#include <fmt/format.h>

#include <cstring>

namespace mantissa::cpu {

namespace {

template <typename Half> void roundTo(const Target& target, std::size_t offset, std::size_t n, const float* values)
{
    const std::span source(values, n);
    const std::span half(static_cast<Half*>(target.data) + offset, n);
    if (target.histogram != nullptr) {
        roundWithCensus(source, half, *target.census, *target.histogram);
    } else if (target.census != nullptr) {
        roundWithCensus(source, half, *target.census);
    } else {
        convert(source, half);
    }
}

std::string typesText(const std::vector<TensorType>& types)
{
    std::string text;
    for (const TensorType& type : types) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nameOf(type.dtype), type.shape.text());
    }
    return text;
}

} // namespace

void expand(DType dtype, const void* source, float* target, std::size_t n)
{
    toFloats(dtype, std::span(static_cast<const std::byte*>(source), n * sizeOf(dtype)), std::span(target, n));
}

const float* Source::read(std::size_t offset, std::size_t n, float* scratch) const
{
    if (dtype == DType::Float32) {
        return static_cast<const float*>(data) + offset;
    }
    expand(dtype, static_cast<const std::byte*>(data) + offset * sizeOf(dtype), scratch, n);
    return scratch;
}

float* Target::place(std::size_t offset, float* scratch) const
{
    return dtype == DType::Float32 ? static_cast<float*>(data) + offset : scratch;
}

void Target::finish(std::size_t offset, std::size_t n, const float* scratch) const
{
    if (dtype == DType::Float16) {
        roundTo<Float16>(*this, offset, n, scratch);
    } else if (dtype == DType::BFloat16) {
        roundTo<BFloat16>(*this, offset, n, scratch);
    }
}

void refuse(const KernelRequest& request, const std::string& expected)
{
    throw Error(ErrorCode::UnsupportedDtype,
        fmt::format("[{}] The CPU backend expects {}, got ({}) -> ({})", opDef(request.op).name, expected,
            typesText(request.inputs), typesText(request.outputs)));
}

void requireArity(const KernelRequest& request, std::size_t inputs, std::size_t outputs)
{
    if (request.inputs.size() != inputs || request.outputs.size() != outputs) {
        refuse(request, fmt::format("{} inputs and {} outputs", inputs, outputs));
    }
}

void requireFloating(const KernelRequest& request, const TensorType& type)
{
    if (type.dtype != DType::Float32 && !isHalf(type.dtype)) {
        refuse(request, "fp32, fp16 or bf16");
    }
}

void requireDType(const KernelRequest& request, const TensorType& type, DType dtype)
{
    if (type.dtype != dtype) {
        refuse(request, fmt::format("{} where it got {}", nameOf(dtype), nameOf(type.dtype)));
    }
}

void requireElements(const KernelRequest& request, const TensorType& type, std::int64_t elements)
{
    if (type.shape.elements() != elements) {
        refuse(request, fmt::format("{} elements where it got {}", elements, type.shape.text()));
    }
}

void requireProduct(const KernelRequest& request, bool mayHaveBias)
{
    const bool hasBias = mayHaveBias && request.inputs.size() == 3;
    requireArity(request, hasBias ? 3 : 2, 1);
    for (const TensorType& type : request.inputs) {
        requireFloating(request, type);
    }
    requireFloating(request, request.outputs[0]);
    if (hasBias) {
        requireElements(request, request.inputs[2], request.outputs[0].shape.back());
    }
}

} // namespace mantissa::cpu
