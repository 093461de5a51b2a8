// What recording costs the training thread, how fast the writer is, and how fast a million steps are read back.
#include "engine/store/run_store.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace mantissa;

constexpr std::int64_t million = 1'000'000;

/// A folder of its own, gone at the end. $BENCH_STORE_DIR names where: a disk, not a file system in memory.
class Folder
{
public:
    Folder()
    {
        const char* base = std::getenv("BENCH_STORE_DIR");
        const std::filesystem::path parent
            = base != nullptr ? std::filesystem::path(base) : std::filesystem::temp_directory_path();
        m_path = parent / ("bench_store_" + std::to_string(std::random_device {}()));
        std::filesystem::create_directories(m_path);
    }

    ~Folder() { std::filesystem::remove_all(m_path); }

    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::filesystem::path database() const { return m_path / "runs.db"; }

private:
    std::filesystem::path m_path;
};

/// Numbers as a training run has them: floats that travel in doubles, doubles proper, counters, and what never changes.
StepRecord typicalRecord(std::uint32_t lane, std::int64_t step, std::mt19937_64& random)
{
    const double noise = std::uniform_real_distribution<double>(0.9, 1.1)(random);
    StepRecord record;
    record.step = step;
    record.lane = lane;
    record.loss = static_cast<float>(noise * 2.3 / std::sqrt(1.0 + 1e-3 * static_cast<double>(step)));
    record.gradNorm = noise * 0.7;
    record.gradNormClipped = record.gradNorm;
    record.gradMax = static_cast<float>(noise * 0.05);
    record.scale = 65536;
    record.growthTracker = static_cast<std::int32_t>(step % 2000);
    record.lr = 1e-3;
    record.flushed = noise * 0.01;
    record.subnormal = noise * 0.02;
    record.updateRatio = noise * 1e-3;
    record.baselineDistance = noise * 1e-5;
    record.batchHash = random();
    const auto ms = static_cast<float>(noise);
    record.timeMs = {0.01F * ms, ms, 2 * ms, 0.1F * ms, 0.02F * ms, 0.3F * ms, 0.05F * ms};
    record.wallSeconds = static_cast<double>(step) * 2.5e-3;
    record.bytes = {1'000'000, 500'000, 1'000'000, 2'000'000, 3'000'000, 400'000};
    return record;
}

RunStart typicalStart(std::uint32_t lane)
{
    RunStart start;
    start.lane = lane;
    start.config.name = "lane";
    start.config.document = nlohmann::json::object();
    start.experiment = nlohmann::json::object();
    return start;
}

/// One run of a million steps, made once for all readers.
struct MillionSteps
{
    MillionSteps()
    {
        std::mt19937_64 random(1);
        RunWriter writer(folder.database());
        writer.runStarted(typicalStart(0));
        for (std::int64_t step = 0; step < million; ++step) {
            const StepRecord record = typicalRecord(0, step, random);
            writer.stepsRecorded(std::span(&record, 1));
            if (step % 100'000 == 99'999) {
                writer.flush();
            }
        }
        id = writer.runOf(0);
    }

    static const MillionSteps& instance()
    {
        static const MillionSteps made;
        return made;
    }

    Folder folder;
    RunId id = 0;
};

void readColumns(benchmark::State& state)
{
    const MillionSteps& made = MillionSteps::instance();
    for (auto _ : state) {
        const RunStore store(made.folder.database(), StoreAccess::ReadOnly);
        benchmark::DoNotOptimize(store.columns(made.id).loss.data());
    }
    state.counters["bytes_per_step"]
        = static_cast<double>(std::filesystem::file_size(made.folder.database())) / million;
    state.counters["steps/s"] = benchmark::Counter(
        static_cast<double>(million) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void readRecords(benchmark::State& state)
{
    const MillionSteps& made = MillionSteps::instance();
    for (auto _ : state) {
        const RunStore store(made.folder.database(), StoreAccess::ReadOnly);
        benchmark::DoNotOptimize(store.records(made.id).data());
    }
}

/// Eight lanes of 20,000 steps: what stepsRecorded() takes from the training thread, how long the file needs for all of
/// it, and (CPU) what both threads spend.
void record(benchmark::State& state)
{
    constexpr std::uint32_t lanes = 8;
    constexpr std::int64_t steps = 20'000;
    std::mt19937_64 random(1);
    std::vector<StepRecord> records;
    for (std::int64_t step = 0; step < steps; ++step) {
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            records.push_back(typicalRecord(lane, step, random));
        }
    }
    double handing = 0;
    double writing = 0;
    for (auto _ : state) {
        const Folder folder;
        RunWriter writer(folder.database());
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            writer.runStarted(typicalStart(lane));
        }
        using Clock = std::chrono::steady_clock;
        for (std::size_t at = 0; at < records.size();) {
            // As many steps as come between two transactions at 4,000 steps/s.
            const auto begin = Clock::now();
            for (const std::size_t end = at + std::size_t {1000} * lanes; at < end; at += lanes) {
                writer.stepsRecorded(std::span(records).subspan(at, lanes));
            }
            const auto handed = Clock::now();
            writer.flush();
            handing += std::chrono::duration<double>(handed - begin).count();
            writing += std::chrono::duration<double>(Clock::now() - begin).count();
        }
    }
    const double total = static_cast<double>(records.size()) * static_cast<double>(state.iterations());
    state.counters["ns_per_record_on_training_thread"] = handing / total * 1e9;
    state.counters["records/s_into_file"] = total / writing;
}

BENCHMARK(readColumns)->Unit(benchmark::kMillisecond);
BENCHMARK(readRecords)->Unit(benchmark::kMillisecond);
BENCHMARK(record)->Unit(benchmark::kMillisecond)->Iterations(5)->MeasureProcessCPUTime();

} // namespace

BENCHMARK_MAIN();
