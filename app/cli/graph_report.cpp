#include "app/cli/graph_report.h"

#include "engine/graph/op_def.h"
#include "engine/train/dataset_cache.h"
#include "engine/train/model_task.h"
#include "engine/train/step_graph.h"

#include <fmt/format.h>

#include <map>

namespace mantissa::cli {

namespace {

StepGraph stepOf(const LaneConfig& lane, DatasetCache& datasets)
{
    return buildStepGraph(lane, trainingTask(lane, *datasets.get(lane)));
}

std::string_view nameOfKind(ValueKind kind)
{
    switch (kind) {
    case ValueKind::Input:
        return "input";
    case ValueKind::StepInput:
        return "step_input";
    case ValueKind::Parameter:
        return "parameter";
    case ValueKind::WeightCopy:
        return "weight_copy";
    case ValueKind::Gradient:
        return "gradient";
    case ValueKind::OptimizerState:
        return "optimizer_state";
    case ValueKind::Activation:
        return "activation";
    case ValueKind::StepOutput:
        return "step_output";
    case ValueKind::Buffer:
        return "buffer";
    }
    return "";
}

/// The format an op runs in: that of its first output.
std::string_view formatOf(const Graph& graph, const Node& node)
{
    return node.outputs.empty() ? "-" : nameOf(graph.value(node.outputs.front()).type.dtype);
}

/// Forward ops that are no casts, by format.
std::map<std::string, int> opsByFormat(const Graph& graph)
{
    std::map<std::string, int> count;
    for (const Node& node : graph.nodes()) {
        if (node.phase == Phase::Forward && node.op != Op::Cast) {
            ++count[std::string(formatOf(graph, node))];
        }
    }
    return count;
}

Json valuesJson(const Graph& graph, const std::vector<ValueId>& ids)
{
    Json values = Json::array();
    for (const ValueId id : ids) {
        const Value& value = graph.value(id);
        Json shape = Json::array();
        for (std::size_t axis = 0; axis < value.type.shape.rank(); ++axis) {
            shape.push_back(value.type.shape[axis]);
        }
        values.push_back({{"name", value.name}, {"kind", nameOfKind(value.kind)}, {"dtype", nameOf(value.type.dtype)},
            {"shape", std::move(shape)}});
    }
    return values;
}

/// The formats of values, neighbours of one format taken together: "fp32, fp16".
std::string formatsText(const Graph& graph, const std::vector<ValueId>& ids)
{
    std::string text;
    std::string_view previous;
    for (const ValueId id : ids) {
        const std::string_view format = nameOf(graph.value(id).type.dtype);
        if (format != previous) {
            text += text.empty() ? "" : ", ";
            text += format;
        }
        previous = format;
    }
    return text;
}

} // namespace

Json graphJson(const Experiment& experiment)
{
    DatasetCache datasets(experiment.directory);
    Json lanes = Json::array();
    for (const LaneConfig& lane : experiment.lanes) {
        const StepGraph step = stepOf(lane, datasets);
        Json nodes = Json::array();
        for (const Node& node : step.graph.nodes()) {
            nodes.push_back({{"name", node.name}, {"op", opDef(node.op).name}, {"phase", nameOf(node.phase)},
                {"cast", node.op == Op::Cast}, {"inputs", valuesJson(step.graph, node.inputs)},
                {"outputs", valuesJson(step.graph, node.outputs)}, {"reason", node.reason}});
        }
        lanes.push_back({{"lane", lane.name}, {"policy", lane.precision.policy}, {"casts_per_step", step.castsPerStep},
            {"ops_by_format", opsByFormat(step.graph)}, {"nodes", std::move(nodes)}});
    }
    return {{"experiment", experiment.name}, {"lanes", std::move(lanes)}};
}

std::string graphText(const Experiment& experiment)
{
    DatasetCache datasets(experiment.directory);
    std::string text;
    for (const LaneConfig& lane : experiment.lanes) {
        const StepGraph step = stepOf(lane, datasets);
        Table table;
        for (const char* title : {"phase", "node", "op", "reads", "writes", "shape", "why"}) {
            table.addColumn(title, Table::Align::Left);
        }
        for (const Node& node : step.graph.nodes()) {
            const bool hasOutput = !node.outputs.empty();
            table.addRow({std::string(nameOf(node.phase)), node.name, std::string(opDef(node.op).name),
                formatsText(step.graph, node.inputs), std::string(formatOf(step.graph, node)),
                hasOutput ? step.graph.value(node.outputs.front()).type.shape.text() : "", node.reason});
        }
        text += text.empty() ? "" : "\n";
        text += fmt::format(
            "{}: policy {}, {} casts per step; forward ops", lane.name, lane.precision.policy, step.castsPerStep);
        for (const auto& [format, count] : opsByFormat(step.graph)) {
            text += fmt::format(" {} {}", count, format);
        }
        text += '\n';
        text += table.text();
    }
    return text;
}

} // namespace mantissa::cli
