/// Precision policies: which op runs in which format, after the lists of the frameworks.
#pragma once

#include "engine/graph/op_def.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// Whose lists decide. Sources: PyTorch aten/src/ATen/autocast_mode.h; TensorFlow
/// core/grappler/optimizers/auto_mixed_precision_lists.h; MXNet contrib/amp/lists; NVIDIA Apex amp/lists and
/// amp/frontend.py.
enum class OpLists : std::uint8_t {
    PyTorchCuda, ///< the classes of OpDef
    PyTorchCpu, ///< shorter: softmax, norms, sums, exp and log run in what they get
    TensorFlow, ///< paints the graph, see paintTensorFlow()
    MxNet,
    ApexO1,
    ApexO2, ///< the whole model in 16 bits, except batch norm and the loss
    ApexO3, ///< batch norm too; the model's output goes to the loss in FP32
    Pure, ///< as model.half(): the loss reads 16 bits as well. Its sum over the batch and its value stay FP32
};

/// Which op runs in which format.
struct Policy
{
    std::string name = "fp32";
    DType lower = DType::Float32; ///< the format of PrecisionClass::Lower ops; Float32: no autocast
    /// By node name ("fc1") or, where none is given, by op name ("linear"): overrules the lists.
    std::map<std::string, DType, std::less<>> overrides {};
    OpLists lists = OpLists::PyTorchCuda;
    /// By node or op name: the format that statistics and sums are accumulated in, a pitfall to show.
    std::map<std::string, DType, std::less<>> accumulate {};
    /// The format that parameters and running statistics are stored in. FP32: masters, cast for the ops that want 16
    /// bits. `lower`: no masters, and gradients and optimizer state are 16-bit too.
    DType weights = DType::Float32;
};

/// Names of experiment files: fp32, fp16, bf16 (PyTorch on CUDA), cpu-fp16, tf-bf16, O1, pure-fp16, ...
std::vector<std::string> policyNames();
/// With 16-bit weights if that is what the policy is about: pure-*, O3. Throws Error (InvalidArgument) naming the known
/// ones.
Policy policyNamed(std::string_view name);

/// The class of each node of an FP32 graph under the policy's lists.
std::vector<PrecisionClass> precisionClasses(const Graph& forward, const Policy& policy);

/// TensorFlow's choice, Lower or Float32 per node; Fixed ops stay so. Each op has a colour: allow, infer (numerically
/// safe if its neighbours are), deny, or clear (only moves data). In turn: allow ops are allowed; deny ops are denied,
/// and what lies between a deny op and a deny or infer op with them; infer and clear ops between allowed ones are
/// allowed; then infer ops that follow an allowed one; then clear ops that touch an allowed one. What is left is FP32.
/// Source: AutoMixedPrecisionImpl::Optimize in core/grappler/optimizers/auto_mixed_precision.cc.
std::vector<PrecisionClass> paintTensorFlow(const Graph& forward, DType lower);

} // namespace mantissa
