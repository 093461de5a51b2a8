/// Arithmetic in a format by hand: every result of double arithmetic rounded to it.
#pragma once

#include "engine/formats/bfloat16.h"
#include "engine/formats/dtype.h"
#include "engine/formats/float16.h"

namespace mantissa {

/// The value of a floating dtype nearest to `value` (ties to even); Float64 and integers leave it as it is.
inline double roundValue(DType dtype, double value)
{
    switch (dtype) {
    case DType::Float32:
        return static_cast<float>(value);
    case DType::Float16:
        return Float16::fromDouble(value).toDouble();
    case DType::BFloat16:
        return BFloat16::fromDouble(value).toDouble();
    default:
        return value;
    }
}

/// What "accumulate" in op_attributes.h asks for: in a 16-bit format every result is rounded to it; Float32 stands for
/// full precision, here double.
class Storage
{
public:
    explicit Storage(DType accumulate)
        : m_dtype(accumulate)
    {
    }

    [[nodiscard]] bool isNarrow() const { return isHalf(m_dtype); }

    double operator()(double value) const { return isNarrow() ? roundValue(m_dtype, value) : value; }

private:
    DType m_dtype;
};

} // namespace mantissa
