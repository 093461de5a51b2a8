/// What the window says about each lane besides its curves: the newest record, skips, and whether the lane still sees
/// the same initial weights, batches and random numbers as the baseline lane.
#pragma once

#include "engine/train/session.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// Why a lane can no longer be compared step by step with the baseline.
enum class LockState : std::uint8_t {
    Unknown, ///< nothing to compare yet
    Held, ///< equal so far, by hash
    InitialWeightsDiffer,
    DataDiffers ///< batches or random numbers
};

struct LaneFacts
{
    std::optional<StepRecord> last;
    std::int64_t skipped = 0;
    std::int64_t firstSkip = -1;
    std::int64_t lastSkip = -1;
    std::int64_t lastApplied = -1; ///< newest step whose optimizer stepped
    std::int64_t nonFiniteSince = -1; ///< first of the present row of steps with a loss that is not finite; -1: none
    std::string origin; ///< the newest Numerics event's place: where numbers went wrong
    double minLoss = 0;
    LockState lock = LockState::Unknown;
    std::int64_t lockBrokenAt = -1;
    std::int64_t lockCheckedTo = -1; ///< last step compared
};

class LaneMonitor
{
public:
    void add(std::span<const StepRecord> records);
    void add(const Event& event);
    /// Takes over which lanes exist and which is the baseline.
    void follow(const SessionStatus& status);
    [[nodiscard]] const LaneFacts& facts(std::uint32_t lane) const;

    [[nodiscard]] std::optional<std::uint32_t> baseline() const { return m_baseline; }

private:
    struct Entry
    {
        LaneFacts facts;
        std::string initialWeightsHash;
        std::vector<std::pair<std::int64_t, std::uint64_t>> unchecked; ///< step, hash: waiting for the baseline
    };

    void compare(Entry& entry);

    std::map<std::uint32_t, Entry> m_entries;
    std::optional<std::uint32_t> m_baseline;
    std::vector<std::uint64_t> m_baselineHashes; ///< from m_baselineStart on
    std::int64_t m_baselineStart = 0;
};

} // namespace mantissa
