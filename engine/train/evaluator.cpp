#include "engine/train/evaluator.h"

#include "engine/train/lane_products.h"
#include "engine/train/model_task.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

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
/// -1 where one is NaN: no answer.
std::ptrdiff_t classOf(std::span<const float> row, float threshold)
{
    if (std::ranges::any_of(row, [](float x) { return std::isnan(x); })) {
        return -1;
    }
    return row.size() == 1 ? static_cast<std::ptrdiff_t>(row[0] > threshold)
                           : std::ranges::max_element(row) - row.begin();
}

LaneConfig inEvaluationPolicy(LaneConfig lane)
{
    if (lane.evaluation.policy != "lane") {
        lane.precision = defaultPrecision(lane.evaluation.policy);
    }
    return lane;
}

std::size_t samplesToJudge(const LaneConfig& lane, const Dataset& data)
{
    const auto most = static_cast<std::size_t>(lane.evaluation.samples);
    return most == 0 ? data.validation.size() : std::min(most, data.validation.size());
}

} // namespace

Evaluator::Evaluator(const LaneConfig& lane, std::shared_ptr<const Dataset> data, Backend& backend, int threads)
    : m_data(std::move(data))
    , m_loss(lane.loss)
    , m_usesAverages(lane.evaluation.weights == "ema")
    , m_samples(samplesToJudge(lane, *m_data))
    , m_evaluation(buildEvaluationGraph(inEvaluationPolicy(lane), trainingTask(lane, *m_data)))
    , m_executor(m_evaluation.graph, backend, threads, productsOn(backend, inEvaluationPolicy(lane)))
    , m_batch(*m_data, lane.data.batch, usesLabels(lane))
    , m_indices(static_cast<std::size_t>(lane.data.batch))
{
}

void Evaluator::copyState(Executor& training, const std::vector<ValueId>& from, const std::vector<ValueId>& to)
{
    for (std::size_t i = 0; i < from.size(); ++i) {
        m_executor.copyFrom(training, from[i], to[i]);
    }
}

Validation Evaluator::run(Executor& training, const StepGraph& step, const std::atomic<bool>& interrupt)
{
    copyState(training, m_usesAverages ? step.averages : step.parameters, m_evaluation.parameters);
    copyState(training, step.buffers, m_evaluation.buffers);
    m_executor.run(Phase::WeightCast);
    m_lossSum = 0;
    m_answers = 0;
    m_right = 0;
    const std::size_t batch = m_indices.size();
    for (std::size_t first = 0; first < m_samples; first += batch) {
        if (interrupt.load(std::memory_order_relaxed)) {
            return {none, none};
        }
        const std::size_t used = std::min(batch, m_samples - first);
        for (std::size_t i = 0; i < batch; ++i) {
            // The last batch is filled up with samples whose scores are not counted.
            m_indices[i] = m_data->validation[first + std::min(i, used - 1)];
        }
        m_batch.fill(*m_data, m_indices);
        m_executor.write(m_evaluation.input, m_batch.samples());
        m_executor.run(Phase::Forward);
        m_executor.downloadStepOutputs();
        score(used);
    }
    if (m_answers == 0) {
        return {none, none};
    }
    const auto n = static_cast<double>(m_answers);
    return {m_lossSum / n, m_data->classes == 0 ? none : static_cast<double>(m_right) / n};
}

/// Adds the first `used` samples of the batch to the sums.
void Evaluator::score(std::size_t used)
{
    const std::span<const float> outputs = m_executor.floats(m_evaluation.output);
    const bool hasLabels = !m_batch.labels.empty();
    const std::size_t rows = hasLabels ? m_batch.labels.size() : m_indices.size();
    const std::size_t width = outputs.size() / rows;
    for (std::size_t i = 0; i < rows / m_indices.size() * used; ++i) {
        const std::span<const float> row = outputs.subspan(i * width, width);
        if (hasLabels) {
            const std::int32_t label = m_batch.labels[i];
            if (label == ignoredLabel) {
                continue;
            }
            m_lossSum += crossEntropy(row, label);
            m_right += classOf(row, 0) == label ? 1 : 0;
        } else {
            const bool isBinary = m_loss == "bce_with_logits";
            const auto targets = std::span<const float>(m_batch.targets).subspan(i * width, width);
            m_lossSum += elementLoss(row, targets, isBinary);
            m_right += classOf(row, isBinary ? 0.0F : 0.5F) == classOf(targets, 0.5F) ? 1 : 0;
        }
        ++m_answers;
    }
}

} // namespace mantissa
