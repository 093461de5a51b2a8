// Stands in for libnvidia-ml.so.1: two GPUs, the second of which tells neither its use nor its name.
#include <cstdint>
#include <cstring>

namespace {

struct Utilization
{
    unsigned gpu;
    unsigned memory;
};

struct Memory
{
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

constexpr int notSupported = 3;

std::uintptr_t indexOf(void* device)
{
    return reinterpret_cast<std::uintptr_t>(device) - 1;
}

} // namespace

extern "C" {

int nvmlInit_v2()
{
    return 0;
}

int nvmlShutdown()
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count)
{
    *count = 2;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device)
{
    *device = reinterpret_cast<void*>(std::uintptr_t {index} + 1);
    return 0;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length)
{
    constexpr const char* first = "Fake GPU";
    if (indexOf(device) != 0 || length <= std::strlen(first)) {
        return notSupported;
    }
    std::strcpy(name, first);
    return 0;
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* utilization)
{
    static unsigned asked = 0;
    *utilization = {40 + asked++ % 60, 7};
    return indexOf(device) == 0 ? 0 : notSupported;
}

int nvmlDeviceGetMemoryInfo(void* device, Memory* memory)
{
    constexpr unsigned long long gibibyte = 1ULL << 30U;
    const unsigned long long used = (indexOf(device) + 1) * gibibyte;
    *memory = {16 * gibibyte, 16 * gibibyte - used, used};
    return 0;
}

const char* nvmlErrorString(int)
{
    return "Not Supported";
}
}
