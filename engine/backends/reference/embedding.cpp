/// Rows of a table by index, and the sum of their gradients.
#include "engine/backends/reference/kernels.h"
#include "engine/core/error.h"

#include <string>

namespace mantissa::reference {

namespace {

std::int64_t indexAt(const Input& indices, std::int64_t i, std::int64_t rows)
{
    const std::int64_t index = indices.integer(i);
    if (index < 0 || index >= rows) {
        throw Error(ErrorCode::InvalidArgument,
            "Embedding: index " + std::to_string(i) + " is " + std::to_string(index) + ", expected 0 to "
                + std::to_string(rows - 1) + ". Check the data and the size of the vocabulary.");
    }
    return index;
}

} // namespace

void embedding(const Operands& operands)
{
    const Input w = operands.in(0);
    const Input indices = operands.in(1);
    const std::int64_t c = w.shape()[1];
    for (std::int64_t i = 0; i < indices.size(); ++i) {
        const std::int64_t row = indexAt(indices, i, w.shape()[0]);
        for (std::int64_t j = 0; j < c; ++j) {
            operands.out(0).set(i * c + j, w[row * c + j]);
        }
    }
}

void embeddingGrad(const Operands& operands)
{
    const Input d = operands.in(0);
    const Input indices = operands.in(1);
    const Output dw = operands.out(0);
    const std::int64_t c = dw.shape()[1];
    std::vector<double> sums(static_cast<std::size_t>(dw.size()));
    for (std::int64_t i = 0; i < indices.size(); ++i) {
        const std::int64_t row = indexAt(indices, i, dw.shape()[0]);
        for (std::int64_t j = 0; j < c; ++j) {
            sums[static_cast<std::size_t>(row * c + j)] += d[i * c + j];
        }
    }
    for (std::int64_t i = 0; i < dw.size(); ++i) {
        dw.set(i, sums[static_cast<std::size_t>(i)]);
    }
}

} // namespace mantissa::reference
