#include "engine/train/setting_table.h"

#include "engine/autocast/policy.h"
#include "engine/nn/layer.h"
#include "engine/nn/model.h"
#include "engine/train/setting_rows.h"

#include <limits>
#include <set>

namespace mantissa {

namespace {

using rows::Live;

/// An accessor of a field, for const lanes and others.
#define FIELD(member)                                                                                                  \
    [](auto& lane) -> auto&                                                                                            \
    {                                                                                                                  \
        return lane.member;                                                                                            \
    }

constexpr std::int64_t manySteps = 1'000'000'000;
constexpr std::size_t longestText = 4096;
constexpr int mostRanks = 64;

bool isColor(const std::string& text)
{
    return text.empty()
        || (text.size() == 7 && text[0] == '#'
            && text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos);
}

bool isHash(const std::string& text)
{
    return text.empty() || (text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos);
}

Setting modelLayers()
{
    return {"model.layers", "a list of layers", "", false,
        [](LaneConfig& lane, const nlohmann::json& value) {
            std::string wrong = layersProblem(value);
            if (wrong.empty()) {
                lane.model.layers = value;
            }
            return wrong;
        },
        [](const LaneConfig& lane) { return lane.model.layers.empty() ? nlohmann::json() : lane.model.layers; }};
}

Setting precisionOverrides()
{
    constexpr std::size_t most = 1000;
    const std::string type = "an object";
    const std::string allowed = "from op kinds or node names, or these with .accumulate, to fp32, fp16 or bf16";
    return {"precision.overrides", type, allowed, true,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            if (!value.is_object() || value.size() > most) {
                return rows::problem(value, type, allowed);
            }
            std::map<std::string, std::string> overrides;
            for (const auto& [name, format] : value.items()) {
                const std::string wrong = rows::choiceProblem(format, {"fp32", "fp16", "bf16"});
                if (!wrong.empty() || name.empty()) {
                    return fmt::format(
                        "gives {} a format that {}", shortText(name), name.empty() ? "has no name" : wrong);
                }
                overrides[name] = format.get<std::string>();
            }
            lane.precision.overrides = overrides;
            return std::string();
        },
        [](const LaneConfig& lane) { return nlohmann::json(lane.precision.overrides); }};
}

Setting clipOrder()
{
    Setting row = rows::enumeration<ClipOrder>(
        "clip.order", {"off", "unscale-then-clip", "clip-then-unscale"}, Live::Yes, FIELD(clip.order));
    row.read = [read = row.read](LaneConfig& lane, const nlohmann::json& value) {
        std::string wrong = read(lane, value);
        lane.order = withClip(lane.order, lane.clip.order);
        return wrong;
    };
    return row;
}

/// Comes after clip.order, whose place in the order it may name too.
Setting stepOrder()
{
    const std::string type = "a list";
    const std::string allowed = "of " + joined(namesOf(rightOrder)) + ", each once";
    return {"order", type, allowed, true,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            std::vector<std::string> names;
            for (const nlohmann::json& name : value.is_array() ? value : nlohmann::json::array()) {
                names.push_back(name.is_string() ? name.get<std::string>() : "");
            }
            const std::optional<StepOrder> order = orderFromNames(names);
            if (!order) {
                return rows::problem(value, type, allowed);
            }
            lane.order = *order;
            return std::string();
        },
        [](const LaneConfig& lane) { return nlohmann::json(namesOf(lane.order)); }};
}

std::vector<std::string> evaluationPolicies()
{
    std::vector<std::string> names = policyNames();
    names.insert(names.begin(), "lane");
    return names;
}

/// Every key that a scaler's parameter has in some family, with the widest of their ranges: findFault() asks the lane's
/// own family.
std::vector<ScalerParameter> scalerParameters()
{
    std::vector<ScalerParameter> all;
    for (const ScalerFamily* family : scalerFamilyTable()) {
        for (const ScalerParameter& parameter : family->parameters) {
            const auto known = std::ranges::find(all, parameter.key, &ScalerParameter::key);
            if (known == all.end()) {
                all.push_back(parameter);
            } else {
                known->range = known->range.hull(parameter.range);
            }
        }
    }
    return all;
}

Setting scalerParameter(const ScalerParameter& parameter)
{
    const std::string key(parameter.key);
    const bool isFlag = parameter.kind == ScalerParameterKind::Flag;
    return {"scaler." + key, std::string(typeText(parameter.kind)), isFlag ? "" : parameter.range.text(), true,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            double number = 0;
            std::string wrong = readParameter(parameter, value, number);
            if (wrong.empty()) {
                lane.scaler->parameters[key] = number;
            }
            return wrong;
        },
        [=](const LaneConfig& lane) { return parameterJson(parameter.kind, valueOf(*lane.scaler, key)); }};
}

/// Rows of "scaler": written only where a lane has one.
std::vector<Setting> scalerRows()
{
    std::vector<Setting> table {rows::choice("scaler.family", scalerFamilies(), Live::Yes, FIELD(scaler->family))};
    for (const ScalerParameter& parameter : scalerParameters()) {
        table.push_back(scalerParameter(parameter));
    }
    table.push_back(rows::boolean("scaler.frozen", Live::Yes, FIELD(scaler->frozen)));
    for (Setting& row : table) {
        row.write
            = [write = row.write](const LaneConfig& lane) { return lane.scaler ? write(lane) : nlohmann::json(); };
    }
    return table;
}

std::vector<Setting> makeTable()
{
    const auto anyText = [](const std::string& text) { return text.size() <= longestText; };
    const std::string shorter = fmt::format("of at most {} bytes", longestText);
    std::vector<Setting> table {
        rows::text("color", "like \"#1f77b4\"", Live::Yes, FIELD(color), isColor),
        rows::choice("device", {"session", "auto", "cpu", "cuda", "reference"}, Live::No, FIELD(device)),
        rows::integer<std::uint64_t>("seed", {0, std::numeric_limits<std::uint64_t>::max()}, Live::No, FIELD(seed)),
        rows::integer<std::int64_t>("steps", {1, manySteps}, Live::Yes, FIELD(steps)),

        rows::choice("data.kind", dataKinds(), Live::No, FIELD(data.kind)),
        rows::integer<std::int64_t>("data.batch", {1, 65536}, Live::No, FIELD(data.batch)),
        rows::text("data.path", shorter, Live::No, FIELD(data.path), anyText),
        rows::integer<std::int64_t>("data.samples", {10, 1'000'000}, Live::No, FIELD(data.samples)),
        rows::integer<std::int64_t>("data.classes", {2, 100}, Live::No, FIELD(data.classes)),
        rows::integer<std::int64_t>("data.features", {1, 4096}, Live::No, FIELD(data.features)),
        rows::number("data.noise", {0, 100}, Live::No, FIELD(data.noise)),
        rows::choice("data.header", {"auto", "yes", "no"}, Live::No, FIELD(data.header)),
        rows::text("data.target", shorter, Live::No, FIELD(data.target), anyText),
        rows::boolean("data.standardise", Live::No, FIELD(data.standardise)),
        rows::integer<std::int64_t>("data.context", {1, 8192}, Live::No, FIELD(data.context)),
        rows::integer<std::int64_t>("data.stride", {0, 8192}, Live::No, FIELD(data.stride)),
        rows::integer<std::int64_t>("data.modulus", {2, 1000}, Live::No, FIELD(data.modulus)),
        rows::integer<std::int64_t>("data.length", {2, 1024}, Live::No, FIELD(data.length)),
        rows::integer<std::int64_t>("data.symbols", {2, 1000}, Live::No, FIELD(data.symbols)),
        rows::number("data.validation_share", {0, 0.9}, Live::No, FIELD(data.validationShare)),
        rows::integer<std::int64_t>("data.prefetch", {0, 64}, Live::Yes, FIELD(data.prefetch)),
        rows::number("data.throttle_ms", {0, 10'000}, Live::Yes, FIELD(data.throttleMs)),

        rows::choice("model.kind", modelKinds(), Live::No, FIELD(model.kind)),
        rows::integers("model.hidden", 64, {1, 16384}, Live::No, FIELD(model.hidden)),
        rows::choice("model.activation", activationNames(), Live::No, FIELD(model.activation)),
        rows::number("model.dropout", {0, 1, true, false}, Live::No, FIELD(model.dropout)),
        rows::number("model.init_gain", {0, 1e6, false}, Live::No, FIELD(model.initGain)),
        rows::integer<std::int64_t>("model.width", {1, 16384}, Live::No, FIELD(model.width)),
        rows::integer<std::int64_t>("model.depth", {1, 100}, Live::No, FIELD(model.depth)),
        rows::integer<std::int64_t>("model.stages", {1, 6}, Live::No, FIELD(model.stages)),
        rows::boolean("model.batch_norm", Live::No, FIELD(model.batchNorm)),
        rows::integer<std::int64_t>("model.heads", {1, 1024}, Live::No, FIELD(model.heads)),
        rows::number("model.mlp_ratio", {0.01, 64}, Live::No, FIELD(model.mlpRatio)),
        rows::boolean("model.fused_attention", Live::No, FIELD(model.fusedAttention)),
        rows::integer<std::int64_t>("model.patch", {1, 1024}, Live::No, FIELD(model.patch)),
        rows::choice("model.pooling", {"class_token", "mean_tokens"}, Live::No, FIELD(model.pooling)),
        rows::boolean("model.tied_head", Live::No, FIELD(model.tiedHead)),
        rows::boolean("model.checkpointing", Live::Yes, FIELD(model.checkpointing)),
        rows::number("model.init_std", {0, 100}, Live::No, FIELD(model.initStd)),
        modelLayers(),
        rows::text("model.weights", shorter, Live::No, FIELD(model.weights), anyText),
        rows::text("model.weights_hash", "of 16 hexadecimal digits", Live::No, FIELD(model.weightsHash), isHash),

        rows::choice("loss", {"cross_entropy", "mse", "bce_with_logits"}, Live::No, FIELD(loss)),
        rows::choice("loss_form", lossForms(), Live::No, FIELD(lossForm)),
        rows::number("label_smoothing", {0, 1, true, false}, Live::No, FIELD(labelSmoothing)),
        rows::number("loss_weight", {0, 1e30, false}, Live::No, FIELD(lossWeight)),

        rows::choice("optimizer.kind", {"sgd", "adam", "adamw"}, Live::No, FIELD(optimizer.kind)),
        rows::number("optimizer.lr", {0, 1e6}, Live::Yes, FIELD(optimizer.lr)),
        rows::number("optimizer.momentum", {0, 1}, Live::Yes, FIELD(optimizer.momentum)),
        rows::boolean("optimizer.nesterov", Live::Yes, FIELD(optimizer.nesterov)),
        rows::number("optimizer.beta1", {0, 1, true, false}, Live::Yes, FIELD(optimizer.beta1)),
        rows::number("optimizer.beta2", {0, 1, true, false}, Live::Yes, FIELD(optimizer.beta2)),
        rows::number("optimizer.epsilon", {0, 1}, Live::Yes, FIELD(optimizer.epsilon)),
        rows::number("optimizer.weight_decay", {0, 1000}, Live::Yes, FIELD(optimizer.weightDecay)),
        rows::boolean("optimizer.extra_step", Live::Yes, FIELD(optimizer.extraStep)),
        rows::choice(
            "optimizer.state_format", {"weights", "fp32", "fp16", "bf16"}, Live::Yes, FIELD(optimizer.stateFormat)),
        rows::choice("optimizer.epsilon_format", {"fp32", "fp16", "bf16"}, Live::Yes, FIELD(optimizer.epsilonFormat)),

        rows::choice("schedule.kind", scheduleKinds(), Live::Yes, FIELD(schedule.kind)),
        rows::integer<std::int64_t>("schedule.warmup_steps", {0, manySteps}, Live::Yes, FIELD(schedule.warmupSteps)),
        rows::integer<std::int64_t>("schedule.total_steps", {0, manySteps}, Live::Yes, FIELD(schedule.totalSteps)),
        rows::number("schedule.minimum_factor", {0, 1}, Live::Yes, FIELD(schedule.minimumFactor)),
        rows::integer<std::int64_t>("schedule.every", {1, manySteps}, Live::Yes, FIELD(schedule.every)),
        rows::number("schedule.gamma", {0, 10, false}, Live::Yes, FIELD(schedule.gamma)),
        rows::boolean("schedule.count_skipped", Live::Yes, FIELD(schedule.countSkipped)),

        rows::choice("precision.policy", policyNames(), Live::Yes, FIELD(precision.policy)),
        rows::choice("precision.weights", {"master", "half", "half-stochastic", "half-kahan"}, Live::Yes,
            FIELD(precision.weights)),
        precisionOverrides(),
        rows::boolean("precision.tf32", Live::Yes, FIELD(precision.tf32)),
        rows::boolean("precision.reduced_sums", Live::Yes, FIELD(precision.reducedSums)),

        clipOrder(),
        rows::optionalNumber("clip.max_norm", {0, 1e30, false}, Live::Yes, FIELD(clip.maxNorm)),
        rows::optionalNumber("clip.max_value", {0, 1e30, false}, Live::Yes, FIELD(clip.maxValue)),
        rows::boolean("clip.per_layer", Live::Yes, FIELD(clip.perLayer)),
        stepOrder(),

        rows::integer<std::int64_t>("accumulation.steps", {1, 4096}, Live::Yes, FIELD(accumulation.steps)),
        rows::boolean("accumulation.guard", Live::Yes, FIELD(accumulation.guard)),
        rows::boolean("accumulation.divide", Live::Yes, FIELD(accumulation.divide)),
        rows::boolean("accumulation.scaler_per_micro_batch", Live::Yes, FIELD(accumulation.scalerPerMicroBatch)),
        rows::boolean("accumulation.zero_gradients", Live::Yes, FIELD(accumulation.zeroGradients)),

        rows::number("ema.decay", {0, 1, true, false}, Live::Yes, FIELD(ema.decay)),
        rows::choice("ema.format", {"fp32", "fp16", "bf16"}, Live::Yes, FIELD(ema.format)),
        rows::boolean("ema.count_skipped", Live::Yes, FIELD(ema.countSkipped)),

        rows::integer<std::int64_t>("evaluation.every", {0, manySteps}, Live::Yes, FIELD(evaluation.every)),
        rows::choice("evaluation.policy", evaluationPolicies(), Live::Yes, FIELD(evaluation.policy)),
        rows::integer<std::int64_t>("evaluation.samples", {0, manySteps}, Live::Yes, FIELD(evaluation.samples)),
        rows::choice("evaluation.weights", {"trained", "ema"}, Live::Yes, FIELD(evaluation.weights)),

        rows::integer<std::int64_t>("parallel.ranks", {1, mostRanks}, Live::No, FIELD(parallel.ranks)),
        rows::choice("parallel.communication", {"fp32", "fp16", "bf16"}, Live::Yes, FIELD(parallel.communication)),
        rows::choice("parallel.divide", {"before", "after"}, Live::Yes, FIELD(parallel.divide)),
        rows::choice("parallel.scaler", {"independent", "synchronised"}, Live::Yes, FIELD(parallel.scaler)),
        rows::choice("parallel.gradients", {"averaged", "local"}, Live::Yes, FIELD(parallel.gradients)),
        rows::choice("parallel.batch_norm", {"local", "synchronised"}, Live::No, FIELD(parallel.batchNorm)),
        rows::integers("parallel.shards", mostRanks, {1, 65536}, Live::No, FIELD(parallel.shards)),
        rows::boolean("parallel.every_micro_batch", Live::Yes, FIELD(parallel.everyMicroBatch)),
    };
    for (Setting& row : scalerRows()) {
        table.push_back(std::move(row));
    }
    return table;
}

#undef FIELD

} // namespace

const std::vector<Setting>& settingTable()
{
    static const std::vector<Setting> table = makeTable();
    return table;
}

const Setting* findSetting(const std::string& path)
{
    for (const Setting& row : settingTable()) {
        if (row.path == path) {
            return &row;
        }
    }
    return nullptr;
}

bool isSection(const std::string& path)
{
    const std::string prefix = path + ".";
    return std::any_of(settingTable().begin(), settingTable().end(),
        [&](const Setting& row) { return row.path.compare(0, prefix.size(), prefix) == 0; });
}

std::vector<std::string> keysOf(const std::string& section)
{
    const std::string prefix = section.empty() ? "" : section + ".";
    std::vector<std::string> keys;
    if (section.empty()) {
        keys.emplace_back("name");
    }
    std::set<std::string> seen;
    for (const Setting& row : settingTable()) {
        if (row.path.compare(0, prefix.size(), prefix) == 0) {
            std::string key = row.path.substr(prefix.size(), row.path.find('.', prefix.size()) - prefix.size());
            if (seen.insert(key).second) {
                keys.push_back(std::move(key));
            }
        }
    }
    return keys;
}

bool isStatePath(const std::string& path)
{
    return path == "scaler.scale" || path == "scaler.growth_tracker" || path.starts_with("fault.");
}

} // namespace mantissa
