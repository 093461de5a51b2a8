/// Small models and what they are asked, for tests.
#pragma once

#include "engine/nn/model.h"

namespace mantissa::test {

/// 10 classes of images.
inline ModelTask imageTask(std::int64_t batch, Shape sample = {8, 8, 1})
{
    ModelTask task;
    task.batch = batch;
    task.sample.shape = std::move(sample);
    task.outputs = 10;
    task.loss = "cross_entropy";
    task.seed = 1;
    return task;
}

/// The next of 7 tokens, asked after each of them or only after the last.
inline ModelTask tokenTask(std::int64_t batch, std::int64_t tokens, bool perToken)
{
    ModelTask task;
    task.batch = batch;
    task.sample = {DType::Int32, {tokens}};
    task.outputs = 7;
    task.vocabulary = 7;
    task.perToken = perToken;
    task.loss = "cross_entropy";
    task.seed = 1;
    return task;
}

/// A preset of few numbers.
inline ModelConfig tinyModel(const std::string& kind)
{
    ModelConfig config = defaultModel(kind);
    config.hidden = {8};
    config.width = kind == "vit" || kind == "gpt" ? 8 : 4;
    config.depth = 1;
    config.stages = 2;
    config.batchNorm = true;
    config.heads = 2;
    config.patch = 4;
    return config;
}

inline ModelConfig layerModel(const std::string& layers)
{
    ModelConfig config;
    config.kind = "layers";
    config.layers = nlohmann::json::parse(layers);
    return config;
}

} // namespace mantissa::test
