/// What the lanes of an experiment did, thinned to a few kilobytes: the gallery's pictures, and the plots of lessons
/// and hand-outs. Made from a run, never drawn.
#pragma once

#include "engine/train/experiment.h"
#include "engine/verify/judge.h"
#include "engine/verify/lane_outcome.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

/// Points {step, value} by step, the extremes of each stretch of steps; a value that is not finite breaks the line.
using ReferenceCurve = std::vector<std::array<double, 2>>;

struct ReferenceLane
{
    std::string name;
    std::string color {}; ///< as LaneConfig::color
    RunStatus status = RunStatus::Finished;
    std::int64_t steps = 0;
    std::int64_t skippedSteps = 0;
    double finalLoss = 0; ///< of the last step; NaN if none was made
    double accuracy = 0; ///< on the held-out samples; NaN where there is none
    double finalScale = 1;
    ReferenceCurve loss {};
    ReferenceCurve gradNorm {};
    ReferenceCurve scale {}; ///< holds its value up to the next point
    std::vector<std::int64_t> skips {}; ///< the first of the steps that were skipped

    bool operator==(const ReferenceLane&) const;
};

struct ReferenceRun
{
    std::string fingerprint {}; ///< fingerprintOf() the experiment that was trained
    std::uint64_t seed = 1;
    std::string device {}; ///< in words
    std::vector<ReferenceLane> lanes {};
    std::vector<Judgement> judgements {};
};

/// Sixteen digits that change with whatever a run depends on, and with the expectations; not with names and texts.
std::string fingerprintOf(const Experiment& experiment);

ReferenceRun makeReference(
    const Experiment& experiment, std::span<const LaneOutcome> outcomes, const std::string& device);

/// {"mantissa_reference": 1, ...}, on one line for each lane and expectation.
std::string referenceText(const ReferenceRun& reference);
nlohmann::ordered_json referenceAsJson(const ReferenceRun& reference);

/// Reads what referenceAsJson() wrote. Throws Error (InvalidArgument) naming the JSON path behind `prefix`, the value
/// and the nearest valid key. `source` names the file in messages.
ReferenceRun readReference(
    const nlohmann::json& document, const std::string& source, const std::string& prefix = std::string());

/// The one that ships with an experiment that ships, from the folder "reference" beside the gallery. Nothing if there
/// is none, or if it is of other settings than the experiment's.
std::optional<ReferenceRun> shippedReference(const std::filesystem::path& file, const Experiment& experiment);

/// Where shippedReference() looks for that of an experiment's file; empty without shipped experiments.
std::filesystem::path shippedReferenceFile(const std::filesystem::path& file);

} // namespace mantissa
