/// Two stored runs side by side: the settings in which they differ, their losses, scales and skips over the steps that
/// both have, and how much of the difference other seeds would make too.
#pragma once

#include "engine/store/run_store.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// The settings a run started with as "optimizer.lr" -> 0.1, defaults included. None for an imported run: its settings
/// are not known, so that no difference in them is either.
std::vector<std::pair<std::string, nlohmann::json>> settingsOf(const RunStore& store, RunId id);

/// Whether they are lanes of one session, begun with it: started from one document within moments of each other.
bool beganTogether(const RunStore& store, const RunInfo& a, const RunInfo& b);

struct SettingDifference
{
    std::string path;
    nlohmann::json a; ///< null: a change that this run did not make
    nlohmann::json b;
    std::int64_t step = 0; ///< from this step on

    bool operator==(const SettingDifference&) const = default;
};

/// Means over windows of steps, each entry one window. Losses are NaN in a window that holds one that is not finite.
struct ComparedSteps
{
    std::int64_t window = 1; ///< steps
    std::vector<std::int64_t> first; ///< of each window
    std::vector<double> lossA;
    std::vector<double> lossB;
    std::vector<double> scaleA; ///< at the first step of the window, as the next
    std::vector<double> scaleB;
    std::vector<std::int64_t> skippedA; ///< up to the end of the window
    std::vector<std::int64_t> skippedB;
    std::vector<double> distance; ///< |w_b - w_a| / |w_a|, the last measured; NaN where it is not known

    [[nodiscard]] std::size_t size() const { return first.size(); }

    [[nodiscard]] double gap(std::size_t at) const { return lossB[at] - lossA[at]; }
};

struct RunComparison
{
    RunInfo a;
    RunInfo b;
    std::vector<SettingDifference> settings;
    ComparedSteps steps {};
    std::vector<RunId> otherSeeds {}; ///< runs that differ from a in nothing but the seed, and are as long
    /// By window: how far apart the losses of two runs of a with different seeds lie, in 19 of 20 cases: 2 sqrt(2)
    /// standard deviations, whose variance is pooled over neighbouring windows. Empty with fewer than two other seeds.
    std::vector<double> noise {};
    /// Runs of a and b with one and the same other seed, and by window the mean gap of all pairs (a and b among them)
    /// and its standard error. Empty without pairs.
    std::vector<std::pair<RunId, RunId>> pairs {};
    std::vector<double> pairGap {};
    std::vector<double> pairError {};
};

/// Throws Error (InvalidArgument) if one of the runs is not there.
RunComparison compareRuns(const RunStore& store, RunId a, RunId b);

/// How the losses compare at the end.
struct GapAtEnd
{
    double lossA = 0; ///< means over the last tenth of the common steps
    double lossB = 0;
    double noise = 0; ///< as RunComparison::noise, there; NaN: unknown

    [[nodiscard]] double gap() const { return lossB - lossA; }
};

/// NaN where there are no common steps.
GapAtEnd gapAtEnd(const RunComparison& comparison);

} // namespace mantissa
