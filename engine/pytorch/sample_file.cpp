#include "engine/pytorch/sample_file.h"

#include "engine/core/error.h"
#include "engine/data/batch_source.h"
#include "engine/train/model_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mantissa {

namespace {

constexpr std::int64_t longestOrder = std::int64_t {1} << 28; // 1 GiB

template <typename T>
StoredTensor tensorOf(
    const char* name, const char* dtype, std::vector<std::int64_t> shape, const std::vector<T>& values)
{
    StoredTensor tensor {.name = name, .dtype = dtype, .shape = Shape(std::move(shape)), .bytes = {}};
    tensor.bytes.resize(values.size() * sizeof(T));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor;
}

std::vector<std::int64_t> widened(const std::vector<std::int32_t>& values)
{
    return {values.begin(), values.end()};
}

/// The order with its samples counted anew, 0 being the first of `used`.
struct SampleOrder
{
    std::vector<std::uint32_t> used; ///< ascending
    std::vector<std::int32_t> order;
};

SampleOrder orderOf(const LaneConfig& lane, const Dataset& data)
{
    BatchSource source(data.train, lane.data.batch, lane.accumulation.steps, lane.seed);
    SampleOrder result;
    for (std::int64_t step = 0; step < lane.steps; ++step) {
        for (std::int64_t part = 0; part < lane.accumulation.steps; ++part) {
            for (const std::uint32_t index : source.next(step, part)) {
                result.order.push_back(static_cast<std::int32_t>(index));
            }
        }
    }
    result.used.assign(result.order.begin(), result.order.end());
    std::ranges::sort(result.used);
    result.used.erase(std::unique(result.used.begin(), result.used.end()), result.used.end());
    for (std::int32_t& index : result.order) {
        const auto place = std::ranges::lower_bound(result.used, static_cast<std::uint32_t>(index));
        index = static_cast<std::int32_t>(place - result.used.begin());
    }
    return result;
}

/// [n, height, width, channels] to [n, channels, height, width].
std::vector<float> channelsFirst(const std::vector<float>& images, const Shape& sample)
{
    const auto channels = static_cast<std::size_t>(sample[2]);
    const auto pixels = static_cast<std::size_t>(sample[0] * sample[1]);
    std::vector<float> result(images.size());
    for (std::size_t image = 0; image < images.size(); image += channels * pixels) {
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            for (std::size_t channel = 0; channel < channels; ++channel) {
                result[image + channel * pixels + pixel] = images[image + pixel * channels + channel];
            }
        }
    }
    return result;
}

StoredTensor inputsOf(const Dataset& data, const Shape& sample, const std::vector<std::uint32_t>& used)
{
    const auto count = static_cast<std::int64_t>(used.size());
    const std::size_t numbers = used.size() * static_cast<std::size_t>(data.features);
    if (data.vocabulary > 0) {
        std::vector<std::int32_t> tokens(numbers);
        gatherTokens(data, used, tokens);
        return tensorOf("inputs", "I64", {count, data.features}, widened(tokens));
    }
    std::vector<float> inputs(numbers);
    gatherInputs(data, used, inputs);
    if (sample.rank() == 3) {
        return tensorOf("inputs", "F32", {count, sample[2], sample[0], sample[1]}, channelsFirst(inputs, sample));
    }
    return tensorOf("inputs", "F32", {count, data.features}, inputs);
}

StoredTensor targetsOf(const Dataset& data, bool asLabels, const std::vector<std::uint32_t>& used)
{
    const auto count = static_cast<std::int64_t>(used.size());
    if (!asLabels) {
        std::vector<float> targets(used.size() * static_cast<std::size_t>(data.targetWidth));
        gatherTargets(data, used, targets);
        return tensorOf("targets", "F32", {count, data.targetWidth}, targets);
    }
    std::vector<std::int32_t> labels(used.size() * static_cast<std::size_t>(data.labelsPerSample()));
    gatherLabels(data, used, labels);
    std::vector<std::int64_t> shape {count};
    if (data.labelsTokens) {
        shape.push_back(data.labelsPerSample());
    }
    return tensorOf("targets", "I64", std::move(shape), widened(labels));
}

} // namespace

Safetensors sampleFile(const LaneConfig& lane, const Dataset& data)
{
    const std::int64_t parts = lane.steps * lane.accumulation.steps;
    if (parts > longestOrder / lane.data.batch) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("steps: {} steps of {} samples are too many to write down; at most {} samples in all, so ask "
                        "for fewer steps",
                lane.steps, lane.accumulation.steps * lane.data.batch, longestOrder));
    }
    const SampleOrder order = orderOf(lane, data);
    Safetensors contents;
    contents.tensors.push_back(inputsOf(data, trainingTask(lane, data).sample.shape, order.used));
    contents.tensors.push_back(targetsOf(data, usesLabels(lane), order.used));
    contents.tensors.push_back(tensorOf("order", "I32", {parts, lane.data.batch}, order.order));
    return contents;
}

} // namespace mantissa
