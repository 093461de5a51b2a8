/// The loss scale of a lane whose device moves it by itself: written there only where a person, a fault or a restored
/// state changes it, and compared with the host's scaler whenever a step's numbers are read.
#pragma once

#include "engine/backends/executor.h"
#include "engine/scaling/loss_scaler.h"
#include "engine/train/step_graph.h"

#include <optional>

namespace mantissa {

class ScaleOnDevice
{
public:
    explicit ScaleOnDevice(const StepGraph& step)
        : m_step(&step)
    {
    }

    /// What the next step begins with, `lossFactor` being that of its loss alone. Enqueues what the device does not
    /// have yet, and sets the rule's numbers.
    void bring(Executor& executor, const LossScaler& scaler, double lossFactor);

    /// Reads what a step left, which the scaler has judged too. Throws Error (BackendFailure) if they disagree.
    void take(const Executor& executor, const LossScaler& scaler);

private:
    const StepGraph* m_step; ///< with a scaler
    std::optional<DeviceScale> m_known; ///< nothing: whatever the device has
};

} // namespace mantissa
