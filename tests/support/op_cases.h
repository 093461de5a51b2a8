/// The calls that every backend must answer: for each op, dtype, size and kind of data, with the error that FP32
/// arithmetic may make before the one rounding.
#pragma once

#include "tests/support/op_runner.h"
#include "tests/support/random_values.h"
#include "tests/support/tensor_compare.h"

#include <functional>
#include <string>
#include <vector>

namespace mantissa::test {

/// A call with its exact results.
struct Exact
{
    const OpCall& call;
    const std::vector<HostTensor>& outputs;

    [[nodiscard]] double in(std::size_t operand, std::int64_t i) const { return call.inputs[operand].at(i); }

    [[nodiscard]] double out(std::size_t operand, std::int64_t i) const { return outputs[operand].at(i); }
};

/// How far a computation in FP32 may be from the exact element i, before it is rounded to the output's dtype.
using ErrorBound = std::function<double(const Exact& exact, std::int64_t i)>;

/// What a scalar must be, given the other outputs as the backend stored them.
using DerivedScalar = std::function<Expectation(const OpCall& call, const std::vector<HostTensor>& stored)>;

struct OutputRule
{
    ErrorBound bound;
    DerivedScalar derived {}; ///< if set, used instead of the exact value and its bound
};

struct OpCase
{
    std::string name;
    OpCall call;
    std::vector<OutputRule> rules; ///< one per output
};

/// What the cases of one op are made for.
struct CaseSpec
{
    DType dtype = DType::Float32;
    std::int64_t size = 1;
    Fill fill = Fill::Plain;
};

/// Never empty for an op that exists; throws std::logic_error for one that nobody wrote cases for.
std::vector<OpCase> casesOf(Op op, const CaseSpec& spec, RandomValues& random);

/// Element counts and matrix sizes that leave tails behind every vector width.
inline constexpr std::array<std::int64_t, 7> caseSizes {1, 3, 17, 33, 128, 257, 1000};

// The parts of casesOf().
std::vector<OpCase> imageCases(Op op, const CaseSpec& spec, RandomValues& random);
std::vector<OpCase> normCases(Op op, const CaseSpec& spec, RandomValues& random);
std::vector<OpCase> sequenceCases(Op op, const CaseSpec& spec, RandomValues& random);
std::vector<OpCase> layoutCases(Op op, const CaseSpec& spec, RandomValues& random);
std::vector<OpCase> forwardCases(Op op, const CaseSpec& spec, RandomValues& random);
std::vector<OpCase> backwardCases(Op op, const CaseSpec& spec, RandomValues& random);
std::vector<OpCase> updateCases(Op op, const CaseSpec& spec, RandomValues& random);

// Shared by the parts.

/// k FP32 operations of relative error `unit` each.
ErrorBound relative(double k);
/// The result is one of the inputs' values: no error at all.
ErrorBound noError();
/// A sum of up to `terms` products whose magnitudes add up to magnitude(i), as found on the reference backend by the
/// call with every operand's absolute, finite value.
ErrorBound sumOfProducts(const OpCall& call, double terms);
/// An output that starts as zeros.
OpOutput fresh(DType dtype, const Shape& shape);

struct MatrixSize
{
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
};

MatrixSize matrixSize(std::int64_t size);
/// op(a) op(b) with the bound |error| <= (k + 2) unit sum |a||b|, whatever the order of summation.
/// Source: Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.5.
OpCase matMulCase(const CaseSpec& spec, MatMulAttributes attributes, RandomValues& random);
/// Products of many matrices, and of one with all rows of many.
std::vector<OpCase> batchedProductCases(const CaseSpec& spec, RandomValues& random);
/// Magnitudes whose functions and products stay inside FP32's range on the way.
double moderate(DType dtype);

} // namespace mantissa::test
