#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace mantissa::test {

namespace {

std::uint64_t programSeed()
{
    static const std::uint64_t seed = [] {
        const char* const given = std::getenv("MANTISSA_TEST_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : std::uint64_t {std::random_device {}()};
    }();
    return seed;
}

} // namespace

RandomValues::RandomValues(std::uint64_t purpose)
{
    std::seed_seq sequence {static_cast<std::uint32_t>(programSeed()), static_cast<std::uint32_t>(programSeed() >> 32U),
        static_cast<std::uint32_t>(purpose), static_cast<std::uint32_t>(purpose >> 32U)};
    m_engine.seed(sequence);
}

std::string RandomValues::seedText()
{
    const std::string seed = std::to_string(programSeed());
    return "seed " + seed + " (repeat with MANTISSA_TEST_SEED=" + seed + ")";
}

double RandomValues::uniform(double low, double high)
{
    return std::uniform_real_distribution<double>(low, high)(m_engine);
}

double RandomValues::normal()
{
    return std::normal_distribution<double>()(m_engine);
}

std::int64_t RandomValues::integer(std::int64_t low, std::int64_t high)
{
    return std::uniform_int_distribution<std::int64_t>(low, high)(m_engine);
}

double RandomValues::value(DType dtype, Fill fill, double largest)
{
    const FormatLimits& limits = limitsOf(dtype);
    const double bound = std::min(largest, limits.maxFinite);
    const double sign = integer(0, 1) == 0 ? 1 : -1;
    const std::int64_t kind = fill == Fill::Plain ? 0 : integer(0, fill == Fill::Wide ? 9 : 11);
    switch (kind) {
    case 6:
        return sign * std::exp2(uniform(std::log2(limits.minSubnormal), std::log2(bound)));
    case 7:
        return sign * uniform(0, limits.minNormal); // subnormal
    case 8:
        return sign * 0.0;
    case 9:
        return sign * bound;
    case 10:
        return sign * std::numeric_limits<double>::infinity();
    case 11:
        return std::numeric_limits<double>::quiet_NaN();
    default:
        return std::clamp(normal(), -bound, bound);
    }
}

HostTensor RandomValues::tensor(DType dtype, const Shape& shape, Fill fill, double largest)
{
    HostTensor out(TensorType {dtype, shape});
    for (std::int64_t i = 0; i < out.size(); ++i) {
        out.set(i, value(dtype, fill, largest));
    }
    return out;
}

HostTensor RandomValues::uniformTensor(DType dtype, const Shape& shape, double low, double high)
{
    HostTensor out(TensorType {dtype, shape});
    for (std::int64_t i = 0; i < out.size(); ++i) {
        out.set(i, uniform(low, high));
    }
    return out;
}

HostTensor RandomValues::labels(std::int64_t rows, std::int64_t classes)
{
    HostTensor out(TensorType {DType::Int32, Shape {rows}});
    for (std::int64_t i = 0; i < rows; ++i) {
        out.set(i, static_cast<double>(integer(0, classes - 1)));
    }
    return out;
}

} // namespace mantissa::test
