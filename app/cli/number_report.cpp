#include "app/cli/number_report.h"

#include "engine/core/error.h"
#include "engine/formats/round_bits.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace mantissa::cli {

namespace {

/// What the encodings offer, for a format chosen at run time.
struct Codec
{
    std::uint64_t (*round)(std::uint64_t);
    std::uint64_t (*widen)(std::uint64_t);
    std::uint64_t (*up)(std::uint64_t);
    std::uint64_t (*down)(std::uint64_t);
};

template <typename Encoding> constexpr Codec codecOf()
{
    return {roundEncoding<Float64Encoding, Encoding>, widenEncoding<Encoding, Float64Encoding>,
        nextUpEncoding<Encoding>, nextDownEncoding<Encoding>};
}

Codec codecFor(DType format)
{
    switch (format) {
    case DType::Float16:
        return codecOf<Float16Encoding>();
    case DType::BFloat16:
        return codecOf<BFloat16Encoding>();
    case DType::Float32:
        return codecOf<Float32Encoding>();
    default:
        throw Error(ErrorCode::UnsupportedDtype,
            fmt::format("numbers are shown in fp16, bf16 and fp32, not in {}", nameOf(format)));
    }
}

double valueOf(const Codec& codec, std::uint64_t bits)
{
    return std::bit_cast<double>(codec.widen(bits));
}

std::string separated(std::uint64_t bits, const FormatLimits& limits)
{
    std::string text;
    for (int i = limits.exponentBits + limits.fractionBits; i >= 0; --i) {
        text += (bits >> static_cast<unsigned>(i) & 1U) != 0 ? '1' : '0';
        if (i == limits.fractionBits || i == limits.exponentBits + limits.fractionBits) {
            text += '|';
        }
    }
    return text;
}

std::string categoryOf(double value, const FormatLimits& limits)
{
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return "inf";
    }
    if (value == 0) {
        return "zero";
    }
    return std::abs(value) < limits.minNormal ? "subnormal" : "normal";
}

double ulpOf(double value, const FormatLimits& limits)
{
    if (!std::isfinite(value)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (std::abs(value) < limits.minNormal) {
        return limits.minSubnormal;
    }
    return std::ldexp(1.0, std::ilogb(value) - limits.fractionBits);
}

} // namespace

NumberReport reportBits(std::uint64_t bits, DType format)
{
    const Codec codec = codecFor(format);
    const FormatLimits& limits = limitsOf(format);
    NumberReport report;
    report.format = format;
    report.bits = bits;
    report.bitsText = separated(bits, limits);
    report.hex = fmt::format("0x{:0{}x}", bits, widthOf(format) / 4);
    report.value = valueOf(codec, bits);
    report.ulp = ulpOf(report.value, limits);
    report.category = categoryOf(report.value, limits);
    report.below = valueOf(codec, codec.down(bits));
    report.above = valueOf(codec, codec.up(bits));
    return report;
}

NumberReport reportRounded(const ExactInput& input, DType format)
{
    NumberReport report = reportBits(codecFor(format).round(std::bit_cast<std::uint64_t>(input.oddRounded)), format);
    const bool sameInfinity = std::isinf(report.value) && std::isinf(input.nearest);
    report.error = sameInfinity ? 0 : static_cast<double>(static_cast<long double>(report.value) - input.nearest);
    return report;
}

int widthOf(DType format)
{
    return static_cast<int>(sizeOf(format)) * 8;
}

} // namespace mantissa::cli
