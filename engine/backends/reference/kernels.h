/// The reference kernels, one plain function per op; each follows the op's line in engine/graph/op.h to the letter.
#pragma once

#include "engine/backends/reference/operands.h"

namespace mantissa::reference {

// matmul.cpp
void linear(const Operands& operands);
void matMul(const Operands& operands);
void biasAdd(const Operands& operands);
void sumRows(const Operands& operands);

// conv.cpp
void conv2d(const Operands& operands);
void conv2dInputGrad(const Operands& operands);
void conv2dWeightGrad(const Operands& operands);

// pool.cpp
void maxPool2d(const Operands& operands);
void maxPool2dGrad(const Operands& operands);
void avgPool2d(const Operands& operands);
void avgPool2dGrad(const Operands& operands);

// norm.cpp
void batchNorm2d(const Operands& operands);
void batchNorm2dGrad(const Operands& operands);
void groupNorm(const Operands& operands);
void layerNorm(const Operands& operands);
void rmsNorm(const Operands& operands);
void normGrad(const Operands& operands);

// embedding.cpp
void embedding(const Operands& operands);
void embeddingGrad(const Operands& operands);

// attention.cpp
void attention(const Operands& operands);
void attentionGrad(const Operands& operands);
void scaleMask(const Operands& operands);

// softmax.cpp
void softmax(const Operands& operands);
void softmaxGrad(const Operands& operands);
void logSoftmax(const Operands& operands);
void logSoftmaxGrad(const Operands& operands);

// reduce.cpp
void sum(const Operands& operands);
void mean(const Operands& operands);
void globalAvgPool(const Operands& operands);
void expandAxes(const Operands& operands);

// layout.cpp
void reshape(const Operands& operands);
void permute(const Operands& operands);
void concat(const Operands& operands);
void slice(const Operands& operands);
void sliceGrad(const Operands& operands);

// elementwise.cpp
void add(const Operands& operands);
void mul(const Operands& operands);
void cast(const Operands& operands);
void scale(const Operands& operands);
void accumulate(const Operands& operands);

// activation.cpp
void relu(const Operands& operands);
void reluGrad(const Operands& operands);
void gelu(const Operands& operands);
void geluGrad(const Operands& operands);
void silu(const Operands& operands);
void siluGrad(const Operands& operands);
void tanh(const Operands& operands);
void tanhGrad(const Operands& operands);
void sigmoid(const Operands& operands);
void sigmoidGrad(const Operands& operands);
void exp(const Operands& operands);
void log(const Operands& operands);
void logGrad(const Operands& operands);

// dropout.cpp
void dropout(const Operands& operands);
void dropoutGrad(const Operands& operands);

// losses.cpp
void softmaxCrossEntropy(const Operands& operands);
void softmaxCrossEntropyGrad(const Operands& operands);
void nllLoss(const Operands& operands);
void nllLossGrad(const Operands& operands);
void mseLoss(const Operands& operands);
void mseLossGrad(const Operands& operands);
void bceWithLogits(const Operands& operands);
void bceWithLogitsGrad(const Operands& operands);

// gradients.cpp
void gradientNorm(const Operands& operands);
void unscale(const Operands& operands);
void clipByNorm(const Operands& operands);
void clipByValue(const Operands& operands);

// optimizers.cpp
void sgdUpdate(const Operands& operands);
void adamUpdate(const Operands& operands);
void emaUpdate(const Operands& operands);

// scaler.cpp
void scalerUpdate(const Operands& operands);

} // namespace mantissa::reference
