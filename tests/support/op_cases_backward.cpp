/// Cases of the backward ops.
#include "tests/support/op_cases.h"

#include <algorithm>
#include <cmath>

namespace mantissa::test {

namespace {

/// Error of a derivative at the saved value.
using SlopeError = double (*)(double saved);

/// d * slope(saved): the slope is off by slopeError, the product by one rounding.
OpCase slopeCase(
    Op op, Attributes attributes, HostTensor d, HostTensor saved, SlopeError slopeError, std::string name = {})
{
    const TensorType type = d.type();
    const auto bound = [slopeError](const Exact& exact, std::int64_t i) {
        const double gradient = std::abs(exact.in(0, i));
        const double at = exact.in(1, i);
        if (std::isinf(gradient) && std::abs(at) > 4) {
            return anything; // infinity times a slope that FP32 may not tell from 0
        }
        // 2^-125 where the slope underflows with its exponential.
        return gradient * (slopeError(at) + 0x1p-125) + 4 * (unit * std::abs(exact.out(0, i)) + tiny);
    };
    return {std::move(name), {op, attributes, {std::move(d), std::move(saved)}, {fresh(type.dtype, type.shape)}},
        {{bound}}};
}

double geluSlopeError(double /*x*/)
{
    return 8 * unit; // the distribution and x times the density are both of order 1
}

double geluTanhSlopeError(double x)
{
    // 1 - tanh(u)^2 is off by 2 units absolutely, and is multiplied by x/2 and du/dx; it is exactly 0 for large |x|.
    const double reach = std::min(std::abs(x), 10.0);
    return unit * (8 + 2 * (0.4 * reach + 0.053 * reach * reach * reach));
}

double siluSlopeError(double x)
{
    const double s = 1 / (1 + std::exp(-x));
    return 8 * unit * s * (1 + std::abs(x) * (1 - s)) + std::abs(x) * 0x1p-125;
}

double tanhSlopeError(double y)
{
    return 4 * unit * (y * y + std::abs(1 - y * y));
}

double sigmoidSlopeError(double y)
{
    return 4 * unit * std::abs(y * (1 - y));
}

OpCase sumRowsCase(const CaseSpec& spec, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    const auto bound = [rows = m, columns = n](const Exact& exact, std::int64_t i) {
        double sum = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            const double term = std::abs(exact.in(0, row * columns + i));
            sum += std::isfinite(term) ? term : 0;
        }
        return sum > limitsOf(DType::Float32).maxFinite ? anything : static_cast<double>(rows) * unit * sum;
    };
    return {{}, {Op::SumRows, {}, {random.tensor(spec.dtype, Shape {m, n}, spec.fill)}, {fresh(spec.dtype, Shape {n})}},
        {{bound}}};
}

OpCase dropoutGradCase(const CaseSpec& spec, RandomValues& random)
{
    const Shape shape {spec.size};
    HostTensor mask(TensorType {DType::UInt8, shape});
    for (std::int64_t i = 0; i < mask.size(); ++i) {
        mask.set(i, static_cast<double>(random.integer(0, 1)));
    }
    return {{},
        {Op::DropoutGrad, DropoutAttributes {0.1F, 1, 2}, {random.tensor(spec.dtype, shape, spec.fill), mask},
            {fresh(spec.dtype, shape)}},
        {{relative(4)}}};
}

OpCase crossEntropyGradCase(
    const CaseSpec& spec, const CrossEntropyAttributes& attributes, double d, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    // Log-probabilities as the forward op makes them, from logits that reach far.
    OpCall forward {Op::SoftmaxCrossEntropy, attributes,
        {random.tensor(DType::Float32, Shape {m, n}, spec.fill, 200), random.labels(m, n)},
        {fresh(DType::Float32, Shape {}), fresh(DType::Float32, Shape {m, n})}};
    for (std::int64_t row = 1; row < m && attributes.labelSmoothing != 0; row += 3) {
        forward.inputs[1].set(row, static_cast<double>(attributes.ignoreIndex));
    }
    const HostTensor logProbabilities = exactOutputs(forward)[1].as(DType::Float32);
    const auto bound = [classes = n](const Exact& exact, std::int64_t i) {
        double rows = 0;
        for (std::int64_t row = 0; row < exact.call.inputs[2].size(); ++row) {
            rows += exact.in(2, row) < 0 ? 0 : 1;
        }
        if (exact.in(2, i / classes) < 0) {
            return 0.0;
        }
        const double hit = static_cast<std::int64_t>(exact.in(2, i / classes)) == i % classes ? 1 : 0;
        const double size = std::exp(exact.in(1, i)) + hit + 1 / static_cast<double>(classes);
        return std::abs(exact.in(0, 0)) / rows * (8 * unit * size + 0x1p-125) + tiny;
    };
    return {"d = " + std::to_string(d) + (attributes.labelSmoothing != 0 ? ", smoothed" : ""),
        {Op::SoftmaxCrossEntropyGrad, attributes,
            {HostTensor::scalar(DType::Float32, d), logProbabilities, forward.inputs[1]},
            {fresh(spec.dtype, Shape {m, n})}},
        {{bound}}};
}

std::vector<OpCase> crossEntropyGradCases(const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    for (const double d : {1.0, 65536.0, 1e6, 0.125}) {
        cases.push_back(crossEntropyGradCase(spec, {}, d, random));
        cases.push_back(crossEntropyGradCase(spec, {.labelSmoothing = 0.1F}, d, random));
    }
    return cases;
}

std::vector<OpCase> lossGradCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    for (const double d : {1.0, 65536.0, 1e6, 0.125}) {
        const Shape shape {spec.size, 3};
        HostTensor target = op == Op::MseLossGrad ? random.tensor(DType::Float32, shape, Fill::Plain)
                                                  : random.uniformTensor(DType::Float32, shape, 0, 1);
        const auto bceBound = [](const Exact& exact, std::int64_t i) {
            const double size = 1 / (1 + std::exp(-exact.in(1, i))) + std::abs(exact.in(2, i));
            const auto n = static_cast<double>(exact.call.inputs[1].size());
            return std::abs(exact.in(0, 0)) / n * (8 * unit * size + 0x1p-125) + tiny;
        };
        cases.push_back({"d = " + std::to_string(d),
            {op, {},
                {HostTensor::scalar(DType::Float32, d),
                    random.tensor(spec.dtype, shape, spec.fill, moderate(spec.dtype)), std::move(target)},
                {fresh(spec.dtype, shape)}},
            {{op == Op::MseLossGrad ? relative(6) : ErrorBound(bceBound)}}});
    }
    return cases;
}

OpCase accumulateCase(const CaseSpec& spec, DType sum, double keep, double guard, RandomValues& random)
{
    const Shape shape {spec.size};
    OpOutput acc {random.tensor(sum, shape, keep == 0 ? Fill::Special : spec.fill), std::nullopt};
    return {
        "keep " + std::to_string(keep) + ", guard " + std::to_string(guard) + ", sum in " + std::string(nameOf(sum)),
        {Op::Accumulate, {},
            {random.tensor(spec.dtype, shape, spec.fill), HostTensor::scalar(DType::Float32, keep),
                HostTensor::scalar(DType::Float32, guard)},
            {std::move(acc)}},
        {{relative(1)}}};
}

std::vector<OpCase> accumulateCases(const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    for (const DType sum : {DType::Float32, spec.dtype}) {
        for (const double keep : {0.0, 1.0}) {
            for (const double guard : {0.5, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
                cases.push_back(accumulateCase(spec, sum, keep, guard, random));
            }
        }
    }
    return cases;
}

} // namespace

std::vector<OpCase> backwardCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    const Shape shape {spec.size};
    const auto any = [&] { return random.tensor(spec.dtype, shape, spec.fill); };
    const auto gradient = [&] { return random.tensor(spec.dtype, shape, spec.fill, 1e30); };
    const auto operand = [&] { return random.tensor(spec.dtype, shape, spec.fill, moderate(spec.dtype)); };
    switch (op) {
    case Op::SumRows:
        return {sumRowsCase(spec, random)};
    case Op::ReluGrad:
        return {{{}, {op, {}, {any(), any()}, {fresh(spec.dtype, shape)}}, {{noError()}}}};
    case Op::GeluGrad:
        return {slopeCase(op, GeluAttributes {false}, gradient(), operand(), geluSlopeError, "exact"),
            slopeCase(op, GeluAttributes {true}, gradient(), operand(), geluTanhSlopeError, "tanh form")};
    case Op::SiluGrad:
        return {slopeCase(op, {}, gradient(), operand(), siluSlopeError)};
    case Op::TanhGrad:
        return {slopeCase(op, {}, gradient(), random.uniformTensor(spec.dtype, shape, -1, 1), tanhSlopeError),
            slopeCase(op, {}, gradient(),
                HostTensor(spec.dtype, shape, std::vector<double>(static_cast<std::size_t>(spec.size), -1)),
                tanhSlopeError, "saturated")};
    case Op::SigmoidGrad:
        return {slopeCase(op, {}, gradient(), random.uniformTensor(spec.dtype, shape, 0, 1), sigmoidSlopeError)};
    case Op::DropoutGrad:
        return {dropoutGradCase(spec, random)};
    case Op::SoftmaxCrossEntropyGrad:
        return crossEntropyGradCases(spec, random);
    case Op::MseLossGrad:
    case Op::BceWithLogitsGrad:
        return lossGradCases(op, spec, random);
    case Op::Accumulate:
        return accumulateCases(spec, random);
    default:
        return {};
    }
}

} // namespace mantissa::test
