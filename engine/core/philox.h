/// Counter-based random numbers: the same value for the same (seed, stream, counter) on every machine and thread.
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox 4x32-10).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mantissa {

/// Purposes that never share random numbers. Combined with a name hash by randomStream().
enum class RandomPurpose : std::uint32_t { Init = 1, Shuffle = 2, Dropout = 3, Data = 4, Split = 5, Rounding = 6 };

/// The stream of a named consumer: purpose in the high 32 bits, FNV-1a of the name in the low 32 bits.
std::uint64_t randomStream(RandomPurpose purpose, std::string_view name = {});

/// Philox 4x32-10 with the seed as key and (counter, stream) as the 128-bit counter.
class Philox
{
public:
    Philox(std::uint64_t seed, std::uint64_t stream)
        : m_seed(seed)
        , m_stream(stream)
    {
    }

    /// Four independent 32-bit numbers.
    [[nodiscard]] std::array<std::uint32_t, 4> operator()(std::uint64_t counter) const;

private:
    std::uint64_t m_seed;
    std::uint64_t m_stream;
};

/// The top 24 bits as a float in [0, 1).
inline float toUnitFloat(std::uint32_t bits)
{
    return static_cast<float>(bits >> 8) * 0x1p-24F;
}

/// Fills with uniform values in [low, high).
void fillUniform(std::span<float> values, float low, float high, const Philox& random);

/// Fills with normal values: Box-Muller in double, from words 0 and 1 of counter i / 2 for the values i and i + 1. The
/// logarithm, sine and cosine are those of portable_math.h, so the values are the same on every machine.
/// Source: Box and Muller, "A note on the generation of random normal deviates", 1958.
void fillNormal(std::span<float> values, float mean, float deviation, const Philox& random);

/// A random order of 0 .. n-1 (Fisher-Yates); epoch selects an independent order of the same stream.
/// The sizes are below 2^32.
void fillPermutation(std::span<std::uint32_t> order, const Philox& random, std::uint64_t epoch);
std::vector<std::uint32_t> permutation(std::uint32_t n, const Philox& random, std::uint64_t epoch);

} // namespace mantissa
