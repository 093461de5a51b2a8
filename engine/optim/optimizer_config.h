/// The "optimizer" settings of an experiment.
#pragma once

#include <string>

namespace mantissa {

struct OptimizerConfig
{
    std::string kind = "adamw"; ///< sgd, adam, adamw
    double lr = 1e-3;
    double momentum = 0;
    bool nesterov = false;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double weightDecay = 0.01; ///< 0 by default for sgd and adam, as in PyTorch
    bool extraStep = false; ///< a stray second step on the same gradients, which heeds no overflow
    std::string stateFormat = "weights"; ///< of momentum and moments: that of the weights; fp32, fp16, bf16
    std::string epsilonFormat = "fp32"; ///< that epsilon is rounded to
    bool operator==(const OptimizerConfig&) const = default;
};

} // namespace mantissa
