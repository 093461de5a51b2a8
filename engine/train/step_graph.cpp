#include "engine/train/step_graph.h"

#include "engine/autocast/autocast.h"
#include "engine/autodiff/checkpointing.h"
#include "engine/autodiff/differentiate.h"
#include "engine/core/error.h"
#include "engine/formats/round_value.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mantissa {

namespace {

Policy policyOf(const PrecisionConfig& config)
{
    constexpr std::string_view accumulate = ".accumulate";
    Policy policy = policyNamed(config.policy);
    policy.weights = config.hasHalfWeights() ? policy.lower : DType::Float32;
    for (const auto& [name, format] : config.overrides) {
        const auto dtype = dtypeFromName(format);
        if (!dtype) {
            throw Error(ErrorCode::InvalidArgument, "precision: there is no format \"" + format + "\".");
        }
        if (name.ends_with(accumulate)) {
            policy.accumulate.emplace(name.substr(0, name.size() - accumulate.size()), *dtype);
        } else {
            policy.overrides.emplace(name, *dtype);
        }
    }
    return policy;
}

bool skipsOnNonFinite(const LaneConfig& lane)
{
    return lane.scaler && makeScaler(*lane.scaler)->skipsOnNonFinite();
}

/// Whether the device moves the scale: by a rule that it knows, behind the optimizer, judging the step's own check.
bool scalesOnDevice(const LaneConfig& lane)
{
    constexpr std::size_t hosts = 2;
    const bool endsWithStep
        = blocksBehindResults(lane.order) == hosts && lane.order[stepBlockCount - hosts - 1] == StepBlock::Step;
    return endsWithStep && lane.scaler && makeScaler(*lane.scaler)->deviceRule() && !lane.accumulation.guard
        && !lane.accumulation.scalerPerMicroBatch && !lane.parallel.isOn();
}

/// "fc1" for "fc1.weight": what holds the parameter.
std::string_view layerOf(std::string_view parameter)
{
    return parameter.substr(0, std::min(parameter.rfind('.'), parameter.size()));
}

WeightRounding roundingOf(const PrecisionConfig& precision)
{
    return precision.weights == "half-stochastic" ? WeightRounding::Stochastic
        : precision.weights == "half-kahan"       ? WeightRounding::Compensated
                                                  : WeightRounding::Nearest;
}

/// Appends to one graph what a step needs beyond the forward pass.
class StepBuilder
{
public:
    explicit StepBuilder(const LaneConfig& lane)
        : m_lane(lane)
    {
    }

    StepGraph run(const ModelTask& task)
    {
        const Model model = buildModel(m_lane.model, task);
        const Policy policy = policyOf(m_lane.precision);
        AutocastResult cast = applyAutocast(model.graph, policy);
        m_step.graph = std::move(cast.graph);
        for (const Parameter& parameter : model.parameters) {
            m_step.parameters.push_back(cast.values[parameter.value]);
        }
        for (const Parameter& buffer : model.buffers) {
            m_step.buffers.push_back(cast.values[buffer.value]);
        }
        m_step.input = cast.values[model.input];
        m_step.target = cast.values[model.target];
        if (model.hasDropout) {
            m_step.dropoutCounter = cast.values[model.dropoutCounter];
        }
        addScale();
        m_step.lr = stepInput("lr");
        differentiateLoss(cast.values[model.loss]);
        m_step.foundInf = stepOutput("found_inf", DType::Float32);
        m_step.sumSquares = stepOutput("sum_squares", DType::Float64);
        m_step.maxAbs = stepOutput("max_abs", DType::Float32);
        for (const StepBlock block : m_lane.order) {
            appendBlock(block);
        }
        if (m_lane.model.checkpointing) {
            m_step.graph = recomputeBlocks(m_step.graph);
        }
        countCasts();
        return std::move(m_step);
    }

private:
    ValueId stepInput(const char* name, DType dtype = DType::Float32)
    {
        return m_step.graph.addValue({name, {dtype, {}}, ValueKind::StepInput});
    }

    ValueId stepOutput(std::string name, DType dtype)
    {
        return m_step.graph.addValue({std::move(name), {dtype, {}}, ValueKind::StepOutput});
    }

    ValueId scaled(ValueId x, ValueId factor, const char* name)
    {
        return m_step.graph.append(
            {.op = Op::Scale, .name = name, .attributes = {}, .inputs = {x, factor}, .outputs = {}},
            {std::string(name) + ".out"})[0];
    }

    void addScale()
    {
        if (!scalesOnDevice(m_lane)) {
            m_step.lossScale = stepInput("loss_scale");
            m_step.inverseScale = stepInput("inverse_scale");
            return;
        }
        m_step.lossScale = stepOutput("loss_scale", DType::Float32);
        m_step.inverseScale = stepOutput("inverse_scale", DType::Float32);
        m_step.scaler = ScalerValues {.growthFactor = stepInput("growth_factor", DType::Float64),
            .backoffFactor = stepInput("backoff_factor", DType::Float64),
            .growthInterval = stepInput("growth_interval", DType::Float64),
            .isFrozen = stepInput("is_frozen"),
            .scale = stepOutput("scale", DType::Float32),
            .tracker = stepOutput("growth_tracker", DType::Float64)};
    }

    void appendScaler()
    {
        const ScalerValues& scaler = *m_step.scaler;
        const std::vector<ValueId> moved {scaler.scale, scaler.tracker, m_step.lossScale, m_step.inverseScale};
        m_step.graph.addNode({Op::ScalerUpdate, "scaler", {},
            together(
                {{m_step.foundInf, scaler.growthFactor, scaler.backoffFactor, scaler.growthInterval, scaler.isFrozen},
                    moved}),
            moved, Phase::Optimizer, {}});
    }

    void differentiateLoss(ValueId loss)
    {
        Graph& graph = m_step.graph;
        const AccumulationConfig& config = m_lane.accumulation;
        const bool accumulates = config.steps > 1 || config.guard || !config.zeroGradients;
        if (m_lane.lossWeight != 1) {
            m_step.lossWeight = stepInput("loss_weight");
            loss = scaled(loss, *m_step.lossWeight, "weighted_loss");
        }
        m_step.microLoss = loss;
        graph.value(loss).kind = ValueKind::StepOutput;
        m_step.loss = loss;
        if (!accumulates) {
            const std::vector<ValueId> computed = gradientsOf(loss);
            m_step.gradients = gradientValues(computed);
            for (std::size_t i = 0; i < computed.size(); ++i) {
                graph.replaceValue(computed[i], m_step.gradients[i]);
                if (m_step.gradientRoundings[i] == computed[i]) {
                    m_step.gradientRoundings[i] = m_step.gradients[i];
                }
            }
            appendMicroCheck();
            return;
        }
        m_step.inverseAccumulation = stepInput("inverse_accumulation");
        m_step.keep = stepInput("keep");
        m_step.keepGradients = stepInput("keep_gradients");
        const ValueId share = scaled(loss, *m_step.inverseAccumulation, "loss_share");
        // The guard drops a micro-batch by its loss; without one, `keep` is always finite and drops nothing.
        const ValueId guard = config.guard ? m_step.microLoss : *m_step.keep;
        m_step.loss = stepOutput("step_loss", DType::Float32);
        graph.addNode(
            {Op::Accumulate, "step_loss", {}, {share, *m_step.keep, guard}, {m_step.loss}, Phase::Forward, {}});
        const std::vector<ValueId> parts = gradientsOf(share);
        m_step.gradients = gradientValues(parts);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            graph.addNode({Op::Accumulate, graph.value(parts[i]).name + ".sum", {},
                {parts[i], *m_step.keepGradients, guard}, {m_step.gradients[i]}, Phase::Backward, {}});
        }
        appendMicroCheck();
    }

    void appendMicroCheck()
    {
        if (m_lane.accumulation.scalerPerMicroBatch) {
            m_step.microFoundInf = appendNorm("micro_check", Phase::Backward, m_step.gradients).foundInf;
        }
    }

    /// Backward from `loss`, noting where parameter gradients were rounded to 16 bits.
    std::vector<ValueId> gradientsOf(ValueId loss)
    {
        Graph& graph = m_step.graph;
        std::vector<ValueId> gradients = differentiate(graph, loss, m_step.lossScale, m_step.parameters);
        for (const ValueId gradient : gradients) {
            const ValueId computed = computedAs(gradient);
            const bool isRounded = isHalf(graph.value(computed).type.dtype);
            m_step.gradientRoundings.push_back(isRounded ? std::optional(computed) : std::nullopt);
        }
        return gradients;
    }

    /// The value that became this one without any rounding: by widening, copying, or taking another shape.
    [[nodiscard]] ValueId computedAs(ValueId value) const
    {
        const auto producer = std::ranges::find_if(m_step.graph.nodes(),
            [value](const Node& node) { return std::ranges::find(node.outputs, value) != node.outputs.end(); });
        const bool isMoved = producer != m_step.graph.nodes().end()
            && (producer->op == Op::Reshape
                || (producer->op == Op::Cast && !isHalf(m_step.graph.value(value).type.dtype)));
        return isMoved ? computedAs(producer->inputs[0]) : value;
    }

    /// Gradient values like `parts`, in the parameters' order, so that they lie side by side as the parameters do.
    std::vector<ValueId> gradientValues(const std::vector<ValueId>& parts)
    {
        std::vector<ValueId> ids;
        for (const ValueId part : parts) {
            Value value = m_step.graph.value(part);
            value.kind = ValueKind::Gradient;
            ids.push_back(m_step.graph.addValue(std::move(value)));
        }
        return ids;
    }

    /// The values one after the other.
    static std::vector<ValueId> together(std::initializer_list<std::vector<ValueId>> lists)
    {
        std::vector<ValueId> all;
        for (const std::vector<ValueId>& list : lists) {
            all.insert(all.end(), list.begin(), list.end());
        }
        return all;
    }

    struct Norm
    {
        ValueId foundInf;
        ValueId sumSquares;
        ValueId maxAbs;
    };

    /// Measures gradients as they are at this point.
    Norm appendNorm(const std::string& name, Phase phase, const std::vector<ValueId>& gradients)
    {
        const Norm norm {stepOutput(name + ".found_inf", DType::Float32),
            stepOutput(name + ".sum_squares", DType::Float64), stepOutput(name + ".max_abs", DType::Float32)};
        m_step.graph.addNode(
            {Op::GradientNorm, name, {}, gradients, {norm.foundInf, norm.sumSquares, norm.maxAbs}, phase, {}});
        return norm;
    }

    [[nodiscard]] bool comesFirst(StepBlock first, StepBlock second) const
    {
        return comesBefore(m_lane.order, first, second);
    }

    void appendBlock(StepBlock block)
    {
        switch (block) {
        case StepBlock::Unscale:
            m_step.graph.addNode({Op::Unscale, "unscale", {}, together({{m_step.inverseScale}, m_step.gradients}),
                together({m_step.gradients,
                    {checksAtOnce() ? m_step.foundInf : stepOutput("unscale.found_inf", DType::Float32),
                        m_step.sumSquares, m_step.maxAbs}}),
                Phase::Unscale, {}});
            break;
        case StepBlock::Check:
            if (!checksAtOnce()) {
                m_step.foundInf = appendNorm("check", Phase::Check, m_step.gradients).foundInf;
            }
            break;
        case StepBlock::Clip:
            if (m_lane.clip.order != ClipOrder::Off) {
                appendClip();
            }
            break;
        case StepBlock::Step:
            appendOptimizer();
            break;
        case StepBlock::Update:
            if (m_step.scaler) {
                appendScaler();
            }
            break; // else the host's
        case StepBlock::Schedule:
            break; // the host's
        }
    }

    /// Unscaling looks for infinity and NaN as it goes: the check is no pass of its own then.
    [[nodiscard]] bool checksAtOnce() const
    {
        const auto* const unscale = std::ranges::find(m_lane.order, StepBlock::Unscale);
        return unscale + 1 != m_lane.order.end() && unscale[1] == StepBlock::Check;
    }

    void appendClip()
    {
        const bool isUnscaled = comesFirst(StepBlock::Unscale, StepBlock::Clip);
        ValueId sumSquares = m_step.sumSquares;
        if (!isUnscaled) {
            const Norm scaled = appendNorm("scaled_norm", Phase::Clip, m_step.gradients);
            sumSquares = scaled.sumSquares;
            m_step.scaledSumSquares = scaled.sumSquares;
            m_step.scaledMaxAbs = scaled.maxAbs;
        }
        m_step.clipLimit = stepInput("clip_limit");
        if (!m_lane.clip.maxNorm) {
            m_step.graph.addNode({Op::ClipByValue, "clip", {}, together({{*m_step.clipLimit}, m_step.gradients}),
                m_step.gradients, Phase::Clip, {}});
        } else if (m_lane.clip.perLayer) {
            appendClipPerLayer();
        } else {
            appendClipByNorm("clip", m_step.gradients, sumSquares);
        }
        if (isUnscaled) {
            m_step.clippedSumSquares = appendNorm("clipped_norm", Phase::Clip, m_step.gradients).sumSquares;
        }
    }

    void appendClipByNorm(std::string name, const std::vector<ValueId>& gradients, ValueId sumSquares)
    {
        const ValueId coefficient = stepOutput("clip_coefficient", DType::Float32);
        m_step.graph.addNode(
            {Op::ClipByNorm, std::move(name), {}, together({{*m_step.clipLimit, sumSquares}, gradients}),
                together({gradients, {coefficient}}), Phase::Clip, {}});
    }

    void appendClipPerLayer()
    {
        for (std::size_t i = 0; i < m_step.gradients.size();) {
            const auto layerAt = [this](std::size_t at) {
                return std::string(layerOf(m_step.graph.value(m_step.parameters[at]).name));
            };
            const std::string layer = layerAt(i);
            std::vector<ValueId> gradients;
            for (; i < m_step.gradients.size() && layerAt(i) == layer; ++i) {
                gradients.push_back(m_step.gradients[i]);
            }
            const std::string name = "clip." + layer;
            appendClipByNorm(name, gradients, appendNorm(name + ".norm", Phase::Clip, gradients).sumSquares);
        }
    }

    /// One value per parameter, named after it.
    std::vector<ValueId> perParameter(const char* suffix, std::optional<DType> dtype)
    {
        std::vector<ValueId> ids;
        for (const ValueId parameter : m_step.parameters) {
            Value value = m_step.graph.value(parameter);
            value.name += suffix;
            value.kind = ValueKind::OptimizerState;
            value.type.dtype = dtype.value_or(value.type.dtype);
            ids.push_back(m_step.graph.addValue(std::move(value)));
        }
        return ids;
    }

    void appendOptimizer()
    {
        const OptimizerConfig& config = m_lane.optimizer;
        const std::optional<DType> stateFormat = dtypeFromName(config.stateFormat); // none: that of the weights
        std::vector<ValueId> states;
        std::vector<ValueId> counts;
        if (config.kind != "sgd") {
            states = together({perParameter(".exp_avg", stateFormat), perParameter(".exp_avg_sq", stateFormat)});
            counts = {m_step.graph.addValue({"step", {DType::Float32, {}}, ValueKind::OptimizerState})};
        } else if (config.momentum != 0) {
            states = perParameter(".momentum_buffer", stateFormat);
        }
        const WeightRounding rounding = roundingOf(m_lane.precision);
        if (rounding == WeightRounding::Compensated) {
            states = together({states, perParameter(".compensation", {})});
        }
        std::vector<ValueId> counters;
        if (rounding == WeightRounding::Stochastic) {
            m_step.roundingCounter
                = m_step.graph.addValue({"rounding_counter", {DType::Int32, {}}, ValueKind::StepInput});
            counters = {*m_step.roundingCounter};
        }
        const std::vector<ValueId> updated = together({m_step.parameters, states, counts});
        const auto append = [&](const char* name, bool skips, std::uint64_t seed, const char* squaresName) {
            const ValueId squares = stepOutput(squaresName, DType::Float64);
            const bool isSgd = config.kind == "sgd";
            m_step.graph.addNode({isSgd ? Op::SgdUpdate : Op::AdamUpdate, name,
                isSgd ? Attributes(sgd(skips, rounding, seed)) : Attributes(adam(skips, rounding, seed)),
                together({{m_step.lr, m_step.foundInf}, m_step.gradients, updated, counters}),
                together({updated, {squares, m_step.weightSquares}}), Phase::Optimizer, {}});
            return squares;
        };
        m_step.weightSquares = stepOutput("weight_squares", DType::Float64);
        const bool skips = skipsOnNonFinite(m_lane) && comesFirst(StepBlock::Check, StepBlock::Step);
        m_step.updateSquares = append(config.kind.c_str(), skips, m_lane.seed, "update_squares");
        if (config.extraStep) {
            m_step.extraUpdateSquares = append("stray_step", false, ~m_lane.seed, "stray_update_squares");
        }
        appendAverage(skips);
    }

    /// The format that the update computes in: a 16-bit one if all that it stores has it.
    [[nodiscard]] DType arithmetic(WeightRounding rounding) const
    {
        const DType weights = m_step.graph.value(m_step.parameters.front()).type.dtype;
        const bool isUniform = dtypeFromName(m_lane.optimizer.stateFormat).value_or(weights) == weights;
        return isUniform && rounding == WeightRounding::Nearest ? weights : DType::Float32;
    }

    [[nodiscard]] SgdAttributes sgd(bool skips, WeightRounding rounding, std::uint64_t seed) const
    {
        const OptimizerConfig& config = m_lane.optimizer;
        return {static_cast<float>(config.momentum), static_cast<float>(config.weightDecay), config.nesterov, skips,
            arithmetic(rounding), rounding, seed};
    }

    [[nodiscard]] AdamAttributes adam(bool skips, WeightRounding rounding, std::uint64_t seed) const
    {
        const OptimizerConfig& config = m_lane.optimizer;
        const DType epsilonFormat = dtypeFromName(config.epsilonFormat).value_or(DType::Float32);
        return {config.beta1, config.beta2, static_cast<float>(roundValue(epsilonFormat, config.epsilon)),
            static_cast<float>(config.weightDecay), config.kind == "adamw", skips, arithmetic(rounding), rounding,
            seed};
    }

    void appendAverage(bool skipsSteps)
    {
        if (m_lane.ema.decay == 0) {
            return;
        }
        m_step.emaDecay = stepInput("ema_decay");
        m_step.averages = perParameter(".ema", dtypeFromName(m_lane.ema.format));
        m_step.graph.addNode({Op::EmaUpdate, "ema", EmaAttributes {skipsSteps && !m_lane.ema.countSkipped},
            together({{*m_step.emaDecay, m_step.foundInf}, m_step.parameters, m_step.averages}), m_step.averages,
            Phase::Optimizer, {}});
    }

    void countCasts()
    {
        for (const Node& node : m_step.graph.nodes()) {
            if (node.op == Op::Cast) {
                m_step.castsPerStep
                    += node.phase == Phase::WeightCast ? 1 : static_cast<int>(m_lane.accumulation.steps);
            }
        }
    }

    const LaneConfig& m_lane;
    StepGraph m_step;
};

/// The settings that shape the graph; the rest are scalars.
OptimizerConfig withoutRate(OptimizerConfig config)
{
    config.lr = 0;
    return config;
}

} // namespace

StepGraph buildStepGraph(const LaneConfig& lane, const ModelTask& task)
{
    return StepBuilder(lane).run(task);
}

EvaluationGraph buildEvaluationGraph(const LaneConfig& lane, const ModelTask& task)
{
    ModelTask judging = task;
    judging.training = false;
    const Model model = buildModel(lane.model, judging);
    AutocastResult cast = applyAutocast(model.graph, policyOf(lane.precision));
    EvaluationGraph evaluation {std::move(cast.graph), {}, {}, cast.values[model.input], cast.values[model.output]};
    for (const Parameter& parameter : model.parameters) {
        evaluation.parameters.push_back(cast.values[parameter.value]);
    }
    for (const Parameter& buffer : model.buffers) {
        evaluation.buffers.push_back(cast.values[buffer.value]);
    }
    if (isHalf(evaluation.graph.value(evaluation.output).type.dtype)) {
        evaluation.output = evaluation.graph.append(
            {.op = Op::Cast, .name = "output.to_fp32", .attributes = {}, .inputs = {evaluation.output}, .outputs = {}},
            {"output.fp32"}, DType::Float32)[0];
    }
    evaluation.graph.value(evaluation.output).kind = ValueKind::StepOutput;
    return evaluation;
}

bool needsNewGraph(const LaneConfig& from, const LaneConfig& to)
{
    return from.precision != to.precision || from.model.checkpointing != to.model.checkpointing
        || from.clip.order != to.clip.order || from.clip.maxNorm.has_value() != to.clip.maxNorm.has_value()
        || from.clip.perLayer != to.clip.perLayer || from.order != to.order
        || (from.ema.decay == 0) != (to.ema.decay == 0) || from.ema.format != to.ema.format
        || from.ema.countSkipped != to.ema.countSkipped || from.accumulation != to.accumulation
        || withoutRate(from.optimizer) != withoutRate(to.optimizer) || skipsOnNonFinite(from) != skipsOnNonFinite(to)
        || scalesOnDevice(from) != scalesOnDevice(to);
}

} // namespace mantissa
