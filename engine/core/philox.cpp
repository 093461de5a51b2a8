#include "engine/core/philox.h"

#include "engine/core/hash.h"
#include "engine/core/portable_math.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace mantissa {

std::uint64_t randomStream(RandomPurpose purpose, std::string_view name)
{
    const std::uint64_t hash = fnv1a(std::as_bytes(std::span(name)));
    return (static_cast<std::uint64_t>(purpose) << 32U) | (hash & 0xFFFFFFFFU);
}

std::array<std::uint32_t, 4> Philox::operator()(std::uint64_t counter) const
{
    constexpr std::uint64_t multiplier0 = 0xD2511F53U;
    constexpr std::uint64_t multiplier1 = 0xCD9E8D57U;
    constexpr std::uint32_t weyl0 = 0x9E3779B9U;
    constexpr std::uint32_t weyl1 = 0xBB67AE85U;
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };

    std::array<std::uint32_t, 4> c {low(counter), high(counter), low(m_stream), high(m_stream)};
    std::uint32_t key0 = low(m_seed);
    std::uint32_t key1 = high(m_seed);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = multiplier0 * c[0];
        const std::uint64_t product1 = multiplier1 * c[2];
        c = {high(product1) ^ c[1] ^ key0, low(product1), high(product0) ^ c[3] ^ key1, low(product0)};
        key0 += weyl0;
        key1 += weyl1;
    }
    return c;
}

void fillUniform(std::span<float> values, float low, float high, const Philox& random)
{
    for (std::size_t i = 0; i < values.size(); i += 4) {
        const auto bits = random(i / 4);
        for (std::size_t j = 0; j < 4 && i + j < values.size(); ++j) {
            values[i + j] = low + (high - low) * toUnitFloat(bits[j]);
        }
    }
}

void fillNormal(std::span<float> values, float mean, float deviation, const Philox& random)
{
    for (std::size_t i = 0; i < values.size(); i += 2) {
        const auto bits = random(i / 2);
        // (0, 1]: the logarithm needs a positive number.
        const double u = (static_cast<double>(bits[0]) + 1.0) * 0x1p-32;
        const auto [sine, cosine] = portableSineCosine(static_cast<double>(bits[1]) * 0x1p-32);
        const double radius = std::sqrt(-2.0 * portableLog(u));
        values[i] = mean + deviation * static_cast<float>(radius * cosine);
        if (i + 1 < values.size()) {
            values[i + 1] = mean + deviation * static_cast<float>(radius * sine);
        }
    }
}

void fillPermutation(std::span<std::uint32_t> order, const Philox& random, std::uint64_t epoch)
{
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size(); i > 1; --i) {
        // Multiply-shift: the bias is below i / 2^32.
        const std::uint64_t j = static_cast<std::uint64_t>(random((epoch << 32U) | i)[0]) * i >> 32U;
        std::swap(order[i - 1], order[j]);
    }
}

std::vector<std::uint32_t> permutation(std::uint32_t n, const Philox& random, std::uint64_t epoch)
{
    std::vector<std::uint32_t> order(n);
    fillPermutation(order, random, epoch);
    return order;
}

} // namespace mantissa
