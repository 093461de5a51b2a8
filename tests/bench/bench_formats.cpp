/// Rate of every conversion and census variant on every path of this machine, beside memcpy. Bytes are read plus
/// written. Run: build/release/bin/bench_formats --benchmark_filter=avx2/65536
#include "engine/core/cpu_features.h"
#include "engine/core/philox.h"
#include "engine/formats/convert.h"
#include "engine/formats/round_census.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

using namespace mantissa;

namespace {

/// What gradients look like: normal values, a part of which FP16 makes subnormal.
std::vector<float> sourceValues(std::size_t n)
{
    std::vector<float> values(n);
    fillNormal(values, 0.0F, 1e-4F, Philox(1, randomStream(RandomPurpose::Data)));
    return values;
}

std::size_t lengthOf(const benchmark::State& state)
{
    return static_cast<std::size_t>(state.range(0));
}

void setBytes(benchmark::State& state, std::size_t bytesPerElement)
{
    state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(bytesPerElement));
}

void copyFloats(benchmark::State& state)
{
    const std::vector<float> src = sourceValues(lengthOf(state));
    std::vector<float> dst(src.size());
    for ([[maybe_unused]] auto iteration : state) {
        std::memcpy(dst.data(), src.data(), src.size() * sizeof(float));
        benchmark::ClobberMemory();
    }
    setBytes(state, 2 * sizeof(float));
}

template <typename Half> void rounding(benchmark::State& state, CpuIsa isa)
{
    const ScopedCpuIsa forced(isa);
    const std::vector<float> src = sourceValues(lengthOf(state));
    std::vector<Half> dst(src.size());
    for ([[maybe_unused]] auto iteration : state) {
        convert(src, dst);
        benchmark::ClobberMemory();
    }
    setBytes(state, sizeof(float) + sizeof(Half));
}

template <typename Half> void widening(benchmark::State& state, CpuIsa isa)
{
    const ScopedCpuIsa forced(isa);
    std::vector<Half> src(lengthOf(state));
    convert(sourceValues(src.size()), src);
    std::vector<float> dst(src.size());
    for ([[maybe_unused]] auto iteration : state) {
        convert(src, dst);
        benchmark::ClobberMemory();
    }
    setBytes(state, sizeof(float) + sizeof(Half));
}

template <typename Half> void roundingWithCensus(benchmark::State& state, CpuIsa isa)
{
    const ScopedCpuIsa forced(isa);
    const std::vector<float> src = sourceValues(lengthOf(state));
    std::vector<Half> dst(src.size());
    Census counts;
    for ([[maybe_unused]] auto iteration : state) {
        roundWithCensus(src, dst, counts);
        benchmark::ClobberMemory();
    }
    setBytes(state, sizeof(float) + sizeof(Half));
}

template <typename Half> void roundingWithHistogram(benchmark::State& state, CpuIsa isa)
{
    const ScopedCpuIsa forced(isa);
    const std::vector<float> src = sourceValues(lengthOf(state));
    std::vector<Half> dst(src.size());
    Census counts;
    ExponentHistogram histogram {};
    for ([[maybe_unused]] auto iteration : state) {
        roundWithCensus(src, dst, counts, histogram);
        benchmark::ClobberMemory();
    }
    setBytes(state, sizeof(float) + sizeof(Half));
}

void countingFloat32(benchmark::State& state, CpuIsa isa)
{
    const ScopedCpuIsa forced(isa);
    const std::vector<float> src = sourceValues(lengthOf(state));
    for ([[maybe_unused]] auto iteration : state) {
        benchmark::DoNotOptimize(census(src));
    }
    setBytes(state, sizeof(float));
}

void countingFloat32WithHistogram(benchmark::State& state, CpuIsa isa)
{
    const ScopedCpuIsa forced(isa);
    const std::vector<float> src = sourceValues(lengthOf(state));
    ExponentHistogram histogram {};
    for ([[maybe_unused]] auto iteration : state) {
        benchmark::DoNotOptimize(census(src, histogram));
    }
    setBytes(state, sizeof(float));
}

using Body = void (*)(benchmark::State&, CpuIsa);

struct Case
{
    const char* name;
    Body body;
};

constexpr Case cases[] = {
    {"fp32->fp16", rounding<Float16>},
    {"fp32->fp16 census", roundingWithCensus<Float16>},
    {"fp32->fp16 census histogram", roundingWithHistogram<Float16>},
    {"fp16->fp32", widening<Float16>},
    {"fp32->bf16", rounding<BFloat16>},
    {"fp32->bf16 census", roundingWithCensus<BFloat16>},
    {"fp32->bf16 census histogram", roundingWithHistogram<BFloat16>},
    {"bf16->fp32", widening<BFloat16>},
    {"fp32 census", countingFloat32},
    {"fp32 census histogram", countingFloat32WithHistogram},
};

void registerAll()
{
    constexpr std::int64_t inCache = 1 << 16;
    constexpr std::int64_t inMemory = 1 << 25;
    benchmark::RegisterBenchmark("memcpy", copyFloats)->Arg(inCache)->Arg(inMemory);
    for (int level = 0; level <= static_cast<int>(detectedCpuIsa()); ++level) {
        const auto isa = static_cast<CpuIsa>(level);
        for (const Case& one : cases) {
            const std::string name = std::string(one.name) + "/" + std::string(nameOf(isa));
            const Body body = one.body;
            benchmark::RegisterBenchmark(name.c_str(), [body, isa](benchmark::State& state) { body(state, isa); })
                ->Arg(inCache)
                ->Arg(inMemory);
        }
    }
}

} // namespace

int main(int argc, char** argv)
{
    registerAll();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
