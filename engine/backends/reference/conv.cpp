/// Convolution and its two gradients, as sums over the products that the definition names.
#include "engine/backends/reference/kernels.h"

namespace mantissa::reference {

namespace {

/// Sizes of a convolution and where its elements lie; x and y are [n, h, w, c], weights [o, c / groups, kh, kw].
class ConvLoops
{
public:
    ConvLoops(const Shape& x, const Shape& w, const Shape& y, const Conv2dAttributes& attributes)
        : m_x(x)
        , m_w(w)
        , m_y(y)
        , m_attributes(attributes)
    {
    }

    /// Calls f(index in x, index in w, index in y) for every product of the forward sum.
    template <typename F> void forEachProduct(F f) const
    {
        for (std::int64_t y = 0; y < m_y.elements(); ++y) {
            forProductsOf(y, [&](std::int64_t x, std::int64_t w) { f(x, w, y); });
        }
    }

    /// Calls f(index in x, index in w) for the products of one result.
    template <typename F> void forProductsOf(std::int64_t y, F f) const
    {
        const std::int64_t channel = y % m_y[3];
        const std::int64_t column = y / m_y[3] % m_y[2];
        const std::int64_t row = y / m_y[3] / m_y[2] % m_y[1];
        const std::int64_t image = y / m_y[3] / m_y[2] / m_y[1];
        const std::int64_t firstInput = channel / (m_w[0] / m_attributes.groups) * m_w[1];
        for (std::int64_t i = 0; i < m_w[2]; ++i) {
            for (std::int64_t j = 0; j < m_w[3]; ++j) {
                const std::int64_t h
                    = row * m_attributes.stride[0] - m_attributes.padding[0] + i * m_attributes.dilation[0];
                const std::int64_t w
                    = column * m_attributes.stride[1] - m_attributes.padding[1] + j * m_attributes.dilation[1];
                if (h < 0 || h >= m_x[1] || w < 0 || w >= m_x[2]) {
                    continue;
                }
                for (std::int64_t c = 0; c < m_w[1]; ++c) {
                    f(((image * m_x[1] + h) * m_x[2] + w) * m_x[3] + firstInput + c,
                        ((channel * m_w[1] + c) * m_w[2] + i) * m_w[3] + j);
                }
            }
        }
    }

private:
    Shape m_x;
    Shape m_w;
    Shape m_y;
    Conv2dAttributes m_attributes;
};

void store(const Output& output, const std::vector<double>& sums)
{
    for (std::int64_t i = 0; i < output.size(); ++i) {
        output.set(i, sums[static_cast<std::size_t>(i)]);
    }
}

} // namespace

void conv2d(const Operands& operands)
{
    const Input x = operands.in(0);
    const Input w = operands.in(1);
    const Output y = operands.out(0);
    const ConvLoops loops(x.shape(), w.shape(), y.shape(), operands.attributes<Conv2dAttributes>());
    for (std::int64_t i = 0; i < y.size(); ++i) {
        double sum = operands.inputCount() > 2 ? operands.in(2)[i % w.shape()[0]] : 0;
        loops.forProductsOf(i, [&](std::int64_t xi, std::int64_t wi) { sum += x[xi] * w[wi]; });
        y.set(i, sum);
    }
}

void conv2dInputGrad(const Operands& operands)
{
    const Input d = operands.in(0);
    const Input w = operands.in(1);
    const Output dx = operands.out(0);
    std::vector<double> sums(static_cast<std::size_t>(dx.size()));
    ConvLoops(dx.shape(), w.shape(), d.shape(), operands.attributes<Conv2dAttributes>())
        .forEachProduct([&](std::int64_t xi, std::int64_t wi, std::int64_t yi) {
            sums[static_cast<std::size_t>(xi)] += d[yi] * w[wi];
        });
    store(dx, sums);
}

void conv2dWeightGrad(const Operands& operands)
{
    const Input d = operands.in(0);
    const Input x = operands.in(1);
    const Output dw = operands.out(0);
    std::vector<double> sums(static_cast<std::size_t>(dw.size()));
    ConvLoops(x.shape(), dw.shape(), d.shape(), operands.attributes<Conv2dAttributes>())
        .forEachProduct([&](std::int64_t xi, std::int64_t wi, std::int64_t yi) {
            sums[static_cast<std::size_t>(wi)] += d[yi] * x[xi];
        });
    store(dw, sums);
}

} // namespace mantissa::reference
