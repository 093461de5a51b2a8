// The numeric checks of the CUDA backend as one program without Qt, for a machine with a GPU; scripts/cuda-check runs
// it.
#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/graph/op_def.h"
#include "tests/cuda/lane_cases.h"
#include "tests/support/op_verdict.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

using namespace mantissa;
using namespace mantissa::test;

namespace {

struct Tally
{
    int checked = 0;
    json failed = json::array();

    void note(const std::string& name, const std::optional<std::string>& complaint)
    {
        ++checked;
        if (complaint) {
            failed.push_back({{"case", name}, {"what", *complaint}});
            fmt::print(stderr, "wrong: {}: {}\n", name, *complaint);
        }
    }

    [[nodiscard]] json result() const { return {{"checked", checked}, {"failed", failed}}; }
};

std::optional<std::string> guarded(const std::function<std::optional<std::string>()>& check)
{
    try {
        return check();
    } catch (const std::exception& error) {
        return error.what();
    }
}

/// Right, and the same bits when it runs again.
std::optional<std::string> complaintAboutOp(Backend& backend, const OpCase& opCase)
{
    const OpResult first = runOp(backend, opCase.call);
    const OpResult second = runOp(backend, opCase.call);
    if (first.outputs != second.outputs || first.census != second.census) {
        return "it is not the same when it runs again";
    }
    return Verdict(opCase).complaintAbout(first, backend.device());
}

json checkOps(Backend& backend, bool isQuick)
{
    Tally tally;
    const std::vector<std::int64_t> sizes
        = isQuick ? std::vector<std::int64_t> {33} : std::vector<std::int64_t> {1, 33, 257, 1000};
    const std::vector<Fill> fills
        = isQuick ? std::vector<Fill> {Fill::Plain} : std::vector<Fill> {Fill::Plain, Fill::Special};
    for (const OpDef& def : allOps()) {
        for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
            RandomValues random(static_cast<std::uint64_t>(def.op) * 16 + static_cast<std::uint64_t>(dtype));
            for (const std::int64_t size : sizes) {
                for (const Fill fill : fills) {
                    for (const OpCase& opCase : casesOf(def.op, {dtype, size, fill}, random)) {
                        const std::string name = fmt::format("{} {}, size {}, {}, {}", def.name,
                            mantissa::nameOf(dtype), size, mantissa::test::nameOf(fill), opCase.name);
                        tally.note(name, guarded([&] { return complaintAboutOp(backend, opCase); }));
                    }
                }
            }
        }
    }
    return tally.result();
}

json checkLanes()
{
    Tally tally;
    for (const LaneCase& laneCase : laneCases()) {
        tally.note(laneCase.name, guarded([&] { return complaintAbout(laneCase); }));
    }
    return tally.result();
}

/// GB/s of a pass that moves so many bytes.
double rateOf(Stream& stream, double bytes, const std::function<void()>& pass)
{
    constexpr int rounds = 20;
    pass();
    stream.synchronize();
    const double start = steadySeconds();
    for (int i = 0; i < rounds; ++i) {
        pass();
    }
    stream.synchronize();
    return bytes * rounds / (steadySeconds() - start) / 1e9;
}

/// The unscale pass in place over n FP32 gradients, against a copy on the device.
json measureUnscale(Backend& backend, std::int64_t n)
{
    const TensorType gradient {DType::Float32, Shape {n}};
    const TensorType scalar {DType::Float32, {}};
    const auto stream = backend.createStream(1);
    const auto memory = backend.allocate(gradient.bytes());
    const auto copy = backend.allocate(gradient.bytes());
    const auto scalars = backend.allocate(64);
    const auto kernel
        = backend.prepare({Op::Unscale, {}, {scalar, gradient}, {gradient, scalar, {DType::Float64, {}}, scalar}, 1});
    const auto workspace = backend.allocate(kernel->workspaceBytes());
    stream->fillZero(memory->data(), memory->bytes());
    const float half = 0.5F;
    stream->upload(scalars->data(), &half, sizeof half);
    auto* const at = static_cast<std::byte*>(scalars->data());
    KernelBinding binding;
    binding.inputs = {at, memory->data()};
    binding.outputs = {memory->data(), at + 8, at + 16, at + 24};
    binding.workspace = workspace->data();
    kernel->bind(binding);
    const auto bytes = 2 * static_cast<double>(gradient.bytes());
    const double unscale = rateOf(*stream, bytes, [&] { kernel->run(*stream); });
    const double plain = rateOf(*stream, bytes, [&] { stream->copy(copy->data(), memory->data(), memory->bytes()); });
    return {{"elements", n}, {"unscale_gb_per_s", unscale}, {"copy_gb_per_s", plain}};
}

/// Step after step, each begun before the numbers of the one before are read.
void stepAhead(Lane& lane, int steps)
{
    lane.begin();
    for (int i = 1; i < steps; ++i) {
        lane.complete();
        lane.begin();
        static_cast<void>(lane.collect());
    }
    lane.complete();
    static_cast<void>(lane.collect());
}

/// Steps a second of a lane, with its phases replayed as graphs or not, and running ahead or not.
double stepRate(const json& document, bool usesGraphs, bool runsAhead, int steps)
{
    setenv("MANTISSA_CUDA_GRAPHS", usesGraphs ? "1" : "0", 1);
    const auto lane = laneOn("cuda", document);
    for (int i = 0; i < 5; ++i) {
        lane->step();
    }
    if ((lane->executor().recordedPhases() > 0) != usesGraphs) {
        throw std::runtime_error("the phases of a step could not be recorded as graphs");
    }
    const double start = steadySeconds();
    if (runsAhead) {
        stepAhead(*lane, steps);
    } else {
        for (int i = 0; i < steps; ++i) {
            lane->step();
        }
    }
    return steps / (steadySeconds() - start);
}

/// What graphs and running ahead bring, from small models to larger ones.
json measureGraphs(bool isQuick)
{
    const std::array<std::pair<const char*, json>, 3> models {{
        {"mlp 17-9, batch 12", mlp({fp16})},
        {"mlp 512-512, batch 128", mlp({fp16, R"({"data": {"batch": 128}, "model": {"hidden": [512, 512]}})"})},
        {"cnn, batch 64", mlp({fp16, R"({"data": {"batch": 64}, "model": {"kind": "cnn", "width": 16, "hidden": [64],
            "stages": 2}})"})},
    }};
    json list = json::array();
    for (const auto& [name, document] : models) {
        if (isQuick && !list.empty()) {
            break; // the layer of the tests takes seconds for a step of the others
        }
        const int steps = isQuick ? 5 : 300;
        const double with = stepRate(document, true, false, steps);
        const double without = stepRate(document, false, false, steps);
        list.push_back({{"model", name}, {"steps_per_second", with}, {"without_graphs", without},
            {"ratio", with / without}, {"running_ahead", stepRate(document, true, true, steps)}});
    }
    unsetenv("MANTISSA_CUDA_GRAPHS");
    return list;
}

std::string rateText(const json& bench, std::size_t i)
{
    const json& rate = bench.at("precisions").at(i).at("steps_per_second");
    return rate.is_number() ? fmt::format("{:.0f}", rate.get<double>()) : rate.dump();
}

/// What scripts/cuda-check collected, in Markdown.
std::string tableOf(const json& results)
{
    const json& check = results.at("check");
    std::string text
        = fmt::format("# {}\n\nMade by scripts/cuda-check in {} s; the whole is in the JSON file beside this "
                      "one.\n\n",
            check.at("device").get<std::string>(), results.at("seconds").get<int>());
    for (const char* const part : {"ops", "lanes"}) {
        text += fmt::format("- {}: {} checked, {} wrong\n", part, check.at(part).at("checked").get<int>(),
            check.at(part).at("failed").size());
    }
    if (check.contains("rates")) {
        text += fmt::format("- the unscale pass moves {:.1f} GB/s, a copy on the device {:.1f} GB/s\n",
            check.at("rates").at("unscale_gb_per_s").get<double>(),
            check.at("rates").at("copy_gb_per_s").get<double>());
    }
    for (const json& graph : check.value("graphs", json::array())) {
        text += fmt::format("- {}: {:.0f} steps/s with graphs, {:.0f} without: {:.2f} times; {:.0f} running ahead\n",
            graph.at("model").get<std::string>(), graph.at("steps_per_second").get<double>(),
            graph.at("without_graphs").get<double>(), graph.at("ratio").get<double>(),
            graph.at("running_ahead").get<double>());
    }
    const json& sanitizer = results.at("compute_sanitizer");
    text += fmt::format("- compute-sanitizer: {}\n", sanitizer.is_null() ? "not installed" : sanitizer.dump());
    const json nccl = results.value("nccl", json()); // absent in older results
    text += fmt::format("- NCCL between two GPUs: {}\n", nccl.is_null() ? "not tried" : nccl.get<std::string>());
    if (!results.at("benchmarks").empty()) {
        text += "\n| experiment | device | precision | steps/s |\n|---|---|---|---|\n";
    }
    for (const json& bench : results.at("benchmarks")) {
        for (std::size_t i = 0; i < bench.at("precisions").size(); ++i) {
            text += fmt::format("| {} | {} | {} | {} |\n", bench.at("experiment").get<std::string>(),
                bench.at("device").get<std::string>(), bench.at("precisions")[i].at("precision").get<std::string>(),
                rateText(bench, i));
        }
    }
    const json torch = results.value("pytorch", json::array());
    if (!torch.empty()) {
        text += "\n| experiment | PyTorch | precision | steps/s |\n|---|---|---|---|\n";
    }
    for (const json& run : torch) {
        const json& result = run.at("result");
        text += fmt::format("| {} | {} {} | {} | {:.0f} |\n", run.at("experiment").get<std::string>(),
            result.at("torch").get<std::string>(), result.at("compiled").get<bool>() ? "compiled" : "eager",
            result.at("policy").get<std::string>(), result.at("steps_per_second").get<double>());
    }
    return text;
}

} // namespace

int main(int count, char** arguments)
{
    const std::vector<std::string_view> options(arguments + 1, arguments + count);
    const auto has = [&options](std::string_view name) { return std::ranges::find(options, name) != options.end(); };
    if (has("--help")) {
        fmt::print(
            "Usage: cuda_check [--quick] [--no-rates]   checks the CUDA backend on this machine's GPU, prints JSON\n"
            "       cuda_check --table FILE             what scripts/cuda-check collected, as Markdown\n");
        return 0;
    }
    try {
        if (options.size() == 2 && options[0] == "--table") {
            std::ifstream file {std::string(options[1])};
            fmt::print("{}", tableOf(json::parse(file)));
            return 0;
        }
        Backend& backend = backendByName("cuda");
        const DeviceInfo& device = backend.device();
        json result {{"device", device.name}, {"libraries", device.instructionSet}, {"note", device.note}};
        result["ops"] = checkOps(backend, has("--quick"));
        result["lanes"] = checkLanes();
        if (!has("--no-rates")) {
            result["rates"] = measureUnscale(backend, std::int64_t {1} << (has("--quick") ? 20U : 26U));
            result["graphs"] = measureGraphs(has("--quick"));
        }
        const bool isRight = result["ops"]["failed"].empty() && result["lanes"]["failed"].empty();
        result["pass"] = isRight;
        fmt::print("{}\n", result.dump(2));
        return isRight ? 0 : 3;
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return 1;
    }
}
