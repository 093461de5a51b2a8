#include "engine/backends/cuda/operands.h"

#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <fmt/format.h>

namespace mantissa::cuda {

namespace {

std::string typesText(const std::vector<TensorType>& types)
{
    std::string text;
    for (const TensorType& type : types) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", nameOf(type.dtype), type.shape.text());
    }
    return text;
}

} // namespace

Views::Views(const KernelRequest& request)
{
    for (const TensorType& type : request.inputs) {
        m_inputs.push_back(formatOf(type.dtype));
    }
    for (const TensorType& type : request.outputs) {
        m_outputs.push_back(formatOf(type.dtype));
    }
}

Out Views::out(const KernelBinding& binding, std::size_t i) const
{
    static_assert(sizeof(Census) == 7 * sizeof(unsigned long long)
        && sizeof(ExponentHistogram) == 256 * sizeof(unsigned long long));
    const bool isCounted = m_outputs[i] == Format::Float16 || m_outputs[i] == Format::BFloat16;
    Out out {binding.outputs[i], m_outputs[i], nullptr, nullptr};
    if (isCounted && binding.censusOf(i) != nullptr) {
        // Counts of the host's type, of the same size, in the order that kernels write them.
        out.census = reinterpret_cast<unsigned long long*>(binding.censusOf(i));
        out.histogram = i == 0 ? reinterpret_cast<unsigned long long*>(binding.histogram) : nullptr;
    }
    return out;
}

void refuse(const KernelRequest& request, const std::string& expected)
{
    throw Error(ErrorCode::UnsupportedDtype,
        fmt::format("[{}] The CUDA backend expects {}, got ({}) -> ({})", opDef(request.op).name, expected,
            typesText(request.inputs), typesText(request.outputs)));
}

void requireElements(const KernelRequest& request, const TensorType& type, std::int64_t elements)
{
    if (type.shape.elements() != elements) {
        refuse(request, fmt::format("{} elements where it got {}", elements, type.shape.text()));
    }
}

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end)
{
    std::int64_t n = 1;
    for (std::size_t i = begin; i < end; ++i) {
        n *= shape[i];
    }
    return n;
}

} // namespace mantissa::cuda
