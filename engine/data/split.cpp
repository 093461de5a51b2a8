#include "engine/data/split.h"

#include "engine/core/philox.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

std::int64_t heldOut(std::int64_t n, double validationShare)
{
    return std::min<std::int64_t>(std::llround(validationShare * static_cast<double>(n)), n - 1);
}

void splitAtRandom(Dataset& dataset, double validationShare, std::uint64_t seed)
{
    const Philox random(seed, randomStream(RandomPurpose::Split));
    const std::vector<std::uint32_t> order = permutation(static_cast<std::uint32_t>(dataset.samples), random, 0);
    const auto border = order.begin() + heldOut(dataset.samples, validationShare);
    dataset.validation.assign(order.begin(), border);
    dataset.train.assign(border, order.end());
    std::sort(dataset.validation.begin(), dataset.validation.end());
    std::sort(dataset.train.begin(), dataset.train.end());
}

} // namespace mantissa
