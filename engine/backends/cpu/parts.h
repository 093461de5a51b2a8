/// Work cut into parts for the threads of a request. What a part computes never depends on how many there are.
#pragma once

#include "engine/backends/cpu/operands.h"

#include <algorithm>
#include <cstddef>

namespace mantissa::cpu {

/// Below so many elements per thread, starting threads costs more than it saves.
inline constexpr std::size_t elementsPerThread = 16384;

/// Calls run(context, part) for parts [0, parts) at once, one on each thread of the calling thread's OpenMP team, which
/// oneDNN uses too. run must not throw.
void runTeam(std::size_t parts, void (*run)(void* context, std::size_t part), void* context);

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
    auto runPart = [&](std::size_t part) { f(count * part / parts, count * (part + 1) / parts); };
    runTeam(
        parts, [](void* context, std::size_t part) { (*static_cast<decltype(runPart)*>(context))(part); }, &runPart);
}

/// Adds what a part counted to the counts of the whole.
void addCounts(const Target& whole, const Target& part);

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
        addCounts(target, own);
    });
}

/// Counts what a half tensor holds, without changing it: for results that are copies of values rounded before.
void countTensor(const Target& target, std::size_t elements, int threads);

} // namespace mantissa::cpu
