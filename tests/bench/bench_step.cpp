// Whole training steps as ratios, measured in turn so that a drifting machine cannot tilt them, a lane's steps in CPU
// time, which other programs do not disturb: the cost of FP16 emulation, the gain of BF16, the cost of counting,
// looking and recording. `bench_step [rounds]`, 9 by default; prints medians and extremes. Not a test: times are never
// asserted.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/store/run_store.h"
#include "engine/train/lane.h"
#include "engine/train/session.h"
#include "engine/train/step_sample.h"
#include "tests/bench/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>

using namespace mantissa;

namespace {

nlohmann::json document(std::int64_t width, std::int64_t batch, const std::string& policy)
{
    return {{"name", policy}, {"data", {{"kind", "digits"}, {"batch", batch}}},
        {"model", {{"kind", "mlp"}, {"hidden", {width, width}}}}, {"precision", {{"policy", policy}}},
        {"scaler", {{"family", policy == "fp16" ? "pytorch" : "none"}}}};
}

/// A lane that has its first steps behind it.
std::unique_ptr<Lane> warmLane(std::int64_t width, std::int64_t batch, const std::string& policy)
{
    const LaneConfig config = parseLane(document(width, batch, policy), "bench");
    const auto data = std::make_shared<const Dataset>(loadDataset(config.data, config.seed, {}));
    auto lane = std::make_unique<Lane>(0, config, std::vector<ScriptedEvent> {}, data, backendByName("cpu"), 1);
    for (int i = 0; i < 5; ++i) {
        lane->step();
    }
    return lane;
}

/// Prints the ratios of two durations that were measured in turn.
void printRatio(
    const std::string& title, int rounds, const std::function<double()>& first, const std::function<double()>& second)
{
    std::vector<double> ratios;
    for (int i = 0; i < rounds; ++i) {
        const double a = first();
        ratios.push_back(a / second());
    }
    std::ranges::sort(ratios);
    fmt::print(
        "{:<58} {:6.3f}   ({:.3f} to {:.3f})\n", title, ratios[ratios.size() / 2], ratios.front(), ratios.back());
    std::fflush(stdout);
}

/// Measures so many steps of a lane each time that it is called.
std::function<double()> steps(Lane& lane, int count)
{
    return [&lane, count] {
        return threadSecondsOf([&lane, count] {
            for (int i = 0; i < count; ++i) {
                lane.step();
            }
        });
    };
}

void compareSteps(const std::string& title, std::int64_t width, std::int64_t batch, const char* policy, int rounds)
{
    const auto narrow = warmLane(width, batch, policy);
    const auto wide = warmLane(width, batch, "fp32");
    printRatio(title, rounds, steps(*narrow, 20), steps(*wide, 20));
}

/// Steps that count what rounding did over the same steps that do not.
void compareCounting(const std::string& policy, int rounds)
{
    const auto counting = warmLane(512, 128, policy);
    const auto plain = warmLane(512, 128, policy);
    plain->setCounting(false);
    printRatio(
        policy == "fp16" ? "FP16 step counting every rounding / none" : "BF16 step counting every rounding / none",
        rounds, steps(*counting, 50), steps(*plain, 50));
}

/// Steps of which every so many are looked at tensor by tensor, over steps of which none is.
void compareSampling(const std::string& title, std::int64_t every, int rounds)
{
    const auto watched = warmLane(512, 128, "fp16");
    const auto plain = warmLane(512, 128, "fp16");
    StepSampler sampler;
    StepSample sample;
    sampler.step(*watched, sample); // compiles the lane's FP32 twin
    const auto train = [](const std::function<void(int)>& step) {
        return threadSecondsOf([&step] {
            for (int i = 0; i < 100; ++i) {
                step(i);
            }
        });
    };
    printRatio(
        title, rounds,
        [&] { return train([&](int i) { i % every == 0 ? sampler.step(*watched, sample) : watched->step(); }); },
        [&] { return train([&](int) { plain->step(); }); });
}

/// Seconds to train the default experiment's shape for some steps in a session.
double trainedIn(const std::vector<RunObserver*>& observers, std::int64_t baselineInterval)
{
    nlohmann::json experiment {{"mantissa", 1}, {"name", "bench"}, {"steps", 150},
        {"data", {{"kind", "digits"}, {"batch", 256}}},
        {"model", {{"kind", "mlp"}, {"hidden", std::vector<int>(6, 128)}, {"activation", "sigmoid"}}},
        {"lanes", {{{"name", "a"}}, {{"name", "b"}, {"precision", {{"policy", "fp16"}}}}}}};
    SessionOptions options;
    options.observers = observers;
    options.baselineInterval = baselineInterval;
    Session session(parseExperiment(experiment.dump(), "bench"), options);
    session.waitUntilIdle();
    return secondsOf([&session] {
        session.run();
        session.waitUntilIdle();
    });
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
    try {
        const DeviceInfo& device = backendByName("cpu").device();
        fmt::print("{}; bf16 {}; one thread per lane; median (and extremes) of {} rounds\n", device.name,
            device.bf16 == FormatSupport::Native ? "native" : "emulated", rounds);
        compareSteps("FP16 step / FP32 step, width 512, batch 128", 512, 128, "fp16", rounds);
        compareSteps("BF16 step / FP32 step, width 512, batch 128", 512, 128, "bf16", rounds);
        compareSteps("FP16 step / FP32 step, width 1024, batch 256", 1024, 256, "fp16", rounds);
        compareSteps("BF16 step / FP32 step, width 1024, batch 256", 1024, 256, "bf16", rounds);

        compareCounting("fp16", rounds);
        compareCounting("bf16", rounds);
        compareSampling("FP16 step looked at every 50 steps / never", 50, rounds);
        compareSampling("FP16 step looked at every 10 steps / never", 10, rounds);
        compareSampling("FP16 step looked at every step / never", 1, rounds);

        const auto file = std::filesystem::temp_directory_path() / "mantissa-bench.db";
        std::filesystem::remove(file);
        {
            RunWriter writer(file);
            printRatio(
                "session with database / without, two lanes", rounds, [&writer] { return trainedIn({&writer}, 0); },
                [] { return trainedIn({}, 0); });
        }
        std::filesystem::remove(file);
        printRatio(
            "session with weight distances / without, two lanes", rounds, [] { return trainedIn({}, 10); },
            [] { return trainedIn({}, 0); });
    } catch (const Error& error) {
        fmt::print(stderr, "bench_step: {}\n", error.what());
        return 1;
    }
    return 0;
}
