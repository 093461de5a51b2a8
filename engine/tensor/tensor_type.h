/// Element type and shape of a tensor, without its data.
#pragma once

#include "engine/formats/dtype.h"
#include "engine/tensor/shape.h"

namespace mantissa {

struct TensorType
{
    DType dtype = DType::Float32;
    Shape shape;

    [[nodiscard]] std::size_t bytes() const { return sizeOf(dtype) * static_cast<std::size_t>(shape.elements()); }

    bool operator==(const TensorType&) const = default;
};

} // namespace mantissa
