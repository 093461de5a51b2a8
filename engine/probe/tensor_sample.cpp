#include "engine/probe/tensor_sample.h"

#include "engine/formats/extent.h"
#include "engine/formats/round_census.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa {

namespace {

constexpr int exponentBias = 127;

/// Of a bin of magnitudes in [2^exponent, 2^(exponent + 1)), the part at or above 2^from if they lie evenly on the log
/// axis. Whole numbers need no such assumption.
double partAbove(double exponent, double from)
{
    return std::clamp(exponent + 1 - from, 0.0, 1.0);
}

} // namespace

std::string_view nameOf(TensorRole role)
{
    switch (role) {
    case TensorRole::Weight:
        return "weight";
    case TensorRole::Activation:
        return "activation";
    case TensorRole::ActivationGradient:
        return "activation_gradient";
    case TensorRole::Reference:
        return "reference";
    case TensorRole::Scaled:
        return "scaled";
    case TensorRole::Unscaled:
        return "unscaled";
    case TensorRole::Clipped:
        return "clipped";
    case TensorRole::Update:
        return "update";
    }
    return "";
}

std::optional<TensorRole> tensorRoleFromName(std::string_view name)
{
    const auto* const found = std::find_if(
        allTensorRoles.begin(), allTensorRoles.end(), [name](TensorRole role) { return nameOf(role) == name; });
    return found == allTensorRoles.end() ? std::nullopt : std::optional(*found);
}

void measure(std::span<const float> elements, TensorSample& sample)
{
    sample.elements = elements.size();
    ExponentHistogram histogram {};
    sample.census = census(elements, histogram);
    histogram.front() -= sample.census.zero; // what is left of the lowest bin is subnormal in FP32
    histogram.back() = 0; // infinite and NaN
    const Extent extent = extentOf(elements, static_cast<float>(limitsOf(sample.format).minNormal));
    sample.census.normal = sample.census.normal + sample.census.subnormal - extent.belowNormal;
    sample.census.subnormal = extent.belowNormal;
    sample.largest = extent.largest;
    sample.smallest = std::isinf(extent.smallest) ? 0 : extent.smallest;
    sample.norm = std::sqrt(extent.squares);

    const auto isUsed = [](std::uint64_t count) { return count > 0; };
    const auto first = std::find_if(histogram.begin(), histogram.end(), isUsed);
    const auto end = std::find_if(histogram.rbegin(), histogram.rend(), isUsed).base();
    sample.exponents.clear();
    sample.firstExponent = 0;
    if (first < end) {
        sample.firstExponent = static_cast<int>(first - histogram.begin()) - exponentBias;
        std::transform(first, end, std::back_inserter(sample.exponents),
            [](std::uint64_t count) { return static_cast<std::uint32_t>(count); });
    }
}

void merge(TensorSample& into, const TensorSample& other)
{
    into.elements += other.elements;
    into.census += other.census;
    into.largest = std::max(into.largest, other.largest);
    into.smallest = into.smallest == 0 ? other.smallest
        : other.smallest == 0          ? into.smallest
                                       : std::min(into.smallest, other.smallest);
    into.norm = std::hypot(into.norm, other.norm);
    if (other.exponents.empty()) {
        return;
    }
    if (into.exponents.empty()) {
        into.firstExponent = other.firstExponent;
    }
    const int first = std::min(into.firstExponent, other.firstExponent);
    const auto endOf
        = [](const TensorSample& sample) { return sample.firstExponent + static_cast<int>(sample.exponents.size()); };
    std::vector<std::uint32_t> sum(static_cast<std::size_t>(std::max(endOf(into), endOf(other)) - first));
    for (const TensorSample* part : {static_cast<const TensorSample*>(&into), &other}) {
        for (std::size_t i = 0; i < part->exponents.size(); ++i) {
            sum[i + static_cast<std::size_t>(part->firstExponent - first)] += part->exponents[i];
        }
    }
    into.firstExponent = first;
    into.exponents = std::move(sum);
}

RoundingForecast forecast(const TensorSample& sample, double shift, DType format)
{
    const FormatLimits& limits = limitsOf(format);
    const double flushes = std::log2(limits.flushesUpTo);
    const double normal = std::log2(limits.minNormal);
    const double overflows = std::log2(limits.overflowsFrom);
    RoundingForecast result;
    for (std::size_t i = 0; i < sample.exponents.size(); ++i) {
        const double exponent = sample.firstExponent + static_cast<double>(i) + shift;
        const double count = sample.exponents[i];
        result.flushed += count * (1 - partAbove(exponent, flushes));
        result.subnormal += count * (partAbove(exponent, flushes) - partAbove(exponent, normal));
        result.overflowed += count * partAbove(exponent, overflows);
    }
    const auto all = static_cast<double>(std::max<std::uint64_t>(sample.elements, 1));
    result.flushed /= all;
    result.subnormal /= all;
    result.overflowed /= all;
    result.overflows = sample.largest * std::exp2(shift) >= limits.overflowsFrom;
    return result;
}

} // namespace mantissa
