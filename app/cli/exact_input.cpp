#include "app/cli/exact_input.h"

#include <bit>
#include <cctype>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace mantissa::cli {

namespace {

/// strtod in a rounding mode; glibc's is correctly rounded in each.
double readRounded(const char* text, int mode)
{
    const int before = std::fegetround();
    std::fesetround(mode);
    const double value = std::strtod(text, nullptr);
    std::fesetround(before);
    return value;
}

} // namespace

std::optional<ExactInput> parseNumber(const std::string& text)
{
    std::size_t start = 0;
    while (start < text.size() && std::isspace(static_cast<unsigned char>(text[start])) != 0) {
        ++start;
    }
    const char* begin = text.c_str() + start;
    char* end = nullptr;
    const long double nearest = std::strtold(begin, &end);
    if (end == begin || *end != '\0') {
        return std::nullopt;
    }
    const double low = readRounded(begin, FE_DOWNWARD);
    const double high = readRounded(begin, FE_UPWARD);
    const bool lowIsOdd = (std::bit_cast<std::uint64_t>(low) & 1U) != 0;
    const bool exact = std::isnan(low) || low == high;
    return ExactInput {exact || lowIsOdd ? low : high, nearest};
}

} // namespace mantissa::cli
