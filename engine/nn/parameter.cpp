#include "engine/nn/parameter.h"

#include "engine/core/philox.h"

namespace mantissa {

std::vector<float> initialValues(const Graph& graph, const Parameter& parameter, std::uint64_t seed)
{
    const Value& value = graph.value(parameter.value);
    const Initializer initial = parameter.initial;
    std::vector<float> values(static_cast<std::size_t>(value.type.shape.elements()), initial.size);
    const Philox random(seed, randomStream(RandomPurpose::Init, value.name));
    if (initial.kind == Initializer::Kind::Uniform) {
        fillUniform(values, -initial.size, initial.size, random);
    } else if (initial.kind == Initializer::Kind::Normal) {
        fillNormal(values, 0, initial.size, random);
    }
    return values;
}

} // namespace mantissa
