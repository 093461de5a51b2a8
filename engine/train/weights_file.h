/// Initial weights from elsewhere: a .safetensors file of a PyTorch model's state_dict, or a checkpoint of ours.
#pragma once

#include "engine/graph/graph.h"
#include "engine/tensor/safetensors.h"
#include "engine/train/experiment.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace mantissa {

struct WeightsFile
{
    std::filesystem::path file;
    Safetensors contents; ///< optimizer state left out
    std::string hash; ///< 16 hex digits: FNV-1a over names, formats, shapes and data
    bool isCheckpoint = false; ///< of ours: channels run fastest in it, as in our images
};

/// Throws what readSafetensors() throws.
WeightsFile readWeights(const std::filesystem::path& file);

/// What the lane's model.weights names, relative to `directory`. Notes the absolute path and the hash in `lane`, so
/// that what is stored of it says which weights they were. Throws Error as readWeights(), and (InvalidArgument) where
/// the lane asks for another hash: the file has changed.
WeightsFile pinnedWeights(LaneConfig& lane, const std::filesystem::path& directory);

struct FittedWeights
{
    std::map<std::string, std::vector<float>> values; ///< by the names of the graph's parameters and buffers
    std::string note; ///< what was adapted to make them fit, in words; empty: nothing
};

/// The values for all parameters and buffers of `graph`. F32, F16 and BF16 are read. What all names begin with,
/// "module." or "model.", is dropped if no name of the model does; so are PyTorch's counts of batches. `sample` is the
/// shape of one input: the columns of a linear layer behind flattened images come in another order than PyTorch's.
/// Throws Error (InvalidArgument) naming every tensor that is missing, left over, of another shape or format, or not
/// finite.
FittedWeights fitWeights(const WeightsFile& weights, const Graph& graph, const Shape& sample);

} // namespace mantissa
