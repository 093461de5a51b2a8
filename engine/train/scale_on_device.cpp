#include "engine/train/scale_on_device.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <cmath>

namespace mantissa {

namespace {

template <typename T> void bringValue(Executor& executor, ValueId id, T wanted, std::optional<T> known)
{
    if (known != wanted) {
        executor.write(id, std::as_bytes(std::span(&wanted, 1)));
    }
}

/// A scale may be what no number equals.
bool isSame(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

} // namespace

void ScaleOnDevice::bring(Executor& executor, const LossScaler& scaler, double lossFactor)
{
    const ScalerValues& values = *m_step->scaler;
    const PytorchRule rule = *scaler.deviceRule();
    executor.setScalar(values.growthFactor, rule.growthFactor);
    executor.setScalar(values.backoffFactor, rule.backoffFactor);
    executor.setScalar(values.growthInterval, rule.growthInterval);
    executor.setScalar(values.isFrozen, rule.isFrozen ? 1.0F : 0.0F);

    const DeviceScale wanted {{static_cast<float>(scaler.scale()), static_cast<double>(scaler.growthTracker())},
        static_cast<float>(scaler.scale() * lossFactor), static_cast<float>(1 / scaler.unscaleBy())};
    const auto bringPart = [&](ValueId id, auto part) {
        bringValue(executor, id, part(wanted), m_known ? std::optional(part(*m_known)) : std::nullopt);
    };
    bringPart(values.scale, [](const DeviceScale& scale) { return scale.machine.scale; });
    bringPart(values.tracker, [](const DeviceScale& scale) { return scale.machine.tracker; });
    bringPart(m_step->lossScale, [](const DeviceScale& scale) { return scale.lossScale; });
    bringPart(m_step->inverseScale, [](const DeviceScale& scale) { return scale.inverseScale; });
    m_known = wanted;
}

void ScaleOnDevice::take(const Executor& executor, const LossScaler& scaler)
{
    const ScalerValues& values = *m_step->scaler;
    const auto single = [&executor](ValueId id) { return static_cast<float>(executor.scalar(id)); };
    m_known = DeviceScale {{single(values.scale), executor.scalar(values.tracker)}, single(m_step->lossScale),
        single(m_step->inverseScale)};
    const auto tracker = static_cast<double>(scaler.growthTracker());
    if (!isSame(m_known->machine.scale, scaler.scale()) || m_known->machine.tracker != tracker) {
        throw Error(ErrorCode::BackendFailure,
            fmt::format("The loss scale on the device is {} after {} finite steps, and {} after {} by the same rule on "
                        "the host. The device computes wrongly.",
                m_known->machine.scale, m_known->machine.tracker, scaler.scale(), tracker));
    }
}

} // namespace mantissa
