/// The nearest of a list of names to one that was misspelt: for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mantissa {

/// Edits (insert, delete, replace, swap neighbours) that turn one text into the other, without regard to case.
/// Source: Damerau's distance in its restricted form (optimal string alignment).
std::size_t editDistance(std::string_view a, std::string_view b);

/// The name nearest to `name`, or an empty text if none is near enough to be meant. A longer name of which `name` is
/// the beginning counts as near.
std::string nearestName(std::string_view name, std::span<const std::string> candidates);

/// `did you mean "policy"?`, or, if nothing is near, `valid are: a, b, c`.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

} // namespace mantissa
