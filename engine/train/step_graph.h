/// One training step of a lane as a graph: forward, loss, backward, unscale, clip, optimizer (design.md, section 4).
#pragma once

#include "engine/graph/graph.h"
#include "engine/nn/model.h"
#include "engine/train/experiment.h"

#include <optional>
#include <vector>

namespace mantissa {

/// Scalars of a loss scale that the device moves, with the optimizer.
struct ScalerValues
{
    // Which the host writes: the rule's numbers.
    ValueId growthFactor = 0; ///< fp64, as the next two
    ValueId backoffFactor = 0;
    ValueId growthInterval = 0;
    ValueId isFrozen = 0;
    // Which stay on the device from step to step, and are read like other results.
    ValueId scale = 0;
    ValueId tracker = 0; ///< fp64
};

struct StepGraph
{
    Graph graph;
    std::vector<ValueId> parameters;
    std::vector<ValueId> buffers; ///< running statistics
    std::vector<ValueId> gradients;
    std::vector<ValueId> averages; ///< of the parameters, where a moving average is kept
    /// For each parameter where backward rounded its gradient to 16 bits, if it did: the census to report.
    std::vector<std::optional<ValueId>> gradientRoundings;
    int castsPerStep = 0;

    // Inputs of a micro-batch.
    ValueId input = 0;
    ValueId target = 0;
    std::optional<ValueId> dropoutCounter; ///< int32: differs for every micro-batch of a run

    std::optional<ScalerValues> scaler; ///< nothing: the host moves the scale

    // Scalars the host writes. Optional ones exist if the settings need them.
    ValueId lossScale = 0; ///< with a scaler it stays on the device, and so does the next
    ValueId inverseScale = 0;
    ValueId lr = 0;
    std::optional<ValueId> lossWeight;
    std::optional<ValueId> inverseAccumulation; ///< 1 / k
    std::optional<ValueId> keep; ///< 0 in the first micro-batch of a step, then 1
    std::optional<ValueId> keepGradients; ///< the same for gradients, which may outlive the step
    std::optional<ValueId> clipLimit;
    std::optional<ValueId> emaDecay;
    std::optional<ValueId> roundingCounter; ///< int32: differs for every step of a run

    // Scalars the host reads.
    ValueId microLoss = 0; ///< of the last micro-batch, times the loss weight
    ValueId loss = 0; ///< of the step: the sum of its micro-batches, each divided by their number if they are
    std::optional<ValueId> microFoundInf; ///< in the gradients' sums after a micro-batch
    ValueId foundInf = 0;
    ValueId sumSquares = 0; ///< of the gradients as they leave unscale
    ValueId maxAbs = 0;
    std::optional<ValueId> scaledSumSquares; ///< clip-then-unscale: of the scaled gradients, before clipping
    std::optional<ValueId> scaledMaxAbs;
    std::optional<ValueId> clippedSumSquares; ///< unscale-then-clip: after clipping
    ValueId updateSquares = 0;
    std::optional<ValueId> extraUpdateSquares; ///< of the stray second step
    ValueId weightSquares = 0;
};

/// The model in the lane's precision, with everything that a step does to it. Throws Error for settings that do not fit
/// the model.
StepGraph buildStepGraph(const LaneConfig& lane, const ModelTask& task);

/// The model alone in the lane's precision, without dropout and with the running statistics of batch norm, which it
/// leaves as they are. The output's kind is StepOutput.
struct EvaluationGraph
{
    Graph graph;
    std::vector<ValueId> parameters;
    std::vector<ValueId> buffers; ///< as in StepGraph
    ValueId input = 0;
    ValueId output = 0; ///< fp32 [batch, (tokens,) outputs]
};

EvaluationGraph buildEvaluationGraph(const LaneConfig& lane, const ModelTask& task);

/// Whether going from one setting to the other changes the graph, not only scalars that the host writes.
bool needsNewGraph(const LaneConfig& from, const LaneConfig& to);

} // namespace mantissa
