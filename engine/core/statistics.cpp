#include "engine/core/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace mantissa {

double meanOf(std::span<const double> values)
{
    double sum = 0;
    double count = 0;
    for (const double value : values) {
        if (std::isfinite(value)) {
            sum += value;
            ++count;
        }
    }
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / count;
}

double medianOf(std::vector<double> values)
{
    std::erase_if(values, [](double value) { return std::isnan(value); });
    if (values.empty()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

} // namespace mantissa
