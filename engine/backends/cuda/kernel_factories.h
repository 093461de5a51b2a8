/// From a request, whose operands kernel_table.cpp has checked, to a kernel. Each throws Error (UnsupportedDtype) for
/// what it cannot do.
#pragma once

#include "engine/backends/backend.h"
#include "engine/backends/cuda/context.h"

#include <memory>

namespace mantissa::cuda {

using Factory = std::unique_ptr<Kernel> (*)(const KernelRequest& request, const Context& context);

// matmul.cpp
std::unique_ptr<Kernel> makeMatMul(const KernelRequest& request, const Context& context);

// elementwise_ops.cpp
std::unique_ptr<Kernel> makeMap(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeBroadcast(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeScale(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeAccumulate(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeDropout(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeDropoutGrad(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeScaleMask(const KernelRequest& request, const Context& context);

// layout_ops.cpp
std::unique_ptr<Kernel> makePermute(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeConcat(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeSlice(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeExpand(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeEmbedding(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeEmbeddingGrad(const KernelRequest& request, const Context& context);

// row_ops.cpp
std::unique_ptr<Kernel> makeReduce(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeSumRows(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeSoftmax(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeSoftmaxGrad(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeNorm(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeNormGrad(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeBatchNorm(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeBatchNormGrad(const KernelRequest& request, const Context& context);

// loss_ops.cpp
std::unique_ptr<Kernel> makeElementLoss(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeElementLossGrad(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeCrossEntropy(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeCrossEntropyGrad(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeNll(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeNllGrad(const KernelRequest& request, const Context& context);

// window_ops.cpp
std::unique_ptr<Kernel> makePool(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeConv(const KernelRequest& request, const Context& context);

// attention_ops.cpp
std::unique_ptr<Kernel> makeAttention(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeAttentionGrad(const KernelRequest& request, const Context& context);

// group_ops.cpp
std::unique_ptr<Kernel> makeUnscale(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeClip(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeSgd(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeAdam(const KernelRequest& request, const Context& context);
std::unique_ptr<Kernel> makeEma(const KernelRequest& request, const Context& context);

// scaler_ops.cpp
std::unique_ptr<Kernel> makeScaler(const KernelRequest& request, const Context& context);

} // namespace mantissa::cuda
