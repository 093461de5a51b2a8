#include "engine/store/run_comparison.h"

#include "engine/core/error.h"
#include "engine/train/setting_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>

namespace mantissa {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t mostWindows = 400;

/// What names and draws a run, and its seed: not what it does.
bool isIdentity(const std::string& path)
{
    return path == "name" || path == "color" || path == "seed";
}

/// Everything that a run does but for its seed: settings and changes.
struct Conduct
{
    std::vector<std::pair<std::string, nlohmann::json>> settings;
    std::vector<SettingDifference> changes; ///< in `a`

    bool operator==(const Conduct&) const = default;
};

std::vector<SettingDifference> changesOf(const RunStore& store, RunId id)
{
    std::vector<SettingDifference> changes;
    for (const Event& event : store.events(id)) {
        if (event.kind == EventKind::Set) {
            const nlohmann::json value = nlohmann::json::parse(event.after, nullptr, false);
            changes.push_back({event.path, value.is_discarded() ? nlohmann::json(event.after) : value, {}, event.step});
        }
    }
    return changes;
}

Conduct conductOf(const RunStore& store, RunId id)
{
    Conduct conduct {settingsOf(store, id), changesOf(store, id)};
    std::erase_if(conduct.settings, [](const auto& setting) { return isIdentity(setting.first); });
    return conduct;
}

std::vector<SettingDifference> settingDifferences(const RunStore& store, RunId a, RunId b)
{
    const auto first = settingsOf(store, a);
    const auto second = settingsOf(store, b);
    std::vector<SettingDifference> differences;
    if (first.empty() || second.empty()) {
        return differences; // of an imported run none are known
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (first[i].second != second[i].second) {
            differences.push_back({first[i].first, first[i].second, second[i].second});
        }
    }
    std::vector<SettingDifference> changesA = changesOf(store, a);
    std::vector<SettingDifference> changesB = changesOf(store, b);
    for (const SettingDifference& change : changesA) {
        const auto same = std::ranges::find(changesB, change);
        if (same != changesB.end()) {
            changesB.erase(same); // both did it
        } else {
            differences.push_back(change);
        }
    }
    for (SettingDifference& change : changesB) {
        std::swap(change.a, change.b);
        differences.push_back(std::move(change));
    }
    return differences;
}

struct Span
{
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::int64_t window = 1;

    [[nodiscard]] std::size_t windows() const
    {
        return static_cast<std::size_t>((std::max(end - first, std::int64_t {0}) + window - 1) / window);
    }

    [[nodiscard]] bool holds(std::int64_t step) const { return step >= first && step < end; }

    [[nodiscard]] std::size_t windowOf(std::int64_t step) const
    {
        return static_cast<std::size_t>((step - first) / window);
    }
};

Span commonSteps(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b)
{
    if (a.empty() || b.empty()) {
        return {};
    }
    Span span {std::max(a.front(), b.front()), std::min(a.back(), b.back()) + 1};
    span.window = std::max<std::int64_t>(1, (span.end - span.first + mostWindows - 1) / mostWindows);
    for (const std::vector<std::int64_t>* steps : {&a, &b}) {
        if (steps->size() > 1) { // a log may have a row every so many steps
            const auto rows = static_cast<std::int64_t>(steps->size()) - 1;
            span.window = std::max(span.window, (steps->back() - steps->front() + rows - 1) / rows);
        }
    }
    return span;
}

/// Whether the step has a loss, finite or not.
bool hasLoss(const RunColumns& run, std::size_t at)
{
    return run.lossFinite.empty() || !std::isnan(run.loss[at]) || run.lossFinite[at] == 0;
}

/// By window, the mean of a run's losses; one that is not finite makes its window NaN.
std::vector<double> meanLosses(const RunColumns& run, const Span& span)
{
    std::vector<double> sums(span.windows(), 0);
    std::vector<double> counts(span.windows(), 0);
    for (std::size_t i = 0; i < run.step.size(); ++i) {
        if (span.holds(run.step[i]) && hasLoss(run, i)) {
            const std::size_t at = span.windowOf(run.step[i]);
            sums[at] += std::isfinite(run.loss[i]) ? run.loss[i] : none;
            counts[at] += 1;
        }
    }
    for (std::size_t at = 0; at < sums.size(); ++at) {
        // A window between two rows of a log has what the one before has.
        sums[at] = counts[at] > 0 ? sums[at] / counts[at] : at > 0 && !run.lossFinite.empty() ? sums[at - 1] : none;
    }
    return sums;
}

void readScales(
    const RunColumns& run, const Span& span, std::vector<double>& scales, std::vector<std::int64_t>& skipped)
{
    scales.assign(span.windows(), none);
    skipped.assign(span.windows(), 0);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < run.step.size(); ++i) {
        count += run.skipped[i] != 0 ? 1 : 0;
        if (span.holds(run.step[i])) {
            const std::size_t at = span.windowOf(run.step[i]);
            scales[at] = std::isnan(scales[at]) ? run.scale[i] : scales[at];
            skipped[at] = count;
        }
    }
}

/// Of the weights of one run to those of the other, where they are lanes of one session and one is its baseline.
std::vector<double> distances(const RunStore& store, const RunInfo& a, const RunInfo& b, const Span& span)
{
    std::vector<double> distances(span.windows(), none);
    if (!beganTogether(store, a, b) || a.initialWeightsHash != b.initialWeightsHash) {
        return distances;
    }
    // A baseline lies at distance 0 of itself, always.
    const auto isBaseline = [](const std::vector<StepRecord>& records) {
        return std::ranges::all_of(records, [](const StepRecord& record) {
            return std::isnan(record.baselineDistance) || record.baselineDistance == 0;
        });
    };
    const std::vector<StepRecord> ofA = store.records(a.id);
    const std::vector<StepRecord> ofB = store.records(b.id);
    const bool isToA = isBaseline(ofA);
    if (!isToA && !isBaseline(ofB)) {
        return distances;
    }
    for (const StepRecord& record : isToA ? ofB : ofA) {
        if (span.holds(record.step) && !std::isnan(record.baselineDistance)) {
            distances[span.windowOf(record.step)] = record.baselineDistance;
        }
    }
    return distances;
}

/// By window, the variance of the runs' losses about their mean, over n - 1.
std::vector<double> varianceOf(const std::vector<std::vector<double>>& runs)
{
    std::vector<double> variance(runs.front().size());
    const auto count = static_cast<double>(runs.size());
    for (std::size_t at = 0; at < variance.size(); ++at) {
        double mean = 0;
        for (const std::vector<double>& run : runs) {
            mean += run[at] / count;
        }
        for (const std::vector<double>& run : runs) {
            variance[at] += (run[at] - mean) * (run[at] - mean) / (count - 1);
        }
    }
    return variance;
}

/// Each window's mean with its neighbours': of few runs a single one says little.
std::vector<double> pooled(const std::vector<double>& values)
{
    constexpr std::ptrdiff_t neighbours = 4;
    std::vector<double> means(values.size());
    const auto size = static_cast<std::ptrdiff_t>(values.size());
    for (std::ptrdiff_t at = 0; at < size; ++at) {
        const auto begin = values.begin() + std::max<std::ptrdiff_t>(at - neighbours, 0);
        const auto end = values.begin() + std::min(at + neighbours + 1, size);
        means[static_cast<std::size_t>(at)] = std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
    }
    return means;
}

/// Runs that do what `run` does and differ in the seed, as far as `end`; by seed.
std::map<std::uint64_t, RunId> seedsOf(
    const RunStore& store, const std::vector<RunInfo>& runs, const RunInfo& run, std::int64_t end)
{
    std::map<std::uint64_t, RunId> found;
    std::optional<Conduct> wanted;
    for (const RunInfo& other : runs) {
        if (run.imported || other.imported || other.seed == run.seed || other.policy != run.policy
            || other.scaler != run.scaler || other.steps < end || found.contains(other.seed)) {
            continue;
        }
        if (!wanted) {
            wanted = conductOf(store, run.id);
        }
        if (conductOf(store, other.id) == *wanted) {
            found.emplace(other.seed, other.id);
        }
    }
    return found;
}

/// What other seeds say.
void addSeeds(const RunStore& store, const Span& span, RunComparison& comparison)
{
    const std::vector<RunInfo> runs = store.runs();
    const auto seedsA = seedsOf(store, runs, comparison.a, span.end);
    std::vector<std::vector<double>> lossesA {comparison.steps.lossA};
    std::map<std::uint64_t, std::vector<double>> bySeed;
    for (const auto& [seed, id] : seedsA) {
        comparison.otherSeeds.push_back(id);
        lossesA.push_back(meanLosses(store.columns(id), span));
        bySeed[seed] = lossesA.back();
    }
    constexpr std::size_t leastRuns = 3;
    if (lossesA.size() >= leastRuns) {
        comparison.noise = pooled(varianceOf(lossesA));
        for (double& value : comparison.noise) {
            value = 2 * std::sqrt(2 * value);
        }
    }
    std::vector<std::vector<double>> gaps(1);
    for (std::size_t at = 0; at < comparison.steps.size(); ++at) {
        gaps[0].push_back(comparison.steps.gap(at));
    }
    for (const auto& [seed, id] : seedsOf(store, runs, comparison.b, span.end)) {
        const auto theirs = bySeed.find(seed);
        if (theirs != bySeed.end()) {
            comparison.pairs.emplace_back(seedsA.at(seed), id);
            std::vector<double>& gap = gaps.emplace_back(meanLosses(store.columns(id), span));
            std::ranges::transform(gap, theirs->second, gap.begin(), std::minus {});
        }
    }
    if (gaps.size() < 2) {
        return;
    }
    const auto count = static_cast<double>(gaps.size());
    comparison.pairGap.assign(comparison.steps.size(), 0);
    for (const std::vector<double>& gap : gaps) {
        std::ranges::transform(gap, comparison.pairGap, comparison.pairGap.begin(),
            [count](double one, double sum) { return sum + one / count; });
    }
    comparison.pairError = varianceOf(gaps);
    for (double& value : comparison.pairError) {
        value = std::sqrt(value / count);
    }
}

} // namespace

std::vector<std::pair<std::string, nlohmann::json>> settingsOf(const RunStore& store, RunId id)
{
    std::vector<std::pair<std::string, nlohmann::json>> settings;
    if (const auto info = store.run(id); info && info->imported) {
        return settings;
    }
    const Experiment experiment = parseExperiment(store.replayExperiment(id).dump(), fmt::format("run {}", id));
    for (const Setting& row : settingTable()) {
        settings.emplace_back(row.path, row.write(experiment.lanes.at(0)));
    }
    return settings;
}

bool beganTogether(const RunStore& store, const RunInfo& a, const RunInfo& b)
{
    constexpr double moments = 5;
    return a.id != b.id && !a.imported && !b.imported && a.experimentName == b.experimentName && a.seed == b.seed
        && std::abs(a.startedUnixSeconds - b.startedUnixSeconds) < moments
        && store.experiment(a.id) == store.experiment(b.id);
}

RunComparison compareRuns(const RunStore& store, RunId a, RunId b)
{
    const auto infoOf = [&store](RunId id) {
        const auto info = store.run(id);
        if (!info) {
            throw Error(ErrorCode::InvalidArgument, fmt::format("There is no run {} in this database.", id));
        }
        return *info;
    };
    RunComparison comparison {.a = infoOf(a), .b = infoOf(b), .settings = settingDifferences(store, a, b)};
    const RunColumns columnsA = store.columns(a);
    const RunColumns columnsB = store.columns(b);
    const Span span = commonSteps(columnsA.step, columnsB.step);
    ComparedSteps& steps = comparison.steps;
    steps.window = span.window;
    for (std::size_t at = 0; at < span.windows(); ++at) {
        steps.first.push_back(span.first + static_cast<std::int64_t>(at) * span.window);
    }
    steps.lossA = meanLosses(columnsA, span);
    steps.lossB = meanLosses(columnsB, span);
    readScales(columnsA, span, steps.scaleA, steps.skippedA);
    readScales(columnsB, span, steps.scaleB, steps.skippedB);
    steps.distance = distances(store, comparison.a, comparison.b, span);
    if (steps.size() > 0) {
        addSeeds(store, span, comparison);
    }
    return comparison;
}

GapAtEnd gapAtEnd(const RunComparison& comparison)
{
    const ComparedSteps& steps = comparison.steps;
    if (steps.size() == 0) {
        return {none, none, none};
    }
    const std::size_t windows = std::max<std::size_t>(1, steps.size() / 10);
    const auto meanOfLast = [windows](const std::vector<double>& values) {
        return values.empty() ? none
                              : std::accumulate(values.end() - static_cast<std::ptrdiff_t>(windows), values.end(), 0.0)
                / static_cast<double>(windows);
    };
    return {meanOfLast(steps.lossA), meanOfLast(steps.lossB), meanOfLast(comparison.noise)};
}

} // namespace mantissa
