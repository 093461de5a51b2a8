// What the formats cost on this CPU, op by op: the ops of one training step of an MLP, in FP32, FP16 and BF16, and
// their sum as a ratio to FP32. Sizes: --batch=N --width=N (default 128 and 512); other flags are Google Benchmark's.
#include "engine/backends/cpu/cpu_backend.h"
#include "engine/core/philox.h"

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

struct StepOp
{
    const char* name;
    int perStep; ///< times in the step of an MLP with two hidden layers
    bool onlyMixed; ///< casts, which an FP32 step lacks
    std::function<KernelRequest(DType)> request;
};

std::vector<StepOp> stepOps(std::int64_t batch, std::int64_t width)
{
    const Shape activation {batch, width};
    const Shape weight {width, width};
    const Shape bias {width};
    const auto f32 = [](const Shape& shape) { return TensorType {DType::Float32, shape}; };
    const TensorType scalar = f32({});
    const TensorType sum {DType::Float64, {}};
    return {
        {"cast weight to half", 2, true,
            [=](DType t) {
                return KernelRequest {Op::Cast, {}, {f32(weight)}, {{t, weight}}, 1};
            }},
        {"linear", 2, false,
            [=](DType t) {
                return KernelRequest {Op::Linear, {}, {{t, activation}, {t, weight}, {t, bias}}, {{t, activation}}, 1};
            }},
        {"relu", 2, false,
            [=](DType t) {
                return KernelRequest {Op::Relu, {}, {{t, activation}}, {{t, activation}}, 1};
            }},
        {"gelu", 0, false,
            [=](DType t) {
                return KernelRequest {Op::Gelu, GeluAttributes {}, {{t, activation}}, {{t, activation}}, 1};
            }},
        {"dropout", 0, false,
            [=](DType t) {
                return KernelRequest {Op::Dropout, DropoutAttributes {}, {{t, activation}, {DType::Int32, {}}},
                    {{t, activation}, {DType::UInt8, activation}}, 1};
            }},
        {"relu_grad", 2, false,
            [=](DType t) {
                return KernelRequest {Op::ReluGrad, {}, {{t, activation}, {t, activation}}, {{t, activation}}, 1};
            }},
        {"gelu_grad", 0, false,
            [=](DType t) {
                return KernelRequest {
                    Op::GeluGrad, GeluAttributes {}, {{t, activation}, {t, activation}}, {{t, activation}}, 1};
            }},
        {"matmul for input gradient", 2, false,
            [=](DType t) {
                return KernelRequest {
                    Op::MatMul, MatMulAttributes {}, {{t, activation}, {t, weight}}, {{t, activation}}, 1};
            }},
        {"matmul for weight gradient", 2, false,
            [=](DType t) {
                return KernelRequest {
                    Op::MatMul, MatMulAttributes {true, false}, {{t, activation}, {t, activation}}, {{t, weight}}, 1};
            }},
        {"sum_rows", 2, false,
            [=](DType t) {
                return KernelRequest {Op::SumRows, {}, {{t, activation}}, {{t, bias}}, 1};
            }},
        {"cast gradient to fp32", 2, true,
            [=](DType t) {
                return KernelRequest {Op::Cast, {}, {{t, weight}}, {f32(weight)}, 1};
            }},
        {"unscale", 2, false,
            [=](DType) {
                return KernelRequest {Op::Unscale, {}, {scalar, f32(weight)}, {f32(weight), scalar, sum, scalar}, 1};
            }},
        {"adam_update", 2, false,
            [=](DType) {
                const TensorType w = f32(weight);
                return KernelRequest {Op::AdamUpdate, AdamAttributes {}, {scalar, scalar, w, w, w, w, scalar},
                    {w, w, w, scalar, sum, sum}, 1};
            }},
    };
}

std::string benchmarkName(const StepOp& op, DType dtype)
{
    return fmt::format("{} {}", op.name, nameOf(dtype));
}

/// Prints as usual and keeps the times for the table of ratios.
class RatioReporter : public benchmark::ConsoleReporter
{
public:
    void ReportRuns(const std::vector<Run>& runs) override
    {
        benchmark::ConsoleReporter::ReportRuns(runs);
        for (const Run& run : runs) {
            const std::string name = run.benchmark_name();
            const double time = run.GetAdjustedCPUTime();
            const auto [entry, isNew] = m_microseconds.try_emplace(name, time);
            entry->second = std::min(entry->second, time);
        }
    }

    void printRatios(const std::vector<StepOp>& ops) const
    {
        fmt::print("\n{:<28}{:>10}{:>8}{:>8}\n", "ratio to fp32", "fp32 us", "fp16", "bf16");
        std::array<double, dtypes.size()> step {};
        for (const StepOp& op : ops) {
            std::array<double, dtypes.size()> times {};
            for (std::size_t i = 0; i < dtypes.size(); ++i) {
                const auto found = m_microseconds.find(benchmarkName(op, dtypes[i]));
                times[i] = found != m_microseconds.end() ? found->second : 0.0;
                step[i] += times[i] * op.perStep;
            }
            printRow(op.name, times);
        }
        printRow("step, two hidden layers", step);
    }

private:
    static void printRow(const char* name, const std::array<double, dtypes.size()>& times)
    {
        const auto ratio = [&](double time) { return times[0] > 0 ? fmt::format("{:.2f}", time / times[0]) : "-"; };
        fmt::print("{:<28}{:>10.1f}{:>8}{:>8}\n", name, times[0], ratio(times[1]), ratio(times[2]));
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
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());

    const auto backend = makeCpuBackend();
    const auto stream = backend->createStream(1);
    fmt::print("{}, {}; batch {}, width {}\n", backend->device().name, backend->device().instructionSet, batch, width);
    const std::vector<StepOp> ops = stepOps(batch, width);
    for (const StepOp& op : ops) {
        for (const DType dtype : dtypes) {
            if (op.onlyMixed && dtype == DType::Float32) {
                continue;
            }
            const std::string name = benchmarkName(op, dtype);
            const auto kernel = std::make_shared<BoundKernel>(*backend, op.request(dtype), *stream);
            benchmark::RegisterBenchmark(name.c_str(), [kernel](benchmark::State& state) {
                for (auto iteration : state) {
                    static_cast<void>(iteration);
                    kernel->run();
                }
            })->Unit(benchmark::kMicrosecond);
        }
    }
    RatioReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    reporter.printRatios(ops);
    return 0;
}
