// Records made-up runs until it is done or killed, for tst_run_store and tst_run_merge.
// Arguments: database, lanes, steps per second, steps (0: no end). Prints the last step handed over, every 20 ms.
// Or: merge, database, databases that are merged into it.
#include "engine/store/run_merge.h"
#include "store_fixture.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace mantissa;

int main(int count, char** arguments)
{
    if (count > 3 && std::string_view(arguments[1]) == "merge") {
        const std::vector<std::filesystem::path> files(arguments + 3, arguments + count);
        mergeRuns(arguments[2], files);
        return 0;
    }
    if (count != 5) {
        return 2;
    }
    const auto lanes = static_cast<std::uint32_t>(std::atoi(arguments[2]));
    const double rate = std::atof(arguments[3]);
    const std::int64_t steps = std::atoll(arguments[4]);
    RunWriter writer(arguments[1]);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        writer.runStarted(storetest::startOf(lane));
    }
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    std::vector<StepRecord> records(lanes);
    std::int64_t step = 0;
    while (steps == 0 || step < steps) {
        const std::chrono::duration<double> passed = Clock::now() - begin;
        for (; static_cast<double>(step) < passed.count() * rate && (steps == 0 || step < steps); ++step) {
            for (std::uint32_t lane = 0; lane < lanes; ++lane) {
                records[lane] = storetest::recordAt(lane, step);
            }
            writer.stepsRecorded(records);
        }
        std::printf("%lld\n", static_cast<long long>(step - 1));
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        RunSummary summary;
        summary.steps = steps;
        writer.runEnded(lane, summary);
    }
    writer.flush();
    return writer.problem().empty() ? 0 : 1;
}
