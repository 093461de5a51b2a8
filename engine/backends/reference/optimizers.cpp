/// One step of SGD, Adam and AdamW on the weights of one group.
/// Source: the algorithm boxes of torch.optim.SGD, Adam and AdamW in PyTorch's documentation; for 16-bit arithmetic the
/// tensor ops of _single_tensor_sgd and _single_tensor_adam in torch/optim.
#include "engine/backends/reference/kernels.h"
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

/// A skipped step: every output that continues an input keeps its bits. The kept inputs are the last `kept` ones.
void skip(const Operands& operands, std::size_t kept, std::size_t weights)
{
    UpdateSquares squares;
    const std::size_t firstKept = operands.inputCount() - kept;
    for (std::size_t k = 0; k < kept; ++k) {
        const Input input = operands.in(firstKept + k);
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
    const std::size_t tensors = (operands.inputCount() - 2) / (hasMomentum ? 3 : 2);
    const double learningRate = operands.in(0)[0];
    if (attributes.skipOnNonFinite && operands.in(1)[0] != 0) {
        skip(operands, tensors * (hasMomentum ? 2 : 1), tensors);
        return;
    }
    UpdateSquares squares;
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        const Input g = operands.in(2 + tensor);
        const Input w = operands.in(2 + tensors + tensor);
        for (std::int64_t i = 0; i < g.size(); ++i) {
            const double weight = w[i];
            double step = withDecay(g[i], attributes.weightDecay, weight, round);
            if (hasMomentum) {
                const double velocity = round(round(momentum * operands.in(2 + 2 * tensors + tensor)[i]) + step);
                operands.out(tensors + tensor).set(i, velocity);
                step = attributes.nesterov ? round(step + momentum * velocity) : velocity;
            }
            squares.add(weight, operands.out(tensor).set(i, weight - learningRate * step));
        }
    }
    squares.store(operands);
}

void adamUpdate(const Operands& operands)
{
    const auto attributes = operands.attributes<AdamAttributes>();
    const Storage round(attributes.arithmetic);
    const std::size_t tensors = (operands.inputCount() - 3) / 4;
    const double learningRate = operands.in(0)[0];
    if (attributes.skipOnNonFinite && operands.in(1)[0] != 0) {
        skip(operands, 3 * tensors + 1, tensors);
        return;
    }
    const double taken = operands.in(2 + 4 * tensors)[0] + 1;
    const double correction1 = 1 - std::pow(attributes.beta1, taken);
    const double correction2 = 1 - std::pow(attributes.beta2, taken);
    UpdateSquares squares;
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        const Input gradient = operands.in(2 + tensor);
        const Input weights = operands.in(2 + tensors + tensor);
        const Input m = operands.in(2 + 2 * tensors + tensor);
        const Input v = operands.in(2 + 3 * tensors + tensor);
        for (std::int64_t i = 0; i < gradient.size(); ++i) {
            const double old = weights[i];
            const double decay = attributes.weightDecay;
            const double g = attributes.decoupled ? gradient[i] : withDecay(gradient[i], decay, old, round);
            const double decayed = attributes.decoupled ? round(old * (1 - learningRate * decay)) : old;
            const double first = round(attributes.beta1 * m[i] + (1 - attributes.beta1) * g);
            const double second = round(round(attributes.beta2 * v[i]) + (1 - attributes.beta2) * g * g);
            const double root = round(round(std::sqrt(second)) / std::sqrt(correction2));
            const double scaled = round(root + attributes.epsilon);
            operands.out(tensors + tensor).set(i, first);
            operands.out(2 * tensors + tensor).set(i, second);
            squares.add(old, operands.out(tensor).set(i, decayed - learningRate / correction1 * first / scaled));
        }
    }
    operands.out(3 * tensors).set(0, taken);
    squares.store(operands);
}

} // namespace mantissa::reference
