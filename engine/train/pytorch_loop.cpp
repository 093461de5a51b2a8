// Sources: torch.amp (autocast, GradScaler), torch.nn.utils.clip_grad_norm_, torch.optim.lr_scheduler.LambdaLR.
#include "engine/train/pytorch_loop.h"

#include "engine/autocast/policy.h"
#include "engine/scaling/loss_scaler.h"

#include <fmt/format.h>

#include <string_view>

namespace mantissa {

namespace {

/// Collects lines at an indentation.
class Script
{
public:
    void line(std::string_view text = {})
    {
        m_text += text.empty() ? "" : std::string(m_depth * 4, ' ');
        m_text += text;
        m_text += '\n';
    }

    template <typename Body> void block(std::string_view head, Body body)
    {
        line(head);
        ++m_depth;
        body();
        --m_depth;
    }

    [[nodiscard]] std::string text() && { return std::move(m_text); }

private:
    std::string m_text;
    std::size_t m_depth = 0;
};

std::string number(double value)
{
    return fmt::format("{}", value);
}

/// "torch.float16" for the 16-bit format of the policy; empty for FP32.
std::string torchType(const Policy& policy)
{
    switch (policy.lower) {
    case DType::Float16:
        return "torch.float16";
    case DType::BFloat16:
        return "torch.bfloat16";
    default:
        return {};
    }
}

class Loop
{
public:
    explicit Loop(const LaneConfig& lane)
        : m_lane(lane)
        , m_policy(policyNamed(lane.precision.policy))
        , m_family(lane.scaler ? lane.scaler->family : "none")
    {
    }

    std::string write() &&
    {
        m_script.line("import math, torch, torch.nn.functional as F");
        if (!m_lane.model.weights.empty()) {
            m_script.line("import safetensors.torch");
        }
        writeModel();
        writeOptimizer();
        writeSchedule();
        writeScaler();
        m_script.line();
        m_script.block(fmt::format("for step in range({}):", m_lane.steps), [this] { writeStep(); });
        return std::move(m_script).text();
    }

private:
    [[nodiscard]] bool isPytorch() const { return m_family == "pytorch"; }

    [[nodiscard]] bool scales() const { return m_family != "none"; }

    void writeModel()
    {
        m_script.line(fmt::format("torch.manual_seed({})", m_lane.seed));
        m_script.line(
            fmt::format("model = build_model().cuda()  # {}, on the {} data", m_lane.model.kind, m_lane.data.kind));
        if (!m_lane.model.weights.empty()) {
            m_script.line(fmt::format(
                "model.load_state_dict(safetensors.torch.load_file({}))", nlohmann::json(m_lane.model.weights).dump()));
        }
        if (m_lane.precision.hasHalfWeights()) {
            m_script.line(fmt::format("model = model.to({})  # weights, gradients and optimizer state in 16 bits, no "
                                      "FP32 masters",
                torchType(m_policy)));
        }
        if (m_lane.precision.weights == "half-stochastic") {
            m_script.line("# new weights are rounded at random, as by torchao.optim with bf16_stochastic_round=True");
        } else if (m_lane.precision.weights == "half-kahan") {
            m_script.line("# what rounding a new weight drops is kept in 16 bits, as by optimi with kahan_sum=True");
        }
        for (const auto& [name, format] : m_lane.precision.overrides) {
            m_script.line(
                fmt::format("# {} in {}: wrap it in torch.autocast of that dtype, or enabled=False", name, format));
        }
    }

    void writeOptimizer()
    {
        const OptimizerConfig& config = m_lane.optimizer;
        if (config.kind == "sgd") {
            m_script.line(fmt::format("optimizer = torch.optim.SGD(model.parameters(), lr={}, momentum={}, "
                                      "weight_decay={}, nesterov={})",
                number(config.lr), number(config.momentum), number(config.weightDecay),
                config.nesterov ? "True" : "False"));
        } else {
            m_script.line(fmt::format("optimizer = torch.optim.{}(model.parameters(), lr={}, betas=({}, {}), eps={}, "
                                      "weight_decay={})",
                config.kind == "adam" ? "Adam" : "AdamW", number(config.lr), number(config.beta1), number(config.beta2),
                epsilon(), number(config.weightDecay)));
        }
        if (config.stateFormat != "weights") {
            m_script.line(fmt::format(
                "# optimizer state in {}, where PyTorch gives it the format of the weights", config.stateFormat));
        }
        if (m_lane.ema.decay > 0) {
            m_script.line("from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn");
            m_script.line(fmt::format("ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn({})){}",
                number(m_lane.ema.decay),
                m_lane.ema.format == "fp32" ? "" : fmt::format("  # kept in {}", m_lane.ema.format)));
        }
    }

    [[nodiscard]] std::string epsilon() const
    {
        const std::string value = number(m_lane.optimizer.epsilon);
        const std::string& format = m_lane.optimizer.epsilonFormat;
        return format == "fp32"
            ? value
            : fmt::format("float(torch.tensor({}, dtype=torch.{}))", value, format == "fp16" ? "float16" : "bfloat16");
    }

    [[nodiscard]] bool hasSchedule() const
    {
        return m_lane.schedule.kind != "constant" || m_lane.schedule.warmupSteps > 0;
    }

    void writeSchedule()
    {
        const ScheduleConfig& config = m_lane.schedule;
        if (!hasSchedule()) {
            return;
        }
        m_script.line();
        m_script.block("def rate(step):", [&] {
            if (config.warmupSteps > 0) {
                m_script.block(fmt::format("if step < {}:", config.warmupSteps),
                    [&] { m_script.line(fmt::format("return (step + 1) / {}", config.warmupSteps)); });
            }
            if (config.kind == "cosine") {
                const std::int64_t total = config.totalSteps > 0 ? config.totalSteps : m_lane.steps;
                m_script.line(fmt::format(
                    "t = min((step - {}) / max({}, 1), 1.0)", config.warmupSteps, total - 1 - config.warmupSteps));
                m_script.line(fmt::format(
                    "return {0} + (1 - {0}) * (1 + math.cos(math.pi * t)) / 2", number(config.minimumFactor)));
            } else if (config.kind == "step") {
                m_script.line(fmt::format(
                    "return {} ** ((step - {}) // {})", number(config.gamma), config.warmupSteps, config.every));
            } else {
                m_script.line("return 1.0");
            }
        });
        m_script.line();
        m_script.line("schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)");
    }

    void writeScaler()
    {
        if (!scales()) {
            return;
        }
        const ScalerFamily& family = *findScalerFamily(m_family);
        std::string arguments;
        for (const ScalerParameter& parameter : family.parameters) {
            const std::optional<double> value = valueOf(*m_lane.scaler, parameter.key);
            arguments += arguments.empty() ? "" : ", ";
            arguments += parameter.ownName;
            arguments += '=';
            arguments += !value                               ? "None"
                : parameter.kind == ScalerParameterKind::Flag ? (*value != 0 ? "True" : "False")
                                                              : number(*value);
        }
        if (isPytorch()) {
            m_script.line(fmt::format("scaler = torch.amp.GradScaler(\"cuda\", {})", arguments));
        } else if (m_family == "fixed") {
            m_script.line(fmt::format("scale = {}  # fixed", number(*valueOf(*m_lane.scaler, "init_scale"))));
        } else {
            m_script.line(fmt::format("scaler = Scaler({})  # {}: not part of PyTorch", arguments, family.title));
        }
    }

    /// The lines that compute the loss from "output" and "target".
    void writeLoss()
    {
        const std::string share = number(m_lane.labelSmoothing);
        if (m_lane.loss != "cross_entropy") {
            m_script.line(m_lane.loss == "mse" ? "loss = F.mse_loss(output, target)"
                                               : "loss = F.binary_cross_entropy_with_logits(output, target)");
        } else if (m_lane.lossForm == "fused") {
            m_script.line(m_lane.labelSmoothing > 0
                    ? fmt::format("loss = F.cross_entropy(output, target, label_smoothing={})", share)
                    : "loss = F.cross_entropy(output, target)");
        } else {
            m_script.line(m_lane.lossForm == "log_softmax"
                    ? "log_p = F.log_softmax(output, -1)"
                    : "log_p = torch.log(torch.softmax(output, -1))  # WRONG: loses small probabilities");
            m_script.line(m_lane.labelSmoothing > 0
                    ? fmt::format("loss = (1 - {0}) * F.nll_loss(log_p, target) - {0} * log_p.mean()", share)
                    : "loss = F.nll_loss(log_p, target)");
        }
    }

    void writeForward()
    {
        const std::string type = torchType(m_policy);
        const bool isAutocast = !type.empty() && !m_lane.precision.hasHalfWeights();
        const auto forward = [this] {
            m_script.line("output = model(data)");
            writeLoss();
        };
        if (isAutocast) {
            const bool isCpu = m_policy.lists == OpLists::PyTorchCpu;
            const bool isTorch = isCpu || m_policy.lists == OpLists::PyTorchCuda;
            m_script.block(fmt::format("with torch.autocast(\"{}\", dtype={}):{}", isCpu ? "cpu" : "cuda", type,
                               isTorch ? "" : fmt::format("  # the lists of {} differ from PyTorch's", m_policy.name)),
                forward);
        } else {
            forward();
        }
        if (m_lane.lossWeight != 1) {
            m_script.line(fmt::format("loss = loss * {}", number(m_lane.lossWeight)));
        }
    }

    void writeBackward()
    {
        const std::int64_t parts = m_lane.accumulation.steps;
        const bool divides = parts > 1 && m_lane.accumulation.divide;
        if (parts > 1 && !divides) {
            m_script.line(fmt::format("# WRONG: the loss is not divided by {}, so the gradient is a sum", parts));
        }
        const std::string loss = divides ? fmt::format("loss / {}", parts) : "loss";
        const std::string scaled = divides ? "(" + loss + ")" : loss;
        m_script.line(!scales()       ? scaled + ".backward()"
                : m_family == "fixed" ? "(" + loss + " * scale).backward()"
                                      : "scaler.scale(" + loss + ").backward()");
        if (m_lane.accumulation.scalerPerMicroBatch && scales() && m_family != "fixed") {
            m_script.line("scaler.update()  # WRONG: judges every micro-batch; the scale may move within a step");
        }
    }

    void writeMicroBatch(const std::string& index)
    {
        m_script.line(fmt::format("data, target = batches.next({})", index));
        writeForward();
        if (m_lane.accumulation.guard) {
            m_script.block("if not torch.isfinite(loss):",
                [this] { m_script.line("continue  # this micro-batch's gradient is left out"); });
        }
        writeBackward();
    }

    [[nodiscard]] bool isBefore(StepBlock first, StepBlock second) const
    {
        return comesBefore(m_lane.order, first, second);
    }

    void wrong(std::string_view text) { m_script.line(fmt::format("# WRONG ORDER: {}", text)); }

    void writeClip()
    {
        const ClipConfig& clip = m_lane.clip;
        if (clip.order == ClipOrder::Off) {
            return;
        }
        if (isBefore(StepBlock::Step, StepBlock::Clip)) {
            wrong("the step is over, so this has no effect");
        } else if (isBefore(StepBlock::Clip, StepBlock::Unscale) && scales()) {
            wrong("the gradients still carry the scale, so the threshold acts as that much smaller");
        }
        if (clip.perLayer) {
            m_script.block("for layer in model.modules():", [&] {
                m_script.line("own = list(layer.parameters(recurse=False))");
                m_script.block("if own:", [&] {
                    m_script.line(fmt::format("torch.nn.utils.clip_grad_norm_(own, {})", number(*clip.maxNorm)));
                });
            });
        } else if (clip.maxNorm) {
            m_script.line(fmt::format("torch.nn.utils.clip_grad_norm_(model.parameters(), {})", number(*clip.maxNorm)));
        } else {
            m_script.line(
                fmt::format("torch.nn.utils.clip_grad_value_(model.parameters(), {})", number(*clip.maxValue)));
        }
    }

    /// scaler.step() unscales by itself, so a line of its own is needed only where something depends on its place.
    void writeUnscale()
    {
        const bool isImplied = m_lane.clip.order == ClipOrder::Off && m_lane.order == rightOrder;
        if (m_family == "fixed") {
            m_script.block("for p in model.parameters():", [this] { m_script.line("p.grad /= scale"); });
        } else if (scales() && !isImplied) {
            m_script.line("scaler.unscale_(optimizer)");
        }
    }

    void writeCheck()
    {
        if (scales() && isBefore(StepBlock::Step, StepBlock::Check)) {
            wrong("looking for infinity here comes too late to skip the step");
        }
    }

    void writeOptimizerStep()
    {
        const bool isUnscaled = !scales() || isBefore(StepBlock::Unscale, StepBlock::Step);
        const bool isChecked = isBefore(StepBlock::Check, StepBlock::Step);
        if (scales() && asksWhetherSkipped() && m_family != "fixed") {
            m_script.line("scale_before = scaler.get_scale()");
        }
        if (!isUnscaled) {
            wrong("the gradients still carry the scale");
        } else if (scales() && !isChecked) {
            wrong("nothing has looked for infinity yet");
        }
        if (!scales() || !isUnscaled || !isChecked) {
            m_script.line("optimizer.step()");
        } else if (m_family == "fixed") {
            m_script.block("if all(torch.isfinite(p.grad).all() for p in model.parameters()):",
                [this] { m_script.line("optimizer.step()"); });
        } else {
            m_script.line("scaler.step(optimizer)  # skipped where a gradient is not finite");
        }
        if (m_lane.optimizer.extraStep) {
            m_script.line("optimizer.step()  # WRONG: a second step, which heeds no overflow");
        }
        if (m_lane.ema.decay > 0) {
            m_script.line(m_lane.ema.countSkipped || !scales()
                    ? "ema.update_parameters(model)"
                    : "ema.update_parameters(model)  # only where the step was taken");
        }
    }

    void writeUpdate()
    {
        if (!scales() || m_family == "fixed" || m_lane.accumulation.scalerPerMicroBatch) {
            return;
        }
        if (isBefore(StepBlock::Update, StepBlock::Unscale)) {
            wrong("the gradients will be unscaled by another scale than they were scaled by");
        } else if (isBefore(StepBlock::Update, StepBlock::Check)) {
            wrong("it knows only what the step before has found");
        }
        m_script.line(m_lane.scaler->frozen ? "# scaler.update() is left out: the scale is frozen" : "scaler.update()");
    }

    /// Whether a line behind the step depends on its having been skipped.
    [[nodiscard]] bool asksWhetherSkipped() const { return hasSchedule() && !m_lane.schedule.countSkipped; }

    void writeAdvance()
    {
        if (!hasSchedule()) {
            return;
        }
        if (isBefore(StepBlock::Schedule, StepBlock::Step)) {
            wrong("the step will use the rate of the next one");
            m_script.line("schedule.step()");
        } else if (!asksWhetherSkipped() || !scales()) {
            m_script.line("schedule.step()  # after skipped steps too");
        } else if (m_family == "fixed") {
            m_script.line("schedule.step()  # only where the step was taken");
        } else {
            m_script.block("if scaler.get_scale() >= scale_before:  # not after a skipped step",
                [this] { m_script.line("schedule.step()"); });
        }
    }

    void writeStep()
    {
        m_script.line(m_lane.accumulation.zeroGradients
                ? "optimizer.zero_grad(set_to_none=True)"
                : "# WRONG: optimizer.zero_grad() is missing, so the last step's gradients are added to");
        const std::int64_t parts = m_lane.accumulation.steps;
        if (parts > 1) {
            m_script.block(fmt::format("for part in range({}):", parts), [this] { writeMicroBatch("step, part"); });
        } else if (m_lane.accumulation.guard) {
            m_script.block("for part in range(1):", [this] { writeMicroBatch("step, part"); });
        } else {
            writeMicroBatch("step");
        }
        for (const StepBlock block : m_lane.order) {
            writeBlock(block);
        }
    }

    void writeBlock(StepBlock block)
    {
        switch (block) {
        case StepBlock::Unscale:
            return writeUnscale();
        case StepBlock::Check:
            return writeCheck();
        case StepBlock::Clip:
            return writeClip();
        case StepBlock::Step:
            return writeOptimizerStep();
        case StepBlock::Update:
            return writeUpdate();
        case StepBlock::Schedule:
            return writeAdvance();
        }
    }

    const LaneConfig& m_lane;
    Policy m_policy;
    std::string m_family;
    Script m_script;
};

} // namespace

std::string pytorchLoop(const LaneConfig& lane)
{
    return Loop(lane).write();
}

} // namespace mantissa
