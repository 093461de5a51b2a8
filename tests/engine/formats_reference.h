/// Rounding to 16 bits from first principles, for tests: the nearest of all values of the format, by exact comparison
/// with the midpoint of the two neighbours, ties to the even encoding. Shares no code with the engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mantissa::test {

class ReferenceFormat
{
public:
    ReferenceFormat(int exponentBits, int fractionBits)
    {
        const int bias = (1 << (exponentBits - 1)) - 1;
        const int fractions = 1 << fractionBits;
        for (int exponent = 0; exponent < (1 << exponentBits) - 1; ++exponent) {
            for (int fraction = 0; fraction < fractions; ++fraction) {
                const int significand = exponent == 0 ? fraction : fraction + fractions;
                m_values.push_back(std::ldexp(significand, std::max(exponent, 1) - bias - fractionBits));
            }
        }
        // Rounding treats infinity as the value that would come next.
        m_values.push_back(std::ldexp(1.0, bias + 1));
    }

    [[nodiscard]] std::uint16_t infinity() const { return static_cast<std::uint16_t>(m_values.size() - 1); }

    [[nodiscard]] double decode(std::uint16_t bits) const
    {
        const std::uint16_t magnitude = bits & 0x7fffU;
        if (magnitude > infinity()) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        const double value = magnitude == infinity() ? std::numeric_limits<double>::infinity() : m_values[magnitude];
        return (bits & 0x8000U) != 0 ? -value : value;
    }

    [[nodiscard]] std::uint16_t round(double value) const
    {
        const double magnitude = std::fabs(value);
        const auto above = std::upper_bound(m_values.begin(), m_values.end(), magnitude);
        const auto below = above == m_values.begin() ? 0 : above - m_values.begin() - 1;
        return roundFrom(value, static_cast<std::size_t>(below));
    }

    /// round() for magnitudes that never fall from call to call: `below` is the search's state, 0 at first.
    [[nodiscard]] std::uint16_t roundRising(double value, std::size_t& below) const
    {
        while (below + 1 < m_values.size() && m_values[below + 1] <= std::fabs(value)) {
            ++below;
        }
        return roundFrom(value, below);
    }

private:
    [[nodiscard]] std::uint16_t roundFrom(double value, std::size_t below) const
    {
        if (std::isnan(value)) {
            return 0x7fffU;
        }
        std::size_t nearest = below;
        if (below + 1 < m_values.size()) {
            const double midpoint = 0.5 * (m_values[below] + m_values[below + 1]); // exact: few bits, far from limits
            const double magnitude = std::fabs(value);
            if (magnitude > midpoint || (magnitude == midpoint && below % 2 == 1)) {
                nearest = below + 1;
            }
        }
        return static_cast<std::uint16_t>(nearest | (std::signbit(value) ? 0x8000U : 0U));
    }

    std::vector<double> m_values;
};

} // namespace mantissa::test
