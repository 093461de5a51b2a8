/// The reference kernels, one plain function per op; each follows the op's line in engine/graph/op.h to the letter.
#pragma once

#include "engine/backends/reference/operands.h"

namespace mantissa::reference {

// matmul.cpp
void linear(const Operands& operands);
void matMul(const Operands& operands);
void biasAdd(const Operands& operands);
void sumRows(const Operands& operands);

// elementwise.cpp
void add(const Operands& operands);
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

// dropout.cpp
void dropout(const Operands& operands);
void dropoutGrad(const Operands& operands);

// losses.cpp
void softmaxCrossEntropy(const Operands& operands);
void softmaxCrossEntropyGrad(const Operands& operands);
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

} // namespace mantissa::reference
