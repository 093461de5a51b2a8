#include "engine/train/validation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace mantissa {

namespace {

double crossEntropy(std::span<const float> logits, std::int32_t label)
{
    const float largest = *std::ranges::max_element(logits);
    double sum = 0;
    for (const float logit : logits) {
        sum += std::exp(static_cast<double>(logit) - largest);
    }
    return std::log(sum) + largest - logits[static_cast<std::size_t>(label)];
}

double elementLoss(std::span<const float> outputs, std::span<const float> targets, bool isBinary)
{
    double loss = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const double x = outputs[i];
        const double t = targets[i];
        // max(x, 0) - x t + log(1 + exp(-|x|)): exact where exp(x) would overflow.
        loss += isBinary ? std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x))) : (x - t) * (x - t);
    }
    return loss / static_cast<double>(outputs.size());
}

/// The class that outputs (or targets) stand for: the largest of several, or which side of `threshold` a single one is.
std::ptrdiff_t classOf(std::span<const float> row, float threshold)
{
    return row.size() == 1 ? static_cast<std::ptrdiff_t>(row[0] > threshold)
                           : std::ranges::max_element(row) - row.begin();
}

} // namespace

Validation validate(Executor& executor, const EvaluationGraph& evaluation, const Dataset& data, const std::string& loss)
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const std::size_t count = data.validation.size();
    if (count == 0) {
        return {none, none};
    }
    const Shape& inputShape = executor.graph().value(evaluation.input).type.shape;
    const auto batch = static_cast<std::size_t>(inputShape[0]);
    std::vector<float> inputs(static_cast<std::size_t>(inputShape.elements()));
    std::vector<std::uint32_t> indices(batch);
    double lossSum = 0;
    std::size_t right = 0;
    for (std::size_t first = 0; first < count; first += batch) {
        const std::size_t used = std::min(batch, count - first);
        for (std::size_t i = 0; i < batch; ++i) {
            // The last batch is filled up with samples whose scores are not counted.
            indices[i] = data.validation[first + std::min(i, used - 1)];
        }
        gatherInputs(data, indices, inputs);
        executor.write(evaluation.input, std::as_bytes(std::span(inputs)));
        executor.run(Phase::Forward);
        executor.downloadStepOutputs();
        const std::span<const float> outputs = executor.floats(evaluation.output);
        const std::size_t width = outputs.size() / batch;
        for (std::size_t i = 0; i < used; ++i) {
            const std::span<const float> row = outputs.subspan(i * width, width);
            if (loss == "cross_entropy") {
                const std::int32_t label = data.labels[indices[i]];
                lossSum += crossEntropy(row, label);
                right += classOf(row, 0) == label ? 1 : 0;
            } else {
                const bool isBinary = loss != "mse";
                const auto targets = std::span(data.targets).subspan(indices[i] * width, width);
                lossSum += elementLoss(row, targets, isBinary);
                right += classOf(row, isBinary ? 0.0F : 0.5F) == classOf(targets, 0.5F) ? 1 : 0;
            }
        }
    }
    const auto n = static_cast<double>(count);
    return {lossSum / n, data.classes == 0 ? none : static_cast<double>(right) / n};
}

} // namespace mantissa
