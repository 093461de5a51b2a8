/// Where the time of a lane's steps went, phase by phase, kept small however long the run is.
#pragma once

#include "engine/train/step_record.h"

#include <array>
#include <cstdint>
#include <vector>

namespace mantissa {

enum class StepPhase : std::uint8_t {
    Forward,
    Backward,
    Unscale, ///< dividing by the scale, looking for what is not finite, the norm
    Clip,
    Optimizer,
    Load, ///< copying the batch
    Wait, ///< for the batch to be there
    Instruments,
    Evaluation, ///< after the step
};
inline constexpr std::array allStepPhases {StepPhase::Forward, StepPhase::Backward, StepPhase::Unscale, StepPhase::Clip,
    StepPhase::Optimizer, StepPhase::Load, StepPhase::Wait, StepPhase::Instruments, StepPhase::Evaluation};

/// Milliseconds by phase, in the order of allStepPhases.
class PhaseMs
{
public:
    PhaseMs() = default;
    explicit PhaseMs(const PhaseTimes& times);

    [[nodiscard]] double operator[](StepPhase phase) const { return m_ms[static_cast<std::size_t>(phase)]; }

    [[nodiscard]] double total() const;
    [[nodiscard]] double share(StepPhase phase) const; ///< of the total; 0 of nothing
    PhaseMs& operator+=(const PhaseMs& other);
    [[nodiscard]] PhaseMs dividedBy(double number) const;

private:
    std::array<double, allStepPhases.size()> m_ms {};
};

class TimeHistory
{
public:
    /// Neighbouring steps that are kept as one.
    struct Bucket
    {
        std::int64_t first = 0;
        std::int64_t steps = 0; ///< that were seen: fewer than bucketSteps() where records were dropped
        PhaseMs sum {};

        [[nodiscard]] PhaseMs mean() const { return sum.dividedBy(static_cast<double>(steps)); }
    };

    static constexpr std::size_t mostBuckets = 512;

    /// A step that was passed already replaces what was kept of it and of all after it.
    void add(const StepRecord& record);

    [[nodiscard]] const std::vector<Bucket>& buckets() const { return m_buckets; }

    [[nodiscard]] std::int64_t bucketSteps() const { return m_bucketSteps; } ///< a power of two

    [[nodiscard]] std::int64_t lastStep() const { return m_lastStep; } ///< -1: there is none

    /// Of a step, over the buckets that hold the last so many steps; 0 steps: over all. The first step, which also
    /// warms up, is left out.
    [[nodiscard]] PhaseMs mean(std::int64_t lastSteps) const;

private:
    void dropFrom(std::int64_t step);

    std::vector<Bucket> m_buckets;
    std::int64_t m_bucketSteps = 1;
    std::int64_t m_lastStep = -1;
    PhaseMs m_first; ///< of the first step
};

} // namespace mantissa
