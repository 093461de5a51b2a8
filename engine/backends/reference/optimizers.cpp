/// One step of SGD, Adam and AdamW on the weights of one group, and of their moving averages.
/// Source: the algorithm boxes of torch.optim.SGD, Adam and AdamW in PyTorch's documentation; for 16-bit arithmetic the
/// tensor ops of _single_tensor_sgd and _single_tensor_adam in torch/optim.
#include "engine/backends/reference/kernels.h"
#include "engine/core/philox.h"
#include "engine/formats/round_stochastic.h"
#include "engine/formats/round_value.h"

#include <cmath>

namespace mantissa::reference {

namespace {

/// updateSquares and weightSquares, the last two outputs of an update.
struct UpdateSquares
{
    double update = 0;
    double weight = 0;

    void add(double oldWeight, double newWeight)
    {
        update += (newWeight - oldWeight) * (newWeight - oldWeight);
        weight += newWeight * newWeight;
    }

    void store(const Operands& operands) const
    {
        operands.out(operands.outputCount() - 2).set(0, update);
        operands.out(operands.outputCount() - 1).set(0, weight);
    }
};

/// g + weightDecay w, left out at 0 as PyTorch does: 0 times an infinite weight would be NaN.
double withDecay(double g, double weightDecay, double weight, Storage round)
{
    return weightDecay == 0 ? g : round(g + weightDecay * weight);
}

/// The weights of one update, read and written as its rounding asks.
class Weights
{
public:
    /// Behind `tensors` weights and their states, the compensations follow at `compensationIn` and `compensationOut`.
    Weights(const Operands& operands, WeightRounding rounding, std::uint64_t seed, std::size_t tensors,
        std::size_t statesPerTensor)
        : m_operands(operands)
        , m_rounding(rounding)
        , m_seed(seed)
        , m_tensors(tensors)
        , m_states(statesPerTensor)
        , m_counter(rounding == WeightRounding::Stochastic ? operands.in(operands.inputCount() - 1).integer(0) : 0)
    {
    }

    /// Element i of weight t, with what an earlier rounding dropped.
    [[nodiscard]] double operator()(std::size_t t, std::int64_t i) const
    {
        const double stored = m_operands.in(2 + m_tensors + t)[i];
        return m_rounding == WeightRounding::Compensated ? stored + m_operands.in(compensation(2 + m_tensors, t))[i]
                                                         : stored;
    }

    void set(std::size_t t, std::int64_t i, double value, UpdateSquares& squares) const
    {
        const double before = m_operands.in(2 + m_tensors + t)[i];
        const Output out = m_operands.out(t);
        const double rounded = m_rounding == WeightRounding::Stochastic
            ? roundStochastic(m_operands.in(2 + m_tensors + t).dtype(), value, uniform(t, i))
            : value;
        const double stored = out.set(i, rounded);
        if (m_rounding == WeightRounding::Compensated) {
            m_operands.out(compensation(0, t)).set(i, value - stored);
        }
        squares.add(before, stored);
    }

private:
    [[nodiscard]] std::size_t compensation(std::size_t firstWeight, std::size_t t) const
    {
        return firstWeight + (1 + m_states) * m_tensors + t;
    }

    [[nodiscard]] double uniform(std::size_t t, std::int64_t i) const
    {
        const Philox random(m_seed, randomStream(RandomPurpose::Rounding) + t);
        const auto counter = static_cast<std::uint64_t>(static_cast<std::uint32_t>(m_counter)) << 32U;
        const auto at = static_cast<std::uint64_t>(i);
        return toUnitFloat(random(counter | at / 4)[at % 4]);
    }

    const Operands& m_operands;
    WeightRounding m_rounding;
    std::uint64_t m_seed;
    std::size_t m_tensors;
    std::size_t m_states;
    std::int32_t m_counter;
};

/// Weights in one update, of which each brings `perWeight` tensors (gradient, weight, states) besides `scalars`.
std::size_t weightCount(const Operands& operands, WeightRounding rounding, std::size_t perWeight, std::size_t scalars)
{
    const bool hasCounter = rounding == WeightRounding::Stochastic;
    const bool isCompensated = rounding == WeightRounding::Compensated;
    return (operands.inputCount() - scalars - (hasCounter ? 1 : 0)) / (perWeight + (isCompensated ? 1 : 0));
}

/// A skipped step: every output that continues an input keeps its bits.
void skip(const Operands& operands, std::size_t weights)
{
    UpdateSquares squares;
    for (std::size_t k = 0; k + 2 < operands.outputCount(); ++k) {
        const Input input = operands.in(2 + weights + k);
        operands.out(k).copyFrom(input);
        for (std::int64_t i = 0; k < weights && i < input.size(); ++i) {
            squares.add(input[i], input[i]);
        }
    }
    squares.update = 0; // NaN - NaN would not be
    squares.store(operands);
}

} // namespace

void sgdUpdate(const Operands& operands)
{
    const auto attributes = operands.attributes<SgdAttributes>();
    const Storage round(attributes.arithmetic);
    const double momentum = attributes.momentum;
    const bool hasMomentum = momentum != 0;
    const std::size_t tensors = weightCount(operands, attributes.rounding, hasMomentum ? 3 : 2, 2);
    const double learningRate = operands.in(0)[0];
    if (attributes.skipOnNonFinite && operands.in(1)[0] != 0) {
        skip(operands, tensors);
        return;
    }
    const Weights weights(operands, attributes.rounding, attributes.seed, tensors, hasMomentum ? 1 : 0);
    UpdateSquares squares;
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        const Input g = operands.in(2 + tensor);
        for (std::int64_t i = 0; i < g.size(); ++i) {
            const double weight = weights(tensor, i);
            double step = withDecay(g[i], attributes.weightDecay, weight, round);
            if (hasMomentum) {
                const double velocity = round(round(momentum * operands.in(2 + 2 * tensors + tensor)[i]) + step);
                operands.out(tensors + tensor).set(i, velocity);
                step = attributes.nesterov ? round(step + momentum * velocity) : velocity;
            }
            weights.set(tensor, i, weight - learningRate * step, squares);
        }
    }
    squares.store(operands);
}

void adamUpdate(const Operands& operands)
{
    const auto attributes = operands.attributes<AdamAttributes>();
    const Storage round(attributes.arithmetic);
    const std::size_t tensors = weightCount(operands, attributes.rounding, 4, 3);
    const double learningRate = operands.in(0)[0];
    if (attributes.skipOnNonFinite && operands.in(1)[0] != 0) {
        skip(operands, tensors);
        return;
    }
    const Weights weights(operands, attributes.rounding, attributes.seed, tensors, 2);
    const std::size_t takenOut = operands.outputCount() - 3;
    const double taken = operands.in(2 + tensors + takenOut)[0] + 1;
    const double correction1 = 1 - std::pow(attributes.beta1, taken);
    const double correction2 = 1 - std::pow(attributes.beta2, taken);
    UpdateSquares squares;
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        const Input gradient = operands.in(2 + tensor);
        const Input m = operands.in(2 + 2 * tensors + tensor);
        const Input v = operands.in(2 + 3 * tensors + tensor);
        for (std::int64_t i = 0; i < gradient.size(); ++i) {
            const double old = weights(tensor, i);
            const double decay = attributes.weightDecay;
            const double g = attributes.decoupled ? gradient[i] : withDecay(gradient[i], decay, old, round);
            const double decayed = attributes.decoupled ? round(old * (1 - learningRate * decay)) : old;
            const double first = round(attributes.beta1 * m[i] + (1 - attributes.beta1) * g);
            const double second = round(round(attributes.beta2 * v[i]) + (1 - attributes.beta2) * g * g);
            const double root = round(round(std::sqrt(second)) / std::sqrt(correction2));
            const double scaled = round(root + attributes.epsilon);
            operands.out(tensors + tensor).set(i, first);
            operands.out(2 * tensors + tensor).set(i, second);
            weights.set(tensor, i, decayed - learningRate / correction1 * first / scaled, squares);
        }
    }
    operands.out(takenOut).set(0, taken);
    squares.store(operands);
}

void emaUpdate(const Operands& operands)
{
    const auto attributes = operands.attributes<EmaAttributes>();
    const std::size_t tensors = operands.outputCount();
    const double share = 1 - operands.in(0)[0];
    const bool skips = attributes.skipOnNonFinite && operands.in(1)[0] != 0;
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        const Input weight = operands.in(2 + tensor);
        const Input average = operands.in(2 + tensors + tensor);
        const Output next = operands.out(tensor);
        if (skips) {
            next.copyFrom(average);
            continue;
        }
        for (std::int64_t i = 0; i < average.size(); ++i) {
            next.set(i, average[i] + share * (weight[i] - average[i]));
        }
    }
}

} // namespace mantissa::reference
