#include "ui/session/lane_monitor.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

void note(LaneFacts& facts, const StepRecord& record)
{
    if (!facts.last || record.loss < facts.minLoss || !std::isfinite(facts.minLoss)) {
        facts.minLoss = record.loss;
    }
    if (record.skipped) {
        ++facts.skipped;
        facts.lastSkip = record.step;
        if (facts.firstSkip < 0) {
            facts.firstSkip = record.step;
        }
    } else {
        facts.lastApplied = record.step;
    }
    if (record.lossFinite) {
        facts.nonFiniteSince = -1;
    } else if (facts.nonFiniteSince < 0) {
        facts.nonFiniteSince = record.step;
    }
    facts.last = record;
}

} // namespace

void LaneMonitor::add(std::span<const StepRecord> records)
{
    for (const StepRecord& record : records) {
        Entry& entry = m_entries[record.lane];
        note(entry.facts, record);
        if (record.lane == m_baseline) {
            if (m_baselineHashes.empty()) {
                m_baselineStart = record.step;
            }
            m_baselineHashes.push_back(record.batchHash);
        } else {
            entry.unchecked.emplace_back(record.step, record.batchHash);
        }
    }
    for (auto& [lane, entry] : m_entries) {
        compare(entry);
    }
}

void LaneMonitor::add(const Event& event)
{
    if (event.kind == EventKind::Numerics) {
        m_entries[event.lane].facts.origin = event.path;
    }
}

void LaneMonitor::follow(const SessionStatus& status)
{
    for (const LaneStatus& lane : status.lanes) {
        m_entries[lane.id].initialWeightsHash = lane.initialWeightsHash;
    }
    const auto isGone = [&status](const auto& entry) {
        return std::none_of(status.lanes.begin(), status.lanes.end(),
            [&entry](const LaneStatus& lane) { return lane.id == entry.first; });
    };
    std::erase_if(m_entries, isGone);

    const std::optional<std::uint32_t> first = status.lanes.empty() ? std::nullopt : std::optional(status.baseline);
    if (first != m_baseline) {
        m_baseline = first;
        m_baselineHashes.clear();
        for (auto& [lane, entry] : m_entries) {
            entry.facts.lock = LockState::Unknown;
            entry.facts.lockBrokenAt = -1;
            entry.unchecked.clear();
        }
    }
    if (!m_baseline) {
        return;
    }
    const std::string& reference = m_entries[*m_baseline].initialWeightsHash;
    for (auto& [lane, entry] : m_entries) {
        LaneFacts& facts = entry.facts;
        if (reference.empty() || entry.initialWeightsHash.empty()) {
            continue;
        }
        if (entry.initialWeightsHash != reference) {
            facts.lock = LockState::InitialWeightsDiffer;
            facts.lockBrokenAt = 0;
        } else if (facts.lock == LockState::Unknown || facts.lock == LockState::InitialWeightsDiffer) {
            facts.lock = LockState::Held;
            facts.lockBrokenAt = -1;
        }
    }
}

const LaneFacts& LaneMonitor::facts(std::uint32_t lane) const
{
    static const LaneFacts none;
    const auto found = m_entries.find(lane);
    return found == m_entries.end() ? none : found->second.facts;
}

void LaneMonitor::compare(Entry& entry)
{
    const std::int64_t end = m_baselineStart + static_cast<std::int64_t>(m_baselineHashes.size());
    std::size_t done = 0;
    for (const auto& [step, hash] : entry.unchecked) {
        if (step >= end) {
            break;
        }
        ++done;
        if (step < m_baselineStart) {
            continue;
        }
        const bool isEqual = m_baselineHashes[static_cast<std::size_t>(step - m_baselineStart)] == hash;
        entry.facts.lockCheckedTo = step;
        if (!isEqual && entry.facts.lockBrokenAt < 0) {
            entry.facts.lock = LockState::DataDiffers;
            entry.facts.lockBrokenAt = step;
        }
    }
    entry.unchecked.erase(entry.unchecked.begin(), entry.unchecked.begin() + static_cast<std::ptrdiff_t>(done));
}

} // namespace mantissa
