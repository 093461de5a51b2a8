/// How busy the machine's NVIDIA GPUs are and how much of their memory is in use, as the driver's management library
/// (NVML) tells: loaded where it is there, never needed. Source: NVML API Reference Guide,
/// nvmlDeviceGetUtilizationRates and nvmlDeviceGetMemoryInfo.
#pragma once

#include "engine/backends/device_info.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mantissa {

/// Of one GPU, all programs together.
struct GpuReading
{
    std::string name;
    std::optional<unsigned> busyPercent; ///< of the driver's last sample period; nothing: it does not tell
    std::uint64_t usedBytes = 0;
    std::uint64_t totalBytes = 0; ///< 0: it does not tell
};

struct GpuReport
{
    Support available; ///< or why there is nothing to read
    std::vector<GpuReading> gpus {};
};

/// Asks on a thread of its own, as the driver may take its time.
class GpuMeter
{
public:
    explicit GpuMeter(
        std::chrono::milliseconds interval = std::chrono::seconds(1), std::string library = "libnvidia-ml.so.1");

    /// While it rests it asks nothing; it begins resting.
    void setResting(bool rests);

    /// Never waits; null before the first answer.
    [[nodiscard]] std::shared_ptr<const GpuReport> latest() const;

private:
    void watch(const std::stop_token& stop);
    /// False once it is to stop.
    bool waitUntilWanted(const std::stop_token& stop);
    void publish(GpuReport report);

    std::chrono::milliseconds m_interval;
    std::string m_library;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed;
    bool m_rests = true;
    std::shared_ptr<const GpuReport> m_latest;
    std::jthread m_thread; ///< last: it uses the others
};

} // namespace mantissa
