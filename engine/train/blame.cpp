#include "engine/train/blame.h"

#include "engine/core/phrase.h"
#include "engine/graph/op_def.h"
#include "engine/probe/tensor_sample.h"
#include "engine/train/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace mantissa {

namespace {

constexpr std::size_t mostSamples = 6; // named, of those concerned

bool isFloating(const Value& value)
{
    return value.type.dtype == DType::Float32 || isHalf(value.type.dtype);
}

TensorSample measured(const Value& value, std::span<const float> elements)
{
    TensorSample sample;
    sample.format = value.type.dtype;
    measure(elements, sample);
    return sample;
}

bool isFinite(std::span<const float> elements)
{
    return std::ranges::all_of(elements, [](float element) { return std::isfinite(element); });
}

/// The samples whose elements are not finite, if the first dimension counts them.
std::vector<std::int64_t> hurtSamples(std::span<const float> elements, const Shape& shape, std::int64_t batch)
{
    std::vector<std::int64_t> samples;
    const bool isPerSample = shape.rank() > 0 && batch > 0 && shape[0] % batch == 0;
    if (!isPerSample) {
        return samples;
    }
    const std::size_t each = elements.size() / static_cast<std::size_t>(batch);
    for (std::size_t i = 0; i < elements.size() && samples.size() < mostSamples; ++i) {
        const auto sample = static_cast<std::int64_t>(i / each);
        if (!std::isfinite(elements[i]) && (samples.empty() || samples.back() != sample)) {
            samples.push_back(sample);
        }
    }
    return samples;
}

std::string numberText(double value)
{
    return fmt::format("{:.3g}", value);
}

std::string listText(const std::vector<std::string>& names)
{
    constexpr std::size_t most = 6;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > most ? text + phrase(" and {} more", names.size() - most) : text;
}

std::string listText(const std::vector<std::int64_t>& numbers)
{
    std::vector<std::string> texts;
    for (const std::int64_t number : numbers) {
        texts.push_back(std::to_string(number));
    }
    return listText(texts);
}

/// Watches one step and notes where it stops being finite.
class Tracer
{
public:
    explicit Tracer(Lane& lane)
        : m_lane(lane)
        , m_executor(lane.executor())
    {
    }

    /// Whether the step is finite.
    bool run(Blame& blame)
    {
        for (const ValueId id : m_lane.stepGraph().parameters) {
            if (!isFinite(m_executor.readFloats(id))) {
                blame.weights.push_back(m_executor.graph().value(id).name);
            }
        }
        const StepRecord record = m_lane.step(
            [&](StepStage stage) {
                if (stage == StepStage::Data) {
                    noteSamples(blame);
                }
            },
            [&](const Node& node) {
                if (!blame.origin) {
                    look(node, blame);
                }
            });
        return record.lossFinite && !record.foundInf;
    }

private:
    void noteSamples(Blame& blame)
    {
        const Value& input = m_executor.graph().value(m_lane.stepGraph().input);
        if (input.type.dtype == DType::Float32) {
            const std::vector<float> elements = m_executor.readFloats(m_lane.stepGraph().input);
            const auto hurt = hurtSamples(elements, input.type.shape, input.type.shape[0]);
            blame.samples.insert(blame.samples.end(), hurt.begin(), hurt.end());
        }
    }

    void look(const Node& node, Blame& blame)
    {
        for (const ValueId id : node.outputs) {
            const Value& value = m_executor.graph().value(id);
            if (!isFloating(value)) {
                continue;
            }
            const std::vector<float> elements = m_executor.readFloats(id);
            const TensorSample seen = measured(value, elements);
            const Census& census = seen.census;
            const bool isHurt = census.nan > 0 || (census.infinite > 0 && node.op != Op::ScaleMask);
            if (isHurt && !blame.origin) {
                blame.origin = NonFiniteOrigin {.op = node.name,
                    .kind = std::string(opDef(node.op).name),
                    .tensor = value.name,
                    .format = value.type.dtype,
                    .phase = node.phase,
                    .elements = elements.size(),
                    .infinite = census.infinite,
                    .nan = census.nan,
                    .inputs = operandsOf(node),
                    .samples = hurtSamples(
                        elements, value.type.shape, m_executor.graph().value(m_lane.stepGraph().input).type.shape[0])};
            }
            m_seen.insert_or_assign(id, seen);
        }
    }

    /// As they were when they were written: their place may hold something else by now.
    std::vector<TracedOperand> operandsOf(const Node& node)
    {
        std::vector<TracedOperand> operands;
        for (const ValueId id : node.inputs) {
            const Value& value = m_executor.graph().value(id);
            if (!isFloating(value)) {
                continue;
            }
            const auto known = m_seen.find(id);
            const TensorSample range
                = known != m_seen.end() ? known->second : measured(value, m_executor.readFloats(id));
            operands.push_back({value.name, value.type.dtype, range.smallest, range.largest});
        }
        return operands;
    }

    Lane& m_lane;
    Executor& m_executor;
    std::map<ValueId, TensorSample> m_seen;
};

/// Tries the step on copies of the lane.
class Trials
{
public:
    Trials(Lane& lane, const std::function<bool()>& isCancelled)
        : m_lane(lane)
        , m_isCancelled(isCancelled)
    {
    }

    [[nodiscard]] bool isCancelled() const { return m_isCancelled && m_isCancelled(); }

    [[nodiscard]] int count() const { return m_count; }

    bool isFiniteWith(const std::string& path, const nlohmann::json& value)
    {
        const auto copy = m_lane.fork(m_lane.id(), m_lane.config()->name);
        copy->set(path, value);
        return isFinite(*copy);
    }

    bool isFiniteWithOps(const std::vector<std::string>& ops)
    {
        nlohmann::json overrides = nlohmann::json::object();
        for (const std::string& op : ops) {
            overrides[op] = "fp32";
        }
        return isFiniteWith("precision.overrides", overrides);
    }

    bool isFiniteInFp32()
    {
        const auto twin = m_lane.fp32Twin();
        twin->follow(m_lane);
        return isFinite(*twin);
    }

private:
    bool isFinite(Lane& lane)
    {
        ++m_count;
        const StepRecord record = lane.step();
        return record.lossFinite && !record.foundInf;
    }

    Lane& m_lane;
    const std::function<bool()>& m_isCancelled;
    int m_count = 0;
};

/// Ops of the forward pass that read or write 16 bits; their backward runs in the format of their forward.
std::vector<std::string> opsInHalf(const Graph& graph)
{
    std::vector<std::string> ops;
    for (const Node& node : graph.nodes()) {
        const auto isHalfValue = [&graph](ValueId id) { return isHalf(graph.value(id).type.dtype); };
        if (node.phase == Phase::Forward && node.op != Op::Cast && node.op != Op::Reshape
            && (std::ranges::any_of(node.inputs, isHalfValue) || std::ranges::any_of(node.outputs, isHalfValue))) {
            ops.push_back(node.name);
        }
    }
    return ops;
}

/// From a set that mends the step, leaves out whatever it can do without: first halves, then ever smaller pieces, as in
/// delta debugging (Zeller and Hildebrandt, 2002, section 3). What is left cannot lose any single op.
std::vector<std::string> smallestSet(Trials& trials, std::vector<std::string> ops)
{
    std::size_t pieces = 2;
    while (ops.size() > 1 && !trials.isCancelled()) {
        const std::size_t length = (ops.size() + pieces - 1) / pieces;
        bool isSmaller = false;
        for (std::size_t first = 0; first < ops.size() && !isSmaller && !trials.isCancelled(); first += length) {
            std::vector<std::string> rest(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(first));
            rest.insert(
                rest.end(), ops.begin() + static_cast<std::ptrdiff_t>(std::min(first + length, ops.size())), ops.end());
            if (!rest.empty() && trials.isFiniteWithOps(rest)) {
                ops = std::move(rest);
                pieces = std::max<std::size_t>(pieces - 1, 2);
                isSmaller = true;
            }
        }
        if (!isSmaller) {
            if (length == 1) {
                break;
            }
            pieces = std::min(pieces * 2, ops.size());
        }
    }
    return ops;
}

/// At which the step is finite; it is at 1, and is not at `scale`.
double largestFiniteScale(Trials& trials, double scale)
{
    int good = 0;
    int bad = static_cast<int>(std::ceil(std::log2(scale)));
    while (bad - good > 1 && !trials.isCancelled()) {
        const int middle = (good + bad) / 2;
        (trials.isFiniteWith("scaler.scale", std::exp2(middle)) ? good : bad) = middle;
    }
    return std::exp2(good);
}

std::string originText(const NonFiniteOrigin& origin)
{
    std::string inputs;
    for (const TracedOperand& operand : origin.inputs) {
        inputs += phrase("{}{} ({}, magnitudes {} to {})", inputs.empty() ? "" : ", ", operand.name,
            nameOf(operand.format), numberText(operand.smallest), numberText(operand.largest));
    }
    const std::string what = origin.infinite > 0 && origin.nan > 0
        ? phrase("{} infinite and {} NaN", origin.infinite, origin.nan)
        : origin.infinite > 0 ? phrase("{} infinite", origin.infinite)
                              : phrase("{} NaN", origin.nan);
    return phrase("It arises in {} ({}, {}, {}): {} of {} elements, from {}. ", origin.op, origin.kind,
        nameOf(origin.phase), nameOf(origin.format), what, origin.elements,
        inputs.empty() ? std::string(phrase("nothing that was computed")) : inputs);
}

std::string causeText(const Blame& blame)
{
    switch (blame.cause) {
    case BlameCause::Nothing:
        return phrase("The step is finite.");
    case BlameCause::Data:
        return phrase("The data is at fault: sample {} of the batch is not finite.", listText(blame.samples));
    case BlameCause::Weights:
        return phrase("The weights were not finite before the step: {}.", listText(blame.weights));
    case BlameCause::Scale:
        return phrase("The scale is at fault: at {} the step is finite. A dynamic scaler finds that by skipping.",
            numberText(blame.safeScale));
    case BlameCause::Formats:
        return phrase("With {} in FP32 the step is finite; no fewer of them will do.", listText(blame.ops));
    case BlameCause::HalfElsewhere:
        return phrase(
            "A plain FP32 lane is finite here, but no op's format alone mends the step: look at sums in 16 bits, "
            "16-bit weights, and the order of the step.");
    case BlameCause::NotPrecision:
        return phrase(
            "A plain FP32 lane is not finite here either: the precision is not at fault. Look at the learning rate, "
            "the loss and the data.");
    }
    return {};
}

void finish(Blame& blame, const Trials& trials)
{
    blame.trials = trials.count() + 1;
    blame.text = textOf(blame);
}

} // namespace

std::string textOf(const Blame& blame)
{
    return (blame.origin && blame.cause != BlameCause::Nothing ? originText(*blame.origin) : std::string())
        + causeText(blame);
}

std::string_view nameOf(BlameCause cause)
{
    switch (cause) {
    case BlameCause::Nothing:
        return "nothing";
    case BlameCause::Data:
        return "data";
    case BlameCause::Weights:
        return "weights";
    case BlameCause::Scale:
        return "scale";
    case BlameCause::Formats:
        return "formats";
    case BlameCause::HalfElsewhere:
        return "half_elsewhere";
    case BlameCause::NotPrecision:
        return "not_precision";
    }
    return "";
}

Blame blameOf(Lane& lane, const std::function<bool()>& isCancelled)
{
    Blame blame {.step = lane.nextStep()};
    Trials trials(lane, isCancelled);
    const auto traced = lane.fork(lane.id(), lane.config()->name);
    const bool isFinite = Tracer(*traced).run(blame);
    const auto cause = [&] {
        if (isFinite) {
            return BlameCause::Nothing;
        }
        if (!blame.weights.empty()) {
            return BlameCause::Weights;
        }
        if (!blame.samples.empty()) {
            return BlameCause::Data;
        }
        if (!trials.isFiniteInFp32()) {
            return BlameCause::NotPrecision;
        }
        if (lane.scale() > 1 && trials.isFiniteWith("scaler.scale", 1.0)) {
            return BlameCause::Scale;
        }
        blame.ops = opsInHalf(lane.stepGraph().graph);
        return !blame.ops.empty() && trials.isFiniteWithOps(blame.ops) ? BlameCause::Formats
                                                                       : BlameCause::HalfElsewhere;
    };
    blame.cause = cause();
    if (blame.cause == BlameCause::Scale) {
        blame.safeScale = largestFiniteScale(trials, lane.scale());
    } else if (blame.cause == BlameCause::Formats) {
        blame.ops = smallestSet(trials, std::move(blame.ops));
        for (const std::string& op : blame.ops) {
            blame.fix["precision"]["overrides"][op] = "fp32";
        }
    } else {
        blame.ops.clear();
    }
    finish(blame, trials);
    return blame;
}

} // namespace mantissa
