#include "engine/train/lane_products.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace mantissa {

ProductPrecision productsOn(const Backend& backend, const LaneConfig& lane)
{
    const ProductPrecision products {.tf32 = lane.precision.tf32, .reducedSums = lane.precision.reducedSums};
    const std::array<std::pair<std::string_view, ProductPrecision>, 2> parts {
        {{"tf32", {.tf32 = products.tf32}}, {"reduced_sums", {.reducedSums = products.reducedSums}}}};
    for (const auto& [key, part] : parts) {
        if (const Support support = backend.supports(part); !support.ok) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format(
                    "precision.{} is true, but {} cannot do that: {}. Set it to false, or choose another device "
                    "for the lane \"{}\".",
                    key, backend.device().name, support.reason, lane.name));
        }
    }
    return products;
}

} // namespace mantissa
