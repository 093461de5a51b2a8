#include "tests/support/op_cases.h"

#include <cmath>
#include <stdexcept>

namespace mantissa::test {

std::vector<OpCase> casesOf(Op op, const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    for (const auto part :
        {forwardCases, imageCases, normCases, sequenceCases, layoutCases, backwardCases, updateCases}) {
        if (cases.empty()) {
            cases = part(op, spec, random);
        }
    }
    if (cases.empty()) {
        throw std::logic_error("tests/support/op_cases*.cpp has no cases for op number "
            + std::to_string(static_cast<int>(op)) + ": add some");
    }
    return cases;
}

ErrorBound relative(double k)
{
    return [k](const Exact& exact, std::int64_t i) { return k * (unit * std::abs(exact.out(0, i)) + tiny); };
}

ErrorBound noError()
{
    return [](const Exact&, std::int64_t) { return 0.0; };
}

ErrorBound sumOfProducts(const OpCall& call, double terms)
{
    OpCall absolute = call;
    for (HostTensor& input : absolute.inputs) {
        for (std::int64_t i = 0; i < input.size() && input.dtype() != DType::Int32 && input.dtype() != DType::UInt8;
             ++i) {
            input.set(i, std::isfinite(input.at(i)) ? std::abs(input.at(i)) : 0);
        }
    }
    return [magnitude = exactOutputs(absolute)[0], terms](const Exact&, std::int64_t i) {
        const double sum = magnitude.at(i);
        return sum > limitsOf(DType::Float32).maxFinite ? anything : terms * (unit * sum + tiny);
    };
}

OpOutput fresh(DType dtype, const Shape& shape)
{
    return {HostTensor(TensorType {dtype, shape}), std::nullopt};
}

MatrixSize matrixSize(std::int64_t size)
{
    switch (size) {
    case 1:
        return {1, 1, 1};
    case 3:
        return {3, 5, 2};
    case 17:
        return {17, 3, 33};
    case 33:
        return {33, 17, 128};
    case 128:
        return {128, 10, 64};
    case 257:
        return {16, 64, 257};
    default:
        return {7, 129, 300};
    }
}

double moderate(DType dtype)
{
    return std::min(1e4, limitsOf(dtype).maxFinite);
}

OpCase matMulCase(const CaseSpec& spec, MatMulAttributes attributes, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    const Shape a = attributes.transposeA ? Shape {k, m} : Shape {m, k};
    const Shape b = attributes.transposeB ? Shape {n, k} : Shape {k, n};
    OpCall call {Op::MatMul, attributes,
        {random.tensor(spec.dtype, a, spec.fill), random.tensor(spec.dtype, b, spec.fill)},
        {fresh(spec.dtype, Shape {m, n})}};
    const auto bound = [attributes, size = matrixSize(spec.size)](const Exact& exact, std::int64_t i) {
        const std::int64_t row = i / size.n;
        const std::int64_t column = i % size.n;
        double sum = 0;
        for (std::int64_t j = 0; j < size.k; ++j) {
            const double left = exact.in(0, attributes.transposeA ? j * size.m + row : row * size.k + j);
            const double right = exact.in(1, attributes.transposeB ? column * size.k + j : j * size.n + column);
            sum += std::isfinite(left * right) ? std::abs(left * right) : 0;
        }
        const auto terms = static_cast<double>(size.k + 2);
        return sum > limitsOf(DType::Float32).maxFinite ? anything : terms * (unit * sum + tiny);
    };
    const std::string name
        = std::string(attributes.transposeA ? "transposed a, " : "") + (attributes.transposeB ? "transposed b" : "");
    return {name, std::move(call), {{bound}}};
}

} // namespace mantissa::test
