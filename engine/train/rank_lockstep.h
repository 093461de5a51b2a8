/// Keeps the sessions of several processes at the same step: rank 0 says at each step boundary what comes, all do it.
#pragma once

#include "engine/parallel/communicator.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mantissa {

class RankLockstep
{
public:
    explicit RankLockstep(std::shared_ptr<Communicator> ranks);

    [[nodiscard]] bool leads() const { return m_ranks->rank() == 0; }

    /// What must be the same on all ranks, with a name for it: "the data of lane FP16".
    struct Mark
    {
        std::string what;
        std::uint64_t hash = 0;
    };

    /// Collective, before the first step. `failure` is why this rank cannot train; empty: it can. Throws Error
    /// (InvalidArgument) on all ranks if one cannot, or differs from rank 0 in a mark.
    void agree(const std::string& failure, const std::vector<Mark>& marks);

    /// What rank 0 has to say.
    struct Word
    {
        bool stops = false; ///< all lanes end here
        bool keepsStates = false; ///< of all lanes, for a checkpoint
        nlohmann::json changes = nlohmann::json::array(); ///< of settings: [lane, path, value] each
    };

    /// Collective, at each step boundary: rank 0's word; the others' own does not matter.
    Word next(const Word& own);

private:
    std::shared_ptr<Communicator> m_ranks;
};

} // namespace mantissa
