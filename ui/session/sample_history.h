/// The steps of a session that were looked at tensor by tensor, as far as they are kept in memory.
#pragma once

#include "engine/train/step_sample.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace mantissa {

using SamplePtr = std::shared_ptr<const StepSample>;

class SampleHistory
{
public:
    /// A step that a lane has passed already replaces it and what came after. Where a lane has very many, every second
    /// of the older ones is let go; the database has them.
    void add(const SamplePtr& sample);

    /// By step; never null.
    [[nodiscard]] const std::vector<SamplePtr>& of(std::uint32_t lane) const;

private:
    std::map<std::uint32_t, std::vector<SamplePtr>> m_samples;
};

/// The sample at the step, or else the last before it, or else the first; null if there is none.
SamplePtr sampleAt(const std::vector<SamplePtr>& samples, std::int64_t step);

} // namespace mantissa
