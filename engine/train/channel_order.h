/// PyTorch flattens images channel by channel, we flatten them pixel by pixel: a linear layer behind has the same
/// columns in another order.
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace mantissa {

/// A linear layer whose input is flattened images of several pixels and channels.
struct FlattenedImages
{
    std::string weight; ///< "fc1.weight", [outputs, height * width * channels]
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 0;
};

/// Those of a model, with the ops that act on each number alone looked through. `sample`: one input as the data has it;
/// a model may get it flattened.
std::vector<FlattenedImages> flattenedImages(const Graph& graph, const Shape& sample);

/// Whether the op acts on each number alone, whatever its place.
bool keepsPlaces(Op op);

/// Brings the columns from PyTorch's order into ours.
void toChannelsLast(std::vector<float>& weight, const FlattenedImages& layer);
/// And back.
void toChannelsFirst(std::vector<float>& weight, const FlattenedImages& layer);

} // namespace mantissa
