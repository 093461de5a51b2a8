/// What a model keeps between steps, and how it starts.
#pragma once

#include "engine/graph/graph.h"

#include <cstdint>
#include <vector>

namespace mantissa {

struct Initializer
{
    enum class Kind : std::uint8_t {
        Uniform, ///< in [-size, size)
        Normal, ///< mean 0, standard deviation size
        Constant, ///< size everywhere
    };

    Kind kind = Kind::Constant;
    float size = 0;
};

/// A weight, or a buffer such as a running statistic.
struct Parameter
{
    ValueId value = 0;
    Initializer initial;
};

/// The initial values: from Philox(seed, stream of its name), so equal names start equal in every lane, whatever the
/// precision, the backend and the machine.
std::vector<float> initialValues(const Graph& graph, const Parameter& parameter, std::uint64_t seed);

} // namespace mantissa
