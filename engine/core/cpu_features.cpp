#include "engine/core/cpu_features.h"

#include "engine/core/error.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mantissa {

namespace {

constexpr std::array allLevels {CpuIsa::Baseline, CpuIsa::Avx2, CpuIsa::Avx512, CpuIsa::Avx512Bf16};

constexpr int notForced = -1;
std::atomic<int> forcedLevel {notForced};

#if defined(__x86_64__)

bool cpuidBit(unsigned leaf, unsigned subleaf, unsigned reg, unsigned bit)
{
    std::array<unsigned, 4> registers {};
    if (__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2], &registers[3]) == 0) {
        return false;
    }
    return ((registers.at(reg) >> bit) & 1U) != 0;
}

// __builtin_cpu_supports() also asks whether the operating system saves the wide registers. F16C and AVX512_BF16
// are read from cpuid, as not every compiler knows their names there.
CpuIsa detect()
{
    constexpr unsigned eax = 0;
    constexpr unsigned ecx = 2;
    const bool hasF16c = cpuidBit(1, 0, ecx, 29);
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !hasF16c) {
        return CpuIsa::Baseline;
    }
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl")
        || !__builtin_cpu_supports("avx512dq")) {
        return CpuIsa::Avx2;
    }
    const bool hasBf16 = cpuidBit(7, 1, eax, 5);
    return hasBf16 ? CpuIsa::Avx512Bf16 : CpuIsa::Avx512;
}

#else

CpuIsa detect()
{
    return CpuIsa::Baseline;
}

#endif

std::string levelsUpTo(CpuIsa highest)
{
    std::string names;
    for (const CpuIsa level : allLevels) {
        if (level <= highest) {
            names += (names.empty() ? "" : ", ") + std::string(nameOf(level));
        }
    }
    return names;
}

} // namespace

std::string_view nameOf(CpuIsa isa)
{
    switch (isa) {
    case CpuIsa::Baseline:
        return "baseline";
    case CpuIsa::Avx2:
        return "avx2";
    case CpuIsa::Avx512:
        return "avx512";
    case CpuIsa::Avx512Bf16:
        return "avx512_bf16";
    }
    throw Error(ErrorCode::Internal, "CPU level number " + std::to_string(static_cast<int>(isa)) + " does not exist.");
}

std::optional<CpuIsa> cpuIsaFromName(std::string_view name)
{
    for (const CpuIsa level : allLevels) {
        if (nameOf(level) == name) {
            return level;
        }
    }
    return std::nullopt;
}

CpuIsa detectedCpuIsa()
{
    static const CpuIsa detected = detect();
    return detected;
}

CpuIsa selectCpuIsa(std::string_view requested, CpuIsa detected)
{
    if (requested.empty()) {
        return detected;
    }
    const std::optional<CpuIsa> level = cpuIsaFromName(requested);
    if (!level) {
        throw Error(ErrorCode::InvalidArgument,
            "MANTISSA_CPU_ISA=" + std::string(requested) + " names no instruction set; use one of "
                + levelsUpTo(detected) + ", or unset it.");
    }
    if (*level > detected) {
        throw Error(ErrorCode::InvalidArgument,
            "MANTISSA_CPU_ISA=" + std::string(requested) + " asks for more than this CPU has; use one of "
                + levelsUpTo(detected) + ", or unset it.");
    }
    return *level;
}

CpuIsa cpuIsa()
{
    const int forced = forcedLevel.load(std::memory_order_relaxed);
    if (forced != notForced) {
        return static_cast<CpuIsa>(forced);
    }
    static const CpuIsa selected = [] {
        const char* requested = std::getenv("MANTISSA_CPU_ISA"); // NOLINT(concurrency-mt-unsafe): nothing sets it
        return selectCpuIsa(requested != nullptr ? requested : "", detectedCpuIsa());
    }();
    return selected;
}

ScopedCpuIsa::ScopedCpuIsa(CpuIsa isa)
    : m_previous(notForced)
{
    if (isa > detectedCpuIsa()) {
        throw Error(ErrorCode::InvalidArgument,
            "The instruction set " + std::string(nameOf(isa)) + " cannot be forced: this CPU has at most "
                + std::string(nameOf(detectedCpuIsa())) + ".");
    }
    m_previous = forcedLevel.exchange(static_cast<int>(isa));
}

ScopedCpuIsa::~ScopedCpuIsa()
{
    forcedLevel.store(m_previous);
}

} // namespace mantissa
