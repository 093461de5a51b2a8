#include "ui/session/sample_history.h"

#include <algorithm>

namespace mantissa {

namespace {

constexpr std::size_t mostKept = 800; // of a lane: some 30 KB each

} // namespace

void SampleHistory::add(const SamplePtr& sample)
{
    std::vector<SamplePtr>& samples = m_samples[sample->lane];
    while (!samples.empty() && samples.back()->step >= sample->step) {
        samples.pop_back();
    }
    samples.push_back(sample);
    if (samples.size() > mostKept) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (i >= mostKept / 2 || i % 2 == 0) {
                samples[kept++] = samples[i];
            }
        }
        samples.resize(kept);
    }
}

const std::vector<SamplePtr>& SampleHistory::of(std::uint32_t lane) const
{
    static const std::vector<SamplePtr> none;
    const auto found = m_samples.find(lane);
    return found == m_samples.end() ? none : found->second;
}

SamplePtr sampleAt(const std::vector<SamplePtr>& samples, std::int64_t step)
{
    if (samples.empty()) {
        return nullptr;
    }
    const auto after = std::partition_point(
        samples.begin(), samples.end(), [step](const SamplePtr& sample) { return sample->step <= step; });
    return after == samples.begin() ? samples.front() : *std::prev(after);
}

} // namespace mantissa
