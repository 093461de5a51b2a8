/// Pooling over windows of [n, h, w, c] images.
#include "engine/backends/reference/kernels.h"

#include <cmath>

namespace mantissa::reference {

namespace {

/// Calls f(index in x, place in the window) for the elements of the window of result y that lie in the image.
template <typename F>
void forWindow(const Shape& x, const Shape& pooled, const Pool2dAttributes& attributes, std::int64_t y, F f)
{
    const std::int64_t channel = y % pooled[3];
    const std::int64_t column = y / pooled[3] % pooled[2];
    const std::int64_t row = y / pooled[3] / pooled[2] % pooled[1];
    const std::int64_t image = y / pooled[3] / pooled[2] / pooled[1];
    for (std::int64_t i = 0; i < attributes.kernel[0]; ++i) {
        for (std::int64_t j = 0; j < attributes.kernel[1]; ++j) {
            const std::int64_t h = row * attributes.stride[0] - attributes.padding[0] + i;
            const std::int64_t w = column * attributes.stride[1] - attributes.padding[1] + j;
            if (h >= 0 && h < x[1] && w >= 0 && w < x[2]) {
                f(((image * x[1] + h) * x[2] + w) * x[3] + channel, i * attributes.kernel[1] + j);
            }
        }
    }
}

double windowSize(const Shape& x, const Shape& pooled, const Pool2dAttributes& attributes, std::int64_t y)
{
    std::int64_t count = 0;
    forWindow(x, pooled, attributes, y, [&](std::int64_t, std::int64_t) { ++count; });
    return static_cast<double>(attributes.countPadding ? attributes.kernel[0] * attributes.kernel[1] : count);
}

/// dx[i] = sum of share(window, place of i in it) over the windows that hold i, in their order.
template <typename Share> void scatter(const Operands& operands, Share share)
{
    const auto attributes = operands.attributes<Pool2dAttributes>();
    const Input d = operands.in(0);
    const Output dx = operands.out(0);
    std::vector<double> sums(static_cast<std::size_t>(dx.size()));
    for (std::int64_t y = 0; y < d.size(); ++y) {
        forWindow(dx.shape(), d.shape(), attributes, y,
            [&](std::int64_t i, std::int64_t place) { sums[static_cast<std::size_t>(i)] += share(y, place); });
    }
    for (std::int64_t i = 0; i < dx.size(); ++i) {
        dx.set(i, sums[static_cast<std::size_t>(i)]);
    }
}

} // namespace

void maxPool2d(const Operands& operands)
{
    const auto attributes = operands.attributes<Pool2dAttributes>();
    const Input x = operands.in(0);
    const Output y = operands.out(0);
    const Output places = operands.out(1);
    for (std::int64_t i = 0; i < y.size(); ++i) {
        double largest = -INFINITY;
        std::int64_t where = -1;
        forWindow(x.shape(), y.shape(), attributes, i, [&](std::int64_t at, std::int64_t place) {
            if (where < 0 || x[at] > largest || std::isnan(x[at])) {
                largest = x[at];
                where = place;
            }
        });
        y.set(i, largest);
        places.setByte(i, static_cast<std::uint8_t>(where));
    }
}

void maxPool2dGrad(const Operands& operands)
{
    const Input d = operands.in(0);
    const Input places = operands.in(1);
    scatter(operands,
        [&](std::int64_t y, std::int64_t place) { return static_cast<std::int64_t>(places[y]) == place ? d[y] : 0.0; });
}

void avgPool2d(const Operands& operands)
{
    const auto attributes = operands.attributes<Pool2dAttributes>();
    const Input x = operands.in(0);
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < y.size(); ++i) {
        double sum = 0;
        forWindow(x.shape(), y.shape(), attributes, i, [&](std::int64_t at, std::int64_t) { sum += x[at]; });
        y.set(i, sum / windowSize(x.shape(), y.shape(), attributes, i));
    }
}

void avgPool2dGrad(const Operands& operands)
{
    const auto attributes = operands.attributes<Pool2dAttributes>();
    const Input d = operands.in(0);
    const Shape x = operands.out(0).shape();
    scatter(operands, [&](std::int64_t y, std::int64_t) { return d[y] / windowSize(x, d.shape(), attributes, y); });
}

} // namespace mantissa::reference
