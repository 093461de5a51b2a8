#include "engine/train/watch_expression.h"

#include "engine/core/nearest_name.h"
#include "engine/core/phrase.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

namespace mantissa {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t longestText = 1000;
constexpr int deepest = 50; // parentheses

constexpr std::array<WatchMetric, 23> metrics {{
    {"loss", MANTISSA_PHRASE("of the step"), [](const StepRecord& r) { return r.loss; }},
    {"loss_finite", MANTISSA_PHRASE("1, or 0 if the loss is infinite or NaN"),
        [](const StepRecord& r) { return r.lossFinite ? 1.0 : 0.0; }},
    {"grad_norm", MANTISSA_PHRASE("of the unscaled gradient, before clipping"),
        [](const StepRecord& r) { return r.gradNorm; }},
    {"grad_norm_clipped", MANTISSA_PHRASE("after clipping"), [](const StepRecord& r) { return r.gradNormClipped; }},
    {"grad_max", MANTISSA_PHRASE("largest magnitude in the gradient"), [](const StepRecord& r) { return r.gradMax; }},
    {"scale", MANTISSA_PHRASE("that the loss was multiplied by"), [](const StepRecord& r) { return r.scale; }},
    {"growth_tracker", MANTISSA_PHRASE("clean steps since the scale moved"),
        [](const StepRecord& r) { return static_cast<double>(r.growthTracker); }},
    {"hysteresis", MANTISSA_PHRASE("overflows until the scale falls; -1 if the scaler has none"),
        [](const StepRecord& r) { return static_cast<double>(r.hysteresis); }},
    {"found_inf", MANTISSA_PHRASE("1 if a gradient was not finite"),
        [](const StepRecord& r) { return r.foundInf ? 1.0 : 0.0; }},
    {"skipped", MANTISSA_PHRASE("1 if the optimizer did not step"),
        [](const StepRecord& r) { return r.skipped ? 1.0 : 0.0; }},
    {"dropped", MANTISSA_PHRASE("micro-batches that the guard dropped"),
        [](const StepRecord& r) { return static_cast<double>(r.droppedMicroBatches); }},
    {"lr", MANTISSA_PHRASE("learning rate"), [](const StepRecord& r) { return r.lr; }},
    {"flushed", MANTISSA_PHRASE("share of the gradient that was rounded to zero"),
        [](const StepRecord& r) { return r.flushed; }},
    {"subnormal", MANTISSA_PHRASE("share that became subnormal"), [](const StepRecord& r) { return r.subnormal; }},
    {"overflowed", MANTISSA_PHRASE("share that became infinite"), [](const StepRecord& r) { return r.overflowed; }},
    {"update_ratio", MANTISSA_PHRASE("size of the update against that of the weights"),
        [](const StepRecord& r) { return r.updateRatio; }},
    {"validation_loss", MANTISSA_PHRASE("NaN where the lane was not judged"),
        [](const StepRecord& r) { return r.validationLoss; }},
    {"validation_accuracy", MANTISSA_PHRASE("NaN where the lane was not judged"),
        [](const StepRecord& r) { return r.validationAccuracy; }},
    {"baseline_distance", MANTISSA_PHRASE("of the weights; NaN where it was not measured"),
        [](const StepRecord& r) { return r.baselineDistance; }},
    {"step", MANTISSA_PHRASE("counted from 0"), [](const StepRecord& r) { return static_cast<double>(r.step); }},
    {"wait_ms", MANTISSA_PHRASE("for the batch"), [](const StepRecord& r) { return double {r.timeMs.waitMs}; }},
    {"forward_ms", MANTISSA_PHRASE("time of the forward pass"),
        [](const StepRecord& r) { return double {r.timeMs.forwardMs}; }},
    {"backward_ms", MANTISSA_PHRASE("time of the backward pass"),
        [](const StepRecord& r) { return double {r.timeMs.backwardMs}; }},
}};

constexpr std::array<std::string_view, 4> functions {"skips", "mean", "max", "min"};

bool isNameByte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::vector<std::string> knownNames()
{
    std::vector<std::string> names;
    for (const WatchMetric& metric : metrics) {
        names.emplace_back(metric.name);
    }
    names.insert(names.end(), functions.begin(), functions.end());
    return names;
}

} // namespace

std::span<const WatchMetric> watchMetrics()
{
    return metrics;
}

std::span<const std::string_view> watchFunctions()
{
    return functions;
}

/// Recursive descent, one method per rule of the grammar.
class WatchParser
{
public:
    WatchParser(std::string_view text, WatchExpression& into)
        : m_text(text)
        , m_into(into)
    {
    }

    void parse()
    {
        if (m_text.size() > longestText) {
            fail(longestText, fmt::format("the condition is longer than {} bytes", longestText));
        }
        condition();
        if (const std::size_t at = next(); at < m_text.size()) {
            fail(at, fmt::format("{} was not expected here; join conditions by \"and\" or \"or\"", wordAt(at)));
        }
    }

private:
    using Kind = WatchExpression::Kind;
    using Step = WatchExpression::Step;

    [[noreturn]] static void fail(std::size_t at, const std::string& message)
    {
        throw WatchSyntaxError(at + 1, fmt::format("column {}: {}", at + 1, message));
    }

    /// Where the next word begins.
    std::size_t next()
    {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t')) {
            ++m_at;
        }
        return m_at;
    }

    [[nodiscard]] std::string wordAt(std::size_t at) const
    {
        if (at >= m_text.size()) {
            return "the end";
        }
        std::size_t end = at;
        while (end < m_text.size() && isNameByte(m_text[end])) {
            ++end;
        }
        if (end == at) {
            // All bytes of one character.
            ++end;
            while (end < m_text.size() && (static_cast<unsigned char>(m_text[end]) & 0xC0U) == 0x80U) {
                ++end;
            }
        }
        return fmt::format("\"{}\"", m_text.substr(at, end - at));
    }

    bool takes(std::string_view symbol)
    {
        const std::size_t at = next();
        if (!m_text.substr(at).starts_with(symbol)) {
            return false;
        }
        const bool isWord = isNameByte(symbol.front());
        const std::size_t end = at + symbol.size();
        if (isWord && end < m_text.size() && isNameByte(m_text[end])) {
            return false;
        }
        m_at = end;
        return true;
    }

    void expect(std::string_view symbol, std::string_view where)
    {
        if (!takes(symbol)) {
            fail(next(), fmt::format("{} was not expected; \"{}\" belongs {}", wordAt(m_at), symbol, where));
        }
    }

    void condition()
    {
        all();
        while (takes("or")) {
            all();
            m_into.m_program.push_back({Step::Or});
        }
    }

    void all()
    {
        one();
        while (takes("and")) {
            one();
            m_into.m_program.push_back({Step::And});
        }
    }

    void one()
    {
        if (takes("(")) {
            if (++m_depth > deepest) {
                fail(m_at - 1, fmt::format("more than {} parentheses lie in each other", deepest));
            }
            condition();
            expect(")", "at the end of the parenthesis");
            --m_depth;
            return;
        }
        const std::size_t left = number();
        const Step step = comparison();
        m_into.m_program.push_back({step, left, number()});
    }

    Step comparison()
    {
        static constexpr std::array<std::pair<std::string_view, Step>, 6> symbols {{
            {"<=", Step::LessEqual},
            {">=", Step::GreaterEqual},
            {"==", Step::Equal},
            {"!=", Step::NotEqual},
            {"<", Step::Less},
            {">", Step::Greater},
        }};
        for (const auto& [symbol, step] : symbols) {
            if (takes(symbol)) {
                return step;
            }
        }
        const std::size_t at = next();
        fail(at,
            m_text.substr(at).starts_with("=")
                ? "\"=\" sets nothing here; compare with \"==\""
                : fmt::format("{} was not expected; compare with <, <=, >, >=, == or !=", wordAt(at)));
    }

    std::size_t number()
    {
        const std::size_t at = next();
        if (at >= m_text.size()) {
            fail(at, "the condition ends here, but a number is missing: a metric like \"loss\", or a figure");
        }
        const char c = m_text[at];
        if (isDigit(c) || c == '.' || c == '-') {
            return figure();
        }
        std::string name;
        while (m_at < m_text.size() && isNameByte(m_text[m_at])) {
            name += m_text[m_at++];
        }
        if (name.empty()) {
            fail(at, fmt::format("{} was not expected; a metric like \"loss\" or a figure belongs here", wordAt(at)));
        }
        if (name == "and" || name == "or") {
            fail(at, fmt::format("a number is missing before \"{}\"", name));
        }
        return next() < m_text.size() && m_text[m_at] == '(' ? call(name, at)
                                                             : add({Kind::Metric, metricAt(name, at)}, at);
    }

    std::size_t figure()
    {
        const std::size_t at = m_at;
        double value = 0;
        const char* const begin = m_text.data() + m_at;
        const char* const end = m_text.data() + m_text.size();
        const auto [stopped, error] = std::from_chars(begin, end, value);
        if (error != std::errc() || !std::isfinite(value) || stopped == begin) {
            fail(at, fmt::format("{} is not a figure that can be read", wordAt(at)));
        }
        m_at += static_cast<std::size_t>(stopped - begin);
        if (m_at < m_text.size() && isNameByte(m_text[m_at])) {
            fail(m_at, fmt::format("{} cannot follow a figure", wordAt(m_at)));
        }
        if (takes("%")) {
            value /= 100;
        }
        m_into.m_operands.push_back({.kind = Kind::Constant, .value = value});
        return m_into.m_operands.size() - 1;
    }

    static std::size_t metricAt(const std::string& name, std::size_t at)
    {
        const auto found = std::ranges::find(metrics, name, &WatchMetric::name);
        if (found == metrics.end()) {
            if (std::ranges::find(functions, name) != functions.end()) {
                fail(at,
                    name == "skips"
                        ? "skips needs its number of steps: skips(50)"
                        : fmt::format("{} needs a metric and its number of steps: {}(loss, 50)", name, name));
            }
            fail(at, fmt::format("\"{}\" is no metric; {}", name, suggestion(name, knownNames())));
        }
        return static_cast<std::size_t>(found - metrics.begin());
    }

    std::size_t call(const std::string& name, std::size_t at)
    {
        static constexpr std::array<std::pair<std::string_view, Kind>, 7> kinds {{
            {"skips", Kind::Skips},
            {"mean", Kind::Mean},
            {"max", Kind::Max},
            {"min", Kind::Min},
            {"flushed", Kind::Flushed},
            {"subnormal", Kind::Subnormal},
            {"overflowed", Kind::Overflowed},
        }};
        const auto found = std::ranges::find(kinds, name, &std::pair<std::string_view, Kind>::first);
        if (found == kinds.end()) {
            std::vector<std::string> names;
            for (const auto& [known, kind] : kinds) {
                names.emplace_back(known);
            }
            fail(at, fmt::format("\"{}\" takes nothing in parentheses; {}", name, suggestion(name, names)));
        }
        expect("(", "here");
        WatchExpression::Operand operand {.kind = found->second};
        if (operand.kind == Kind::Flushed || operand.kind == Kind::Subnormal || operand.kind == Kind::Overflowed) {
            operand.index = layer(name);
        } else {
            if (operand.kind != Kind::Skips) {
                operand.index = metricName(name);
                expect(",", "between the metric and the number of steps");
            }
            operand.window.assign(steps(), 0);
        }
        expect(")", fmt::format("at the end of {}(", name));
        return add(std::move(operand), at);
    }

    std::size_t metricName(const std::string& function)
    {
        const std::size_t at = next();
        std::string name;
        while (m_at < m_text.size() && isNameByte(m_text[m_at])) {
            name += m_text[m_at++];
        }
        if (name.empty()) {
            fail(at, fmt::format("{} needs a metric first: {}(loss, 50)", function, function));
        }
        return metricAt(name, at);
    }

    std::size_t steps()
    {
        const std::size_t at = next();
        std::int64_t count = 0;
        const char* const begin = m_text.data() + at;
        const auto [stopped, error] = std::from_chars(begin, m_text.data() + m_text.size(), count);
        if (error != std::errc() || count < 1 || count > WatchExpression::longestWindow) {
            fail(at,
                fmt::format(
                    "a number of steps from 1 to {} belongs here, not {}", WatchExpression::longestWindow, wordAt(at)));
        }
        m_at = at + static_cast<std::size_t>(stopped - begin);
        return static_cast<std::size_t>(count);
    }

    std::size_t layer(const std::string& function)
    {
        const std::size_t at = next();
        const char quote = at < m_text.size() ? m_text[at] : ' ';
        if (quote != '"' && quote != '\'') {
            fail(at, fmt::format("a layer in quotes belongs here: {}(\"fc1\")", function));
        }
        const std::size_t end = m_text.find(quote, at + 1);
        if (end == std::string_view::npos) {
            fail(at, "the quote is not closed");
        }
        if (end == at + 1) {
            fail(at, "the layer's name is empty");
        }
        m_at = end + 1;
        m_into.m_layers.push_back({std::string(m_text.substr(at + 1, end - at - 1)), at + 2});
        return m_into.m_layers.size() - 1;
    }

    std::size_t add(WatchExpression::Operand operand, std::size_t begin)
    {
        operand.text = std::string(m_text.substr(begin, m_at - begin));
        while (!operand.text.empty() && operand.text.back() == ' ') {
            operand.text.pop_back();
        }
        m_into.m_operands.push_back(std::move(operand));
        return m_into.m_operands.size() - 1;
    }

    std::string_view m_text;
    WatchExpression& m_into;
    std::size_t m_at = 0;
    int m_depth = 0;
};

WatchExpression::WatchExpression(std::string_view text)
{
    WatchParser(text, *this).parse();
    m_stack.resize(m_program.size());
}

void WatchExpression::take(Operand& operand, const StepRecord& record, const LayerSharesOf& sharesOf) const
{
    const auto metric = [&] { return metrics.at(operand.index).value(record); };
    const auto layer = [&] { return sharesOf(m_layers.at(operand.index).name); };
    switch (operand.kind) {
    case Kind::Constant:
        return;
    case Kind::Metric:
        operand.value = metric();
        return;
    case Kind::Flushed:
        operand.value = layer().flushed;
        return;
    case Kind::Subnormal:
        operand.value = layer().subnormal;
        return;
    case Kind::Overflowed:
        operand.value = layer().overflowed;
        return;
    case Kind::Skips:
    case Kind::Mean:
    case Kind::Max:
    case Kind::Min:
        break;
    }
    operand.window[operand.taken % operand.window.size()]
        = operand.kind == Kind::Skips ? (record.skipped ? 1.0 : 0.0) : metric();
    ++operand.taken;
    const std::span<const double> steps
        = std::span(operand.window).first(std::min(operand.taken, operand.window.size()));
    double sum = 0;
    double largest = nothing;
    double smallest = nothing;
    std::size_t count = 0;
    for (const double value : steps) {
        if (!std::isnan(value)) {
            sum += value;
            largest = std::fmax(largest, value);
            smallest = std::fmin(smallest, value);
            ++count;
        }
    }
    operand.value = operand.kind == Kind::Skips ? sum
        : operand.kind == Kind::Max             ? largest
        : operand.kind == Kind::Min             ? smallest
        : count == 0                            ? nothing
                                                : sum / static_cast<double>(count);
}

bool WatchExpression::next(const StepRecord& record, const LayerSharesOf& sharesOf)
{
    for (Operand& operand : m_operands) {
        take(operand, record, sharesOf);
    }
    std::size_t depth = 0;
    const auto push = [&](bool value) { m_stack[depth++] = value ? 1 : 0; };
    const auto pop = [&] { return m_stack[--depth] != 0; };
    for (const Instruction& instruction : m_program) {
        if (instruction.step == Step::And || instruction.step == Step::Or) {
            const bool right = pop();
            const bool left = pop();
            push(instruction.step == Step::And ? left && right : left || right);
            continue;
        }
        const double left = m_operands[instruction.left].value;
        const double right = m_operands[instruction.right].value;
        switch (instruction.step) {
        case Step::Less:
            push(left < right);
            break;
        case Step::LessEqual:
            push(left <= right);
            break;
        case Step::Greater:
            push(left > right);
            break;
        case Step::GreaterEqual:
            push(left >= right);
            break;
        case Step::Equal:
            push(left == right);
            break;
        default:
            push(left < right || left > right); // NaN differs from nothing, as it equals nothing
            break;
        }
    }
    return pop();
}

std::vector<WatchedValue> WatchExpression::values() const
{
    std::vector<WatchedValue> values;
    for (const Operand& operand : m_operands) {
        const bool isKnown
            = std::ranges::any_of(values, [&operand](const WatchedValue& known) { return known.text == operand.text; });
        if (operand.kind != Kind::Constant && !isKnown) {
            values.push_back({operand.text, operand.value});
        }
    }
    return values;
}

} // namespace mantissa
