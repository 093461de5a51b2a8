#include "engine/core/nearest_name.h"

#include "engine/core/text.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace mantissa {

namespace {

std::string lowered(std::string_view text)
{
    std::string out(text);
    std::transform(
        out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

// Longer names are not typing mistakes of ours, and the distance costs time and memory by the product of the lengths.
constexpr std::size_t longestName = 64;

} // namespace

std::size_t editDistance(std::string_view first, std::string_view second)
{
    const std::string a = lowered(first);
    const std::string b = lowered(second);
    const std::size_t width = b.size() + 1;
    std::vector<std::size_t> cost((a.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cost[i * width + j]; };
    for (std::size_t i = 0; i <= a.size(); ++i) {
        at(i, 0) = i;
    }
    for (std::size_t j = 0; j <= b.size(); ++j) {
        at(0, j) = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
            }
        }
    }
    return at(a.size(), b.size());
}

std::string nearestName(std::string_view name, std::span<const std::string> candidates)
{
    if (name.empty() || name.size() > longestName) {
        return {};
    }
    std::string best;
    std::size_t bestDistance = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = editDistance(name, candidate);
        if (distance < bestDistance) {
            bestDistance = distance;
            best = candidate;
        }
    }
    if (best.empty() && name.size() >= 3) {
        const std::string start = lowered(name);
        for (const std::string& candidate : candidates) {
            if (lowered(candidate).compare(0, start.size(), start) == 0) {
                return candidate;
            }
        }
    }
    return best;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates)
{
    const std::string nearest = nearestName(name, candidates);
    return nearest.empty() ? "valid are: " + joined(candidates) : "did you mean \"" + nearest + "\"?";
}

} // namespace mantissa
