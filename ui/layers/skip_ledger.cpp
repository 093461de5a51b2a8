#include "ui/layers/skip_ledger.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr std::string_view countsSkippedPath = "schedule.count_skipped";
constexpr std::string_view scalerSection = "scaler";

} // namespace

void SkipLedger::add(const StepRecord& record)
{
    if (record.step <= m_last) {
        truncate(record.step);
    }
    append(record.step, record.scale, record.skipped);
}

void SkipLedger::append(std::int64_t step, double scale, bool isSkipped)
{
    if (m_last < 0) {
        m_first = step;
    } else if (scale != m_scale && !m_setScale.contains(step)) {
        (scale > m_scale ? m_grown : m_backedOff).append(step);
    }
    if (isSkipped) {
        m_skips.append(step);
    }
    m_last = step;
    m_scale = scale;
}

void SkipLedger::truncate(std::int64_t firstDropped)
{
    for (StepRuns* steps : {&m_skips, &m_grown, &m_backedOff}) {
        steps->truncate(firstDropped);
    }
    m_last = firstDropped > m_first ? firstDropped - 1 : -1;
}

void SkipLedger::add(const Event& event)
{
    if (event.kind == EventKind::Numerics) {
        m_causes[event.step] = event;
    } else if (event.kind == EventKind::Set && event.path == countsSkippedPath) {
        m_countsSkipped.try_emplace(0, event.before == "true");
        m_countsSkipped[event.step] = event.after == "true";
    } else if (event.kind == EventKind::Set && event.path.starts_with(scalerSection)) {
        m_setScale.insert(event.step);
    }
}

void SkipLedger::setColumns(const RunColumns& columns)
{
    truncate(0);
    m_last = -1;
    for (std::size_t i = 0; i < columns.step.size(); ++i) {
        append(columns.step[i], columns.scale[i], columns.skipped[i] != 0);
    }
}

void SkipLedger::setCountsSkipped(bool countsSkipped)
{
    if (m_countsSkipped.size() <= 1) {
        m_countsSkipped = {{0, countsSkipped}};
    }
}

LedgerCount SkipLedger::count(std::int64_t first, std::int64_t last) const
{
    first = std::max(first, m_first);
    last = std::min(last, m_last);
    if (last < first) {
        return {};
    }
    LedgerCount count;
    count.skipped = m_skips.count(first, last);
    count.taken = last - first + 1 - count.skipped;
    count.grown = m_grown.count(first, last);
    count.backedOff = m_backedOff.count(first, last);
    return count;
}

std::int64_t SkipLedger::scheduleLead() const
{
    std::int64_t lead = 0;
    for (auto from = m_countsSkipped.begin(); from != m_countsSkipped.end(); ++from) {
        const auto next = std::next(from);
        const std::int64_t last = next == m_countsSkipped.end() ? m_last : next->first - 1;
        lead += from->second ? m_skips.count(from->first, last) : 0;
    }
    return lead;
}

const Event* SkipLedger::causeOf(std::int64_t step) const
{
    const auto after = m_causes.upper_bound(step);
    return after == m_causes.begin() ? nullptr : &std::prev(after)->second;
}

} // namespace mantissa
