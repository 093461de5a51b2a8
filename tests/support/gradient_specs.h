/// Differentiable ops with forward functions in double, written from the ops' definitions and independent of every
/// backend, and with the error that the roundings of a backward pass may cause.
#pragma once

#include "engine/graph/op.h"
#include "tests/support/random_values.h"

#include <functional>
#include <string>
#include <vector>

namespace mantissa::test {

using Doubles = std::vector<double>;

/// What a bound may look at: values as the backward pass sees them.
struct GradientPoint
{
    const std::vector<Doubles>& inputs;
    const Doubles& cotangent; ///< the gradient of output 0
    double magnitude; ///< the same gradient entry with every operand replaced by its absolute value
    DType saved; ///< the dtype of what the forward pass saved
    std::size_t i; ///< element of the gradient
    std::size_t input = 0; ///< whose gradient it is
};

struct GradientSpec
{
    std::string name;
    Op op = Op::Cast;
    Attributes attributes;
    std::vector<HostTensor> inputs; ///< floating ones in FP64
    std::vector<bool> isFloat32; ///< inputs that stay FP32 whatever the op's format
    std::vector<std::size_t> differentiable;
    std::function<Doubles(const std::vector<Doubles>&)> forward; ///< output 0
    /// Error of the gradient in FP32 arithmetic from saved values of dtype `saved`, without its final rounding.
    std::function<double(const GradientPoint&)> bound;
    bool writesFloat32 = false; ///< output 0 is FP32 whatever the op's format
};

/// At least one for every op that has a gradient rule.
std::vector<GradientSpec> gradientSpecs(RandomValues& random);

// The parts of gradientSpecs().
void appendImageSpecs(std::vector<GradientSpec>& specs, RandomValues& random);
void appendNormSpecs(std::vector<GradientSpec>& specs, RandomValues& random);
void appendSequenceSpecs(std::vector<GradientSpec>& specs, RandomValues& random);
void appendLayoutSpecs(std::vector<GradientSpec>& specs, RandomValues& random);

// Shared by the parts.

/// 1.5 times normal, in FP64, away from 0.
HostTensor normals(RandomValues& random, const Shape& shape);
/// Sums of up to `terms` products, in any order.
std::function<double(const GradientPoint&)> bilinearBound(std::int64_t terms);

} // namespace mantissa::test
