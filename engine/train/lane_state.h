/// All that decides how a lane goes on from a step boundary. A lane made from it computes the same bits as the one it
/// was taken from: random numbers and batches follow from the seed and the step. What is copied in memory is a fork;
/// what is written to a file is a checkpoint.
#pragma once

#include "engine/graph/graph.h"
#include "engine/train/experiment.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

/// A parameter, a buffer (running statistics), a piece of optimizer state, or a gradient that is kept, named as in the
/// graph.
struct StateTensor
{
    std::string name;
    ValueKind kind = ValueKind::Parameter;
    TensorType type;
    std::vector<std::byte> bytes;
};

struct LaneState
{
    LaneConfig config; ///< as it is now
    std::vector<ScriptedEvent> history; ///< changes that led to it
    std::vector<ScriptedEvent> script; ///< changes still to come
    std::int64_t nextStep = 0;
    std::int64_t schedulePosition = 0;
    bool foundInf = false; ///< what the last check found: all that a scaler knows which is updated before its check
    std::uint64_t batchHash = 0; ///< fingerprint of all batches so far
    std::uint64_t initialHash = 0; ///< of the initial weights
    nlohmann::json scaler = nlohmann::json::object(); ///< LossScaler::state()
    std::vector<StateTensor> tensors;
};

} // namespace mantissa
