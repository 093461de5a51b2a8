/// Means and medians of numbers some of which may not be numbers.
#pragma once

#include <span>
#include <vector>

namespace mantissa {

/// Of those that are finite; NaN if none is.
double meanOf(std::span<const double> values);
/// Of those that are not NaN, the upper one of two in the middle; NaN if there is none.
double medianOf(std::vector<double> values);

} // namespace mantissa
