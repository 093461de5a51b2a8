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

/// What a rank of a data-parallel lane has of its own; ranks may differ once they do not average their gradients, in
/// what their scalers have seen, and in running statistics.
struct RankState
{
    std::int64_t schedulePosition = 0;
    bool foundInf = false;
    nlohmann::json scaler = nlohmann::json::object();
    std::vector<StateTensor> tensors; ///< those that differ from rank 0's; all others are as there
};

/// Removes the tensors that are as rank 0's, which come in the same order.
void keepDifferences(RankState& rank, const std::vector<StateTensor>& first);

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
    std::vector<RankState> others; ///< of ranks 1, 2, ...; what stands above is rank 0's
};

/// As rank `rank` has it: what stands at the top is its own. Throws Error (InvalidArgument) if there is no such rank.
LaneState stateOfRank(const LaneState& state, int rank);

} // namespace mantissa
