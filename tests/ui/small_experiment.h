/// A run that trains in a moment, for tests of the window.
#pragma once

#include "engine/train/experiment.h"

#include <string>

namespace mantissa::test {

inline std::string smallExperimentText(int steps = 60)
{
    return R"({"mantissa": 1, "name": "Small", "text": "Look at **this**.", "seed": 3, "steps": )"
        + std::to_string(steps)
        + R"(, "data": {"kind": "digits", "batch": 16}, "model": {"kind": "mlp", "hidden": [24], "activation": "relu"},
            "optimizer": {"kind": "adamw", "lr": 0.002},
            "lanes": [{"name": "FP32"},
                      {"name": "FP16 AMP", "precision": {"policy": "fp16"},
                       "scaler": {"family": "pytorch", "init_scale": 1024, "growth_interval": 20}}]})";
}

inline Experiment smallExperiment(int steps = 60)
{
    return parseExperiment(smallExperimentText(steps), "small.json");
}

} // namespace mantissa::test
