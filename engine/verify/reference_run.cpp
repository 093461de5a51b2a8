#include "engine/verify/reference_run.h"

#include "engine/core/error.h"
#include "engine/core/hash.h"
#include "engine/core/json_file.h"
#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/store/run_export.h"
#include "engine/train/lane_document.h"
#include "engine/verify/shipped_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace mantissa {

namespace {

using Json = nlohmann::ordered_json;

constexpr int formatVersion = 1;
constexpr std::size_t mostStretches = 50;
constexpr std::size_t mostSkips = 100;
/// Of what is read: far more than is written.
constexpr std::size_t mostNumbers = 20'000;
constexpr std::size_t mostLanes = 64;
constexpr double mostSteps = 1e9;
constexpr std::size_t mostJudgements = 1000;

/// Four significant digits: more than a plot shows.
double rounded(double value)
{
    return std::isfinite(value) ? std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr) : value;
}

template <typename Number> ReferenceCurve thinned(std::span<const StepRecord> records, Number number)
{
    ReferenceCurve curve;
    const auto add = [&](const StepRecord& record) {
        curve.push_back({static_cast<double>(record.step), rounded(number(record))});
    };
    if (records.size() <= 2 * mostStretches) {
        std::ranges::for_each(records, add);
        return curve;
    }
    for (std::size_t stretch = 0; stretch < mostStretches; ++stretch) {
        const std::size_t first = stretch * records.size() / mostStretches;
        const std::size_t last = (stretch + 1) * records.size() / mostStretches;
        std::size_t low = first;
        std::size_t high = first;
        for (std::size_t i = first; i < last; ++i) {
            const double value = number(records[i]);
            // What is not finite is the extreme, so that it is not lost between others.
            if (!std::isfinite(value)) {
                low = high = i;
                break;
            }
            low = value < number(records[low]) ? i : low;
            high = value > number(records[high]) ? i : high;
        }
        add(records[std::min(low, high)]);
        if (low != high) {
            add(records[std::max(low, high)]);
        }
    }
    return curve;
}

/// Where it changes, and its end.
ReferenceCurve scaleOf(std::span<const StepRecord> records)
{
    ReferenceCurve all;
    for (const StepRecord& record : records) {
        const bool isLast = &record == &records.back();
        if (all.empty() || all.back()[1] != record.scale || isLast) {
            all.push_back({static_cast<double>(record.step), record.scale});
        }
    }
    return all.size() <= 4 * mostStretches ? all
                                           : thinned(records, [](const StepRecord& record) { return record.scale; });
}

ReferenceLane laneOf(const LaneConfig& config, const LaneOutcome& outcome)
{
    ReferenceLane lane {.name = config.name, .color = config.color, .status = outcome.summary.status};
    lane.steps = outcome.summary.steps;
    lane.skippedSteps = outcome.summary.skippedSteps;
    lane.finalLoss
        = rounded(outcome.records.empty() ? std::numeric_limits<double>::quiet_NaN() : outcome.records.back().loss);
    lane.accuracy = rounded(outcome.summary.validationAccuracy);
    lane.finalScale = outcome.summary.finalScale;
    lane.loss = thinned(outcome.records, [](const StepRecord& record) { return record.loss; });
    lane.gradNorm = thinned(outcome.records, [](const StepRecord& record) { return record.gradNorm; });
    lane.scale = scaleOf(outcome.records);
    for (const StepRecord& record : outcome.records) {
        if (record.skipped && lane.skips.size() < mostSkips) {
            lane.skips.push_back(record.step);
        }
    }
    return lane;
}

Json flat(const ReferenceCurve& curve)
{
    Json list = Json::array();
    for (const auto& [step, value] : curve) {
        list.push_back(static_cast<std::int64_t>(step));
        list.push_back(exactNumber(value));
    }
    return list;
}

Json asJson(const ReferenceLane& lane)
{
    Json json {{"name", lane.name}};
    if (!lane.color.empty()) {
        json["color"] = lane.color;
    }
    json["status"] = nameOf(lane.status);
    json["steps"] = lane.steps;
    json["skipped"] = lane.skippedSteps;
    json["final_loss"] = exactNumber(lane.finalLoss);
    json["accuracy"] = exactNumber(lane.accuracy);
    json["final_scale"] = exactNumber(lane.finalScale);
    json["skips"] = lane.skips;
    json["loss"] = flat(lane.loss);
    json["grad_norm"] = flat(lane.gradNorm);
    json["scale"] = flat(lane.scale);
    return json;
}

Json asJson(const MetricValue& value)
{
    const auto* number = std::get_if<double>(&value);
    // A hash is of one machine's run, and says nothing more than "other" or "the same".
    return number != nullptr ? exactNumber(rounded(*number)) : Json(std::get<std::string>(value));
}

Json asJson(const Judgement& judgement)
{
    return {{"that", judgement.that}, {"pass", judgement.isMet}, {"left", asJson(judgement.left)},
        {"op", nameOf(judgement.op)}, {"right", asJson(judgement.right)}};
}

// --- reading ---

void checkObject(const nlohmann::json& object, const std::vector<std::string>& keys,
    const std::vector<std::string>& may, const std::string& what, const DocumentPlace& place)
{
    if (!object.is_object()) {
        failAt(place, "", fmt::format("{} is {}; it must be an object", what, shortText(object)));
    }
    std::vector<std::string> all = keys;
    all.insert(all.end(), may.begin(), may.end());
    for (const auto& [key, value] : object.items()) {
        if (std::ranges::find(all, key) == all.end()) {
            failAt(place, key,
                fmt::format("is not a key of {} (its value: {}); {}", what, shortText(value), suggestion(key, all)));
        }
    }
    for (const std::string& key : keys) {
        if (!object.contains(key)) {
            failAt(place, key, fmt::format("is missing; {} has one", what));
        }
    }
}

std::optional<double> numberIn(const nlohmann::json& value)
{
    if (value.is_number()) {
        return value.get<double>();
    }
    if (value == "nan") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (value == "inf") {
        return std::numeric_limits<double>::infinity();
    }
    if (value == "-inf") {
        return -std::numeric_limits<double>::infinity();
    }
    return {};
}

double numberAt(const nlohmann::json& object, const std::string& key, const DocumentPlace& place)
{
    const auto number = numberIn(object.at(key));
    if (!number) {
        failAt(place, key,
            fmt::format("is {}; it must be a number, or \"nan\", \"inf\" or \"-inf\"", shortText(object.at(key))));
    }
    return *number;
}

std::int64_t countAt(const nlohmann::json& object, const std::string& key, const DocumentPlace& place)
{
    const auto number = integerOf<std::int64_t>(object.at(key));
    if (!number || *number < 0) {
        failAt(place, key, fmt::format("is {}; it must be an integer from 0", shortText(object.at(key))));
    }
    return *number;
}

std::string textAt(const nlohmann::json& object, const std::string& key, const DocumentPlace& place)
{
    constexpr std::size_t longest = 1000;
    const nlohmann::json& value = object.at(key);
    if (!value.is_string() || value.get_ref<const std::string&>().size() > longest) {
        failAt(place, key, fmt::format("is {}; it must be a text of at most {} bytes", shortText(value), longest));
    }
    return value.get<std::string>();
}

const nlohmann::json& listAt(
    const nlohmann::json& object, const std::string& key, std::size_t most, const DocumentPlace& place)
{
    const nlohmann::json& list = object.at(key);
    if (!list.is_array() || list.size() > most) {
        failAt(place, key, fmt::format("is {}; it must be a list of at most {}", shortText(list), most));
    }
    return list;
}

ReferenceCurve curveAt(const nlohmann::json& object, const std::string& key, const DocumentPlace& place)
{
    const nlohmann::json& list = listAt(object, key, mostNumbers, place);
    ReferenceCurve curve;
    double before = -1;
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
        const auto step = numberIn(list[i]);
        const auto value = numberIn(list[i + 1]);
        if (!step || !value || !(*step > before) || *step > mostSteps || *step != std::trunc(*step)) {
            failAt(place, fmt::format("{}[{}]", key, i),
                fmt::format("and the next are {}, {}; they must be a step, larger than the one before, and a number",
                    shortText(list[i]), shortText(list[i + 1])));
        }
        before = *step;
        curve.push_back({*step, *value});
    }
    if (list.size() % 2 != 0) {
        failAt(place, key, "has an odd number of entries; it must be steps and values in turn");
    }
    return curve;
}

ReferenceLane readLaneAt(const nlohmann::json& object, const DocumentPlace& place)
{
    checkObject(object,
        {"name", "status", "steps", "skipped", "final_loss", "accuracy", "final_scale", "skips", "loss", "grad_norm",
            "scale"},
        {"color"}, "a lane of a reference run", place);
    ReferenceLane lane;
    lane.name = textAt(object, "name", place);
    lane.color = object.contains("color") ? textAt(object, "color", place) : std::string();
    const auto status = runStatusFromName(textAt(object, "status", place));
    if (!status) {
        failAt(place, "status", fmt::format("is {}, which is no status of a run", shortText(object.at("status"))));
    }
    lane.status = *status;
    lane.steps = countAt(object, "steps", place);
    lane.skippedSteps = countAt(object, "skipped", place);
    lane.finalLoss = numberAt(object, "final_loss", place);
    lane.accuracy = numberAt(object, "accuracy", place);
    lane.finalScale = numberAt(object, "final_scale", place);
    for (const nlohmann::json& step : listAt(object, "skips", mostNumbers, place)) {
        const auto number = integerOf<std::int64_t>(step);
        if (!number) {
            failAt(place, "skips", fmt::format("holds {}; they must be steps", shortText(step)));
        }
        lane.skips.push_back(*number);
    }
    lane.loss = curveAt(object, "loss", place);
    lane.gradNorm = curveAt(object, "grad_norm", place);
    lane.scale = curveAt(object, "scale", place);
    return lane;
}

MetricValue sideAt(const nlohmann::json& object, const std::string& key, const DocumentPlace& place)
{
    if (const auto number = numberIn(object.at(key))) {
        return *number;
    }
    return textAt(object, key, place);
}

Judgement readJudgement(const nlohmann::json& object, const DocumentPlace& place)
{
    checkObject(object, {"that", "pass", "left", "op", "right"}, {}, "a judged expectation", place);
    Judgement judgement {.that = textAt(object, "that", place)};
    if (!object.at("pass").is_boolean()) {
        failAt(place, "pass", fmt::format("is {}; it must be true or false", shortText(object.at("pass"))));
    }
    judgement.isMet = object.at("pass").get<bool>();
    judgement.left = sideAt(object, "left", place);
    judgement.right = sideAt(object, "right", place);
    const std::string op = textAt(object, "op", place);
    const auto found = comparisonNamed(op);
    if (!found) {
        failAt(place, "op", fmt::format("is {}, which is no comparison", shortText(object.at("op"))));
    }
    judgement.op = *found;
    return judgement;
}

/// As ==, for numbers of which NaN is one.
bool same(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

bool same(const ReferenceCurve& a, const ReferenceCurve& b)
{
    return std::ranges::equal(
        a, b, [](const auto& left, const auto& right) { return left[0] == right[0] && same(left[1], right[1]); });
}

} // namespace

bool ReferenceLane::operator==(const ReferenceLane& other) const
{
    return name == other.name && color == other.color && status == other.status && steps == other.steps
        && skippedSteps == other.skippedSteps && same(finalLoss, other.finalLoss) && same(accuracy, other.accuracy)
        && same(finalScale, other.finalScale) && same(loss, other.loss) && same(gradNorm, other.gradNorm)
        && same(scale, other.scale) && skips == other.skips;
}

std::string fingerprintOf(const Experiment& experiment)
{
    nlohmann::json document = composeExperiment(experiment);
    for (const char* key : {"name", "text", "claim", "watch"}) {
        document.erase(key);
    }
    const std::string text = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return fmt::format("{:016x}", fnv1a(std::as_bytes(std::span(text))));
}

ReferenceRun makeReference(
    const Experiment& experiment, std::span<const LaneOutcome> outcomes, const std::string& device)
{
    ReferenceRun reference {.fingerprint = fingerprintOf(experiment), .device = device};
    reference.seed = experiment.lanes.front().seed;
    for (const LaneConfig& lane : experiment.lanes) {
        const auto outcome = std::ranges::find(outcomes, lane.name, &LaneOutcome::lane);
        if (outcome != outcomes.end()) {
            reference.lanes.push_back(laneOf(lane, *outcome));
        }
    }
    reference.judgements = judgeAll(experiment, outcomes);
    return reference;
}

Json referenceAsJson(const ReferenceRun& reference)
{
    Json json {{"mantissa_reference", formatVersion}, {"of", reference.fingerprint}, {"seed", reference.seed},
        {"device", reference.device}, {"lanes", Json::array()}, {"expectations", Json::array()}};
    for (const ReferenceLane& lane : reference.lanes) {
        json["lanes"].push_back(asJson(lane));
    }
    for (const Judgement& judgement : reference.judgements) {
        json["expectations"].push_back(asJson(judgement));
    }
    return json;
}

std::string referenceText(const ReferenceRun& reference)
{
    const Json json = referenceAsJson(reference);
    const auto inOneLine = [](const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); };
    std::string text = "{";
    for (const auto& [key, value] : json.items()) {
        text += fmt::format("{}\n  \"{}\": ", text.size() == 1 ? "" : ",", key);
        if (!value.is_array()) {
            text += inOneLine(value);
            continue;
        }
        text += "[";
        for (std::size_t i = 0; i < value.size(); ++i) {
            text += fmt::format("{}\n    {}", i == 0 ? "" : ",", inOneLine(value[i]));
        }
        text += value.empty() ? "]" : "\n  ]";
    }
    return text + "\n}\n";
}

ReferenceRun readReference(const nlohmann::json& document, const std::string& source, const std::string& prefix)
{
    const DocumentPlace place {source, prefix};
    checkObject(document, {"mantissa_reference", "of", "seed", "device", "lanes", "expectations"}, {},
        "a reference run", place);
    const auto version = integerOf<int>(document.at("mantissa_reference"));
    if (version != formatVersion) {
        failAt(place, "mantissa_reference",
            fmt::format("is {}; it must be {}", shortText(document.at("mantissa_reference")), formatVersion));
    }
    ReferenceRun reference {.fingerprint = textAt(document, "of", place)};
    const auto seed = integerOf<std::uint64_t>(document.at("seed"));
    if (!seed) {
        failAt(place, "seed", fmt::format("is {}; it must be an integer from 0", shortText(document.at("seed"))));
    }
    reference.seed = *seed;
    reference.device = textAt(document, "device", place);
    const nlohmann::json& lanes = listAt(document, "lanes", mostLanes, place);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        reference.lanes.push_back(readLaneAt(lanes[i], {source, fmt::format("{}lanes[{}].", prefix, i)}));
    }
    const nlohmann::json& judged = listAt(document, "expectations", mostJudgements, place);
    for (std::size_t i = 0; i < judged.size(); ++i) {
        reference.judgements.push_back(
            readJudgement(judged[i], {source, fmt::format("{}expectations[{}].", prefix, i)}));
    }
    return reference;
}

std::filesystem::path shippedReferenceFile(const std::filesystem::path& file)
{
    const std::filesystem::path folder = shippedExperimentsFolder();
    return folder.empty() ? folder : folder / "reference" / (file.stem().string() + ".json");
}

std::optional<ReferenceRun> shippedReference(const std::filesystem::path& file, const Experiment& experiment)
{
    const std::filesystem::path reference = shippedReferenceFile(file);
    std::error_code ignored;
    if (reference.empty() || !std::filesystem::is_regular_file(reference, ignored)) {
        return {};
    }
    ReferenceRun read
        = readReference(parseJson(readJsonText(reference, "a reference run"), reference.string()), reference.string());
    return read.fingerprint == fingerprintOf(experiment) ? std::optional(std::move(read)) : std::nullopt;
}

} // namespace mantissa
