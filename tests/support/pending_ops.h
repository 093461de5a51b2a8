/// Ops that a backend does not have yet: it must say so in an error, and tests leave them out.
#pragma once

#include "engine/graph/op.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mantissa::test {

inline bool isPending(std::string_view backend, Op op)
{
    using enum Op;
    constexpr std::array cpu {GlobalAvgPool, GroupNorm, LayerNorm, RmsNorm, Embedding, Attention, ScaleMask, Softmax,
        LogSoftmax, Exp, Log, Sum, Mean, Expand, Reshape, Permute, Concat, Slice, NllLoss, NormGrad, EmbeddingGrad,
        AttentionGrad, SoftmaxGrad, LogSoftmaxGrad, LogGrad, SliceGrad, NllLossGrad};
    return backend == "cpu" && std::find(cpu.begin(), cpu.end(), op) != cpu.end();
}

} // namespace mantissa::test
