#include "engine/train/model_task.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa {

bool usesLabels(const LaneConfig& lane)
{
    return lane.loss == "cross_entropy";
}

ModelTask trainingTask(const LaneConfig& lane, const Dataset& data)
{
    if (usesLabels(lane) && data.classes == 0) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format(
                "loss: cross_entropy needs labels, but the {} data has numbers as targets; use mse.", lane.data.kind));
    }
    if (!usesLabels(lane) && data.targetWidth == 0) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format(
                "loss: {} compares with numbers, but the {} data has a label for each token; use cross_entropy.",
                lane.loss, lane.data.kind));
    }
    if (lane.loss == "bce_with_logits") {
        const auto [least, most] = std::ranges::minmax(data.targets);
        if (least < 0 || most > 1) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("loss: bce_with_logits compares with shares from 0 to 1, but the targets of the {} data go "
                            "from {} to {}; use mse.",
                    lane.data.kind, least, most));
        }
    }
    ModelTask task;
    task.batch = lane.data.batch;
    task.sample.dtype = data.vocabulary > 0 ? DType::Int32 : DType::Float32;
    task.sample.shape
        = data.sampleShape.rank() == 2 ? Shape {data.sampleShape[0], data.sampleShape[1], 1} : data.sampleShape;
    task.vocabulary = data.vocabulary;
    task.perToken = data.labelsTokens;
    task.ignoreIndex = ignoredLabel;
    task.outputs = usesLabels(lane) ? data.classes : data.targetWidth;
    task.loss = lane.loss;
    task.lossForm = lane.lossForm;
    task.labelSmoothing = lane.labelSmoothing;
    task.seed = lane.seed;
    return task;
}

} // namespace mantissa
