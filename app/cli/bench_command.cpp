// mantissa-cli bench: what a step costs in each precision, on this device.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/run_experiment.h"
#include "engine/autocast/policy.h"
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/core/nearest_name.h"
#include "engine/store/run_export.h"
#include "engine/train/session.h"
#include "engine/train/train_to_end.h"
#include "engine/verify/shipped_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

namespace mantissa::cli {

namespace {

struct BenchOptions
{
    RunOptions run; ///< file (empty: the default experiment), --lane, --set
    std::vector<std::string> precisions {"fp32", "fp16", "bf16"};
    std::int64_t steps = 200;
    std::int64_t warmup = 20;
    std::string device = "auto";
    int threads = 1;
    bool json = false;
};

constexpr std::array phaseNames {"data", "forward", "backward", "unscale", "clip", "optimizer"};
using Phases = std::array<double, phaseNames.size()>;

/// Of one lane, over the steps behind the warm-up: medians, in milliseconds.
struct Timing
{
    Phases phases {};
    double stepMs = 0;
    double quartileMs = 0; ///< half the distance of the quartiles: how much steps differ
};

class Times : public RunObserver
{
public:
    explicit Times(std::int64_t warmup)
        : m_warmup(warmup)
    {
    }

    void stepsRecorded(std::span<const StepRecord> records) override
    {
        for (const StepRecord& record : records) {
            if (record.step >= m_warmup) {
                const PhaseTimes& t = record.timeMs;
                m_steps[record.lane].push_back(
                    {t.dataMs, t.forwardMs, t.backwardMs, t.unscaleMs, t.clipMs, t.optimizerMs});
            }
        }
    }

    [[nodiscard]] Timing of(std::uint32_t lane) const
    {
        Timing timing;
        const auto found = m_steps.find(lane);
        if (found == m_steps.end()) {
            return timing;
        }
        const std::vector<Phases>& steps = found->second;
        const auto rank = [&steps](double share, auto number) {
            std::vector<double> values;
            std::ranges::transform(steps, std::back_inserter(values), number);
            const auto at
                = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
            std::ranges::nth_element(values, at);
            return *at;
        };
        for (std::size_t i = 0; i < timing.phases.size(); ++i) {
            timing.phases[i] = rank(0.5, [i](const Phases& step) { return step[i]; });
        }
        const auto whole = [](const Phases& step) {
            double sum = 0;
            for (const double ms : step) {
                sum += ms;
            }
            return sum;
        };
        timing.stepMs = rank(0.5, whole);
        timing.quartileMs = (rank(0.75, whole) - rank(0.25, whole)) / 2;
        return timing;
    }

private:
    std::int64_t m_warmup;
    std::map<std::uint32_t, std::vector<Phases>> m_steps;
};

/// The experiment's first lane once in each precision; FP16 with PyTorch's scaler, unless the lane has one.
Experiment benchExperiment(const BenchOptions& options)
{
    RunOptions run = options.run;
    if (run.file.empty()) {
        const auto shipped = shippedExperiments();
        if (shipped.empty()) {
            throw BadInput("the default experiment was not found; name a file");
        }
        run.file = shipped.front().string();
    }
    Experiment experiment = experimentFor(run);
    const LaneConfig base = experiment.lanes.front();
    experiment.lanes.clear();
    experiment.events.clear();
    experiment.watchpoints.clear();
    experiment.expect = nlohmann::json::array();
    for (const std::string& precision : options.precisions) {
        std::vector<std::pair<std::string, nlohmann::json>> settings {
            {"precision", {{"policy", precision}}}, {"steps", options.warmup + options.steps}, {"evaluation.every", 0}};
        if (policyNamed(precision).lower != DType::Float16) {
            settings.emplace_back("scaler", nullptr);
        } else if (!base.scaler) {
            settings.emplace_back("scaler", nlohmann::json {{"family", "pytorch"}});
        }
        LaneConfig lane = withOverrides(base, settings);
        lane.name = precision;
        experiment.lanes.push_back(std::move(lane));
    }
    return experiment;
}

std::string_view computedOn(const DeviceInfo& device, const std::string& precision)
{
    const DType lower = policyNamed(precision).lower;
    const FormatSupport support = lower == DType::Float16 ? device.fp16 : device.bf16;
    return lower == DType::Float32 || support == FormatSupport::Native ? "native" : "emulated";
}

int bench(const BenchOptions& options)
{
    for (const std::string& precision : options.precisions) {
        const auto names = policyNames();
        if (std::ranges::find(names, precision) == names.end()) {
            throw BadInput("--precision: there is no policy \"" + precision + "\"; "
                + suggestion(precision, std::vector<std::string>(names.begin(), names.end())));
        }
        if (std::ranges::count(options.precisions, precision) > 1) {
            throw BadInput(fmt::format("--precision {} is given twice", precision));
        }
    }
    const Experiment experiment = benchExperiment(options);
    Times times(options.warmup);
    SessionOptions sessionOptions;
    sessionOptions.device = options.device;
    sessionOptions.threads = options.threads;
    sessionOptions.observers = {&times};
    sessionOptions.baselineInterval = 0;
    Progress progress;
    Session session(experiment, sessionOptions);
    const auto status = trainToEnd(session, [&progress](const SessionStatus& state) {
        progress.show(state);
        return true;
    });
    progress.clear();

    for (const LaneStatus& lane : status->lanes) {
        if (lane.status != RunStatus::Finished) {
            throw Error(ErrorCode::InvalidArgument,
                lane.config->name + " ended after " + std::to_string(lane.nextStep)
                    + " steps, and only what trains can be timed: " + lane.message
                    + " Leave the precision out, or choose settings that train it");
        }
    }
    const double baseMs = times.of(status->lanes.front().id).stepMs;
    Json json {{"experiment", experiment.name}, {"device", status->device.name}, {"threads", status->threads},
        {"steps", options.steps}, {"precisions", Json::array()}};
    Table table;
    table.addColumn("precision", Table::Align::Left);
    table.addColumn("computed", Table::Align::Left);
    for (const char* title : {"steps/s", "speed", "ms a step", "+-"}) {
        table.addColumn(title);
    }
    for (const char* phase : phaseNames) {
        table.addColumn(phase);
    }
    for (const char* title : {"casts", "memory"}) {
        table.addColumn(title);
    }
    for (const LaneStatus& lane : status->lanes) {
        const Timing timing = times.of(lane.id);
        const std::string& precision = lane.config->name;
        const std::string_view computed = computedOn(lane.device, precision);
        std::vector<std::string> row {precision, std::string(computed), rateText(1000 / timing.stepMs),
            fmt::format("{:.2f}", baseMs / timing.stepMs), fmt::format("{:.3f}", timing.stepMs),
            fmt::format("{:.3f}", timing.quartileMs)};
        Json phases = Json::object();
        for (std::size_t i = 0; i < phaseNames.size(); ++i) {
            row.push_back(fmt::format("{:.3f}", timing.phases[i]));
            phases[phaseNames[i]] = exactNumber(timing.phases[i]);
        }
        row.push_back(std::to_string(lane.castsPerStep));
        row.push_back(bytesText(lane.bytes.total()));
        table.addRow(std::move(row));
        json["precisions"].push_back({{"precision", precision}, {"computed", computed},
            {"steps_per_second", exactNumber(1000 / timing.stepMs)}, {"speed", exactNumber(baseMs / timing.stepMs)},
            {"step_ms", exactNumber(timing.stepMs)}, {"half_quartile_ms", exactNumber(timing.quartileMs)},
            {"time_ms", std::move(phases)}, {"casts_per_step", lane.castsPerStep}, {"bytes", lane.bytes.total()}});
    }
    if (options.json) {
        printJson(json);
    } else {
        print(experiment.name + '\n' + status->device.name + ", " + std::to_string(status->threads)
            + " thread(s); medians of " + std::to_string(options.steps)
            + " steps, the lanes step by step in turn; speed: against " + options.precisions.front() + "\n\n"
            + table.text());
    }
    return exitDone;
}

} // namespace

void addBenchCommand(CLI::App& app, Action& chosen)
{
    const auto options = std::make_shared<BenchOptions>();
    CLI::App* command = app.add_subcommand(
        "bench", "Time a step of an experiment's first lane in each precision: speed, phases, casts, memory");
    command->add_option("file", options->run.file, "Experiment file; without one the default experiment");
    command->add_option("--lane", options->run.lanes, "This lane's settings instead of the first one's")
        ->allow_extra_args(false)
        ->expected(1);
    command->add_option("--set", options->run.set, "PATH=VALUE, as for run; may be repeated")->allow_extra_args(false);
    command
        ->add_option("--precision", options->precisions,
            "Policies to time, as in fp32,fp16; the first is what the others' speed is compared with")
        ->delimiter(',')
        ->capture_default_str();
    command->add_option("--steps", options->steps, "Steps that are timed")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command->add_option("--warmup", options->warmup, "Steps before them that are not")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    command->add_option("--device", options->device, "auto, cpu, cuda or reference")->capture_default_str();
    command->add_option("--threads", options->threads, "Compute threads; with more than one, lanes share the machine")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &chosen] { chosen = [options] { return bench(*options); }; });
}

} // namespace mantissa::cli
