/// What the ranks of data-parallel lanes report, as rows of rank_chunks: up to 1,024 consecutive steps of one rank
/// each, packed as step_chunks are.
#pragma once

#include "engine/train/rank_record.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace mantissa {

/// Of one run: what the file does not hold yet, and the rows that are not full. Forgets nothing until committed().
class PendingRanks
{
public:
    void record(const RankRecord& record);

    [[nodiscard]] bool hasWork() const;
    /// Records in memory.
    [[nodiscard]] std::size_t held() const;

    /// Within the caller's transaction.
    void write(SQLite::Database& connection, std::int64_t run) const;
    void committed();

private:
    struct Chunk
    {
        std::int64_t ordinal = 0;
        std::vector<RankRecord> records;
    };

    struct Rank
    {
        std::vector<Chunk> full;
        Chunk tail;
        bool tailChanged = false;
    };

    std::map<std::int32_t, Rank> m_ranks;
};

/// By step, then rank; nothing if a row is damaged.
std::optional<std::vector<RankRecord>> readRanks(SQLite::Database& connection, std::int64_t run);

} // namespace mantissa
