// Convolution and pooling.
#include "tests/support/gradient_specs.h"
#include "tests/support/tensor_compare.h"

#include <algorithm>
#include <cmath>

namespace mantissa::test {

namespace {

/// Index into a row-major tensor of four dimensions.
struct Index4
{
    Shape shape;

    std::size_t operator()(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) const
    {
        return static_cast<std::size_t>(((a * shape[1] + b) * shape[2] + c) * shape[3] + d);
    }
};

/// Written as a sum over input positions, so that it shares no loop with the backends.
Doubles convolve(const std::vector<Doubles>& in, const Shape& x, const Shape& w, const Conv2dAttributes& a)
{
    const auto size = [&](std::size_t i) {
        return (x[1 + i] + 2 * a.padding.at(i) - a.dilation.at(i) * (w[2 + i] - 1) - 1) / a.stride.at(i) + 1;
    };
    const Index4 xi {x};
    const Index4 wi {w};
    const Index4 yi {Shape {x[0], size(0), size(1), w[0]}};
    Doubles y(static_cast<std::size_t>(yi.shape.elements()));
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = in.size() > 2 ? in[2][i % in[2].size()] : 0;
    }
    for (std::int64_t n = 0; n < x[0]; ++n) {
        for (std::int64_t row = 0; row < size(0) * w[2]; ++row) {
            for (std::int64_t column = 0; column < size(1) * w[3]; ++column) {
                const std::int64_t h = row / w[2] * a.stride[0] + row % w[2] * a.dilation[0] - a.padding[0];
                const std::int64_t v = column / w[3] * a.stride[1] + column % w[3] * a.dilation[1] - a.padding[1];
                if (h < 0 || h >= x[1] || v < 0 || v >= x[2]) {
                    continue;
                }
                for (std::int64_t o = 0; o < w[0] * w[1]; ++o) {
                    const std::int64_t channel = o / w[1] / (w[0] / a.groups) * w[1] + o % w[1];
                    y[yi(n, row / w[2], column / w[3], o / w[1])]
                        += in[0][xi(n, h, v, channel)] * in[1][wi(o / w[1], o % w[1], row % w[2], column % w[3])];
                }
            }
        }
    }
    return y;
}

GradientSpec convSpec(
    RandomValues& random, std::string name, Shape x, Shape w, Conv2dAttributes attributes, bool hasBias)
{
    GradientSpec spec {std::move(name), Op::Conv2d, attributes, {normals(random, x), normals(random, w)},
        {false, false}, {0, 1}, {}, bilinearBound(x.elements())};
    if (hasBias) {
        spec.inputs.push_back(normals(random, Shape {w[0]}));
        spec.isFloat32.push_back(false);
        spec.differentiable.push_back(2);
    }
    spec.forward = [x, w, attributes](const std::vector<Doubles>& in) { return convolve(in, x, w, attributes); };
    return spec;
}

/// Distinct values, farther apart than a difference quotient reaches.
HostTensor spaced(RandomValues& random, const Shape& shape)
{
    HostTensor out(TensorType {DType::Float64, shape});
    for (std::int64_t i = 0; i < out.size(); ++i) {
        const std::int64_t other = random.integer(0, i);
        out.set(i, other == i ? 0 : out.at(other));
        out.set(other, 0.125 * static_cast<double>(i) - 4);
    }
    return out;
}

Doubles pool(const Doubles& in, const Shape& x, const Pool2dAttributes& a, bool isMax)
{
    Doubles y;
    const Index4 at {x};
    for (std::int64_t n = 0; n < x[0]; ++n) {
        for (std::int64_t top = -a.padding[0]; top + a.kernel[0] <= x[1] + a.padding[0]; top += a.stride[0]) {
            for (std::int64_t left = -a.padding[1]; left + a.kernel[1] <= x[2] + a.padding[1]; left += a.stride[1]) {
                for (std::int64_t c = 0; c < x[3]; ++c) {
                    Doubles window;
                    for (std::int64_t h = std::max<std::int64_t>(top, 0); h < std::min(top + a.kernel[0], x[1]); ++h) {
                        for (std::int64_t v = std::max<std::int64_t>(left, 0); v < std::min(left + a.kernel[1], x[2]);
                             ++v) {
                            window.push_back(in[at(n, h, v, c)]);
                        }
                    }
                    double sum = 0;
                    for (const double value : window) {
                        sum += value;
                    }
                    const auto whole = static_cast<double>(a.kernel[0] * a.kernel[1]);
                    const double count = a.countPadding ? whole : static_cast<double>(window.size());
                    y.push_back(isMax ? *std::max_element(window.begin(), window.end()) : sum / count);
                }
            }
        }
    }
    return y;
}

GradientSpec poolSpec(RandomValues& random, std::string name, Op op, const Pool2dAttributes& attributes)
{
    const Shape x {2, 7, 6, 3};
    GradientSpec spec {std::move(name), op, attributes, {spaced(random, x)}, {false}, {0}, {}, {}};
    spec.forward = [x, attributes, op](
                       const std::vector<Doubles>& in) { return pool(in[0], x, attributes, op == Op::MaxPool2d); };
    spec.bound = [attributes](const GradientPoint& p) {
        double largest = 0;
        for (const double d : p.cotangent) {
            largest = std::max(largest, std::abs(d));
        }
        const auto windows = static_cast<double>(attributes.kernel[0] * attributes.kernel[1]);
        return windows * (windows + 2) * unit * largest; // no more of them overlap
    };
    return spec;
}

GradientSpec globalPoolSpec(RandomValues& random)
{
    GradientSpec spec {
        "global_avg_pool", Op::GlobalAvgPool, {}, {normals(random, Shape {2, 3, 5, 4})}, {false}, {0}, {}, {}};
    spec.forward = [](const std::vector<Doubles>& in) {
        Doubles y(8);
        for (std::size_t i = 0; i < in[0].size(); ++i) {
            y[i / 60 * 4 + i % 4] += in[0][i] / 15;
        }
        return y;
    };
    spec.bound = [](const GradientPoint& p) { return 2 * unit * std::abs(p.cotangent[p.i / 60 * 4 + p.i % 4]) / 15; };
    return spec;
}

} // namespace

void appendImageSpecs(std::vector<GradientSpec>& specs, RandomValues& random)
{
    specs.push_back(convSpec(random, "conv2d 3x3", Shape {2, 5, 4, 3}, Shape {4, 3, 3, 3}, {.padding = {1, 1}}, true));
    specs.push_back(
        convSpec(random, "conv2d 1x1 strided", Shape {2, 5, 5, 3}, Shape {2, 3, 1, 1}, {.stride = {2, 2}}, false));
    specs.push_back(convSpec(random, "conv2d uneven", Shape {1, 9, 8, 2}, Shape {3, 2, 3, 2},
        {.stride = {2, 1}, .padding = {0, 2}, .dilation = {2, 3}}, true));
    specs.push_back(convSpec(random, "conv2d groups", Shape {2, 4, 4, 6}, Shape {4, 3, 3, 3},
        {.stride = {1, 2}, .padding = {1, 1}, .groups = 2}, true));
    specs.push_back(convSpec(
        random, "conv2d depthwise", Shape {1, 5, 5, 4}, Shape {4, 1, 3, 3}, {.padding = {1, 1}, .groups = 4}, false));
    const Pool2dAttributes overlapping {.kernel = {3, 3}, .stride = {2, 1}, .padding = {1, 1}};
    specs.push_back(poolSpec(random, "max_pool2d 2x2", Op::MaxPool2d, {}));
    specs.push_back(poolSpec(random, "max_pool2d overlapping", Op::MaxPool2d, overlapping));
    specs.push_back(poolSpec(random, "avg_pool2d 2x2", Op::AvgPool2d, {}));
    specs.push_back(poolSpec(random, "avg_pool2d overlapping", Op::AvgPool2d, overlapping));
    Pool2dAttributes inside = overlapping;
    inside.countPadding = false;
    specs.push_back(poolSpec(random, "avg_pool2d without padding in the mean", Op::AvgPool2d, inside));
    specs.push_back(globalPoolSpec(random));
}

} // namespace mantissa::test
