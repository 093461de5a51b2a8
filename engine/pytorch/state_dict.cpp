#include "engine/pytorch/state_dict.h"

#include "engine/core/error.h"
#include "engine/formats/convert.h"
#include "engine/train/channel_order.h"
#include "engine/train/model_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace mantissa {

namespace {

constexpr std::string_view runningMean = ".running_mean";
constexpr auto batchCount = ".num_batches_tracked";

} // namespace

Safetensors stateDict(
    const Graph& graph, const Shape& sample, const std::function<std::vector<float>(ValueId)>& valuesOf)
{
    const std::vector<FlattenedImages> flattened = flattenedImages(graph, sample);
    Safetensors contents;
    for (ValueId id = 0; id < graph.values().size(); ++id) {
        const Value& value = graph.value(id);
        if (value.kind != ValueKind::Parameter && value.kind != ValueKind::Buffer) {
            continue;
        }
        std::vector<float> numbers = valuesOf(id);
        const auto layer = std::ranges::find(flattened, value.name, &FlattenedImages::weight);
        if (layer != flattened.end()) {
            toChannelsFirst(numbers, *layer);
        }
        StoredTensor tensor {.name = value.name,
            .dtype = safetensorsName(DType::Float32),
            .shape = value.type.shape,
            .bytes = std::vector<std::byte>(numbers.size() * sizeof(float))};
        fromFloats(DType::Float32, numbers, tensor.bytes);
        contents.tensors.push_back(std::move(tensor));
        if (value.name.ends_with(runningMean)) {
            const std::string norm = value.name.substr(0, value.name.size() - runningMean.size());
            contents.tensors.push_back({norm + batchCount, "I64", Shape {}, std::vector<std::byte>(8)});
        }
    }
    return contents;
}

Safetensors trainedStateDict(const LaneState& state, const Dataset& data)
{
    const ModelTask task = trainingTask(state.config, data);
    const Model model = buildModel(state.config.model, task);
    return stateDict(model.graph, task.sample.shape, [&](ValueId id) {
        const Value& value = model.graph.value(id);
        const auto stored = std::ranges::find_if(state.tensors,
            [&value](const StateTensor& tensor) { return tensor.kind == value.kind && tensor.name == value.name; });
        std::vector<float> numbers(static_cast<std::size_t>(value.type.shape.elements()));
        if (stored == state.tensors.end() || stored->type.shape != value.type.shape) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: the state has no such tensor of the shape {}.", value.name, value.type.shape.text()));
        }
        toFloats(stored->type.dtype, stored->bytes, numbers);
        return numbers;
    });
}

} // namespace mantissa
