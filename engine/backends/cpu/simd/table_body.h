/// The table of the functions in kernels_body.h; included once per instruction set.

#include "engine/backends/cpu/simd/kernels_body.h"

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
        .measure = measure,
        .unscale = unscale,
        .sgd = sgd,
        .adam = adam,
        .measureUpdate = measureUpdate,
    };
}
