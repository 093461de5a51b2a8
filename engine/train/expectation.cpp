#include "engine/train/expectation.h"

#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/train/lane_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::size_t mostExpectations = 1000;
constexpr std::size_t longestText = 1000;

constexpr std::array metrics {
    RunMetricInfo {RunMetric::FinalLoss, "final_loss", true},
    RunMetricInfo {RunMetric::MinLoss, "min_loss", true},
    RunMetricInfo {RunMetric::MeanLoss, "mean_loss", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::LossDrop, "loss_drop", true},
    RunMetricInfo {RunMetric::BadLosses, "bad_losses", true},
    RunMetricInfo {RunMetric::FirstBadLoss, "first_bad_loss", true},
    RunMetricInfo {RunMetric::SkippedSteps, "skipped_steps", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::FirstSkip, "first_skip", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::LastSkip, "last_skip", true},
    RunMetricInfo {RunMetric::OverflowSteps, "overflow_steps", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::DroppedMicroBatches, "dropped_micro_batches", true},
    RunMetricInfo {RunMetric::MinScale, "min_scale", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::MaxScale, "max_scale", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::Growths, "growths", true},
    RunMetricInfo {RunMetric::MeanGradNorm, "mean_grad_norm", true, LayerUse::May, RankUse::May},
    RunMetricInfo {RunMetric::MaxGradNorm, "max_grad_norm", true, LayerUse::May, RankUse::May},
    RunMetricInfo {RunMetric::MeanGradNormClipped, "mean_grad_norm_clipped", true},
    RunMetricInfo {RunMetric::Flushed, "flushed", true, LayerUse::May},
    RunMetricInfo {RunMetric::Subnormal, "subnormal", true, LayerUse::May},
    RunMetricInfo {RunMetric::Overflowed, "overflowed", true, LayerUse::May},
    RunMetricInfo {RunMetric::UpdateRatio, "update_ratio", true, LayerUse::May},
    RunMetricInfo {RunMetric::MaxUpdateRatio, "max_update_ratio", true, LayerUse::May},
    RunMetricInfo {RunMetric::UnmovedSteps, "unmoved_steps", true, LayerUse::May},
    RunMetricInfo {RunMetric::Cosine, "cosine", true, LayerUse::Must},
    RunMetricInfo {RunMetric::WeightsDistance, "weights_distance", true},
    RunMetricInfo {RunMetric::DataMs, "data_ms", true},
    RunMetricInfo {RunMetric::StepMs, "step_ms", true},
    RunMetricInfo {RunMetric::ExchangeFlushed, "exchange_flushed", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::RankDistance, "rank_distance", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::RankOverflows, "rank_overflows", true, LayerUse::No, RankUse::May},
    RunMetricInfo {RunMetric::Steps, "steps", false},
    RunMetricInfo {RunMetric::Diverged, "diverged", false},
    RunMetricInfo {RunMetric::Failed, "failed", false},
    RunMetricInfo {RunMetric::FinalScale, "final_scale", false},
    RunMetricInfo {RunMetric::ValidationLoss, "validation_loss", false},
    RunMetricInfo {RunMetric::Accuracy, "accuracy", false},
    RunMetricInfo {RunMetric::WeightsHash, "weights_hash", false},
    RunMetricInfo {RunMetric::StepsPerSecond, "steps_per_second", false},
    RunMetricInfo {RunMetric::Casts, "casts", false},
    RunMetricInfo {RunMetric::BytesWeights, "bytes.weights", false},
    RunMetricInfo {RunMetric::BytesCopies, "bytes.copies", false},
    RunMetricInfo {RunMetric::BytesGradients, "bytes.gradients", false},
    RunMetricInfo {RunMetric::BytesOptimizer, "bytes.optimizer", false},
    RunMetricInfo {RunMetric::BytesActivations, "bytes.activations", false},
    RunMetricInfo {RunMetric::BytesWorkspace, "bytes.workspace", false},
    RunMetricInfo {RunMetric::BytesTotal, "bytes.total", false},
};

/// In the order of Comparison.
constexpr std::array<std::string_view, 6> operators {"<", "<=", ">", ">=", "==", "!="};

/// The object's keys are some of `keys`, and the first `needed` of them are all there.
void checkKeys(const nlohmann::json& object, const std::vector<std::string>& keys, std::size_t needed,
    const std::string& what, const DocumentPlace& place)
{
    for (const auto& [key, value] : object.items()) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
            failAt(place, key,
                fmt::format("is not a key of {} (its value: {}); {}", what, shortText(value), suggestion(key, keys)));
        }
    }
    for (std::size_t i = 0; i < needed; ++i) {
        if (!object.contains(keys[i])) {
            failAt(place, keys[i], fmt::format("is missing; {} has one", what));
        }
    }
}

std::string lineAt(const nlohmann::json& object, const std::string& key, const DocumentPlace& place)
{
    const nlohmann::json& value = object.at(key);
    const bool ok = value.is_string() && !value.get_ref<const std::string&>().empty()
        && value.get_ref<const std::string&>().size() <= longestText;
    if (!ok) {
        failAt(place, key, fmt::format("is {}; it must be a text of 1 to {} bytes", shortText(value), longestText));
    }
    return value.get<std::string>();
}

/// The index of the text among the valid ones.
std::size_t choiceAt(const nlohmann::json& object, const std::string& key, std::span<const std::string> valid,
    const std::string& what, const DocumentPlace& place)
{
    const std::string text = lineAt(object, key, place);
    const auto found = std::find(valid.begin(), valid.end(), text);
    if (found == valid.end()) {
        failAt(place, key, fmt::format("is {}, which is {}; {}", shortText(text), what, suggestion(text, valid)));
    }
    return static_cast<std::size_t>(found - valid.begin());
}

StepInterval spanAt(const nlohmann::json& value, const DocumentPlace& place)
{
    const bool isPair = value.is_array() && value.size() == 2;
    const auto first = isPair ? integerOf<std::int64_t>(value[0]) : std::nullopt;
    const auto last = isPair ? integerOf<std::int64_t>(value[1]) : std::nullopt;
    if (!first || !last || *first < 0 || *last < *first) {
        failAt(place, "steps",
            fmt::format("is {}; it must be the first and the last step, as in [0, 99]", shortText(value)));
    }
    return {*first, *last};
}

Measure measureAt(const nlohmann::json& object, std::span<const std::string> lanes, const DocumentPlace& place)
{
    std::vector<std::string> names;
    std::transform(metrics.begin(), metrics.end(), std::back_inserter(names),
        [](const RunMetricInfo& info) { return std::string(info.name); });
    Measure measure;
    measure.lane = lanes[choiceAt(object, "lane", lanes, "no lane", place)];
    const RunMetricInfo& info = metrics.at(choiceAt(object, "metric", names, "no metric", place));
    measure.metric = info.metric;
    if (const auto steps = object.find("steps"); steps != object.end()) {
        if (!info.isPerStep) {
            failAt(place, "steps",
                fmt::format("cannot restrict {}, which is known of the whole run alone; leave it out", info.name));
        }
        measure.steps = spanAt(*steps, place);
    }
    if (const auto rank = object.find("rank"); rank != object.end()) {
        const auto number = integerOf<std::int32_t>(*rank);
        if (info.rank == RankUse::No) {
            failAt(
                place, "rank", fmt::format("cannot restrict {}, which is not known by rank; leave it out", info.name));
        }
        if (!number || *number < 0) {
            failAt(place, "rank", fmt::format("is {}; it must be a rank's number, from 0", shortText(*rank)));
        }
        measure.rank = number;
    }
    if (object.contains("layer")) {
        measure.layer = lineAt(object, "layer", place);
    }
    if (measure.rank && !measure.layer.empty()) {
        failAt(place, "rank", "cannot be given beside a layer: layers are looked at on rank 0");
    }
    if (measure.layer.empty() != (info.layer == LayerUse::No) && info.layer != LayerUse::May) {
        failAt(place, "layer",
            info.layer == LayerUse::No
                ? fmt::format("cannot restrict {}, which is not known by layer; leave it out", info.name)
                : fmt::format("is missing; {} is known by layer alone", info.name));
    }
    return measure;
}

void readRight(Expectation& expectation, const nlohmann::json& right, std::span<const std::string> lanes,
    const DocumentPlace& place)
{
    const bool isText = expectation.left.metric == RunMetric::WeightsHash;
    if (right.is_number() && !isText) {
        expectation.number = right.get<double>();
        return;
    }
    if (!right.is_object()) {
        failAt(place, "right",
            fmt::format("is {}; it must be {}", shortText(right),
                isText ? "the weights_hash of another lane, as {\"lane\": ..., \"metric\": \"weights_hash\"}"
                       : "a number, or an object with lane and metric"));
    }
    const DocumentPlace inner {place.source, place.prefix + "right."};
    checkKeys(right, {"lane", "metric", "steps", "layer", "rank", "times"}, 2, "a side of an expectation", inner);
    expectation.right = measureAt(right, lanes, inner);
    if (isText != (expectation.right->metric == RunMetric::WeightsHash)) {
        failAt(inner, "metric",
            fmt::format("is {}, but a weights_hash can only be compared with another", shortText(right.at("metric"))));
    }
    if (const auto times = right.find("times"); times != right.end()) {
        if (!times->is_number() || isText) {
            failAt(inner, "times",
                fmt::format("is {}; it must {}", shortText(*times),
                    isText ? "be left out for a weights_hash" : "be the number that the right side is multiplied by"));
        }
        expectation.number = times->get<double>();
    }
}

Expectation readExpectation(const nlohmann::json& entry, std::span<const std::string> lanes, const DocumentPlace& place)
{
    static const std::vector<std::string> names {operators.begin(), operators.end()};
    checkKeys(entry, {"that", "left", "op", "right"}, 4, "an expectation", place);
    Expectation expectation;
    expectation.that = lineAt(entry, "that", place);
    const nlohmann::json& left = entry.at("left");
    if (!left.is_object()) {
        failAt(place, "left", fmt::format("is {}; it must be an object with lane and metric", shortText(left)));
    }
    const DocumentPlace inner {place.source, place.prefix + "left."};
    checkKeys(left, {"lane", "metric", "steps", "layer", "rank"}, 2, "a side of an expectation", inner);
    expectation.left = measureAt(left, lanes, inner);
    expectation.op = static_cast<Comparison>(choiceAt(entry, "op", names, "no comparison", place));
    const bool isEquality = expectation.op == Comparison::Equal || expectation.op == Comparison::NotEqual;
    if (expectation.left.metric == RunMetric::WeightsHash && !isEquality) {
        failAt(place, "op", fmt::format("is {}; hashes are compared by == or !=", shortText(entry.at("op"))));
    }
    readRight(expectation, entry.at("right"), lanes, place);
    return expectation;
}

} // namespace

std::span<const RunMetricInfo> runMetricTable()
{
    return metrics;
}

std::string_view nameOf(Comparison op)
{
    return operators.at(static_cast<std::size_t>(op));
}

std::optional<Comparison> comparisonNamed(std::string_view name)
{
    const auto* const found = std::find(operators.begin(), operators.end(), name);
    return found == operators.end() ? std::nullopt : std::optional(static_cast<Comparison>(found - operators.begin()));
}

std::vector<Expectation> readExpectations(
    const nlohmann::json& expect, std::span<const std::string> lanes, const std::string& source)
{
    if (!expect.is_array() || expect.size() > mostExpectations) {
        failAt({source, ""}, "expect",
            fmt::format("is {}; it must be a list of at most {} expectations", shortText(expect), mostExpectations));
    }
    std::vector<Expectation> result;
    for (std::size_t i = 0; i < expect.size(); ++i) {
        if (!expect[i].is_object()) {
            failAt({source, ""}, fmt::format("expect[{}]", i),
                fmt::format("is {}; it must be an object with that, left, op and right", shortText(expect[i])));
        }
        result.push_back(readExpectation(expect[i], lanes, {source, fmt::format("expect[{}].", i)}));
    }
    return result;
}

Claim readClaim(const nlohmann::json& claim, const std::string& source)
{
    if (!claim.is_object()) {
        failAt({source, ""}, "claim",
            fmt::format("is {}; it must be an object with id, says and verdict", shortText(claim)));
    }
    static const std::vector<std::string> verdicts {"holds", "partly", "does not hold", "depends"};
    const DocumentPlace place {source, "claim."};
    checkKeys(claim, {"id", "says", "verdict"}, 3, "a claim", place);
    return {lineAt(claim, "id", place), lineAt(claim, "says", place),
        verdicts[choiceAt(claim, "verdict", verdicts, "no verdict", place)]};
}

nlohmann::json claimAsJson(const Claim& claim)
{
    return {{"id", claim.id}, {"says", claim.says}, {"verdict", claim.verdict}};
}

} // namespace mantissa
