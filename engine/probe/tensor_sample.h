/// What a tensor looked like at one moment of a step: its range, its binary exponents and what rounding did to it.
#pragma once

#include "engine/formats/census.h"
#include "engine/formats/dtype.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// What it is in the step. Those of a parameter carry the parameter's name, the others their node's.
enum class TensorRole : std::uint8_t {
    Weight, ///< before the step
    Activation, ///< what a forward op gives
    ActivationGradient, ///< what a backward op gives, scaled
    Reference, ///< the parameter's gradient in FP32, of the same weights and batch; not scaled
    Scaled, ///< the parameter's gradient as backward left it: times the scale
    Unscaled, ///< the same divided by the scale
    Clipped, ///< the same after clipping, where the lane clips
    Update, ///< weight after the step minus weight before it
};
inline constexpr std::array allTensorRoles {TensorRole::Weight, TensorRole::Activation, TensorRole::ActivationGradient,
    TensorRole::Reference, TensorRole::Scaled, TensorRole::Unscaled, TensorRole::Clipped, TensorRole::Update};

std::string_view nameOf(TensorRole role); ///< "weight", "activation", "activation_gradient", ...
std::optional<TensorRole> tensorRoleFromName(std::string_view name);

/// Figures that do not apply are NaN.
struct TensorSample
{
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    std::string tensor;
    TensorRole role = TensorRole::Weight;
    DType format = DType::Float32; ///< that it is stored in
    std::uint64_t elements = 0;
    /// As it was rounded, over all micro-batches, where the step rounds it to 16 bits (so that flushed and overflowed
    /// elements are told from zeros and infinities); elsewhere the classes of the elements as they are.
    Census census {};
    double largest = 0; ///< magnitude of a finite element; 0: there is none
    double smallest = 0; ///< that is not zero; 0: there is none
    double norm = 0; ///< Euclidean, of the finite elements
    int firstExponent = 0;
    /// Elements with magnitudes in [2^e, 2^(e+1)) for e = firstExponent, ...: of the finite ones that are not zero.
    /// FP32 subnormals count for e = -127.
    std::vector<std::uint32_t> exponents {};
    double dead = none; ///< ReLU: share of its units that are zero for every sample of the batch
    double saturated = none; ///< sigmoid, tanh: share of elements whose derivative is below 1 % of the largest
    double cosine = none; ///< Scaled: between it and Reference
    double relativeError = none; ///< Scaled: |it / scale - Reference| / |Reference|
    double ratio = none; ///< Update: |update| / |weights|
    double unmoved = none; ///< Update: of the elements with a gradient, the share that kept their bits
    double belowHalfUlp = none; ///< Update: of those that moved, the share that would not move 16-bit weights
    std::vector<float> kept {}; ///< the elements themselves, where they are asked for
};

/// Fills in what can be told from the elements as they are: their number, classes in sample.format, range, norm and
/// exponents.
void measure(std::span<const float> elements, TensorSample& sample);

/// Adds the elements of `other`, such as another parameter's: their number, census, range, norm and exponents.
void merge(TensorSample& into, const TensorSample& other);

/// Shares of all elements that would be flushed to zero, be subnormal, or overflow if the elements were multiplied by
/// 2^shift and rounded to `format`. For a whole shift exact but for elements of the very magnitude at which one class
/// ends; what is zero, infinite or NaN already counts for none.
struct RoundingForecast
{
    double flushed = 0;
    double subnormal = 0;
    double overflowed = 0;
    bool overflows = false; ///< some element does: exact
};

RoundingForecast forecast(const TensorSample& sample, double shift, DType format);

} // namespace mantissa
