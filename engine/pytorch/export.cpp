#include "engine/pytorch/export.h"

#include "engine/core/error.h"
#include "engine/pytorch/lane_support.h"
#include "engine/pytorch/model_code.h"
#include "engine/pytorch/resources.h"
#include "engine/pytorch/sample_file.h"
#include "engine/pytorch/state_dict.h"
#include "engine/pytorch/training_loop.h"
#include "engine/train/dataset_cache.h"
#include "engine/train/model_task.h"
#include "engine/train/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>

namespace mantissa {

namespace {

constexpr auto weightsName = "weights.safetensors";
constexpr auto samplesName = "data.safetensors";

std::string textOf(std::span<const unsigned char> bytes)
{
    return {bytes.begin(), bytes.end()};
}

/// What a text is as one line of a Python comment or docstring.
std::string plainLine(std::string text)
{
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\r' || c == '"' || c == '\\'; }, ' ');
    return text;
}

void refuseWhatPytorchCannotDo(const Experiment& experiment, const LaneConfig& lane)
{
    const std::vector<std::string> reasons = whyNotInPytorch(lane, experiment);
    if (reasons.empty()) {
        return;
    }
    std::string text = fmt::format("The lane \"{}\" cannot be exported to PyTorch:", lane.name);
    for (const std::string& reason : reasons) {
        text += "\n  " + reason + ".";
    }
    throw Error(ErrorCode::InvalidArgument, text);
}

Safetensors initialWeights(const Experiment& experiment, LaneConfig lane, const Model& model, const Shape& sample)
{
    std::map<std::string, std::vector<float>> given;
    if (!lane.model.weights.empty()) {
        given = fitWeights(pinnedWeights(lane, experiment.directory), model.graph, sample).values;
    }
    return stateDict(model.graph, sample, [&](ValueId id) {
        if (!given.empty()) {
            return given.at(model.graph.value(id).name);
        }
        const auto isWanted = [id](const Parameter& parameter) { return parameter.value == id; };
        const auto found = std::ranges::find_if(model.parameters, isWanted);
        return initialValues(model.graph,
            found != model.parameters.end() ? *found : *std::ranges::find_if(model.buffers, isWanted), lane.seed);
    });
}

/// The lane alone, from the weights in the folder.
std::string experimentText(const Experiment& experiment, const LaneConfig& lane)
{
    std::vector<std::pair<std::string, nlohmann::json>> changes {
        {"model.weights", weightsName}, {"model.weights_hash", ""}};
    if (!lane.data.path.empty()) {
        const auto absolute = std::filesystem::absolute(experiment.directory / lane.data.path);
        changes.emplace_back("data.path", absolute.lexically_normal().string());
    }
    Experiment alone;
    alone.name = experiment.name;
    alone.text = experiment.text;
    alone.lanes = {withOverrides(lane, changes)};
    alone.document = experiment.document;
    return composeExperiment(alone).dump(2) + "\n";
}

std::string scriptText(const Experiment& experiment, const LaneConfig& lane)
{
    const std::string loop = pytorchScript(lane);
    const std::string parts = lane.accumulation.steps == 1 ? "" : fmt::format(" * {}", lane.accumulation.steps);
    const bool isCpuOnly = usesCpuLists(lane);
    return fmt::format(R"("""Lane {lane} of the experiment {experiment}, exported by Mantissa. See README.md."""
import argparse
{math}from pathlib import Path

import torch
import torch.nn.functional as F

from model import Model
from recorder import Recorder
from tensors import load, save

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--device", choices=[{devices}], default={device})
parser.add_argument("--steps", type=int, choices=range(1, {steps} + 1), metavar="N", default={steps}, help="at most {steps}")
parser.add_argument("--metrics", default="metrics.jsonl", help="file for one JSON object per step")
parser.add_argument("--save", help=".safetensors file for the trained weights")
options = parser.parse_args()
device = options.device
here = Path(__file__).parent
torch.backends.cuda.matmul.allow_tf32 = {tf32}
torch.backends.cudnn.allow_tf32 = {tf32Convolutions}
stored = {{name: tensor.to(device) for name, tensor in load(here / "{samples}").items()}}


def batch(step, part=0):
    rows = stored["order"][step{parts} + part]
    return stored["inputs"][rows], stored["targets"][rows]


{loop}recorder.close()
if options.save:
    save(options.save, model.state_dict())
)",
        fmt::arg("lane", plainLine(lane.name)), fmt::arg("experiment", plainLine(experiment.name)),
        fmt::arg("math", loop.find("math.") == std::string::npos ? "" : "import math\n"),
        fmt::arg("devices", isCpuOnly ? "\"cpu\"" : "\"cpu\", \"cuda\""),
        fmt::arg("device", isCpuOnly ? "\"cpu\"" : "\"cuda\" if torch.cuda.is_available() else \"cpu\""),
        fmt::arg("steps", lane.steps), fmt::arg("samples", samplesName), fmt::arg("parts", parts),
        fmt::arg("tf32", lane.precision.tf32 ? "True" : "False  # FP32 means FP32"),
        fmt::arg("tf32Convolutions", lane.precision.tf32 ? "True" : "False"), fmt::arg("loop", loop));
}

std::string readmeText(const Experiment& experiment, const LaneConfig& lane)
{
    std::string text = fmt::format(R"(# {} of {}

A lane of a Mantissa experiment as a PyTorch script. It needs PyTorch 2.4 or newer and nothing else.

```sh
python3 train.py --device cpu              # trains, and writes metrics.jsonl
python3 train.py --save trained.safetensors
python3 compare.py --cli mantissa-cli      # trains here and in Mantissa; says where the two part
mantissa-cli run experiment.json --weights trained.safetensors   # goes on from those weights
```

| file | what |
|---|---|
| `train.py` | the loop: every setting of the lane, mistakes included, which are marked WRONG |
| `model.py` | the model |
| `{}` | initial weights, under the names of the model's `state_dict` |
| `{}` | the samples, and `order`: which of them each micro-batch has |
| `recorder.py` | records a loop, yours too: three lines, see its head |
| `tensors.py` | reads and writes `.safetensors` files |
| `compare.py` | the comparison |
| `experiment.json` | the lane for Mantissa, from the same weights |
)",
        plainLine(lane.name), plainLine(experiment.name), weightsName, samplesName);
    const std::vector<std::string> notes = notesForPytorch(lane);
    if (!notes.empty()) {
        text += "\nWhat differs:\n\n";
        for (const std::string& note : notes) {
            text += "- " + note + "\n";
        }
    }
    return text;
}

void makeFolder(const std::filesystem::path& folder)
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        throw Error(ErrorCode::Io, fmt::format("{}: the folder cannot be made: {}.", folder.string(), error.message()));
    }
    const bool isEmpty = std::filesystem::is_empty(folder, error);
    if (error) {
        throw Error(ErrorCode::Io, fmt::format("{}: the folder cannot be read: {}.", folder.string(), error.message()));
    }
    if (!isEmpty) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{}: there is something in this folder already; name a new one.", folder.string()));
    }
}

void writeText(const std::filesystem::path& file, const std::string& text)
{
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        throw Error(ErrorCode::Io,
            fmt::format(
                "{}: cannot be written; check that the disk has space and the folder may be written.", file.string()));
    }
}

} // namespace

PytorchExport exportToPytorch(const Experiment& experiment, const LaneConfig& lane, const std::filesystem::path& folder)
{
    refuseWhatPytorchCannotDo(experiment, lane);
    const std::shared_ptr<const Dataset> data = DatasetCache(experiment.directory).get(lane);
    const ModelTask task = trainingTask(lane, *data);
    const Model model = buildModel(lane.model, task);
    const Safetensors weights = initialWeights(experiment, lane, model, task.sample.shape);
    const Safetensors samples = sampleFile(lane, *data);
    const std::vector<std::pair<std::string, std::string>> texts {
        {"train.py", scriptText(experiment, lane)},
        {"model.py", modelCode(model, task.sample.shape)},
        {"recorder.py", textOf(recorderScript())},
        {"tensors.py", textOf(tensorsScript())},
        {"compare.py", textOf(compareScript())},
        {"experiment.json", experimentText(experiment, lane)},
        {"README.md", readmeText(experiment, lane)},
    };
    makeFolder(folder);
    PytorchExport result {.files = {weightsName, samplesName}, .notes = notesForPytorch(lane)};
    writeSafetensors(folder / weightsName, weights);
    writeSafetensors(folder / samplesName, samples);
    for (const auto& [name, text] : texts) {
        writeText(folder / name, text);
        result.files.push_back(name);
    }
    return result;
}

} // namespace mantissa
