/// What kernels keep in the memory that they share, and operands that are expanded to FP32 there.
#pragma once

#include "engine/backends/cpu/parts.h"

namespace mantissa::cpu {

/// Pieces of the workspace, each on its own cache lines.
class WorkspaceLayout
{
public:
    std::size_t take(std::size_t bytes)
    {
        const std::size_t offset = m_bytes;
        m_bytes += (bytes + 63) / 64 * 64;
        return offset;
    }

    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    std::size_t m_bytes = 0;
};

/// One input: as it is, or expanded to FP32 in the workspace first.
struct Operand
{
    Source source;
    std::size_t elements = 0;
    bool expands = false;
    std::size_t offset = 0; ///< in the workspace
    float* expanded = nullptr;

    /// Plans the expansion of a half operand, unless it is used as it is.
    void plan(const TensorType& type, WorkspaceLayout& layout, bool isUsedAsIs = false)
    {
        source.dtype = type.dtype;
        elements = elementsOf(type);
        expands = isHalf(type.dtype) && !isUsedAsIs;
        offset = layout.take(expands ? elements * sizeof(float) : 0);
    }

    /// Where the values are after prepare().
    [[nodiscard]] void* bind(void* data, std::byte* workspace)
    {
        source.data = data;
        expanded = reinterpret_cast<float*>(workspace + offset);
        return expands ? expanded : data;
    }

    void prepare(int threads) const
    {
        if (expands) {
            forParts(threads, elements, 1, [this](std::size_t begin, std::size_t end) {
                const auto* bytes = static_cast<const std::byte*>(source.data);
                expand(source.dtype, bytes + begin * sizeOf(source.dtype), expanded + begin, end - begin);
            });
        }
    }
};

/// An output that is computed whole in FP32, in the workspace if it is half, and rounded at the end.
struct Result
{
    Target target;
    std::size_t elements = 0;
    std::size_t offset = 0;
    float* values = nullptr; ///< where to compute

    void plan(const TensorType& type, WorkspaceLayout& layout)
    {
        target.dtype = type.dtype;
        elements = elementsOf(type);
        offset = layout.take(isHalf(type.dtype) ? elements * sizeof(float) : 0);
    }

    void bind(const KernelBinding& binding, std::size_t output)
    {
        target.bind(binding, output);
        auto* workspace = reinterpret_cast<float*>(static_cast<std::byte*>(binding.workspace) + offset);
        values = target.place(0, workspace);
    }

    void finish(int threads) const
    {
        if (isHalf(target.dtype)) {
            forPartsOf(target, threads, elements, 1, [this](std::size_t begin, std::size_t end, const Target& own) {
                own.finish(begin, end - begin, values + begin);
            });
        }
    }
};

} // namespace mantissa::cpu
