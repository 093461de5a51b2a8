#include "engine/train/lane_state.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa {

void keepDifferences(RankState& rank, const std::vector<StateTensor>& first)
{
    auto same = first.begin();
    std::erase_if(rank.tensors, [&same](const StateTensor& tensor) { return tensor.bytes == (same++)->bytes; });
}

LaneState stateOfRank(const LaneState& state, int rank)
{
    LaneState own = state;
    own.others.clear();
    if (rank == 0) {
        return own;
    }
    if (static_cast<std::size_t>(rank) > state.others.size()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("The lane \"{}\" cannot go on from this state: it holds {} ranks, not {}.", state.config.name,
                state.others.size() + 1, state.config.parallel.ranks));
    }
    const RankState& part = state.others[static_cast<std::size_t>(rank) - 1];
    own.schedulePosition = part.schedulePosition;
    own.foundInf = part.foundInf;
    own.scaler = part.scaler;
    for (const StateTensor& tensor : part.tensors) {
        const auto shared = std::ranges::find_if(own.tensors,
            [&tensor](const StateTensor& other) { return other.kind == tensor.kind && other.name == tensor.name; });
        if (shared == own.tensors.end()) {
            own.tensors.push_back(tensor); // refused by name where the state is taken up
        } else {
            *shared = tensor;
        }
    }
    return own;
}

} // namespace mantissa
