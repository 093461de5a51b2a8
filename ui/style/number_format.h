/// How numbers read in the window: significant digits instead of noise, powers of two as 2^16, infinity and NaN as
/// words. Texts for people follow the default QLocale; formatExact() follows the C locale, for files and the clipboard.
#pragma once

#include <QString>

#include <cstdint>

namespace mantissa {

/// `digits` significant digits, trailing zeros dropped: "0.1235", "12.5", "1.25e-07". Plain notation from 1e-4 up to
/// below 1e6, otherwise an exponent. Not finite: "infinity", "-infinity", "NaN".
QString formatValue(double value, int digits = 4);

/// As formatValue(), but always `digits` significant digits, so that columns of numbers line up: "0.5000".
QString formatColumn(double value, int digits = 4);

/// The shortest text that reads back as the same double, C locale; "inf", "-inf", "nan" as pandas reads them.
QString formatExact(double value);

/// 0.125: "12 %", 0.0125: "1.3 %".
QString percent(double share);

/// As percent(), but with significant digits, for shares that may be tiny: "0.000381 %".
QString exactPercent(double share);

/// With digit grouping: "1,048,576".
QString formatCount(std::int64_t value);

/// "1.4 MiB"
QString formatBytes(std::uint64_t bytes);

/// "2^16" for an exact power of two, otherwise as formatValue().
QString formatPowerOfTwo(double value);

/// "2^16 (65,536)"; the plain value is left out where it would be no easier to read (2^0 reads "1").
QString formatScale(double value);

/// The exponent if `value` is a positive power of two, subnormal ones included; false otherwise.
bool powerOfTwoExponent(double value, int& exponent);

/// "NaN", "infinity" or "-infinity".
QString nonFiniteWord(double value);

} // namespace mantissa
