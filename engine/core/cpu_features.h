/// Which instruction set the engine's own kernels use on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mantissa {

/// Levels in rising order; each includes the ones before it.
enum class CpuIsa : std::uint8_t {
    Baseline, ///< what every CPU of the architecture has
    Avx2, ///< AVX2, FMA and F16C
    Avx512, ///< AVX-512 F, BW, VL and DQ
    Avx512Bf16 ///< AVX512_BF16: native BF16 products
};

/// "baseline", "avx2", "avx512", "avx512_bf16": the spelling of MANTISSA_CPU_ISA.
std::string_view nameOf(CpuIsa isa);
std::optional<CpuIsa> cpuIsaFromName(std::string_view name);

/// The highest level that this machine and its operating system support.
CpuIsa detectedCpuIsa();

/// The level in use: the detected one, or the lower one that the environment variable MANTISSA_CPU_ISA (read once)
/// or a ScopedCpuIsa asks for. Throws Error (InvalidArgument) when MANTISSA_CPU_ISA is unknown or above the machine.
CpuIsa cpuIsa();

/// Sets the level in use, for all threads, while it lives; for tests and benchmarks of older CPUs' paths.
/// Throws Error (InvalidArgument) for a level above the machine.
class ScopedCpuIsa
{
public:
    explicit ScopedCpuIsa(CpuIsa isa);
    ~ScopedCpuIsa();
    ScopedCpuIsa(const ScopedCpuIsa&) = delete;
    ScopedCpuIsa& operator=(const ScopedCpuIsa&) = delete;

private:
    int m_previous;
};

/// The level that a value of MANTISSA_CPU_ISA selects on a machine of level `detected`; empty selects `detected`.
CpuIsa selectCpuIsa(std::string_view requested, CpuIsa detected);

} // namespace mantissa
