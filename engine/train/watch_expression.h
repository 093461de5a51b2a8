/// A condition on a lane's steps, in the words of findings: "skips(50) > 5", "scale < 1 and step > 100",
/// flushed("fc2") > 3 %.
#pragma once

#include "engine/core/error.h"
#include "engine/train/step_record.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// A condition that cannot be read.
class WatchSyntaxError : public Error
{
public:
    /// `column` counts bytes from 1.
    WatchSyntaxError(std::size_t column, const std::string& message)
        : Error(ErrorCode::InvalidArgument, message)
        , m_column(column)
    {
    }

    [[nodiscard]] std::size_t column() const noexcept { return m_column; }

private:
    std::size_t m_column;
};

/// A number of a step that a condition may name.
struct WatchMetric
{
    std::string_view name; ///< "grad_norm": as in a metrics file
    std::string_view help;
    double (*value)(const StepRecord& record);
};

std::span<const WatchMetric> watchMetrics();

/// "skips", "mean", "max", "min".
std::span<const std::string_view> watchFunctions();

/// Shares of a layer's parameter gradients, of one step.
struct LayerShares
{
    double flushed = 0;
    double subnormal = 0;
    double overflowed = 0;
};

using LayerSharesOf = std::function<LayerShares(std::string_view layer)>;

/// A number as text with the value that it had.
struct WatchedValue
{
    std::string text; ///< "mean(loss, 20)"
    double value = 0;
};

/// One lane's: it remembers as many steps as its windows look back on. A copy remembers the same.
///
///     condition = all { "or" all };  all = one { "and" one }
///     one = "(" condition ")" | number compared number
///     compared = "<" | "<=" | ">" | ">=" | "==" | "!="
///     number = metric | figure [ "%" ] | "skips(" N ")" | ("mean" | "max" | "min") "(" metric "," N ")"
///            | ("flushed" | "subnormal" | "overflowed") "(" "layer in quotes" ")"
///
/// A comparison with NaN is false. Over fewer steps than asked for, a function takes those that there are; NaN is left
/// out of mean, max and min.
class WatchExpression
{
public:
    /// Throws WatchSyntaxError.
    explicit WatchExpression(std::string_view text);

    /// Takes the next step and says whether the condition holds behind it. Allocates nothing.
    [[nodiscard]] bool next(const StepRecord& record, const LayerSharesOf& sharesOf);

    /// What it looked at in the last step, in order, each once; not the plain figures.
    [[nodiscard]] std::vector<WatchedValue> values() const;

    /// The layers that it names, and where: byte columns from 1.
    struct Layer
    {
        std::string name;
        std::size_t column = 1;
    };

    [[nodiscard]] const std::vector<Layer>& layers() const { return m_layers; }

    static constexpr std::int64_t longestWindow = 10'000;

private:
    friend class WatchParser;

    enum class Kind : std::uint8_t { Constant, Metric, Skips, Mean, Max, Min, Flushed, Subnormal, Overflowed };
    enum class Step : std::uint8_t { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, And, Or };

    struct Operand
    {
        Kind kind = Kind::Constant;
        std::size_t index = 0; ///< of the metric, or of the layer
        double value = 0; ///< in the last step
        std::string text {};
        std::vector<double> window {}; ///< the last steps, round and round
        std::size_t taken = 0; ///< steps so far
    };

    /// In postfix order: a comparison of two operands pushes a truth value, And and Or take two.
    struct Instruction
    {
        Step step = Step::Less;
        std::size_t left = 0;
        std::size_t right = 0;
    };

    void take(Operand& operand, const StepRecord& record, const LayerSharesOf& sharesOf) const;

    std::vector<Operand> m_operands;
    std::vector<Instruction> m_program;
    std::vector<Layer> m_layers;
    std::vector<std::uint8_t> m_stack; ///< room for evaluation
};

} // namespace mantissa
