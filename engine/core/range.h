/// A range of allowed numbers, and how messages say it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace mantissa {

template <typename T> struct Range
{
    T low;
    T high;
    bool lowIncluded = true;
    bool highIncluded = true;

    [[nodiscard]] constexpr bool holds(T value) const
    {
        return (lowIncluded ? value >= low : value > low) && (highIncluded ? value <= high : value < high);
    }

    /// The smallest range that has both in it.
    [[nodiscard]] constexpr Range hull(const Range& other) const
    {
        const bool isLower = other.low < low || (other.low == low && other.lowIncluded);
        const bool isHigher = other.high > high || (other.high == high && other.highIncluded);
        return {isLower ? other.low : low, isHigher ? other.high : high, isLower ? other.lowIncluded : lowIncluded,
            isHigher ? other.highIncluded : highIncluded};
    }

    [[nodiscard]] std::string text() const
    {
        return fmt::format("{} {} {} {}", lowIncluded ? "from" : "above", low, highIncluded ? "to" : "to below", high);
    }
};

} // namespace mantissa
