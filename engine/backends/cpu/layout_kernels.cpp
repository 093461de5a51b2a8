// Ops that only move elements: bits are copied, and the census counts them on the side.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/parts.h"

#include <cstring>

namespace mantissa::cpu {

namespace {

/// What the kernels here share: operands as bytes, and the count at the end.
class MoveKernel : public Kernel
{
public:
    explicit MoveKernel(const KernelRequest& request)
        : m_threads(request.threads)
        , m_elements(elementsOf(request.outputs[0]))
        , m_elementBytes(sizeOf(request.outputs[0].dtype))
    {
        m_y.dtype = request.outputs[0].dtype;
        m_inputs.resize(request.inputs.size());
    }

    void bind(const KernelBinding& binding) override
    {
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            m_inputs[i] = static_cast<const std::byte*>(binding.inputs[i]);
        }
        m_y.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        move(static_cast<std::byte*>(m_y.data));
        countTensor(m_y, m_elements, m_threads);
    }

protected:
    virtual void move(std::byte* y) const = 0;

    int m_threads;
    std::size_t m_elements;
    std::size_t m_elementBytes;
    std::vector<const std::byte*> m_inputs;

private:
    Target m_y;
};

/// A tensor seen along one axis, in bytes: `outer` times `size` pieces of `inner` bytes.
struct AxisView
{
    AxisView(const TensorType& type, std::int64_t axis)
        : inner(sizeOf(type.dtype))
        , size(static_cast<std::size_t>(type.shape[static_cast<std::size_t>(axis)]))
    {
        for (auto i = static_cast<std::size_t>(axis) + 1; i < type.shape.rank(); ++i) {
            inner *= static_cast<std::size_t>(type.shape[i]);
        }
        outer = type.bytes() / std::max<std::size_t>(inner * size, 1);
    }

    std::size_t inner;
    std::size_t size;
    std::size_t outer = 0;
};

class ConcatKernel : public MoveKernel
{
public:
    ConcatKernel(const KernelRequest& request, std::int64_t axis)
        : MoveKernel(request)
        , m_whole(request.outputs[0], axis)
    {
        for (const TensorType& type : request.inputs) {
            m_parts.emplace_back(type, axis);
        }
    }

protected:
    void move(std::byte* y) const override
    {
        for (std::size_t outer = 0; outer < m_whole.outer; ++outer) {
            for (std::size_t i = 0; i < m_parts.size(); ++i) {
                const std::size_t bytes = m_parts[i].size * m_parts[i].inner;
                std::memcpy(y, m_inputs[i] + outer * bytes, bytes);
                y += bytes;
            }
        }
    }

private:
    AxisView m_whole;
    std::vector<AxisView> m_parts;
};

/// Between a tensor and the part of an axis that SliceAttributes names.
class SliceKernel : public MoveKernel
{
public:
    SliceKernel(const KernelRequest& request, const SliceAttributes& attributes)
        : MoveKernel(request)
        , m_isGradient(request.op == Op::SliceGrad)
        , m_whole(m_isGradient ? request.outputs[0] : request.inputs[0], attributes.axis)
        , m_begin(static_cast<std::size_t>(attributes.begin) * m_whole.inner)
        , m_bytes(static_cast<std::size_t>(attributes.length) * m_whole.inner)
    {
    }

protected:
    void move(std::byte* y) const override
    {
        const std::size_t stride = m_whole.size * m_whole.inner;
        for (std::size_t outer = 0; outer < m_whole.outer; ++outer) {
            if (m_isGradient) {
                std::byte* row = y + outer * stride;
                std::memset(row, 0, m_begin);
                std::memcpy(row + m_begin, m_inputs[0] + outer * m_bytes, m_bytes);
                std::memset(row + m_begin + m_bytes, 0, stride - m_begin - m_bytes);
            } else {
                std::memcpy(y + outer * m_bytes, m_inputs[0] + outer * stride + m_begin, m_bytes);
            }
        }
    }

private:
    bool m_isGradient;
    AxisView m_whole;
    std::size_t m_begin;
    std::size_t m_bytes;
};

class PermuteKernel : public MoveKernel
{
public:
    PermuteKernel(const KernelRequest& request, const std::vector<std::int64_t>& axes)
        : MoveKernel(request)
    {
        const Shape& x = request.inputs[0].shape;
        std::vector<std::size_t> strides(axes.size(), 1); // of x
        for (std::size_t axis = axes.size(); axis-- > 1;) {
            strides[axis - 1] = strides[axis] * static_cast<std::size_t>(x[axis]);
        }
        for (const std::int64_t axis : axes) {
            m_sizes.push_back(static_cast<std::size_t>(x[static_cast<std::size_t>(axis)]));
            m_strides.push_back(strides[static_cast<std::size_t>(axis)]);
        }
        // Trailing axes that stay in place move as one run.
        while (!m_sizes.empty() && m_strides.back() == m_run) {
            m_run *= m_sizes.back();
            m_sizes.pop_back();
            m_strides.pop_back();
        }
        m_places.resize(m_sizes.size());
    }

protected:
    void move(std::byte* y) const override
    {
        switch (m_run * m_elementBytes) {
        case 2:
            return copyRuns<2>(y);
        case 4:
            return copyRuns<4>(y);
        default:
            return copyRuns<0>(y);
        }
    }

private:
    /// Runs of a length known to the compiler, or any length (0).
    template <std::size_t fixedBytes> void copyRuns(std::byte* y) const
    {
        const std::size_t bytes = fixedBytes != 0 ? fixedBytes : m_run * m_elementBytes;
        if (m_sizes.empty()) {
            std::memcpy(y, m_inputs[0], bytes);
            return;
        }
        const std::size_t last = m_sizes.size() - 1;
        const std::size_t step = m_strides[last] * m_elementBytes;
        std::fill(m_places.begin(), m_places.end(), 0);
        for (std::size_t done = 0; done < m_elements; done += m_run * m_sizes[last]) {
            std::size_t offset = 0;
            for (std::size_t axis = 0; axis < last; ++axis) {
                offset += m_places[axis] * m_strides[axis];
            }
            const std::byte* x = m_inputs[0] + offset * m_elementBytes;
            for (std::size_t i = 0; i < m_sizes[last]; ++i) {
                std::memcpy(y, x, bytes);
                y += bytes;
                x += step;
            }
            advance(last);
        }
    }

    /// The next place of the axes before `last`, as an odometer counts.
    void advance(std::size_t last) const
    {
        for (std::size_t axis = last; axis-- > 0;) {
            if (++m_places[axis] < m_sizes[axis]) {
                return;
            }
            m_places[axis] = 0;
        }
    }

    std::vector<std::size_t> m_sizes; ///< of y
    std::vector<std::size_t> m_strides; ///< in x, of the axes of y
    std::size_t m_run = 1;
    mutable std::vector<std::size_t> m_places; ///< scratch of one run
};

/// All operands in one dtype.
void requireMove(const KernelRequest& request)
{
    requireFloating(request, request.outputs[0]);
    for (const TensorType& type : request.inputs) {
        requireDType(request, type, request.outputs[0].dtype);
    }
}

void requireAxis(const KernelRequest& request, std::int64_t axis)
{
    for (const std::vector<TensorType>* operands : {&request.inputs, &request.outputs}) {
        for (const TensorType& type : *operands) {
            if (axis < 0 || axis >= static_cast<std::int64_t>(type.shape.rank())) {
                refuse(request, "an axis that exists");
            }
        }
    }
}

} // namespace

std::unique_ptr<Kernel> makePermute(const KernelRequest& request)
{
    requireArity(request, 1, 1);
    requireMove(request);
    requireElements(request, request.outputs[0], request.inputs[0].shape.elements());
    const auto axes = attributesOf<PermuteAttributes>(request.attributes).axes;
    if (axes.size() != request.inputs[0].shape.rank()) {
        refuse(request, "each axis once");
    }
    for (const std::int64_t axis : axes) {
        requireAxis(request, axis);
    }
    return std::make_unique<PermuteKernel>(request, axes);
}

std::unique_ptr<Kernel> makeConcat(const KernelRequest& request)
{
    if (request.inputs.empty()) {
        refuse(request, "at least one input");
    }
    requireArity(request, request.inputs.size(), 1);
    requireMove(request);
    const std::int64_t axis = attributesOf<ConcatAttributes>(request.attributes).axis;
    requireAxis(request, axis);
    std::int64_t elements = 0;
    for (const TensorType& type : request.inputs) {
        elements += type.shape.elements();
    }
    requireElements(request, request.outputs[0], elements);
    return std::make_unique<ConcatKernel>(request, axis);
}

std::unique_ptr<Kernel> makeSlice(const KernelRequest& request)
{
    requireArity(request, 1, 1);
    requireMove(request);
    const auto attributes = attributesOf<SliceAttributes>(request.attributes);
    requireAxis(request, attributes.axis);
    const bool isGradient = request.op == Op::SliceGrad;
    const auto axis = static_cast<std::size_t>(attributes.axis);
    const Shape& whole = (isGradient ? request.outputs : request.inputs)[0].shape;
    const Shape& part = (isGradient ? request.inputs : request.outputs)[0].shape;
    if (attributes.begin < 0 || part[axis] != attributes.length || attributes.begin + attributes.length > whole[axis]
        || whole.elements() / whole[axis] * attributes.length != part.elements()) {
        refuse(request, "a part of an axis");
    }
    return std::make_unique<SliceKernel>(request, attributes);
}

} // namespace mantissa::cpu
