/// Cases of the forward ops.
#include "tests/support/op_cases.h"

#include <cmath>

namespace mantissa::test {

namespace {

/// One input of any shape, one output like it.
OpCase unary(Op op, Attributes attributes, HostTensor x, ErrorBound bound, std::string name = {})
{
    const TensorType type = x.type();
    return {std::move(name), {op, attributes, {std::move(x)}, {fresh(type.dtype, type.shape)}}, {{std::move(bound)}}};
}

/// An activation x g(x) with g in [0, 1] found by exp, erf or tanh: g is off by a few units absolutely, or, where it
/// underflows with its exponential, by 2^-125.
ErrorBound gated(double units)
{
    return [units](const Exact& exact, std::int64_t i) {
        return std::abs(exact.in(0, i)) * (units * unit + 0x1p-125) + unit * std::abs(exact.out(0, i)) + tiny;
    };
}

OpCase linearCase(const CaseSpec& spec, bool hasBias, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    OpCase out = matMulCase(spec, {.transposeB = true}, random);
    out.call.op = Op::Linear;
    out.call.attributes = {};
    out.name = hasBias ? "with bias" : "without bias";
    if (hasBias) {
        out.call.inputs.push_back(random.tensor(spec.dtype, Shape {n}, spec.fill));
        out.rules[0].bound = [product = out.rules[0].bound, terms = static_cast<double>(k + 3), columns = n](
                                 const Exact& exact, std::int64_t i) {
            const double bias = std::abs(exact.in(2, i % columns));
            // A bias near the format's end may take a finite product over it, or an infinite one back.
            const bool mayOverflow = std::abs(exact.out(0, i)) + bias > limitsOf(DType::Float32).maxFinite;
            return mayOverflow ? anything : product(exact, i) + terms * unit * bias;
        };
    }
    return out;
}

std::vector<OpCase> castCases(const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    for (const DType target : {DType::Float32, DType::Float16, DType::BFloat16}) {
        for (const DType source : {spec.dtype, DType::Float32}) {
            const Shape shape {spec.size};
            cases.push_back({"from " + std::string(nameOf(source)) + " to " + std::string(nameOf(target)),
                {Op::Cast, {}, {random.tensor(source, shape, spec.fill)}, {fresh(target, shape)}}, {{noError()}}});
        }
    }
    return cases;
}

std::vector<OpCase> scaleCases(const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    for (const double factor : {1.0, 65536.0, 1.0 / 65536, 0.37, 0.0, 1e-30}) {
        const Shape shape {spec.size};
        cases.push_back({"by " + std::to_string(factor),
            {Op::Scale, {}, {random.tensor(spec.dtype, shape, spec.fill), HostTensor::scalar(DType::Float32, factor)},
                {fresh(spec.dtype, shape)}},
            {{factor == 1 ? noError() : relative(1)}}});
    }
    return cases;
}

std::vector<OpCase> dropoutCases(const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    for (const float probability : {0.0F, 0.1F, 0.5F, 0.75F, 1.0F}) {
        const Shape shape {spec.size};
        const DropoutAttributes attributes {
            probability, static_cast<std::uint64_t>(random.integer(0, 1LL << 60)), 0x300000007ULL};
        const auto counter = static_cast<double>(random.integer(-(1LL << 31), (1LL << 31) - 1));
        cases.push_back({"p = " + std::to_string(probability),
            {Op::Dropout, attributes,
                {random.tensor(spec.dtype, shape, spec.fill), HostTensor::scalar(DType::Int32, counter)},
                {fresh(spec.dtype, shape), fresh(DType::UInt8, shape)}},
            {{relative(4)}, {noError()}}});
    }
    return cases;
}

/// Subtracting the maximum costs |x - max| unit, the sum of n exponentials and its logarithm a few units each.
double logProbabilityError(const Exact& exact, std::int64_t i, std::int64_t classes)
{
    double largest = -INFINITY;
    const std::int64_t row = i / classes;
    for (std::int64_t c = 0; c < classes; ++c) {
        largest = std::max(largest, exact.in(0, row * classes + c));
    }
    const double distance = std::isfinite(exact.out(1, i)) ? std::abs(exact.in(0, i) - largest) : 0;
    return unit * (static_cast<double>(classes) + 8 + 4 * distance);
}

OpCase crossEntropyCase(const CaseSpec& spec, const CrossEntropyAttributes& attributes, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    const Shape shape {m, n};
    HostTensor labels = random.labels(m, n);
    for (std::int64_t row = 1; row < m && attributes.labelSmoothing != 0; row += 3) {
        labels.set(row, static_cast<double>(attributes.ignoreIndex));
    }
    const auto lossBound
        = [rows = m, classes = n, share = double {attributes.labelSmoothing}](const Exact& exact, std::int64_t) {
              double errors = 0;
              double terms = 0;
              double counted = 0;
              for (std::int64_t row = 0; row < rows; ++row) {
                  const auto label = static_cast<std::int64_t>(exact.in(1, row));
                  counted += label < 0 ? 0 : 1;
                  for (std::int64_t c = 0; c < classes && label >= 0; ++c) {
                      const double weight = share / static_cast<double>(classes) + (c == label ? 1 - share : 0);
                      if (weight > 0) {
                          errors += weight * logProbabilityError(exact, row * classes + c, classes);
                          terms += weight * std::abs(exact.out(1, row * classes + c));
                      }
                  }
              }
              return errors / counted + (static_cast<double>(rows + classes) + 2) * unit * terms / counted;
          };
    const auto rowBound
        = [classes = n](const Exact& exact, std::int64_t i) { return logProbabilityError(exact, i, classes); };
    return {attributes.labelSmoothing != 0 ? "smoothed, with rows ignored" : "",
        {Op::SoftmaxCrossEntropy, attributes,
            {random.tensor(spec.dtype, shape, spec.fill, moderate(spec.dtype)), std::move(labels)},
            {fresh(DType::Float32, Shape {}), fresh(DType::Float32, shape)}},
        {{lossBound}, {rowBound}}};
}

/// The mean of n terms, each off by termError(x, t), summed in any order.
template <typename TermError, typename Term>
OpCase meanLossCase(Op op, HostTensor prediction, HostTensor target, TermError termError, Term term)
{
    const auto bound = [termError, term](const Exact& exact, std::int64_t) {
        double errors = 0;
        double terms = 0;
        const std::int64_t n = exact.call.inputs[0].size();
        for (std::int64_t i = 0; i < n; ++i) {
            errors += termError(exact.in(0, i), exact.in(1, i));
            terms += std::abs(term(exact.in(0, i), exact.in(1, i)));
        }
        const auto count = static_cast<double>(n);
        return terms > limitsOf(DType::Float32).maxFinite
            ? anything
            : errors / count + (count + 2) * (unit * terms / count + tiny);
    };
    return {{}, {op, {}, {std::move(prediction), std::move(target)}, {fresh(DType::Float32, Shape {})}}, {{bound}}};
}

OpCase mseCase(const CaseSpec& spec, RandomValues& random)
{
    const Shape shape {spec.size, 3};
    const auto term = [](double p, double t) { return (p - t) * (p - t); };
    return meanLossCase(
        Op::MseLoss, random.tensor(spec.dtype, shape, spec.fill, 1e15),
        random.tensor(DType::Float32, shape, Fill::Plain),
        [term](double p, double t) { return 4 * (unit * term(p, t) + tiny); }, term);
}

OpCase bceCase(const CaseSpec& spec, RandomValues& random)
{
    const Shape shape {spec.size, 3};
    // Infinite logits have no loss that the formulas in use agree on.
    const Fill fill = spec.fill == Fill::Special ? Fill::Wide : spec.fill;
    return meanLossCase(
        Op::BceWithLogits, random.tensor(spec.dtype, shape, fill, moderate(spec.dtype)),
        random.uniformTensor(DType::Float32, shape, 0, 1),
        [](double x, double t) { return 4 * unit * (std::abs(x) + std::abs(x * t) + 1); },
        [](double x, double t) { return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x))); });
}

OpCase addCase(Op op, const CaseSpec& spec, const Shape& second, RandomValues& random)
{
    const Shape shape {spec.size, 5};
    return {"second " + second.text(),
        {op, {}, {random.tensor(spec.dtype, shape, spec.fill), random.tensor(spec.dtype, second, spec.fill)},
            {fresh(spec.dtype, shape)}},
        {{relative(1)}}};
}

} // namespace

std::vector<OpCase> forwardCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    const Shape shape {spec.size};
    const auto values = [&] { return random.tensor(spec.dtype, shape, spec.fill, moderate(spec.dtype)); };
    switch (op) {
    case Op::Linear:
        return {linearCase(spec, true, random), linearCase(spec, false, random)};
    case Op::MatMul: {
        std::vector<OpCase> cases = batchedProductCases(spec, random);
        for (const bool transposeA : {false, true}) {
            for (const bool transposeB : {false, true}) {
                cases.push_back(matMulCase(spec, {transposeA, transposeB}, random));
            }
        }
        return cases;
    }
    case Op::BiasAdd:
        return {addCase(op, spec, Shape {5}, random)};
    case Op::Add:
    case Op::Mul:
        return {addCase(op, spec, Shape {spec.size, 5}, random), addCase(op, spec, Shape {5}, random),
            addCase(op, spec, Shape {}, random)};
    case Op::Relu:
        return {unary(op, {}, random.tensor(spec.dtype, shape, spec.fill), noError())};
    case Op::Gelu:
        return {unary(op, GeluAttributes {false}, values(), gated(4), "exact"),
            unary(op, GeluAttributes {true}, values(), gated(4), "tanh form")};
    case Op::Silu:
        return {unary(op, {}, values(), gated(4))};
    case Op::Tanh:
        return {unary(op, {}, values(), relative(8))};
    case Op::Sigmoid:
        return {unary(op, {}, values(), [](const Exact& exact, std::int64_t i) {
            return 8 * unit * exact.out(0, i) + 0x1p-125; // 1 / (1 + exp(88.8)) is lost when the exponential overflows
        })};
    case Op::Dropout:
        return dropoutCases(spec, random);
    case Op::SoftmaxCrossEntropy:
        return {crossEntropyCase(spec, {}, random), crossEntropyCase(spec, {.labelSmoothing = 0.1F}, random)};
    case Op::MseLoss:
        return {mseCase(spec, random)};
    case Op::BceWithLogits:
        return {bceCase(spec, random)};
    case Op::Cast:
        return castCases(spec, random);
    case Op::Scale:
        return scaleCases(spec, random);
    default:
        return {};
    }
}

} // namespace mantissa::test
