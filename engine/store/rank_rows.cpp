#include "engine/store/rank_rows.h"

#include "engine/store/step_chunk.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

namespace mantissa {

namespace {

/// In the order of forEachColumn().
constexpr std::array columnNames {"loss", "scale", "grad_norm", "flushed", "distance", "found_inf", "skipped"};

template <typename Visit> void forEachColumn(Visit&& visit)
{
    visit([](auto& r) -> auto& { return r.loss; });
    visit([](auto& r) -> auto& { return r.scale; });
    visit([](auto& r) -> auto& { return r.gradNorm; });
    visit([](auto& r) -> auto& { return r.flushed; });
    visit([](auto& r) -> auto& { return r.distance; });
    visit([](auto& r) -> auto& { return r.foundInf; });
    visit([](auto& r) -> auto& { return r.skipped; });
}

std::string columnList(const char* before, const char* after)
{
    std::string list;
    for (const char* const name : columnNames) {
        list += before;
        list += name;
        list += after;
    }
    return list;
}

/// Flags travel as integers.
template <typename Field> using Packed = std::conditional_t<std::is_same_v<Field, bool>, std::int64_t, double>;

std::vector<Blob> pack(const std::vector<RankRecord>& records)
{
    std::vector<Blob> blobs;
    forEachColumn([&](const auto& access) {
        using Field = std::remove_cvref_t<decltype(access(records.front()))>;
        std::vector<Packed<Field>> values;
        for (const RankRecord& record : records) {
            values.push_back(static_cast<Packed<Field>>(access(record)));
        }
        blobs.push_back(packColumn(std::span<const Packed<Field>>(values)));
    });
    return blobs;
}

/// False if the row is damaged.
bool unpack(SQLite::Statement& row, int firstColumn, std::span<RankRecord> records)
{
    bool isGood = true;
    forEachColumn([&](const auto& access) {
        using Field = std::remove_cvref_t<decltype(access(records.front()))>;
        const SQLite::Column column = row.getColumn(firstColumn++);
        const std::span<const std::byte> blob(
            static_cast<const std::byte*>(column.getBlob()), static_cast<std::size_t>(column.getBytes()));
        std::vector<Packed<Field>> values(records.size());
        isGood = isGood && unpackColumn(blob, std::span(values));
        for (std::size_t i = 0; isGood && i < records.size(); ++i) {
            access(records[i]) = static_cast<Field>(values[i]);
        }
    });
    return isGood;
}

} // namespace

void PendingRanks::record(const RankRecord& record)
{
    Rank& rank = m_ranks[record.rank];
    auto& records = rank.tail.records;
    if (!records.empty() && (records.size() == stepsPerChunk || record.step != records.back().step + 1)) {
        const std::int64_t next = rank.tail.ordinal + 1;
        rank.full.push_back(std::exchange(rank.tail, Chunk {next, {}}));
    }
    rank.tail.records.push_back(record);
    rank.tailChanged = true;
}

bool PendingRanks::hasWork() const
{
    return std::ranges::any_of(
        m_ranks, [](const auto& entry) { return entry.second.tailChanged || !entry.second.full.empty(); });
}

std::size_t PendingRanks::held() const
{
    std::size_t count = 0;
    for (const auto& [number, rank] : m_ranks) {
        count += rank.tail.records.size();
        for (const Chunk& chunk : rank.full) {
            count += chunk.records.size();
        }
    }
    return count;
}

void PendingRanks::write(SQLite::Database& connection, std::int64_t run) const
{
    if (!hasWork()) {
        return;
    }
    std::string updates;
    for (const char* const name : columnNames) {
        updates += std::string(", ") + name + " = excluded." + name;
    }
    SQLite::Statement statement(connection,
        "INSERT INTO rank_chunks (run_id, rank, ordinal, first_step, step_count" + columnList(", ", "")
            + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, rank, ordinal) DO UPDATE SET "
              "first_step = excluded.first_step, step_count = excluded.step_count"
            + updates);
    for (const auto& [number, rank] : m_ranks) {
        const auto writeOne = [&statement, run, rankNumber = number](const Chunk& chunk) {
            const std::vector<Blob> blobs = pack(chunk.records);
            int at = 0;
            statement.bind(++at, run);
            statement.bind(++at, rankNumber);
            statement.bind(++at, chunk.ordinal);
            statement.bind(++at, chunk.records.front().step);
            statement.bind(++at, static_cast<std::int64_t>(chunk.records.size()));
            for (const Blob& blob : blobs) {
                statement.bindNoCopy(++at, blob.data(), static_cast<int>(blob.size()));
            }
            statement.exec();
            statement.reset();
        };
        std::ranges::for_each(rank.full, writeOne);
        if (rank.tailChanged) {
            writeOne(rank.tail);
        }
    }
}

void PendingRanks::committed()
{
    for (auto& [number, rank] : m_ranks) {
        rank.full.clear();
        rank.tailChanged = false;
    }
}

std::optional<std::vector<RankRecord>> readRanks(SQLite::Database& connection, std::int64_t run)
{
    std::vector<RankRecord> all;
    SQLite::Statement rows(connection,
        "SELECT rank, first_step, step_count, lane_number" + columnList(", ", "")
            + " FROM rank_chunks JOIN runs ON runs.id = run_id WHERE run_id = ? ORDER BY rank, ordinal");
    rows.bind(1, run);
    while (rows.executeStep()) {
        const std::int64_t count = rows.getColumn(2).getInt64();
        if (count < 1 || std::cmp_greater(count, stepsPerChunk)) {
            return std::nullopt;
        }
        std::vector<RankRecord> records(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < records.size(); ++i) {
            records[i].rank = rows.getColumn(0).getInt();
            records[i].step = rows.getColumn(1).getInt64() + static_cast<std::int64_t>(i);
            records[i].lane = rows.getColumn(3).getUInt();
        }
        if (!unpack(rows, 4, records)) {
            return std::nullopt;
        }
        all.insert(all.end(), records.begin(), records.end());
    }
    std::ranges::stable_sort(all, {}, [](const RankRecord& record) { return std::tuple(record.step, record.rank); });
    return all;
}

} // namespace mantissa
