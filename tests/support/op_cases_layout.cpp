/// Cases of the ops that move elements, and of exp and log.
#include "tests/support/op_cases.h"

#include <cmath>

namespace mantissa::test {

namespace {

struct Move
{
    std::string name;
    Attributes attributes;
    std::vector<Shape> inputs;
    Shape output;
};

std::vector<Move> movesOf(Op op, std::int64_t size)
{
    const auto [m, n, k] = matrixSize(size);
    switch (op) {
    case Op::Reshape:
        return {{"", ReshapeAttributes {{n, 2, m}}, {{m, 2 * n}}, {n, 2, m}}};
    case Op::Permute:
        return {{"rows kept", PermuteAttributes {{0, 2, 1, 3}}, {{2, m, 3, n}}, {2, 3, m, n}},
            {"transposed", PermuteAttributes {{1, 0}}, {{m, n}}, {n, m}},
            {"channels first", PermuteAttributes {{0, 3, 1, 2}}, {{2, 3, m, n}}, {2, n, 3, m}}};
    case Op::Concat:
        return {{"last axis", ConcatAttributes {1}, {{m, n}, {m, 3}, {m, k}}, {m, n + 3 + k}},
            {"first axis", ConcatAttributes {0}, {{m, n}, {2, n}}, {m + 2, n}},
            {"middle axis", ConcatAttributes {1}, {{2, m, n}, {2, 1, n}}, {2, m + 1, n}},
            {"one operand", ConcatAttributes {0}, {{m, n}}, {m, n}}};
    case Op::Slice:
        return {{"last axis", SliceAttributes {1, 1, n}, {{m, n + 2}}, {m, n}},
            {"first axis", SliceAttributes {0, 2, m}, {{m + 2, n}}, {m, n}}};
    case Op::SliceGrad:
        return {{"last axis", SliceAttributes {1, 1, n}, {{m, n}}, {m, n + 2}},
            {"first axis", SliceAttributes {0, 2, m}, {{m, n}}, {m + 2, n}}};
    default:
        return {};
    }
}

std::vector<OpCase> moveCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    for (const Move& move : movesOf(op, spec.size)) {
        OpCall call {op, move.attributes, {}, {fresh(spec.dtype, move.output)}};
        for (const Shape& shape : move.inputs) {
            call.inputs.push_back(random.tensor(spec.dtype, shape, spec.fill));
        }
        cases.push_back({move.name, std::move(call), {{noError()}}});
    }
    return cases;
}

std::vector<OpCase> expandCases(const CaseSpec& spec, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    std::vector<OpCase> cases;
    for (const DType from : {spec.dtype, DType::Float32}) {
        for (const std::int64_t divisor : {std::int64_t {1}, std::int64_t {49}}) {
            for (const std::int64_t axis : {0, 1, 2}) {
                const Shape y = axis == 0 ? Shape {3, 2, m, n} : axis == 1 ? Shape {m, 3, 2, n} : Shape {m, n, 3, 2};
                cases.push_back({"axis " + std::to_string(axis) + " from " + std::string(nameOf(from)) + " / "
                        + std::to_string(divisor),
                    {Op::Expand, ExpandAttributes {axis, {3, 2}, divisor}, {random.tensor(from, {m, n}, spec.fill)},
                        {fresh(spec.dtype, y)}},
                    {{divisor == 1 ? noError() : relative(2)}}});
            }
        }
    }
    return cases;
}

OpCase functionCase(Op op, const CaseSpec& spec, RandomValues& random)
{
    const Shape shape {spec.size};
    const double largest = op == Op::Exp ? moderate(spec.dtype) : 0x1p1023;
    return {{}, {op, {}, {random.tensor(spec.dtype, shape, spec.fill, largest)}, {fresh(spec.dtype, shape)}},
        {{[](const Exact& exact, std::int64_t i) { return 4 * unit * std::abs(exact.out(0, i)) + 0x1p-148; }}}};
}

OpCase logGradCase(const CaseSpec& spec, RandomValues& random)
{
    const Shape shape {spec.size};
    return {{},
        {Op::LogGrad, {}, {random.tensor(spec.dtype, shape, spec.fill), random.tensor(spec.dtype, shape, spec.fill)},
            {fresh(spec.dtype, shape)}},
        {{relative(2)}}};
}

} // namespace

std::vector<OpCase> batchedProductCases(const CaseSpec& spec, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    std::vector<OpCase> cases;
    const auto add = [&, depth = k](const char* name, MatMulAttributes attributes, Shape a, Shape b, Shape y) {
        OpCall call {Op::MatMul, attributes,
            {random.tensor(spec.dtype, a, spec.fill), random.tensor(spec.dtype, b, spec.fill)}, {fresh(spec.dtype, y)}};
        ErrorBound bound = sumOfProducts(call, static_cast<double>(3 * depth + 2));
        cases.push_back({name, std::move(call), {{std::move(bound)}}});
    };
    add("batched", {}, {3, m, k}, {3, k, n}, {3, m, n});
    add("batched, b transposed", {false, true}, {2, 1, m, k}, {2, 1, n, k}, {2, 1, m, n});
    add("batched, a transposed", {true, false}, {3, k, m}, {3, k, n}, {3, m, n});
    add("rows in front", {}, {2, m, k}, {k, n}, {2, m, n});
    add("joined rows", {true, false, true}, {3, k, m}, {3, k, n}, {m, n});
    return cases;
}

std::vector<OpCase> layoutCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    switch (op) {
    case Op::Expand:
        return expandCases(spec, random);
    case Op::Exp:
    case Op::Log:
        return {functionCase(op, spec, random)};
    case Op::LogGrad:
        return {logGradCase(spec, random)};
    default:
        return moveCases(op, spec, random);
    }
}

} // namespace mantissa::test
