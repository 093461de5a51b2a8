// Layers and ranks that expectations name, held against their lanes.
#include "engine/core/error.h"
#include "engine/core/nearest_name.h"
#include "engine/data/data_config.h"
#include "engine/graph/graph.h"
#include "engine/nn/model.h"
#include "engine/train/expectation.h"
#include "engine/train/experiment.h"
#include "engine/train/lane_document.h"
#include "engine/train/layer_measure.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa {

namespace {

/// The layers that have parameters. What they are called does not depend on the samples, so that any that the model
/// takes will do; empty if none of these is taken.
std::vector<std::string> layersOf(const LaneConfig& lane)
{
    const bool isTokens = dataKind(lane.data.kind).isTokens;
    const std::vector<Shape> shapes = isTokens
        ? std::vector {Shape {lane.data.context}}
        : std::vector {Shape {8, 8, 1}, Shape {28, 28, 1}, Shape {32, 32, 3}, Shape {2}};
    for (const Shape& shape : shapes) {
        ModelTask task;
        task.batch = 2;
        task.sample = {isTokens ? DType::Int32 : DType::Float32, shape};
        task.outputs = 2;
        task.vocabulary = isTokens ? 2 : 0;
        task.perToken = isTokens;
        task.loss = std::string("cross_entropy");
        try {
            const Model model = buildModel(lane.model, task);
            std::vector<std::string> layers;
            for (const Parameter& parameter : model.parameters) {
                const std::string layer(layerOf(model.graph.value(parameter.value).name));
                if (std::ranges::find(layers, layer) == layers.end()) {
                    layers.push_back(layer);
                }
            }
            return layers;
        } catch (const Error&) { // other samples may do
        }
    }
    return {};
}

void check(const Measure& measure, std::span<const LaneConfig> lanes, const DocumentPlace& place)
{
    const LaneConfig& lane = *std::ranges::find(lanes, measure.lane, &LaneConfig::name);
    if (measure.rank && *measure.rank >= lane.parallel.ranks) {
        failAt(place, "rank",
            fmt::format("is {}, but parallel.ranks of lane \"{}\" is {}; ranks count from 0", *measure.rank,
                measure.lane, lane.parallel.ranks));
    }
    if (measure.layer.empty()) {
        return;
    }
    const std::vector<std::string> layers = layersOf(lane);
    if (!layers.empty() && std::ranges::find(layers, measure.layer) == layers.end()) {
        failAt(place, "layer",
            fmt::format("is \"{}\", but the model of lane \"{}\" has no such layer; {}", measure.layer, measure.lane,
                suggestion(measure.layer, layers)));
    }
}

} // namespace

void checkLayers(
    std::span<const Expectation> expectations, std::span<const LaneConfig> lanes, const std::string& source)
{
    for (std::size_t i = 0; i < expectations.size(); ++i) {
        const std::string prefix = fmt::format("expect[{}].", i);
        check(expectations[i].left, lanes, {source, prefix + "left."});
        if (expectations[i].right) {
            check(*expectations[i].right, lanes, {source, prefix + "right."});
        }
    }
}

} // namespace mantissa
