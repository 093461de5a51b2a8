#include "engine/store/spread_samples.h"

#include <algorithm>
#include <iterator>

namespace mantissa {

std::vector<StepSample> spreadSamples(const RunStore& store, RunId id, std::size_t most)
{
    const std::vector<std::int64_t> steps = store.sampledSteps(id);
    const std::size_t count = std::min(steps.size(), most);
    std::vector<StepSample> samples;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t step = steps[count == 1 ? 0 : i * (steps.size() - 1) / (count - 1)];
        std::ranges::move(store.samples(id, step, step), std::back_inserter(samples));
    }
    return samples;
}

} // namespace mantissa
