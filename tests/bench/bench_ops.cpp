// What the formats cost on this CPU, op by op: the ops of one training step of an MLP, of a ResNet block and of a
// transformer block, in FP32, FP16 and BF16, and their sum as a ratio to FP32. The MLP's sizes: --batch=N --width=N
// (default 128 and 512); --threads=N; other flags are Google Benchmark's (--benchmark_filter=resnet).
#include "engine/backends/cpu/cpu_backend.h"
#include "engine/core/philox.h"
#include "tests/bench/step_ops.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>

namespace {

using namespace mantissa;

constexpr std::array dtypes {DType::Float32, DType::Float16, DType::BFloat16};

/// One bound kernel with its memory.
class BoundKernel
{
public:
    BoundKernel(Backend& backend, const KernelRequest& request, Stream& stream)
        : m_kernel(backend.prepare(request))
        , m_workspace(backend.allocate(m_kernel->workspaceBytes()))
        , m_stream(&stream)
    {
        KernelBinding binding;
        for (const TensorType& type : request.inputs) {
            binding.inputs.push_back(fill(backend, type));
        }
        for (const TensorType& type : request.outputs) {
            binding.outputs.push_back(fill(backend, type));
        }
        // Updates and gradient passes work in place: their tensors come first among the outputs, in input order.
        if (request.op == Op::Unscale) {
            binding.outputs[0] = binding.inputs[1];
        } else if (request.op == Op::AdamUpdate) {
            std::copy_n(binding.inputs.begin() + 3, 4, binding.outputs.begin());
        }
        const bool countsRounding = !request.outputs.empty() && isHalf(request.outputs[0].dtype);
        binding.census = countsRounding ? &m_census : nullptr;
        binding.workspace = m_workspace->data();
        m_kernel->bind(binding);
    }

    void run() { m_kernel->run(*m_stream); }

private:
    void* fill(Backend& backend, const TensorType& type)
    {
        m_memory.push_back(backend.allocate(type.bytes()));
        void* data = m_memory.back()->data();
        std::memset(data, 0, type.bytes());
        if (type.dtype != DType::Float32 && !isHalf(type.dtype)) {
            return data;
        }
        std::vector<float> values(static_cast<std::size_t>(type.shape.elements()));
        fillUniform(values, 0.01F, 0.1F, Philox(1, m_memory.size()));
        Buffer& source = *m_sources.emplace_back(backend.allocate(values.size() * sizeof(float)));
        std::memcpy(source.data(), values.data(), source.bytes());
        const auto cast
            = backend.prepare({Op::Cast, {}, {{DType::Float32, type.shape}}, {{type.dtype, type.shape}}, 1});
        cast->bind({{source.data()}, {data}});
        cast->run(*m_stream);
        return data;
    }

    std::vector<std::unique_ptr<Buffer>> m_memory;
    std::vector<std::unique_ptr<Buffer>> m_sources;
    std::unique_ptr<Kernel> m_kernel;
    std::unique_ptr<Buffer> m_workspace;
    Stream* m_stream;
    Census m_census;
};

std::string benchmarkName(const StepSet& set, const StepOp& op, DType dtype)
{
    return fmt::format("{}: {} {}", set.name, op.name, nameOf(dtype));
}

/// Prints as usual and keeps the times for the table of ratios.
class RatioReporter : public benchmark::ConsoleReporter
{
public:
    void ReportRuns(const std::vector<Run>& runs) override
    {
        benchmark::ConsoleReporter::ReportRuns(runs);
        for (const Run& run : runs) {
            std::string name = run.benchmark_name();
            name.erase(std::min(name.find("/real_time"), name.size()));
            const double time = run.run_name.time_type.empty() ? run.GetAdjustedCPUTime() : run.GetAdjustedRealTime();
            const auto [entry, isNew] = m_microseconds.try_emplace(name, time);
            entry->second = std::min(entry->second, time);
        }
    }

    void printRatios(const StepSet& set) const
    {
        std::array<double, dtypes.size()> step {};
        fmt::print("\n{:<34}{:>10}{:>8}{:>8}\n", set.name + ", ratio to fp32", "fp32 us", "fp16", "bf16");
        for (const StepOp& op : set.ops) {
            std::array<double, dtypes.size()> times {};
            for (std::size_t i = 0; i < dtypes.size(); ++i) {
                const auto found = m_microseconds.find(benchmarkName(set, op, dtypes[i]));
                times[i] = found != m_microseconds.end() ? found->second : 0.0;
                step[i] += times[i] * op.perStep;
            }
            printRow(op.name, times);
        }
        printRow("forward and backward", step);
    }

private:
    static void printRow(const char* name, const std::array<double, dtypes.size()>& times)
    {
        const auto ratio = [&](double time) { return times[0] > 0 ? fmt::format("{:.2f}", time / times[0]) : "-"; };
        fmt::print("{:<34}{:>10.1f}{:>8}{:>8}\n", name, times[0], ratio(times[1]), ratio(times[2]));
    }

    std::map<std::string, double> m_microseconds;
};

/// Takes "--name=value" out of the arguments.
std::int64_t takeOption(std::vector<char*>& arguments, const std::string& name, std::int64_t value)
{
    const std::string prefix = "--" + name + "=";
    const auto isOption = [&](const char* argument) { return std::string(argument).rfind(prefix, 0) == 0; };
    for (const char* argument : arguments) {
        if (isOption(argument)) {
            value = std::max(1LL, std::atoll(argument + prefix.size()));
        }
    }
    std::erase_if(arguments, isOption);
    return value;
}

} // namespace

int main(int argc, char** argv)
{
    std::vector<char*> arguments(argv, argv + argc);
    const std::int64_t batch = takeOption(arguments, "batch", 128);
    const std::int64_t width = takeOption(arguments, "width", 512);
    const auto threads = static_cast<int>(takeOption(arguments, "threads", 1));
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());

    const auto backend = makeCpuBackend();
    const auto stream = backend->createStream(threads);
    fmt::print("{}, {}; {} threads\n", backend->device().name, backend->device().instructionSet, threads);
    const std::vector<StepSet> sets {mlpOps(batch, width), resnetOps(), transformerOps()};
    for (const StepSet& set : sets) {
        for (const StepOp& op : set.ops) {
            for (const DType dtype : dtypes) {
                if (op.onlyMixed && dtype == DType::Float32) {
                    continue;
                }
                // Prepared when it runs: one kernel's memory at a time.
                const auto run = [&backend, &stream, request = op.request(dtype), threads](benchmark::State& state) {
                    KernelRequest sized = request;
                    sized.threads = threads;
                    BoundKernel kernel(*backend, sized, *stream);
                    kernel.run();
                    for (auto iteration : state) {
                        static_cast<void>(iteration);
                        kernel.run();
                    }
                };
                auto* registered = benchmark::RegisterBenchmark(benchmarkName(set, op, dtype).c_str(), run);
                registered->Unit(benchmark::kMicrosecond);
                if (threads > 1) {
                    registered->UseRealTime(); // the CPU time of this thread alone says nothing then
                }
            }
        }
    }
    RatioReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    for (const StepSet& set : sets) {
        reporter.printRatios(set);
    }
    return 0;
}
