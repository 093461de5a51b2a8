/// Judging a trained model on samples it has not seen.
#pragma once

#include "engine/backends/executor.h"
#include "engine/data/dataset.h"
#include "engine/train/step_graph.h"

#include <string>

namespace mantissa {

struct Validation
{
    double loss = 0; ///< mean over the validation samples, in double from the FP32 outputs; NaN without samples
    double accuracy = 0; ///< share of samples classified right; NaN for regression
};

/// Runs Phase::Forward over all validation samples. The executor holds the weights and has run Phase::WeightCast.
Validation validate(
    Executor& executor, const EvaluationGraph& evaluation, const Dataset& data, const std::string& loss);

} // namespace mantissa
