/// Mean losses and their gradients.
#include "engine/backends/reference/kernels.h"
#include "engine/core/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace mantissa::reference {

namespace {

/// The label of a row, checked: an index outside the classes would read another row's memory.
std::int64_t labelOf(const Input& labels, std::int64_t row, std::int64_t classes)
{
    const std::int64_t label = labels.integer(row);
    if (label < 0 || label >= classes) {
        throw Error(ErrorCode::InvalidArgument,
            "Cross-entropy: the label of row " + std::to_string(row) + " is " + std::to_string(label)
                + ", expected 0 to " + std::to_string(classes - 1)
                + ". Check the data's labels and the number of classes.");
    }
    return label;
}

/// The mean of term(prediction, target) over all elements.
template <typename Term> void meanLoss(const Operands& operands, Term term)
{
    const Input prediction = operands.in(0);
    const Input target = operands.in(1);
    double sum = 0;
    for (std::int64_t i = 0; i < prediction.size(); ++i) {
        sum += term(prediction[i], target[i]);
    }
    operands.out(0).set(0, sum / static_cast<double>(prediction.size()));
}

template <typename Slope> void meanLossGrad(const Operands& operands, Slope slope)
{
    const double d = operands.in(0)[0];
    const Input prediction = operands.in(1);
    const Input target = operands.in(2);
    const Output gradient = operands.out(0);
    for (std::int64_t i = 0; i < prediction.size(); ++i) {
        gradient.set(i, slope(prediction[i], target[i]) * d / static_cast<double>(prediction.size()));
    }
}

} // namespace

void softmaxCrossEntropy(const Operands& operands)
{
    const Input logits = operands.in(0);
    const Input labels = operands.in(1);
    const Output logProbabilities = operands.out(1);
    const std::int64_t m = labels.size();
    const std::int64_t n = logits.size() / m;
    double loss = 0;
    for (std::int64_t row = 0; row < m; ++row) {
        // Subtracting the largest logit keeps exp() in range and leaves the result the same.
        double largest = -std::numeric_limits<double>::infinity();
        for (std::int64_t i = 0; i < n; ++i) {
            largest = std::max(largest, logits[row * n + i]);
        }
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            sum += std::exp(logits[row * n + i] - largest);
        }
        for (std::int64_t i = 0; i < n; ++i) {
            logProbabilities.set(row * n + i, logits[row * n + i] - largest - std::log(sum));
        }
        loss -= logits[row * n + labelOf(labels, row, n)] - largest - std::log(sum);
    }
    operands.out(0).set(0, loss / static_cast<double>(m));
}

void softmaxCrossEntropyGrad(const Operands& operands)
{
    const double d = operands.in(0)[0];
    const Input logProbabilities = operands.in(1);
    const Input labels = operands.in(2);
    const Output gradient = operands.out(0);
    const std::int64_t m = labels.size();
    const std::int64_t n = logProbabilities.size() / m;
    for (std::int64_t row = 0; row < m; ++row) {
        const std::int64_t label = labelOf(labels, row, n);
        for (std::int64_t i = 0; i < n; ++i) {
            const double probability = std::exp(logProbabilities[row * n + i]);
            gradient.set(row * n + i, (probability - (i == label ? 1 : 0)) * d / static_cast<double>(m));
        }
    }
}

void mseLoss(const Operands& operands)
{
    meanLoss(operands, [](double p, double t) { return (p - t) * (p - t); });
}

void mseLossGrad(const Operands& operands)
{
    meanLossGrad(operands, [](double p, double t) { return 2 * (p - t); });
}

void bceWithLogits(const Operands& operands)
{
    // -t log(s(x)) - (1-t) log(1-s(x)), s the logistic function, written so that no exp() overflows.
    meanLoss(
        operands, [](double x, double t) { return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x))); });
}

void bceWithLogitsGrad(const Operands& operands)
{
    meanLossGrad(operands, [](double x, double t) { return 1 / (1 + std::exp(-x)) - t; });
}

} // namespace mantissa::reference
