/// The table of the functions in the bodies; included once per instruction set.

// clang-format off
#include "engine/backends/cpu/simd/vector_body.h"
#include "engine/backends/cpu/simd/rounding_body.h"
#include "engine/backends/cpu/simd/kernels_body.h"
#include "engine/backends/cpu/simd/reduce_body.h"
#include "engine/backends/cpu/simd/float_math_body.h"
#include "engine/backends/cpu/simd/softmax_body.h"

// clang-format on

constexpr SimdKernels table(const char* name)
{
    return {
        .name = name,
        .relu = relu,
        .gelu = gelu,
        .geluTanh = geluTanh,
        .silu = silu,
        .tanh = tanh,
        .sigmoid = sigmoid,
        .add = add,
        .mul = mul,
        .reluGrad = reluGrad,
        .geluGrad = geluGrad,
        .geluTanhGrad = geluTanhGrad,
        .siluGrad = siluGrad,
        .tanhGrad = tanhGrad,
        .sigmoidGrad = sigmoidGrad,
        .scale = scale,
        .clamp = clamp,
        .philoxUniform = philoxUniform,
        .dropout = dropout,
        .dropoutGrad = dropoutGrad,
        .rowMax = rowMax,
        .sumExp = sumExp,
        .logSoftmax = logSoftmax,
        .crossEntropyGrad = crossEntropyGrad,
        .squaredErrors = squaredErrors,
        .bceTerms = bceTerms,
        .mseGrad = mseGrad,
        .bceGrad = bceGrad,
        .addToSums = addToSums,
        .sumRow = sumRow,
        .squaresRow = squaresRow,
        .dotRow = dotRow,
        .normaliseRow = normaliseRow,
        .normGradSums = normGradSums,
        .normGradRow = normGradRow,
        .normGradColumns = normGradColumns,
        .columnProducts = columnProducts,
        .affine = affine,
        .columnNormGrad = columnNormGrad,
        .scaleSums = scaleSums,
        .addScaled = addScaled,
        .maxOfWindow = maxOfWindow,
        .scatterToWindow = scatterToWindow,
        .expRow = expRow,
        .softmaxGradRow = softmaxGradRow,
        .logSoftmaxGradRow = logSoftmaxGradRow,
        .exponentials = exponentials,
        .logarithms = logarithms,
        .divide = divide,
        .measure = measure,
        .unscale = unscale,
        .sgd = sgd<KeepFloat32>,
        .sgdFloat16 = sgd<ToFloat16>,
        .sgdBFloat16 = sgd<ToBFloat16>,
        .adam = adam<KeepFloat32>,
        .adamFloat16 = adam<ToFloat16>,
        .adamBFloat16 = adam<ToBFloat16>,
        .measureUpdate = measureUpdate,
    };
}
