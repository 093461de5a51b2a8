#include "engine/probe/gpu_meter.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace mantissa {

namespace {

// The part of nvml.h that is used. Its functions keep their binary interface; where that changed, the name did.
using NvmlDevice = void*;

struct NvmlUtilization
{
    unsigned gpu;
    unsigned memory;
};

struct NvmlMemory
{
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

constexpr int nvmlSuccess = 0;

/// The library as loaded; `problem` says why it is of no use.
class Nvml
{
public:
    explicit Nvml(const std::string& library)
        : m_handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), &dlclose)
    {
        if (!m_handle) {
            m_problem = "No NVIDIA driver: its library " + library + " cannot be loaded.";
            return;
        }
        if (!find(m_init, "nvmlInit_v2") || !find(m_shutdown, "nvmlShutdown") || !find(m_count, "nvmlDeviceGetCount_v2")
            || !find(m_device, "nvmlDeviceGetHandleByIndex_v2") || !find(m_name, "nvmlDeviceGetName")
            || !find(m_utilization, "nvmlDeviceGetUtilizationRates") || !find(m_memory, "nvmlDeviceGetMemoryInfo")
            || !find(m_error, "nvmlErrorString")) {
            return;
        }
        const int code = m_init();
        m_isReady = code == nvmlSuccess;
        if (!m_isReady) {
            m_problem = "The NVIDIA driver does not answer: " + words(code) + ".";
        }
    }

    ~Nvml()
    {
        if (m_isReady) {
            m_shutdown();
        }
    }

    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    [[nodiscard]] GpuReport read() const
    {
        if (!m_isReady) {
            return {.available = {false, m_problem}};
        }
        unsigned count = 0;
        if (const int code = m_count(&count); code != nvmlSuccess) {
            return {.available = {false, "The NVIDIA driver does not count its GPUs: " + words(code) + "."}};
        }
        GpuReport report;
        for (unsigned i = 0; i < count; ++i) {
            NvmlDevice device = nullptr;
            if (m_device(i, &device) == nvmlSuccess) {
                report.gpus.push_back(read(device, i));
            }
        }
        if (report.gpus.empty()) {
            report.available = {false, "The NVIDIA driver has no GPU."};
        }
        return report;
    }

private:
    template <typename Function> bool find(Function& function, const char* name)
    {
        function = reinterpret_cast<Function>(dlsym(m_handle.get(), name));
        if (function == nullptr) {
            m_problem = fmt::format("The NVIDIA driver is too old: its library has no {}.", name);
        }
        return function != nullptr;
    }

    [[nodiscard]] std::string words(int code) const
    {
        const char* const text = m_error(code);
        return text == nullptr ? fmt::format("error {}", code) : std::string(text);
    }

    [[nodiscard]] GpuReading read(NvmlDevice device, unsigned index) const
    {
        GpuReading reading;
        std::array<char, 96> name {}; // NVML_DEVICE_NAME_V2_BUFFER_SIZE
        const bool hasName = m_name(device, name.data(), static_cast<unsigned>(name.size() - 1)) == nvmlSuccess;
        reading.name = hasName ? std::string(name.data()) : fmt::format("GPU {}", index);
        NvmlUtilization utilization {};
        if (m_utilization(device, &utilization) == nvmlSuccess) {
            reading.busyPercent = utilization.gpu;
        }
        NvmlMemory memory {};
        if (m_memory(device, &memory) == nvmlSuccess) {
            reading.usedBytes = memory.used;
            reading.totalBytes = memory.total;
        }
        return reading;
    }

    std::unique_ptr<void, int (*)(void*)> m_handle;
    std::string m_problem;
    bool m_isReady = false;
    int (*m_init)() = nullptr;
    int (*m_shutdown)() = nullptr;
    int (*m_count)(unsigned*) = nullptr;
    int (*m_device)(unsigned, NvmlDevice*) = nullptr;
    int (*m_name)(NvmlDevice, char*, unsigned) = nullptr;
    int (*m_utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
    int (*m_memory)(NvmlDevice, NvmlMemory*) = nullptr;
    const char* (*m_error)(int) = nullptr;
};

} // namespace

GpuMeter::GpuMeter(std::chrono::milliseconds interval, std::string library)
    : m_interval(interval)
    , m_library(std::move(library))
    , m_thread([this](const std::stop_token& stop) { watch(stop); })
{
}

void GpuMeter::setResting(bool rests)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_rests = rests;
    }
    m_changed.notify_all();
}

std::shared_ptr<const GpuReport> GpuMeter::latest() const
{
    const std::scoped_lock lock(m_mutex);
    return m_latest;
}

void GpuMeter::watch(const std::stop_token& stop)
{
    if (!waitUntilWanted(stop)) {
        return;
    }
    const Nvml nvml(m_library);
    do {
        GpuReport report = nvml.read();
        const bool isUseless = !report.available.ok;
        publish(std::move(report));
        if (isUseless) {
            return; // a driver does not come while a program runs
        }
        std::unique_lock lock(m_mutex);
        m_changed.wait_for(lock, stop, m_interval, [this] { return m_rests; });
    } while (waitUntilWanted(stop));
}

bool GpuMeter::waitUntilWanted(const std::stop_token& stop)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, stop, [this] { return !m_rests; });
    return !stop.stop_requested();
}

void GpuMeter::publish(GpuReport report)
{
    auto published = std::make_shared<const GpuReport>(std::move(report));
    const std::scoped_lock lock(m_mutex);
    m_latest = std::move(published);
}

} // namespace mantissa
