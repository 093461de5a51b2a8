// Max and average pooling over [n, h, w, c], and their gradients. Half images are expanded whole; the maximum of exact
// values is exact, so it routes gradients as a comparison of the halves would.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/simd/simd_kernels.h"
#include "engine/backends/cpu/workspace.h"
#include "engine/core/error.h"

#include <array>

namespace mantissa::cpu {

namespace {

constexpr std::size_t largestWindow = 256; // of max pooling, whose places are uint8

/// Where the windows of a pooling lie.
class Windows
{
public:
    Windows(const Shape& x, const Shape& y, const Pool2dAttributes& attributes)
        : m_x(x)
        , m_y(y)
        , m_attributes(attributes)
    {
    }

    [[nodiscard]] std::size_t images() const { return size(m_x[0]); }

    [[nodiscard]] std::size_t rows() const { return size(m_y[1]); }

    [[nodiscard]] std::size_t columns() const { return size(m_y[2]); }

    [[nodiscard]] std::size_t channels() const { return size(m_x[3]); }

    [[nodiscard]] std::size_t imageElements() const { return size(m_x[1] * m_x[2] * m_x[3]); }

    /// Calls f(offset of the channels in the image, place in the window) for what of a window lies in the image.
    template <typename F> void forWindow(std::size_t row, std::size_t column, F f) const
    {
        const Range h = range(0, row, m_x[1]);
        const Range w = range(1, column, m_x[2]);
        for (std::int64_t i = h.begin; i < h.end; ++i) {
            for (std::int64_t j = w.begin; j < w.end; ++j) {
                f(size(((h.first + i) * m_x[2] + w.first + j) * m_x[3]), size(i * m_attributes.kernel[1] + j));
            }
        }
    }

    /// What an average divides by.
    [[nodiscard]] double divisor(std::size_t row, std::size_t column) const
    {
        const Range h = range(0, row, m_x[1]);
        const Range w = range(1, column, m_x[2]);
        const std::int64_t inside = (h.end - h.begin) * (w.end - w.begin);
        return static_cast<double>(
            m_attributes.countPadding ? m_attributes.kernel[0] * m_attributes.kernel[1] : inside);
    }

private:
    /// Positions first + begin .. first + end - 1 of an axis.
    struct Range
    {
        std::int64_t first;
        std::int64_t begin;
        std::int64_t end;
    };

    static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

    [[nodiscard]] Range range(std::size_t axis, std::size_t position, std::int64_t length) const
    {
        const std::int64_t first
            = static_cast<std::int64_t>(position) * m_attributes.stride.at(axis) - m_attributes.padding.at(axis);
        return {first, std::max<std::int64_t>(0, -first), std::min(m_attributes.kernel.at(axis), length - first)};
    }

    Shape m_x;
    Shape m_y;
    Pool2dAttributes m_attributes;
};

/// The rows of a window as the inner loops take them.
template <typename Pointer> struct WindowRows
{
    std::array<Pointer, largestWindow> rows;
    std::array<std::uint8_t, largestWindow> places;
    std::size_t count = 0;

    void collect(const Windows& windows, std::size_t row, std::size_t column, Pointer image)
    {
        count = 0;
        windows.forWindow(row, column, [&](std::size_t offset, std::size_t place) {
            rows[count] = image + offset;
            places[count++] = static_cast<std::uint8_t>(place);
        });
    }
};

class PoolKernel : public Kernel
{
public:
    /// `image` and `pooled` are the shapes of the larger and the smaller tensor.
    PoolKernel(const KernelRequest& request, const Shape& image, const Shape& pooled)
        : m_op(request.op)
        , m_threads(request.threads)
        , m_windows(image, pooled, attributesOf<Pool2dAttributes>(request.attributes))
    {
        m_operand.plan(request.inputs[0], m_layout);
        m_result.plan(request.outputs[0], m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_in = static_cast<const float*>(m_operand.bind(binding.inputs[0], static_cast<std::byte*>(binding.workspace)));
        m_result.bind(binding, 0);
        m_place = static_cast<std::uint8_t*>(m_op == Op::MaxPool2d ? binding.outputs[1]
                : m_op == Op::MaxPool2dGrad                        ? binding.inputs[1]
                                                                   : nullptr);
    }

    void run(Stream& /*stream*/) override
    {
        m_operand.prepare(m_threads);
        forParts(m_threads, m_windows.images(), m_windows.imageElements(), [this](std::size_t begin, std::size_t end) {
            for (std::size_t image = begin; image < end; ++image) {
                pool(image);
            }
        });
        m_result.finish(m_threads);
    }

private:
    void pool(std::size_t image) const
    {
        switch (m_op) {
        case Op::MaxPool2d:
            return max(image);
        case Op::MaxPool2dGrad:
            return maxGrad(image);
        case Op::AvgPool2d:
            return average(image);
        default:
            return averageGrad(image);
        }
    }

    /// Calls f(row, column, offset of its channels in the pooled tensor) for the windows of an image.
    template <typename F> void forWindows(std::size_t image, F f) const
    {
        std::size_t offset = image * m_windows.rows() * m_windows.columns() * m_windows.channels();
        for (std::size_t row = 0; row < m_windows.rows(); ++row) {
            for (std::size_t column = 0; column < m_windows.columns(); ++column) {
                f(row, column, offset);
                offset += m_windows.channels();
            }
        }
    }

    void max(std::size_t image) const
    {
        WindowRows<const float*> window;
        forWindows(image, [&](std::size_t row, std::size_t column, std::size_t at) {
            window.collect(m_windows, row, column, m_in + image * m_windows.imageElements());
            m_simd.maxOfWindow(m_result.values + at, m_place + at, window.rows.data(), window.places.data(),
                window.count, m_windows.channels());
        });
    }

    void maxGrad(std::size_t image) const
    {
        WindowRows<float*> window;
        forWindows(image, [&, dx = cleared(image)](std::size_t row, std::size_t column, std::size_t at) {
            window.collect(m_windows, row, column, dx);
            m_simd.scatterToWindow(
                window.rows.data(), m_in + at, m_place + at, window.places.data(), window.count, m_windows.channels());
        });
    }

    void average(std::size_t image) const
    {
        const float* x = m_in + image * m_windows.imageElements();
        std::array<double, blockElements> sums;
        forWindows(image, [&](std::size_t row, std::size_t column, std::size_t at) {
            forBlocks(m_windows.channels(), [&](std::size_t channel, std::size_t n) {
                std::fill_n(sums.data(), n, 0.0);
                m_windows.forWindow(row, column,
                    [&](std::size_t offset, std::size_t) { m_simd.addToSums(sums.data(), x + offset + channel, n); });
                m_simd.scaleSums(m_result.values + at + channel, sums.data(), 1.0 / m_windows.divisor(row, column), n);
            });
        });
    }

    void averageGrad(std::size_t image) const
    {
        forWindows(image, [&, dx = cleared(image)](std::size_t row, std::size_t column, std::size_t at) {
            const auto share = static_cast<float>(1.0 / m_windows.divisor(row, column));
            m_windows.forWindow(row, column, [&](std::size_t offset, std::size_t) {
                m_simd.addScaled(dx + offset, m_in + at, share, m_windows.channels());
            });
        });
    }

    /// The gradient of an image, set to zero.
    [[nodiscard]] float* cleared(std::size_t image) const
    {
        float* dx = m_result.values + image * m_windows.imageElements();
        std::fill_n(dx, m_windows.imageElements(), 0.0F);
        return dx;
    }

    const SimdKernels& m_simd = simdKernels();
    Op m_op;
    int m_threads;
    Windows m_windows;
    WorkspaceLayout m_layout;
    Operand m_operand;
    Result m_result;
    const float* m_in = nullptr;
    std::uint8_t* m_place = nullptr;
};

} // namespace

std::unique_ptr<Kernel> makePool(const KernelRequest& request)
{
    const bool isGradient = request.op == Op::MaxPool2dGrad || request.op == Op::AvgPool2dGrad;
    const bool hasPlaces = request.op == Op::MaxPool2d || request.op == Op::MaxPool2dGrad;
    requireArity(request, isGradient && hasPlaces ? 2 : 1, !isGradient && hasPlaces ? 2 : 1);
    requireFloating(request, request.inputs[0]);
    requireFloating(request, request.outputs[0]);
    const Shape& image = (isGradient ? request.outputs : request.inputs)[0].shape;
    const Shape& pooled = (isGradient ? request.inputs : request.outputs)[0].shape;
    if (hasPlaces) {
        const TensorType& places = (isGradient ? request.inputs : request.outputs)[1];
        requireDType(request, places, DType::UInt8);
        requireElements(request, places, pooled.elements());
    }
    const auto attributes = attributesOf<Pool2dAttributes>(request.attributes);
    bool fits = image.rank() == 4 && pooled.rank() == 4 && image[0] == pooled[0] && image[3] == pooled[3]
        && (!hasPlaces || attributes.kernel[0] * attributes.kernel[1] <= static_cast<std::int64_t>(largestWindow));
    for (std::size_t i = 0; fits && i < 2; ++i) {
        const std::int64_t room = image[1 + i] + 2 * attributes.padding.at(i) - attributes.kernel.at(i);
        fits = room >= 0 && 2 * attributes.padding.at(i) <= attributes.kernel.at(i)
            && room / attributes.stride.at(i) + 1 == pooled[1 + i];
    }
    if (!fits) {
        throw Error(ErrorCode::ShapeMismatch,
            "[pool2d] The image " + image.text() + " and the pooled " + pooled.text() + " do not fit.");
    }
    return std::make_unique<PoolKernel>(request, image, pooled);
}

} // namespace mantissa::cpu
