#include "engine/probe/tensor_change.h"

#include "engine/formats/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace mantissa {

namespace {

constexpr std::size_t width = 8;
using Parts = std::array<double, width>;

double sumOf(const Parts& parts)
{
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// Calls step(first, count) for rows of `width` elements and what is left over.
template <typename Step> void inRows(std::size_t size, Step step)
{
    std::size_t first = 0;
    for (; first + width <= size; first += width) {
        step(first, std::integral_constant<std::size_t, width> {});
    }
    step(first, size - first);
}

/// The values as the 16-bit format holds them.
void roundTo(DType format, std::span<float> values, std::vector<std::byte>& stored)
{
    stored.resize(values.size() * sizeOf(format));
    fromFloats(format, values, stored);
    toFloats(format, stored, values);
}

} // namespace

Likeness likenessOf(std::span<const float> values, double divisor, std::span<const float> reference)
{
    const double factor = 1 / divisor;
    Parts product {};
    Parts ours {};
    Parts theirs {};
    Parts difference {};
    inRows(values.size(), [&](std::size_t first, auto count) {
        for (std::size_t k = 0; k < count; ++k) {
            const double a = values[first + k] * factor;
            const double b = reference[first + k];
            product[k] += a * b;
            ours[k] += a * a;
            theirs[k] += b * b;
            difference[k] += (a - b) * (a - b);
        }
    });
    return {.cosine = sumOf(product) / std::sqrt(sumOf(ours) * sumOf(theirs)),
        .relativeError = std::sqrt(sumOf(difference) / sumOf(theirs))};
}

WeightChange changeOf(std::span<const float> before, std::span<const float> after, std::span<const float> gradients,
    std::span<float> update)
{
    Parts squares {};
    std::array<std::uint32_t, width> wanted {};
    std::array<std::uint32_t, width> unmoved {};
    inRows(before.size(), [&](std::size_t first, auto count) {
        for (std::size_t k = 0; k < count; ++k) {
            const float was = before[first + k];
            const float is = after[first + k];
            const bool hasMoved = is != was;
            const bool hasGradient = gradients[first + k] != 0;
            update[first + k] = is - was;
            squares[k] += double {was} * double {was};
            wanted[k] += static_cast<unsigned>(hasGradient) | static_cast<unsigned>(hasMoved);
            unmoved[k] += static_cast<unsigned>(hasGradient) & static_cast<unsigned>(!hasMoved);
        }
    });
    return {.squares = sumOf(squares),
        .wanted = std::accumulate(wanted.begin(), wanted.end(), std::size_t {0}),
        .unmoved = std::accumulate(unmoved.begin(), unmoved.end(), std::size_t {0})};
}

double lostShare(DType format, std::span<const float> weights, std::span<const float> updates, HalfWeights& scratch)
{
    scratch.before.assign(weights.begin(), weights.end());
    roundTo(format, scratch.before, scratch.stored);
    scratch.after.resize(weights.size());
    std::transform(scratch.before.begin(), scratch.before.end(), updates.begin(), scratch.after.begin(), std::plus());
    roundTo(format, scratch.after, scratch.stored);
    std::size_t moved = 0;
    std::size_t lost = 0;
    for (std::size_t i = 0; i < updates.size(); ++i) {
        const auto isWanted = static_cast<unsigned>(updates[i] != 0);
        moved += isWanted;
        lost += isWanted & static_cast<unsigned>(scratch.after[i] == scratch.before[i]);
    }
    return moved == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : static_cast<double>(lost) / static_cast<double>(moved);
}

} // namespace mantissa
