// Sources: torch.amp (autocast, GradScaler), torch.nn.utils.clip_grad_norm_, torch.optim.lr_scheduler.LambdaLR.
#include "engine/pytorch/training_loop.h"

#include "engine/autocast/policy.h"
#include "engine/data/data_config.h"
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
    /// `runs`: as a part of a script, with what is read from elsewhere and recorded.
    Loop(const LaneConfig& lane, bool runs)
        : m_lane(lane)
        , m_runs(runs)
        , m_policy(policyNamed(lane.precision.policy))
        , m_family(lane.scaler ? lane.scaler->family : "none")
    {
    }

    std::string write() &&
    {
        if (!m_runs) {
            m_script.line("import math, torch, torch.nn.functional as F");
            if (!m_lane.model.weights.empty()) {
                m_script.line("import safetensors.torch");
            }
        }
        writeModel();
        writeOptimizer();
        writeSchedule();
        writeScaler();
        if (m_runs) {
            m_script.line(fmt::format("recorder = Recorder(options.metrics, model, optimizer{}, lane={})",
                !scales()                 ? ""
                    : m_family == "fixed" ? ", scale"
                                          : ", scaler",
                nlohmann::json(m_lane.name).dump()));
        }
        m_script.line();
        m_script.block(m_runs ? std::string("for step in range(options.steps):")
                              : fmt::format("for step in range({}):", m_lane.steps),
            [this] { writeStep(); });
        return std::move(m_script).text();
    }

private:
    [[nodiscard]] bool isPytorch() const { return m_family == "pytorch"; }

    [[nodiscard]] bool scales() const { return m_family != "none"; }

    /// The device as an argument.
    [[nodiscard]] std::string device() const { return m_runs ? "device" : "\"cuda\""; }

    void writeModel()
    {
        m_script.line(fmt::format("torch.manual_seed({})", m_lane.seed));
        if (m_runs) {
            m_script.line("model = Model().to(device)");
            m_script.line("model.load_state_dict(load(here / \"weights.safetensors\"))");
        } else {
            m_script.line(
                fmt::format("model = build_model().cuda()  # {}, on the {} data", m_lane.model.kind, m_lane.data.kind));
        }
        if (!m_runs && !m_lane.model.weights.empty()) {
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
        if (m_lane.accumulation.guard) {
            m_script.block("for p in model.parameters():",
                [this] { m_script.line("p.grad = torch.zeros_like(p)  # all of a step may be left out"); });
        }
        if (m_lane.clip.perLayer && m_lane.clip.order != ClipOrder::Off) {
            m_script.line();
            m_script.block(
                "def layer_of(name):", [this] { m_script.line("return name.rpartition(\".\")[0] or name"); });
            m_script.line();
        }
    }

    void writeOptimizer()
    {
        const OptimizerConfig& config = m_lane.optimizer;
        if (config.kind == "sgd") {
            m_script.line(fmt::format("optimizer = torch.optim.SGD(model.parameters(), lr={}, momentum={}, "
                                      "weight_decay={}, nesterov={}{})",
                number(config.lr), number(config.momentum), number(config.weightDecay),
                config.nesterov ? "True" : "False", oneByOne()));
        } else {
            m_script.line(fmt::format("optimizer = torch.optim.{}(model.parameters(), lr={}, betas=({}, {}), eps={}, "
                                      "weight_decay={}{})",
                config.kind == "adam" ? "Adam" : "AdamW", number(config.lr), number(config.beta1), number(config.beta2),
                epsilon(), number(config.weightDecay), oneByOne()));
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
            m_script.line("ema.update_parameters(model)  # begins at the initial weights");
        }
    }

    /// With 16-bit weights PyTorch's loop over tensors rounds after every operation, as we do.
    [[nodiscard]] std::string oneByOne() const { return m_lane.precision.hasHalfWeights() ? ", foreach=False" : ""; }

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
                const std::string share = "(1 + math.cos(math.pi * t)) / 2";
                m_script.line(config.minimumFactor == 0
                        ? "return " + share
                        : fmt::format("return {0} + (1 - {0}) * {1}", number(config.minimumFactor), share));
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
            m_script.line(fmt::format("scaler = torch.amp.GradScaler({}, {})", device(), arguments));
        } else if (m_family == "fixed") {
            m_script.line(fmt::format("scale = {}  # fixed", number(*valueOf(*m_lane.scaler, "init_scale"))));
        } else {
            m_script.line(fmt::format("scaler = Scaler({})  # {}: not part of PyTorch", arguments, family.title));
        }
    }

    [[nodiscard]] bool isAutocast() const
    {
        return m_policy.lower != DType::Float32 && !m_lane.precision.hasHalfWeights();
    }

    /// The lines that compute the loss from "output" and "target".
    void writeLoss()
    {
        const std::string share = number(m_lane.labelSmoothing);
        const bool isSmooth = m_lane.labelSmoothing > 0;
        const bool isPerToken = dataKind(m_lane.data.kind).isTokens;
        // What is 16-bit goes into the loss in FP32: on GPUs, autocast would round the log-probabilities inside.
        const std::string output = m_policy.lower == DType::Float32 ? "output" : "output.float()";
        const std::string labels = isPerToken ? "target.flatten()" : "target";
        if (m_lane.loss != "cross_entropy") {
            m_script.line(fmt::format("loss = F.{}({}, target)",
                m_lane.loss == "mse" ? "mse_loss" : "binary_cross_entropy_with_logits",
                isAutocast() ? "output" : output)); // autocast has both in FP32 by itself
        } else if (m_lane.lossForm == "fused") {
            m_script.line(fmt::format("loss = F.cross_entropy({}{}, {}{})", output, isPerToken ? ".flatten(0, 1)" : "",
                labels, isSmooth ? ", label_smoothing=" + share : ""));
        } else {
            const std::string rows = isPerToken ? "output.flatten(0, 1)" : "output";
            // nll_loss and the mean of smoothing read FP32, through one cast.
            const std::string widened = m_policy.lower == DType::Float32 ? "" : ".float()";
            m_script.line(m_lane.lossForm == "log_softmax"
                    ? fmt::format("log_p = F.log_softmax({}, -1){}", rows, widened)
                    : fmt::format("log_p = torch.log(torch.softmax({}, -1)){}  # WRONG: loses small probabilities",
                        rows, widened));
            const std::string term = fmt::format("F.nll_loss(log_p, {})", labels);
            m_script.line(isSmooth ? fmt::format("loss = (1 - {0}) * {1} - {0} * {2}.mean()", share, term,
                              isPerToken ? fmt::format("log_p[{} >= 0]", labels) : std::string("log_p"))
                                   : "loss = " + term);
        }
    }

    void writeForward()
    {
        const std::string type = torchType(m_policy);
        const auto forward = [this] {
            m_script.line("output = model(data)");
            writeLoss();
        };
        if (isAutocast()) {
            const bool isCpu = m_policy.lists == OpLists::PyTorchCpu;
            const bool isTorch = isCpu || m_policy.lists == OpLists::PyTorchCuda;
            m_script.block(fmt::format("with torch.autocast({}, dtype={}):{}", isCpu ? "\"cpu\"" : device(), type,
                               isTorch ? "" : fmt::format("  # the lists of {} differ from PyTorch's", m_policy.name)),
                forward);
        } else {
            forward();
        }
        if (m_lane.lossWeight != 1) {
            m_script.line(fmt::format("loss = loss * {}", number(m_lane.lossWeight)));
        }
    }

    [[nodiscard]] bool isInParts() const { return m_lane.accumulation.steps > 1 || m_lane.accumulation.guard; }

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
        m_script.line(fmt::format("data, target = {}({})", m_runs ? "batch" : "batches.next", index));
        if (m_lane.precision.hasHalfWeights() && !dataKind(m_lane.data.kind).isTokens) {
            m_script.line(fmt::format("data = data.to({})", torchType(m_policy)));
        }
        writeForward();
        if (m_lane.accumulation.guard) {
            m_script.block("if not torch.isfinite(loss):",
                [this] { m_script.line("continue  # this micro-batch's gradient is left out"); });
        }
        if (m_runs && isInParts()) {
            m_script.line("losses.append(loss.detach())");
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
        if (m_runs && isBefore(StepBlock::Clip, StepBlock::Unscale)) {
            m_script.line(scales() ? "recorder.gradients(scaled=True)" : "recorder.gradients()");
        }
        if (clip.perLayer) {
            m_script.block("for layer in {layer_of(name) for name, _ in model.named_parameters()}:", [&] {
                m_script.line("own = [p for name, p in model.named_parameters() if layer_of(name) == layer]");
                m_script.line(fmt::format("torch.nn.utils.clip_grad_norm_(own, {})", number(*clip.maxNorm)));
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
        const bool isImplied = !m_runs && m_lane.clip.order == ClipOrder::Off && m_lane.order == rightOrder;
        if (m_family == "fixed") {
            m_script.block("for p in model.parameters():", [this] { m_script.line("p.grad *= 1 / scale"); });
        } else if (scales() && !isImplied) {
            m_script.line("scaler.unscale_(optimizer)");
        }
        if (m_runs && (m_lane.clip.order == ClipOrder::Off || isBefore(StepBlock::Unscale, StepBlock::Clip))) {
            m_script.line("recorder.gradients()");
        }
    }

    [[nodiscard]] bool skips() const { return scales() && isBefore(StepBlock::Check, StepBlock::Step); }

    [[nodiscard]] bool averagesOnlySteps() const { return m_lane.ema.decay > 0 && !m_lane.ema.countSkipped && skips(); }

    /// GradScaler looks for infinity while it unscales, acts on it in its step(), and forgets it in its update().
    [[nodiscard]] bool scalerSteps() const
    {
        return skips() && m_family != "fixed" && isBefore(StepBlock::Unscale, StepBlock::Step)
            && isBefore(StepBlock::Step, StepBlock::Update);
    }

    [[nodiscard]] bool asksForItself() const
    {
        const bool scheduleAsks = asksWhetherSkipped() && !scaleTellsSkips();
        return skips() && (!scalerSteps() || scheduleAsks || averagesOnlySteps());
    }

    void writeCheck()
    {
        if (scales() && isBefore(StepBlock::Step, StepBlock::Check)) {
            wrong("looking for infinity here comes too late to skip the step");
        } else if (asksForItself()) {
            m_script.line("finite = all(p.grad.isfinite().all() for p in model.parameters())");
        }
    }

    void writeOptimizerStep()
    {
        const bool isUnscaled = !scales() || isBefore(StepBlock::Unscale, StepBlock::Step);
        if (skips() && asksWhetherSkipped() && scaleTellsSkips()) {
            m_script.line("scale_before = scaler.get_scale()");
        }
        if (!isUnscaled) {
            wrong("the gradients still carry the scale");
        } else if (scales() && !skips()) {
            wrong("nothing has looked for infinity yet");
        }
        if (scalerSteps()) {
            m_script.line("scaler.step(optimizer)  # skipped where a gradient is not finite");
        } else if (skips()) {
            m_script.block("if finite:", [this] { m_script.line("optimizer.step()"); });
        } else {
            m_script.line("optimizer.step()");
        }
        if (m_lane.optimizer.extraStep) {
            m_script.line("optimizer.step()  # WRONG: a second step, which heeds no overflow");
        }
        if (m_lane.ema.decay > 0) {
            const auto average = [this] { m_script.line("ema.update_parameters(model)"); };
            if (averagesOnlySteps()) {
                m_script.block("if finite:", average);
            } else {
                average();
            }
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
        m_script.line(
            m_lane.scaler->frozen ? "scaler.update(scaler.get_scale())  # the scale is frozen" : "scaler.update()");
    }

    /// Whether the schedule depends on the step's having been skipped.
    [[nodiscard]] bool asksWhetherSkipped() const
    {
        return hasSchedule() && !m_lane.schedule.countSkipped && skips()
            && isBefore(StepBlock::Check, StepBlock::Schedule);
    }

    /// Whether the scale is smaller after a skipped step, where the schedule asks for it.
    [[nodiscard]] bool scaleTellsSkips() const
    {
        return m_family == "pytorch" && !m_lane.scaler->frozen && isBefore(StepBlock::Step, StepBlock::Update)
            && isBefore(StepBlock::Update, StepBlock::Schedule);
    }

    void writeAdvance()
    {
        if (!hasSchedule()) {
            return;
        }
        if (isBefore(StepBlock::Schedule, StepBlock::Step)) {
            wrong("the step will use the rate of the next one");
        }
        if (!asksWhetherSkipped()) {
            m_script.line(isBefore(StepBlock::Schedule, StepBlock::Step)
                    ? "schedule.step()"
                    : "schedule.step()  # after skipped steps too");
        } else {
            m_script.block(scaleTellsSkips() ? "if scaler.get_scale() >= scale_before:  # not after a skipped step"
                                             : "if finite:  # not where the step is skipped",
                [this] { m_script.line("schedule.step()"); });
        }
    }

    void writeStep()
    {
        // A step whose micro-batches are all dropped has a gradient of zero, not none.
        m_script.line(m_lane.accumulation.zeroGradients
                ? fmt::format("optimizer.zero_grad(set_to_none={})", m_lane.accumulation.guard ? "False" : "True")
                : "# WRONG: optimizer.zero_grad() is missing, so the last step's gradients are added to");
        if (isInParts()) {
            if (m_runs) {
                m_script.line("losses = []");
            }
            m_script.block(fmt::format("for part in range({}):", m_lane.accumulation.steps),
                [this] { writeMicroBatch("step, part"); });
        } else {
            writeMicroBatch("step");
        }
        for (const StepBlock block : m_lane.order) {
            writeBlock(block);
        }
        if (m_runs) {
            m_script.line(fmt::format(
                "recorder.step({}{})", isInParts() ? "losses" : "loss", m_lane.optimizer.extraStep ? ", calls=2" : ""));
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
    bool m_runs;
    Policy m_policy;
    std::string m_family;
    Script m_script;
};

} // namespace

std::string pytorchLoop(const LaneConfig& lane)
{
    return Loop(lane, false).write();
}

std::string pytorchScript(const LaneConfig& lane)
{
    return Loop(lane, true).write();
}

} // namespace mantissa
