#include "engine/train/setting_checks.h"

#include "engine/autocast/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace mantissa {

namespace {

using Fault = std::optional<SettingFault>;

Fault clipNeedsOneThreshold(const LaneConfig& lane)
{
    if (lane.clip.order == ClipOrder::Off) {
        return {};
    }
    if (!lane.clip.maxNorm && !lane.clip.maxValue) {
        return SettingFault {"clip.order",
            "asks for clipping, but there is no threshold; add clip.max_norm (the whole "
            "gradient's norm) or clip.max_value (each element)"};
    }
    if (lane.clip.perLayer && lane.clip.maxValue) {
        return SettingFault {
            "clip.per_layer", "is true, but clip.max_value clips element by element; use clip.max_norm, or false"};
    }
    if (clipOrderOf(lane.order) != lane.clip.order) {
        return SettingFault {"order",
            fmt::format("puts the clipping {} the unscaling, but clip.order says otherwise; change one of the two",
                lane.clip.order == ClipOrder::ClipThenUnscale ? "after" : "before")};
    }
    if (lane.clip.maxNorm && lane.clip.maxValue) {
        return SettingFault {"clip.max_value",
            "is given beside clip.max_norm, but a step clips one way only; remove one "
            "of the two (null removes it)"};
    }
    return {};
}

Fault warmupNeedsSteps(const LaneConfig& lane)
{
    if (lane.schedule.kind == "warmup" && lane.schedule.warmupSteps == 0) {
        return SettingFault {"schedule.warmup_steps",
            "is 0, but a warm-up needs steps; give it 1 or more, or use the "
            "schedule kind \"constant\""};
    }
    return {};
}

Fault nesterovNeedsMomentum(const LaneConfig& lane)
{
    if (lane.optimizer.kind == "sgd" && lane.optimizer.nesterov && lane.optimizer.momentum <= 0) {
        return SettingFault {"optimizer.nesterov",
            "is true, but Nesterov's step needs momentum; set optimizer.momentum "
            "above 0"};
    }
    return {};
}

Fault dataIsPossible(const LaneConfig& lane)
{
    if (const auto fault = findDataFault(lane.data)) {
        return SettingFault {"data." + fault->setting, fault->text};
    }
    return {};
}

Fault lossFitsData(const LaneConfig& lane)
{
    if (lane.data.kind == "regression" && lane.loss != "mse") {
        return SettingFault {"loss",
            fmt::format("is \"{}\", which compares classes, but regression data has none; use "
                        "\"mse\"",
                lane.loss)};
    }
    if (dataKind(lane.data.kind).isTokens && lane.loss != "cross_entropy") {
        return SettingFault {"loss",
            fmt::format("is \"{}\", which compares numbers, but {} data has a label for each token; use "
                        "\"cross_entropy\"",
                lane.loss, lane.data.kind)};
    }
    return {};
}

Fault halfWeightsNeedFormat(const LaneConfig& lane)
{
    if (lane.precision.hasHalfWeights() && policyNamed(lane.precision.policy).lower == DType::Float32) {
        return SettingFault {"precision.weights",
            fmt::format("is \"{}\", but the policy \"{}\" has no 16-bit format to store weights in; use one that has, "
                        "such as \"pure-fp16\", or \"master\"",
                lane.precision.weights, lane.precision.policy)};
    }
    return {};
}

Fault averageIsThere(const LaneConfig& lane)
{
    if (lane.evaluation.weights == "ema" && lane.ema.decay == 0) {
        return SettingFault {"evaluation.weights",
            "is \"ema\", but no moving average is kept; set ema.decay, to 0.999 perhaps, or use \"trained\""};
    }
    return {};
}

Fault lossFormFitsLoss(const LaneConfig& lane)
{
    if (lane.lossForm != "fused" && lane.loss != "cross_entropy") {
        return SettingFault {"loss_form",
            fmt::format("is \"{}\", which takes cross_entropy apart, but the loss is \"{}\"; use \"fused\"",
                lane.lossForm, lane.loss)};
    }
    return {};
}

Fault smoothingFitsLoss(const LaneConfig& lane)
{
    if (lane.labelSmoothing > 0 && lane.loss != "cross_entropy") {
        return SettingFault {"label_smoothing",
            fmt::format("is {}, but the loss \"{}\" has no labels to smooth; use 0", lane.labelSmoothing, lane.loss)};
    }
    return {};
}

Fault modelFitsData(const LaneConfig& lane)
{
    const std::string better = modelFor(lane.data.kind, lane.model.kind);
    if (better.empty()) {
        return {};
    }
    const bool isTokens = dataKind(lane.data.kind).isTokens;
    return SettingFault {"model.kind",
        fmt::format("is \"{}\", which reads {}, but {} data is {}; use \"{}\", or other data", lane.model.kind,
            isTokens ? "numbers" : "sequences of tokens", lane.data.kind, isTokens ? "sequences of tokens" : "numbers",
            better)};
}

Fault layersFitKind(const LaneConfig& lane)
{
    const bool isList = lane.model.kind == "layers";
    if (isList && lane.model.layers.empty()) {
        return SettingFault {"model.layers", "is missing; the model kind \"layers\" is built from that list"};
    }
    if (!isList && !lane.model.layers.empty()) {
        return SettingFault {"model.layers",
            fmt::format("is given, but model.kind is \"{}\"; set the kind to \"layers\", or remove the list (null "
                        "removes it)",
                lane.model.kind)};
    }
    return {};
}

Fault headsDivideWidth(const LaneConfig& lane)
{
    const bool hasHeads = lane.model.kind == "vit" || lane.model.kind == "gpt";
    if (hasHeads && lane.model.width % lane.model.heads != 0) {
        return SettingFault {"model.heads",
            fmt::format("is {}, which does not divide model.width ({})", lane.model.heads, lane.model.width)};
    }
    return {};
}

Fault sizesAreBearable(const LaneConfig& lane)
{
    constexpr std::int64_t mostNumbers = std::int64_t {1} << 28; // 1 GiB of FP32
    std::int64_t weights = 0;
    std::int64_t widest = 0;
    std::int64_t before = 0;
    const bool usesHidden = lane.model.kind == "mlp" || lane.model.kind == "cnn";
    for (const std::int64_t width : usesHidden ? lane.model.hidden : std::vector<std::int64_t> {}) {
        weights += before * width;
        widest = std::max(widest, width);
        before = width;
    }
    if (weights > mostNumbers) {
        return SettingFault {"model.hidden",
            fmt::format("makes {} weights between its layers; at most {} are supported", weights, mostNumbers)};
    }
    if (widest * lane.data.batch > mostNumbers) {
        return SettingFault {"data.batch",
            fmt::format("times the widest layer makes {} activations; at most {} are "
                        "supported",
                widest * lane.data.batch, mostNumbers)};
    }
    return {};
}

Fault sharesMakeBatch(const LaneConfig& lane)
{
    const ParallelConfig& parallel = lane.parallel;
    if (!parallel.shards.empty()) {
        if (std::cmp_not_equal(parallel.shards.size(), parallel.ranks)) {
            return SettingFault {"parallel.shards",
                fmt::format(
                    "has {} entries for {} ranks; give each rank its number of samples, or remove the list (null "
                    "removes it)",
                    parallel.shards.size(), parallel.ranks)};
        }
        const std::int64_t sum = std::accumulate(parallel.shards.begin(), parallel.shards.end(), std::int64_t {0});
        if (sum != lane.data.batch) {
            return SettingFault {"parallel.shards",
                fmt::format("gives the ranks {} samples in all, but data.batch is {}; change one of the two", sum,
                    lane.data.batch)};
        }
    } else if (lane.data.batch % parallel.ranks != 0) {
        return SettingFault {"parallel.ranks",
            fmt::format(
                "is {}, which does not divide data.batch ({}); change one of the two, or say in parallel.shards "
                "how many samples each rank gets",
                parallel.ranks, lane.data.batch)};
    }
    return {};
}

Fault scalerAccepts(const LaneConfig& lane)
{
    if (lane.scaler) {
        if (const auto fault = findScalerFault(*lane.scaler)) {
            return SettingFault {"scaler." + fault->key, fault->text};
        }
    }
    return {};
}

} // namespace

std::optional<SettingFault> findFault(const LaneConfig& lane)
{
    constexpr std::array checks {clipNeedsOneThreshold, warmupNeedsSteps, nesterovNeedsMomentum, dataIsPossible,
        lossFitsData, lossFormFitsLoss, smoothingFitsLoss, modelFitsData, halfWeightsNeedFormat, averageIsThere,
        layersFitKind, headsDivideWidth, sizesAreBearable, sharesMakeBatch, scalerAccepts};
    for (const auto check : checks) {
        if (const Fault fault = check(lane)) {
            return fault;
        }
    }
    return {};
}

std::string modelFor(const std::string& dataKindName, const std::string& modelKind)
{
    const bool isTokens = dataKind(dataKindName).isTokens;
    // A list of layers may begin with an embedding; whether it does, building it tells.
    const bool fits = modelKind == "layers" || isTokens == (modelKind == "gpt");
    return fits ? "" : isTokens ? "gpt" : "mlp";
}

} // namespace mantissa
