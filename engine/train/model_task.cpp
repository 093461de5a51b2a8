#include "engine/train/model_task.h"

#include "engine/core/error.h"

#include <fmt/format.h>

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
    ModelTask task;
    task.batch = lane.data.batch;
    task.sample.shape
        = data.sampleShape.rank() == 2 ? Shape {data.sampleShape[0], data.sampleShape[1], 1} : data.sampleShape;
    task.outputs = usesLabels(lane) ? data.classes : data.targetWidth;
    task.loss = lane.loss;
    task.lossForm = lane.lossForm;
    task.seed = lane.seed;
    return task;
}

} // namespace mantissa
