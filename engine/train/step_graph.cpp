#include "engine/train/step_graph.h"

#include "engine/autocast/autocast.h"
#include "engine/autodiff/checkpointing.h"
#include "engine/autodiff/differentiate.h"
#include "engine/core/error.h"

#include <algorithm>
#include <utility>

namespace mantissa {

namespace {

Policy policyOf(const PrecisionConfig& config)
{
    constexpr std::string_view accumulate = ".accumulate";
    Policy policy = policyNamed(config.policy);
    policy.weights = config.weights == "half" ? policy.lower : DType::Float32;
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
        m_step.lossScale = stepInput("loss_scale");
        m_step.inverseScale = stepInput("inverse_scale");
        m_step.lr = stepInput("lr");
        differentiateLoss(cast.values[model.loss]);
        appendClipAndUnscale();
        appendOptimizer(policy.weights);
        if (m_lane.model.checkpointing) {
            m_step.graph = recomputeBlocks(m_step.graph);
        }
        countCasts();
        return std::move(m_step);
    }

private:
    ValueId stepInput(const char* name)
    {
        return m_step.graph.addValue({name, {DType::Float32, {}}, ValueKind::StepInput});
    }

    ValueId stepOutput(const char* name, DType dtype)
    {
        return m_step.graph.addValue({name, {dtype, {}}, ValueKind::StepOutput});
    }

    ValueId scaled(ValueId x, ValueId factor, const char* name)
    {
        return m_step.graph.append(
            {.op = Op::Scale, .name = name, .attributes = {}, .inputs = {x, factor}, .outputs = {}},
            {std::string(name) + ".out"})[0];
    }

    void differentiateLoss(ValueId loss)
    {
        Graph& graph = m_step.graph;
        const bool accumulates = m_lane.accumulation.steps > 1 || m_lane.accumulation.guard;
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
                std::ranges::replace(m_step.gradientRoundings, computed[i], m_step.gradients[i]);
            }
            return;
        }
        m_step.inverseAccumulation = stepInput("inverse_accumulation");
        m_step.keep = stepInput("keep");
        const ValueId share = scaled(loss, *m_step.inverseAccumulation, "loss_share");
        // The guard drops a micro-batch by its loss; without one, `keep` is always finite and drops nothing.
        const ValueId guard = m_lane.accumulation.guard ? m_step.microLoss : *m_step.keep;
        m_step.loss = stepOutput("step_loss", DType::Float32);
        graph.addNode(
            {Op::Accumulate, "step_loss", {}, {share, *m_step.keep, guard}, {m_step.loss}, Phase::Forward, {}});
        const std::vector<ValueId> parts = gradientsOf(share);
        m_step.gradients = gradientValues(parts);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            graph.addNode({Op::Accumulate, graph.value(parts[i]).name + ".sum", {}, {parts[i], *m_step.keep, guard},
                {m_step.gradients[i]}, Phase::Backward, {}});
        }
    }

    /// Backward from `loss`, noting where parameter gradients were rounded to 16 bits.
    std::vector<ValueId> gradientsOf(ValueId loss)
    {
        Graph& graph = m_step.graph;
        std::vector<ValueId> gradients = differentiate(graph, loss, m_step.lossScale, m_step.parameters);
        for (const ValueId gradient : gradients) {
            const ValueId computed = computedAs(gradient);
            if (isHalf(graph.value(computed).type.dtype)) {
                m_step.gradientRoundings.push_back(computed);
            }
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

    std::vector<ValueId> withGradients(std::vector<ValueId> leading) const
    {
        leading.insert(leading.end(), m_step.gradients.begin(), m_step.gradients.end());
        return leading;
    }

    std::vector<ValueId> gradientsWith(std::initializer_list<ValueId> trailing) const
    {
        std::vector<ValueId> ids = m_step.gradients;
        ids.insert(ids.end(), trailing);
        return ids;
    }

    void appendNorm(const char* name, Phase phase, ValueId sumSquares, ValueId maxAbs)
    {
        const ValueId found = stepOutput("found_inf", DType::Float32);
        m_step.graph.addNode({Op::GradientNorm, name, {}, m_step.gradients, {found, sumSquares, maxAbs}, phase, {}});
    }

    void appendClip(ValueId sumSquares)
    {
        m_step.clipLimit = stepInput("clip_limit");
        if (m_lane.clip.maxNorm) {
            const ValueId coefficient = stepOutput("clip_coefficient", DType::Float32);
            m_step.graph.addNode({Op::ClipByNorm, "clip", {}, withGradients({*m_step.clipLimit, sumSquares}),
                gradientsWith({coefficient}), Phase::Clip, {}});
        } else {
            m_step.graph.addNode(
                {Op::ClipByValue, "clip", {}, withGradients({*m_step.clipLimit}), m_step.gradients, Phase::Clip, {}});
        }
    }

    void appendUnscale()
    {
        m_step.foundInf = stepOutput("found_inf", DType::Float32);
        m_step.sumSquares = stepOutput("sum_squares", DType::Float64);
        m_step.maxAbs = stepOutput("max_abs", DType::Float32);
        m_step.graph.addNode({Op::Unscale, "unscale", {}, withGradients({m_step.inverseScale}),
            gradientsWith({m_step.foundInf, m_step.sumSquares, m_step.maxAbs}), Phase::Unscale, {}});
    }

    void appendClipAndUnscale()
    {
        switch (m_lane.clip.order) {
        case ClipOrder::Off:
            appendUnscale();
            break;
        case ClipOrder::UnscaleThenClip:
            appendUnscale();
            appendClip(m_step.sumSquares);
            m_step.clippedSumSquares = stepOutput("clipped_sum_squares", DType::Float64);
            appendNorm(
                "clipped_norm", Phase::Clip, *m_step.clippedSumSquares, stepOutput("clipped_max", DType::Float32));
            break;
        case ClipOrder::ClipThenUnscale:
            m_step.scaledSumSquares = stepOutput("scaled_sum_squares", DType::Float64);
            m_step.scaledMaxAbs = stepOutput("scaled_max", DType::Float32);
            appendNorm("scaled_norm", Phase::Clip, *m_step.scaledSumSquares, *m_step.scaledMaxAbs);
            appendClip(*m_step.scaledSumSquares);
            appendUnscale();
            break;
        }
    }

    std::vector<ValueId> optimizerState(const char* suffix)
    {
        std::vector<ValueId> ids;
        for (const ValueId parameter : m_step.parameters) {
            const Value value = m_step.graph.value(parameter);
            ids.push_back(m_step.graph.addValue({value.name + suffix, value.type, ValueKind::OptimizerState}));
        }
        return ids;
    }

    /// `arithmetic`: the format of the weights. A stored 16-bit one is that of every tensor op of the update.
    void appendOptimizer(DType arithmetic)
    {
        const OptimizerConfig& config = m_lane.optimizer;
        const bool skips = skipsOnNonFinite(m_lane);
        std::vector<ValueId> inputs = withGradients({m_step.lr, m_step.foundInf});
        std::vector<ValueId> outputs = m_step.parameters;
        inputs.insert(inputs.end(), m_step.parameters.begin(), m_step.parameters.end());
        const auto addState = [&](const std::vector<ValueId>& state) {
            inputs.insert(inputs.end(), state.begin(), state.end());
            outputs.insert(outputs.end(), state.begin(), state.end());
        };
        Node node {.op = Op::SgdUpdate,
            .name = config.kind,
            .attributes = {},
            .inputs = {},
            .outputs = {},
            .phase = Phase::Optimizer};
        if (config.kind == "sgd") {
            if (config.momentum != 0) {
                addState(optimizerState(".momentum_buffer"));
            }
            node.attributes = SgdAttributes {static_cast<float>(config.momentum),
                static_cast<float>(config.weightDecay), config.nesterov, skips, arithmetic};
        } else {
            node.op = Op::AdamUpdate;
            addState(optimizerState(".exp_avg"));
            addState(optimizerState(".exp_avg_sq"));
            addState({m_step.graph.addValue({"step", {DType::Float32, {}}, ValueKind::OptimizerState})});
            node.attributes = AdamAttributes {config.beta1, config.beta2, static_cast<float>(config.epsilon),
                static_cast<float>(config.weightDecay), config.kind == "adamw", skips, arithmetic};
        }
        m_step.updateSquares = stepOutput("update_squares", DType::Float64);
        m_step.weightSquares = stepOutput("weight_squares", DType::Float64);
        outputs.insert(outputs.end(), {m_step.updateSquares, m_step.weightSquares});
        node.inputs = std::move(inputs);
        node.outputs = std::move(outputs);
        m_step.graph.addNode(std::move(node));
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
        || from.accumulation != to.accumulation || withoutRate(from.optimizer) != withoutRate(to.optimizer)
        || skipsOnNonFinite(from) != skipsOnNonFinite(to);
}

} // namespace mantissa
