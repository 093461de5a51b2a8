// Data sets that are computed: points of a plane to tell apart, and a function to learn.
#include "engine/core/philox.h"
#include "engine/data/sources.h"

#include <cmath>
#include <numbers>

namespace mantissa {

namespace {

constexpr double pi = std::numbers::pi;

std::vector<float> normalNumbers(std::size_t n, std::uint64_t seed, std::string_view stream)
{
    std::vector<float> values(n);
    fillNormal(values, 0, 1, Philox(seed, randomStream(RandomPurpose::Data, stream)));
    return values;
}

struct Point
{
    double x;
    double y;
};

/// A plane of points in `classes` shapes: place(shape, t) says where t in [0, 1) lies on a shape.
template <typename Place>
Dataset planeOfShapes(const DataRequest& request, std::int64_t classes, const std::string& stream, Place place)
{
    const auto n = static_cast<std::size_t>(request.config.samples);
    Dataset dataset;
    dataset.sampleShape = {2};
    dataset.samples = request.config.samples;
    dataset.features = 2;
    dataset.classes = classes;
    dataset.inputs.resize(2 * n);
    dataset.labels.resize(n);

    std::vector<float> along(n);
    fillUniform(along, 0, 1, Philox(request.seed, randomStream(RandomPurpose::Data, stream)));
    const std::vector<float> noise = normalNumbers(2 * n, request.seed, stream + " noise");
    for (std::size_t i = 0; i < n; ++i) {
        const auto shape = static_cast<std::int32_t>(i % static_cast<std::size_t>(classes));
        const Point point = place(shape, static_cast<double>(along[i]));
        dataset.inputs[2 * i] = static_cast<float>(point.x + request.config.noise * static_cast<double>(noise[2 * i]));
        dataset.inputs[2 * i + 1]
            = static_cast<float>(point.y + request.config.noise * static_cast<double>(noise[2 * i + 1]));
        dataset.labels[i] = shape;
    }
    return dataset;
}

double dot(std::span<const float> a, std::span<const float> b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    return sum;
}

} // namespace

Dataset makeSpirals(const DataRequest& request)
{
    const std::int64_t arms = request.config.classes;
    Dataset dataset = planeOfShapes(request, arms, "spirals", [arms](std::int32_t arm, double t) {
        const double angle = 2 * pi * (t + static_cast<double>(arm) / static_cast<double>(arms));
        return Point {2 * t * std::cos(angle), 2 * t * std::sin(angle)};
    });
    for (std::int64_t arm = 1; arm <= arms; ++arm) {
        dataset.classNames.push_back("arm " + std::to_string(arm));
    }
    return dataset;
}

Dataset makeMoons(const DataRequest& request)
{
    Dataset dataset = planeOfShapes(request, 2, "moons", [](std::int32_t moon, double t) {
        const Point upper {std::cos(pi * t), std::sin(pi * t)};
        return moon == 0 ? upper : Point {1 - upper.x, 0.5 - upper.y};
    });
    dataset.classNames = {"upper moon", "lower moon"};
    return dataset;
}

Dataset makeRegression(const DataRequest& request)
{
    const auto n = static_cast<std::size_t>(request.config.samples);
    const auto width = static_cast<std::size_t>(request.config.features);
    Dataset dataset;
    dataset.sampleShape = {request.config.features};
    dataset.samples = request.config.samples;
    dataset.features = request.config.features;
    dataset.targetWidth = 1;
    dataset.inputs = normalNumbers(n * width, request.seed, "regression inputs");
    dataset.targets.resize(n);

    const std::vector<float> coefficients = normalNumbers(2 * width, request.seed, "regression coefficients");
    const auto linear = std::span(coefficients).first(width);
    const auto wave = std::span(coefficients).last(width);
    const std::vector<float> noise = normalNumbers(n, request.seed, "regression noise");
    for (std::size_t i = 0; i < n; ++i) {
        const auto x = std::span(dataset.inputs).subspan(i * width, width);
        const double y = (dot(linear, x) + 2 * std::sin(dot(wave, x))) / std::sqrt(static_cast<double>(width));
        dataset.targets[i] = static_cast<float>(y + request.config.noise * static_cast<double>(noise[i]));
    }
    return dataset;
}

} // namespace mantissa
