/// Where in a step the numbers stopped being finite, or the gradient became zero, told from the census of every 16-bit
/// value.
#pragma once

#include "engine/backends/executor.h"

#include <optional>
#include <string>

namespace mantissa {

struct Origin
{
    ValueId value = 0;
    Phase phase = Phase::Forward;
    Census census;

    auto operator<=>(const Origin& other) const
    {
        return std::pair(phase, value) <=> std::pair(other.phase, other.value);
    }
};

/// The first 16-bit value, in order of execution, of whose elements one is infinite or NaN; nothing if all are finite,
/// and what is not arose in FP32. The -inf that an attention mask writes does not count. Call after
/// Executor::downloadCensus().
std::optional<Origin> firstNonFinite(const Executor& executor);

/// The first 16-bit value of the backward pass that rounding made all zero; nothing if there is none.
std::optional<Origin> firstVanished(const Executor& executor);

/// "bn1.out (batch_norm, forward): 4096 of 4096 elements are NaN".
std::string describe(const Origin& origin, const Graph& graph);

} // namespace mantissa
