#include "engine/train/rank_lockstep.h"

#include "engine/core/error.h"
#include "engine/parallel/broadcast_text.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace mantissa {

namespace {

constexpr std::uint64_t stopsFlag = 1;
constexpr std::uint64_t keepsFlag = 2;
constexpr std::uint64_t changesFlag = 4;

/// A hash as numbers that a double holds exactly.
void append(std::vector<double>& numbers, std::uint64_t hash)
{
    numbers.push_back(static_cast<double>(hash >> 32U));
    numbers.push_back(static_cast<double>(hash & 0xFFFFFFFFU));
}

} // namespace

RankLockstep::RankLockstep(std::shared_ptr<Communicator> ranks)
    : m_ranks(std::move(ranks))
{
}

void RankLockstep::agree(const std::string& failure, const std::vector<Mark>& marks)
{
    const auto ranks = static_cast<std::size_t>(m_ranks->size());
    const double failed = failure.empty() ? 0 : 1;
    std::vector<double> failures(ranks);
    m_ranks->allGather({&failed, 1}, failures);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (failures[rank] != 0) {
            const std::string why = broadcastText(*m_ranks, failure, static_cast<int>(rank));
            throw Error(ErrorCode::InvalidArgument, rank == 0 ? why : fmt::format("rank {}: {}", rank, why));
        }
    }
    std::vector<double> own;
    for (const Mark& mark : marks) {
        append(own, mark.hash);
    }
    std::vector<double> all(own.size() * ranks);
    m_ranks->allGather(own, all);
    for (std::size_t rank = 1; rank < ranks; ++rank) {
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (all[rank * own.size() + i] != all[i]) {
                throw Error(ErrorCode::InvalidArgument,
                    fmt::format("rank {} does not agree with rank 0 in {}; make the files on its machine the same",
                        rank, marks[i / 2].what));
            }
        }
    }
}

RankLockstep::Word RankLockstep::next(const Word& own)
{
    std::uint64_t flags
        = (own.stops ? stopsFlag : 0) + (own.keepsStates ? keepsFlag : 0) + (own.changes.empty() ? 0 : changesFlag);
    m_ranks->broadcast(std::as_writable_bytes(std::span(&flags, 1)), 0);
    Word word {.stops = (flags & stopsFlag) != 0, .keepsStates = (flags & keepsFlag) != 0};
    if ((flags & changesFlag) != 0) {
        word.changes = nlohmann::json::parse(broadcastText(*m_ranks, own.changes.dump(), 0));
    }
    return word;
}

} // namespace mantissa
