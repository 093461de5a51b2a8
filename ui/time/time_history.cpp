#include "ui/time/time_history.h"

#include <algorithm>
#include <numeric>

namespace mantissa {

PhaseMs::PhaseMs(const PhaseTimes& times)
    : m_ms {times.forwardMs, times.backwardMs, times.unscaleMs, times.clipMs, times.optimizerMs,
        std::max(0.0F, times.dataMs - times.waitMs), times.waitMs, times.instrumentsMs, times.evaluationMs}
{
}

double PhaseMs::total() const
{
    return std::accumulate(m_ms.begin(), m_ms.end(), 0.0);
}

double PhaseMs::share(StepPhase phase) const
{
    const double all = total();
    return all == 0 ? 0 : (*this)[phase] / all;
}

PhaseMs& PhaseMs::operator+=(const PhaseMs& other)
{
    std::ranges::transform(m_ms, other.m_ms, m_ms.begin(), std::plus {});
    return *this;
}

PhaseMs PhaseMs::dividedBy(double number) const
{
    PhaseMs parts;
    std::ranges::transform(m_ms, parts.m_ms.begin(), [number](double ms) { return ms / number; });
    return parts;
}

void TimeHistory::dropFrom(std::int64_t step)
{
    std::erase_if(m_buckets, [step](const Bucket& bucket) { return bucket.first >= step; });
    if (m_buckets.empty()) {
        m_bucketSteps = 1;
    }
}

void TimeHistory::add(const StepRecord& record)
{
    if (record.step <= m_lastStep) {
        dropFrom(record.step);
    }
    m_lastStep = record.step;
    if (m_buckets.empty()) {
        m_first = PhaseMs(record.timeMs);
    }
    const auto firstOf = [this](std::int64_t step) { return step - step % m_bucketSteps; };
    if (m_buckets.empty() || m_buckets.back().first != firstOf(record.step)) {
        if (m_buckets.size() == mostBuckets) {
            m_bucketSteps *= 2;
            std::vector<Bucket> wider;
            for (const Bucket& bucket : m_buckets) {
                if (wider.empty() || wider.back().first != firstOf(bucket.first)) {
                    wider.push_back({.first = firstOf(bucket.first)});
                }
                wider.back().steps += bucket.steps;
                wider.back().sum += bucket.sum;
            }
            m_buckets = std::move(wider);
        }
        if (m_buckets.empty() || m_buckets.back().first != firstOf(record.step)) {
            m_buckets.push_back({.first = firstOf(record.step)});
        }
    }
    ++m_buckets.back().steps;
    m_buckets.back().sum += PhaseMs(record.timeMs);
}

PhaseMs TimeHistory::mean(std::int64_t lastSteps) const
{
    const std::int64_t from = lastSteps == 0 ? 0 : m_lastStep + 1 - lastSteps;
    Bucket all;
    for (const Bucket& bucket : m_buckets) {
        if (bucket.first + m_bucketSteps > from) {
            all.steps += bucket.steps;
            all.sum += bucket.sum;
        }
    }
    if (all.steps > 1 && m_buckets.front().first + m_bucketSteps > from) {
        all.sum += m_first.dividedBy(-1);
        --all.steps;
    }
    return all.steps == 0 ? PhaseMs() : all.mean();
}

} // namespace mantissa
