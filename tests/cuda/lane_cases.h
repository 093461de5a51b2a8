/// Training steps that every backend must make as the CPU does.
#pragma once

#include "engine/backends/backend_registry.h"
#include "engine/train/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace mantissa::test {

using nlohmann::json;

/// A small MLP's settings, changed by merge patches.
inline json mlp(std::initializer_list<const char*> patches = {})
{
    json document = json::parse(R"({"name": "t", "seed": 1, "steps": 4, "data": {"kind": "digits", "batch": 12},
        "model": {"kind": "mlp", "hidden": [17, 9], "activation": "relu"}, "loss": "cross_entropy",
        "optimizer": {"kind": "adamw", "lr": 0.01}})");
    for (const char* const patch : patches) {
        document.merge_patch(json::parse(patch));
    }
    return document;
}

inline constexpr const char* fp16 = R"({"precision": {"policy": "fp16"}, "scaler": {"family": "pytorch"}})";
inline constexpr const char* bf16 = R"({"precision": {"policy": "bf16"}})";

inline std::unique_ptr<Lane> laneOn(const std::string& device, const json& document)
{
    const LaneConfig config = parseLane(document, "t");
    auto data = std::make_shared<Dataset>(loadDataset(config.data, config.seed, {}));
    if (config.loss != "cross_entropy") {
        labelsToTargets(*data);
    }
    return std::make_unique<Lane>(0, config, std::vector<ScriptedEvent> {}, std::move(data), backendByName(device), 1);
}

inline bool isNear(double a, double b, double relative)
{
    if (!std::isfinite(a) || !std::isfinite(b)) {
        return (std::isnan(a) && std::isnan(b)) || a == b;
    }
    return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b)) + 1e-12;
}

struct LaneCase
{
    const char* name;
    double tolerance; ///< relative, of the loss
    json document;
};

inline std::vector<LaneCase> laneCases()
{
    // Within the sums' order in FP32; in 16 bits a sum that lies near the middle of two numbers may fall either way,
    // and what comes after carries that on: a few units of the format.
    constexpr double single = 2e-5;
    constexpr double half = 8 * 0x1p-11;
    constexpr double bfloat = 8 * 0x1p-8;
    std::vector<LaneCase> cases;
    const char* const bare = R"({"model": {"hidden": null, "activation": null}})";
    cases.push_back({"mlp fp32", single, mlp()});
    cases.push_back({"mlp fp16", half, mlp({fp16})});
    cases.push_back({"mlp bf16", bfloat, mlp({bf16})});
    cases.push_back({"mlp pure fp16", half,
        mlp({fp16, R"({"precision": {"policy": "pure-fp16"}, "optimizer": {"epsilon": 0.0001}})"})});
    cases.push_back({"mlp pure bf16", bfloat, mlp({R"({"precision": {"policy": "pure-bf16"}})"})});
    cases.push_back({"mlp fp16, sgd, clipped, dropout, accumulation", half,
        mlp({fp16, R"({"optimizer": {"kind": "sgd", "momentum": 0.9, "nesterov": true, "weight_decay": 0.01},
            "clip": {"order": "unscale-then-clip", "max_norm": 0.5}, "accumulation": {"steps": 2},
            "model": {"dropout": 0.2, "activation": "gelu"}})"})});
    cases.push_back({"mlp fp32, mse", single, mlp({R"({"loss": "mse", "model": {"activation": "tanh"}})"})});
    cases.push_back(
        {"mlp bf16, bce", bfloat, mlp({bf16, R"({"loss": "bce_with_logits", "model": {"activation": "silu"}})"})});
    cases.push_back(
        {"cnn fp32", single, mlp({R"({"model": {"kind": "cnn", "width": 4, "hidden": [8], "stages": 2}})"})});
    cases.push_back({"resnet fp16", 4 * half,
        mlp({fp16, bare, R"({"model": {"kind": "resnet", "width": 4, "depth": 1, "stages": 2}})"})});
    cases.push_back({"vit bf16", bfloat,
        mlp({bf16, bare, R"({"model": {"kind": "vit", "width": 8, "depth": 1, "heads": 2, "patch": 4}})"})});
    cases.push_back({"gpt fp16", half, mlp({fp16, bare, R"({"data": {"kind": "modular_addition"},
            "model": {"kind": "gpt", "width": 8, "depth": 1, "heads": 2}})"})});
    return cases;
}

/// |a - b| / |b|
inline double weightDistance(Lane& a, Lane& b)
{
    std::vector<float> left;
    std::vector<float> right;
    a.readWeights(left);
    b.readWeights(right);
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        difference += std::pow(double {left[i]} - double {right[i]}, 2);
        norm += std::pow(double {right[i]}, 2);
    }
    return std::sqrt(difference / norm);
}

/// What differs in four steps on CUDA, each from the state in which the CPU made the same one.
inline std::optional<std::string> complaintAbout(const LaneCase& laneCase)
{
    const double tolerance = laneCase.tolerance;
    const auto onCpu = laneOn("cpu", laneCase.document);
    const auto onCuda = laneOn("cuda", laneCase.document);
    if (onCuda->weightsHash() != onCpu->weightsHash() || onCuda->graph()->text() != onCpu->graph()->text()) {
        return "the lanes start from different weights or graphs";
    }
    for (int step = 0; step < 4; ++step) {
        onCuda->restore(onCpu->state());
        const StepRecord expected = onCpu->step();
        const StepRecord actual = onCuda->step();
        const double distance = weightDistance(*onCuda, *onCpu);
        // Adam's first steps are the gradients' signs: a gradient around 0 counts as much as any other.
        const double share = std::max(0.02, 4 * tolerance);
        const bool isRight = distance <= 4 * share * expected.updateRatio + 1e-9
            && isNear(actual.loss, expected.loss, tolerance)
            && isNear(actual.gradNorm, expected.gradNorm, 4 * tolerance)
            && isNear(actual.gradNormClipped, expected.gradNormClipped, 4 * tolerance)
            && isNear(actual.updateRatio, expected.updateRatio, share)
            && std::abs(actual.flushed - expected.flushed) <= 0.02 && actual.skipped == expected.skipped
            && actual.foundInf == expected.foundInf && actual.scale == expected.scale
            && actual.batchHash == expected.batchHash;
        if (!isRight) {
            return fmt::format(
                "step {}: loss {} instead of {}, norm {} instead of {}, update {} instead of {}, flushed "
                "{} instead of {}, skipped {} instead of {}, weights apart {}",
                step, actual.loss, expected.loss, actual.gradNorm, expected.gradNorm, actual.updateRatio,
                expected.updateRatio, actual.flushed, expected.flushed, actual.skipped, expected.skipped, distance);
        }
    }
    return std::nullopt;
}

} // namespace mantissa::test
