// What the formats cost on whole models: a training step of each preset in FP32, FP16 and BF16 on the CPU backend with
// one thread, and its ratio to FP32. The precisions take turns, so that a drifting machine does not tilt the ratios.
// Flags are Google Benchmark's: --benchmark_filter=cnn, --benchmark_repetitions=15, --benchmark_min_time=1.
#include "engine/backends/backend_registry.h"
#include "engine/train/lane.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace mantissa;

constexpr std::array policies {"fp32", "fp16", "bf16"};

struct Preset
{
    const char* name;
    const char* settings;
};

/// Sizes that a person would train on a laptop.
constexpr Preset presets[] {
    {"mlp", R"({"data": {"batch": 128}, "model": {"kind": "mlp", "hidden": [512, 512]}})"},
    {"cnn", R"({"data": {"batch": 64}, "model": {"kind": "cnn"}})"},
    {"resnet", R"({"data": {"batch": 64}, "model": {"kind": "resnet"}})"},
    {"vit", R"({"data": {"batch": 64}, "model": {"kind": "vit"}})"},
    {"gpt", R"({"data": {"batch": 16}, "model": {"kind": "gpt", "width": 128, "depth": 4}})"},
};

std::shared_ptr<const Dataset> digits()
{
    static const auto data = std::make_shared<const Dataset>(loadDataset({}, 1, {}));
    return data;
}

/// 64 tokens of context, 96 of vocabulary: the size of a plain text.
std::shared_ptr<const Dataset> tokens()
{
    static const auto data = [] {
        constexpr std::int64_t context = 64;
        constexpr std::int64_t samples = 256;
        auto made = std::make_shared<Dataset>();
        made->sampleShape = {context};
        made->samples = samples;
        made->features = context;
        made->tokenStride = context;
        made->vocabulary = 96;
        made->classes = 96;
        made->labelsTokens = true;
        const auto tokenAt = [](std::int64_t i) { return static_cast<std::int32_t>(i * i / 7 % 96); };
        for (std::int64_t i = 0; i < context * samples; ++i) {
            made->tokens.push_back(tokenAt(i));
            made->labels.push_back(tokenAt(i + 1));
        }
        made->train.resize(samples);
        std::iota(made->train.begin(), made->train.end(), 0U);
        return made;
    }();
    return data;
}

std::unique_ptr<Lane> laneOf(const Preset& preset, const std::string& policy)
{
    nlohmann::json document = nlohmann::json::parse(preset.settings);
    document["name"] = policy;
    document["data"]["kind"] = document["model"]["kind"] == "gpt" ? "copy" : "digits";
    document["data"]["prefetch"] = 0;
    document["precision"]["policy"] = policy;
    document["scaler"]["family"] = policy == "fp16" ? "pytorch" : "none";
    const LaneConfig config = parseLane(document, "bench");
    return std::make_unique<Lane>(0, config, std::vector<ScriptedEvent> {},
        config.model.kind == "gpt" ? tokens() : digits(), backendByName("cpu"), 1);
}

void trainSteps(benchmark::State& state, const Preset& preset, const std::string& policy)
{
    const auto lane = laneOf(preset, policy);
    lane->step();
    lane->step();
    for (auto _ : state) {
        lane->step();
    }
}

/// Prints as the console does and keeps each benchmark's median CPU time, which other programs disturb least.
class RatioReporter : public benchmark::ConsoleReporter
{
public:
    using ConsoleReporter::ConsoleReporter;

    void ReportRuns(const std::vector<Run>& runs) override
    {
        for (const Run& run : runs) {
            if (run.aggregate_name == "median" || run.repetitions == 1) {
                m_ms[run.run_name.function_name] = run.GetAdjustedCPUTime();
            }
        }
        ConsoleReporter::ReportRuns(runs);
    }

    void printRatios()
    {
        fmt::print("\n{:<8} {:>10} {:>11} {:>11}\n", "preset", "FP32 ms", "FP16/FP32", "BF16/FP32");
        for (const Preset& preset : presets) {
            const auto median = [&](const char* policy) { return m_ms[fmt::format("{}/{}", preset.name, policy)]; };
            if (const double base = median("fp32"); base > 0) {
                fmt::print("{:<8} {:>10.3f} {:>11.3f} {:>11.3f}\n", preset.name, base, median("fp16") / base,
                    median("bf16") / base);
            }
        }
    }

private:
    std::map<std::string, double> m_ms; ///< by name
};

} // namespace

int main(int argc, char** argv)
{
    std::vector<char*> arguments(argv, argv + argc);
    // Before the person's own, which may say otherwise.
    std::array<std::string, 4> defaults {"--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=9",
        "--benchmark_min_time=0.1", "--benchmark_display_aggregates_only=true"};
    for (std::size_t i = 0; i < defaults.size(); ++i) {
        arguments.insert(arguments.begin() + 1 + static_cast<std::ptrdiff_t>(i), defaults[i].data());
    }
    int count = static_cast<int>(arguments.size());
    for (const Preset& preset : presets) {
        for (const char* policy : policies) {
            benchmark::RegisterBenchmark(fmt::format("{}/{}", preset.name, policy).c_str(),
                [&preset, policy](benchmark::State& state) { trainSteps(state, preset, policy); })
                ->Unit(benchmark::kMillisecond);
        }
    }
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
        return 1;
    }
    const DeviceInfo& device = backendByName("cpu").device();
    fmt::print("{}; bf16 {}; one thread\n", device.name, device.bf16 == FormatSupport::Native ? "native" : "emulated");
    RatioReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    reporter.printRatios();
    return 0;
}
