/// Work cut into parts for the threads of a request. What a part computes never depends on how many there are.
#pragma once

#include "engine/backends/cpu/operands.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace mantissa::cpu {

/// Below so many elements per thread, starting threads costs more than it saves.
inline constexpr std::size_t elementsPerThread = 16384;

/// Calls f(begin, end) for consecutive parts of [0, count), in parallel on up to `threads` threads; `weight` elements
/// of work belong to each of the count. f must not throw.
template <typename F> void forParts(int threads, std::size_t count, std::size_t weight, F f)
{
    const std::size_t useful = count * weight / elementsPerThread;
    const std::size_t parts = std::min({static_cast<std::size_t>(std::max(threads, 1)), useful, count});
    if (parts <= 1) {
        f(std::size_t {0}, count);
        return;
    }
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
    for (std::size_t part = 0; part < parts; ++part) {
        f(count * part / parts, count * (part + 1) / parts);
    }
}

/// As forParts(), and hands every part a target with counts of its own: f(begin, end, target).
template <typename F> void forPartsOf(const Target& target, int threads, std::size_t count, std::size_t weight, F f)
{
    forParts(threads, count, weight, [&](std::size_t begin, std::size_t end) {
        Census census;
        ExponentHistogram histogram {};
        Target own = target;
        own.census = target.census != nullptr ? &census : nullptr;
        own.histogram = target.histogram != nullptr ? &histogram : nullptr;
        f(begin, end, own);
        if (target.census == nullptr) {
            return;
        }
#pragma omp critical(mantissa_census)
        {
            *target.census += census;
            for (std::size_t i = 0; target.histogram != nullptr && i < histogram.size(); ++i) {
                target.histogram->at(i) += histogram.at(i);
            }
        }
    });
}

/// Counts what a half tensor holds, without changing it: for results that are copies of values rounded before.
void countTensor(const Target& target, std::size_t elements, int threads);

} // namespace mantissa::cpu
