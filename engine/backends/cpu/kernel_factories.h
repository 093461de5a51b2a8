/// One maker per family of kernels. Each checks arity and dtypes, and throws Error (UnsupportedDtype, ShapeMismatch).
#pragma once

#include "engine/backends/backend.h"

#include <memory>
#include <string>

namespace mantissa::cpu {

std::unique_ptr<Kernel> makeMatMul(const KernelRequest& request); ///< Linear, MatMul
std::unique_ptr<Kernel> makeConv(const KernelRequest& request); ///< Conv2d and its gradients
std::unique_ptr<Kernel> makePool(const KernelRequest& request); ///< MaxPool2d, AvgPool2d and their gradients
std::unique_ptr<Kernel> makeBatchNorm(const KernelRequest& request); ///< BatchNorm2d and its gradient
std::unique_ptr<Kernel> makeRowNorm(const KernelRequest& request); ///< LayerNorm, RmsNorm
std::unique_ptr<Kernel> makeGroupNorm(const KernelRequest& request);
std::unique_ptr<Kernel> makeNormGrad(const KernelRequest& request); ///< of all three
std::unique_ptr<Kernel> makeGroupNormGrad(const KernelRequest& request); ///< NormGrad of whole images, already checked
std::unique_ptr<Kernel> makeEmbedding(const KernelRequest& request); ///< Embedding and its gradient
std::unique_ptr<Kernel> makeAttention(const KernelRequest& request);
std::unique_ptr<Kernel> makeAttentionGrad(const KernelRequest& request);
std::unique_ptr<Kernel> makeScaleMask(const KernelRequest& request);
std::unique_ptr<Kernel> makeSoftmax(const KernelRequest& request); ///< Softmax, LogSoftmax
std::unique_ptr<Kernel> makeSoftmaxGrad(const KernelRequest& request); ///< of these
std::unique_ptr<Kernel> makeReduce(const KernelRequest& request); ///< Sum, Mean, GlobalAvgPool
std::unique_ptr<Kernel> makeExpand(const KernelRequest& request);
std::unique_ptr<Kernel> makePermute(const KernelRequest& request);
std::unique_ptr<Kernel> makeConcat(const KernelRequest& request);
std::unique_ptr<Kernel> makeSlice(const KernelRequest& request); ///< Slice and its gradient
std::unique_ptr<Kernel> makeElementwise(const KernelRequest& request); ///< functions of one number, their gradients
std::unique_ptr<Kernel> makeBroadcast(const KernelRequest& request); ///< Add, BiasAdd, Mul
std::unique_ptr<Kernel> makeCast(const KernelRequest& request);
std::unique_ptr<Kernel> makeScale(const KernelRequest& request);
std::unique_ptr<Kernel> makeAccumulate(const KernelRequest& request);
std::unique_ptr<Kernel> makeSumRows(const KernelRequest& request);
std::unique_ptr<Kernel> makeDropout(const KernelRequest& request);
std::unique_ptr<Kernel> makeDropoutGrad(const KernelRequest& request);
std::unique_ptr<Kernel> makeCrossEntropy(const KernelRequest& request);
std::unique_ptr<Kernel> makeCrossEntropyGrad(const KernelRequest& request);
std::unique_ptr<Kernel> makeNll(const KernelRequest& request); ///< NllLoss and its gradient
std::unique_ptr<Kernel> makeElementLoss(const KernelRequest& request); ///< MSE, BCE with logits
std::unique_ptr<Kernel> makeElementLossGrad(const KernelRequest& request); ///< of these
std::unique_ptr<Kernel> makeUnscale(const KernelRequest& request); ///< Unscale, GradientNorm
std::unique_ptr<Kernel> makeClip(const KernelRequest& request); ///< ClipByNorm, ClipByValue
std::unique_ptr<Kernel> makeSgd(const KernelRequest& request);
std::unique_ptr<Kernel> makeAdam(const KernelRequest& request);
std::unique_ptr<Kernel> makeEma(const KernelRequest& request);
std::unique_ptr<Kernel> makeScaler(const KernelRequest& request);

// --- checks shared by the makers ---

[[noreturn]] void refuse(const KernelRequest& request, const std::string& expected);
void requireArity(const KernelRequest& request, std::size_t inputs, std::size_t outputs);
/// Inputs and outputs from the given index on are FP32, FP16 or BF16.
void requireFloating(const KernelRequest& request, const TensorType& type);
void requireDType(const KernelRequest& request, const TensorType& type, DType dtype);
void requireElements(const KernelRequest& request, const TensorType& type, std::int64_t elements);
/// Two floating operands, and a bias of one value per column of the result where one may be.
void requireProduct(const KernelRequest& request, bool mayHaveBias);

} // namespace mantissa::cpu
