/// A number as a person writes it, read so that it can be rounded to any smaller format once.
#pragma once

#include <optional>
#include <string>

namespace mantissa::cli {

struct ExactInput
{
    /// Rounded to odd: of the two doubles around the number the one with the odd last bit, the number itself if it is
    /// one. Rounding this to nearest in a format of at most 51 bits of precision gives what rounding the number itself
    /// would (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 57, 2008, section 3).
    double oddRounded = 0;
    /// As near as a long double comes (64 bits on x86-64): for the error of a rounding.
    long double nearest = 0;
};

/// Decimal ("-1.5e-3"), hexadecimal with binary exponent ("0x1.8p-3"), "inf", "nan". Nothing if it is none of these.
std::optional<ExactInput> parseNumber(const std::string& text);

} // namespace mantissa::cli
