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

/// Rows that count in a mean over labels.
double countedRows(const Input& labels, std::int32_t ignoreIndex)
{
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < labels.size(); ++row) {
        count += labels.integer(row) == ignoreIndex ? 0 : 1;
    }
    return static_cast<double>(count);
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
    const auto [smoothing, ignoreIndex] = operands.attributes<CrossEntropyAttributes>();
    const double share = smoothing;
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
        double total = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double logProbability = logits[row * n + i] - largest - std::log(sum);
            logProbabilities.set(row * n + i, logProbability);
            total += logProbability;
        }
        if (labels.integer(row) == ignoreIndex) {
            continue;
        }
        loss -= (1 - share) * (logits[row * n + labelOf(labels, row, n)] - largest - std::log(sum));
        loss -= share == 0 ? 0 : share * total / static_cast<double>(n); // 0 times an infinity would be NaN
    }
    operands.out(0).set(0, loss / countedRows(labels, ignoreIndex));
}

void softmaxCrossEntropyGrad(const Operands& operands)
{
    const auto [smoothing, ignoreIndex] = operands.attributes<CrossEntropyAttributes>();
    const double share = smoothing;
    const double d = operands.in(0)[0];
    const Input logProbabilities = operands.in(1);
    const Input labels = operands.in(2);
    const Output gradient = operands.out(0);
    const std::int64_t m = labels.size();
    const std::int64_t n = logProbabilities.size() / m;
    const double rows = countedRows(labels, ignoreIndex);
    for (std::int64_t row = 0; row < m; ++row) {
        const bool isIgnored = labels.integer(row) == ignoreIndex;
        const std::int64_t label = isIgnored ? 0 : labelOf(labels, row, n);
        for (std::int64_t i = 0; i < n; ++i) {
            const double target = share / static_cast<double>(n) + (i == label ? 1 - share : 0);
            const double probability = std::exp(logProbabilities[row * n + i]);
            gradient.set(row * n + i, isIgnored ? 0 : (probability - target) * d / rows);
        }
    }
}

void nllLoss(const Operands& operands)
{
    const auto [smoothing, ignoreIndex] = operands.attributes<CrossEntropyAttributes>();
    const double share = smoothing;
    const Input logProbabilities = operands.in(0);
    const Input labels = operands.in(1);
    const std::int64_t n = logProbabilities.size() / labels.size();
    double loss = 0;
    for (std::int64_t row = 0; row < labels.size(); ++row) {
        if (labels.integer(row) == ignoreIndex) {
            continue;
        }
        loss -= (1 - share) * logProbabilities[row * n + labelOf(labels, row, n)];
        for (std::int64_t i = 0; i < n && share != 0; ++i) { // 0 times an infinity would be NaN
            loss -= share / static_cast<double>(n) * logProbabilities[row * n + i];
        }
    }
    operands.out(0).set(0, loss / countedRows(labels, ignoreIndex));
}

void nllLossGrad(const Operands& operands)
{
    const auto [smoothing, ignoreIndex] = operands.attributes<CrossEntropyAttributes>();
    const double share = smoothing;
    const double d = operands.in(0)[0];
    const Input labels = operands.in(1);
    const Output gradient = operands.out(0);
    const std::int64_t n = gradient.size() / labels.size();
    const double rows = countedRows(labels, ignoreIndex);
    for (std::int64_t row = 0; row < labels.size(); ++row) {
        const bool isIgnored = labels.integer(row) == ignoreIndex;
        const std::int64_t label = isIgnored ? 0 : labelOf(labels, row, n);
        for (std::int64_t i = 0; i < n; ++i) {
            const double target = share / static_cast<double>(n) + (i == label ? 1 - share : 0);
            gradient.set(row * n + i, isIgnored || target == 0 ? 0 : -target * d / rows);
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
