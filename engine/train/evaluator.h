/// Judges a lane's model on the samples that it does not train on, without touching its training state.
#pragma once

#include "engine/backends/executor.h"
#include "engine/data/batch_loader.h"
#include "engine/data/dataset.h"
#include "engine/train/step_graph.h"

#include <atomic>
#include <memory>
#include <vector>

namespace mantissa {

/// Over the validation samples; NaN without any, and where it was interrupted.
struct Validation
{
    double loss; ///< mean over samples, or over the tokens that are asked for; in double from the FP32 outputs
    double accuracy; ///< share of them that is right; NaN for regression
};

inline const std::atomic<bool> uninterrupted {false};

/// The model in the lane's evaluation policy, without dropout and with running statistics: its own plan and memory.
class Evaluator
{
public:
    /// Throws Error as buildEvaluationGraph() and Executor do.
    Evaluator(const LaneConfig& lane, std::shared_ptr<const Dataset> data, Backend& backend, int threads);

    /// With the weights and running statistics that `training` holds. Returns soon after `interrupt` is set.
    Validation run(Executor& training, const StepGraph& step, const std::atomic<bool>& interrupt);

    [[nodiscard]] std::size_t allocatedBytes() const { return m_executor.allocatedBytes(); }

private:
    void copyState(Executor& training, const std::vector<ValueId>& from, const std::vector<ValueId>& to);
    void score(std::size_t used);

    std::shared_ptr<const Dataset> m_data;
    std::string m_loss;
    bool m_usesAverages;
    std::size_t m_samples; ///< of the validation set, how many are judged
    EvaluationGraph m_evaluation;
    Executor m_executor;
    Batch m_batch;
    std::vector<std::uint32_t> m_indices;

    double m_lossSum = 0;
    std::int64_t m_answers = 0;
    std::int64_t m_right = 0;
};

} // namespace mantissa
