/// Cases of the ops that work on all gradients of a group at once.
#include "tests/support/op_cases.h"

#include <algorithm>
#include <cmath>

namespace mantissa::test {

namespace {

constexpr std::size_t tensors = 3;

/// Sums in FP64 over n terms.
double sumError(double sum, std::int64_t n)
{
    return static_cast<double>(n) * 0x1p-52 * sum;
}

/// Three tensors with tails of different length.
std::vector<HostTensor> group(const CaseSpec& spec, RandomValues& random)
{
    std::vector<HostTensor> out;
    for (const std::int64_t size : {spec.size, std::int64_t {1}, spec.size + 5}) {
        // Products with momentum, decay and so on must not pass FP32's range.
        out.push_back(random.tensor(spec.dtype, Shape {size}, spec.fill, 1e15));
    }
    return out;
}

void append(std::vector<HostTensor>& to, std::vector<HostTensor> from)
{
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// Adds outputs that update the inputs first, first + 1, ...
void addInPlace(OpCase& out, std::size_t first, std::size_t count, const ErrorBound& bound)
{
    for (std::size_t i = 0; i < count; ++i) {
        out.call.outputs.push_back({out.call.inputs.at(first + i), first + i});
        out.rules.push_back({bound});
    }
}

void addScalar(OpCase& out, DType dtype, DerivedScalar derived)
{
    out.call.outputs.push_back(fresh(dtype, Shape {}));
    out.rules.push_back({noError(), std::move(derived)});
}

/// For a bound that reads the operands of the tensor it belongs to: output `tensor` of the group.
using TensorBound = std::function<double(const Exact& exact, std::size_t tensor, std::int64_t i)>;

void setBounds(OpCase& out, std::size_t firstOutput, const TensorBound& bound)
{
    for (std::size_t t = 0; t < tensors; ++t) {
        out.rules.at(firstOutput + t).bound
            = [bound, t](const Exact& exact, std::int64_t i) { return bound(exact, t, i); };
    }
}

/// Sum of term(t, i) over the tensors as stored in outputs 0, 1, 2, or in the inputs from `firstInput` on.
template <typename Term> Expectation summed(const std::vector<HostTensor>& stored, Term term)
{
    double sum = 0;
    std::int64_t count = 0;
    for (std::size_t t = 0; t < tensors; ++t) {
        for (std::int64_t i = 0; i < stored[t].size(); ++i) {
            sum += term(t, i);
        }
        count += stored[t].size();
    }
    return {sum, std::isfinite(sum) ? sumError(sum, count) : 0};
}

Expectation sumSquares(const std::vector<HostTensor>& stored)
{
    return summed(stored, [&](std::size_t t, std::int64_t i) { return stored[t].at(i) * stored[t].at(i); });
}

Expectation largest(const std::vector<HostTensor>& stored)
{
    double out = 0;
    for (std::size_t t = 0; t < tensors; ++t) {
        for (const double value : stored[t].values()) {
            out = std::abs(value) > out ? std::abs(value) : out;
        }
    }
    return {out, 0};
}

/// foundInf, sumSquares, maxAbs; foundInf is compared with the exact result.
void addStatistics(OpCase& out, bool ofInputs)
{
    const auto pick = [ofInputs](const OpCall& call, const std::vector<HostTensor>& stored) {
        return ofInputs ? call.inputs : stored;
    };
    addScalar(out, DType::Float32, {});
    addScalar(out, DType::Float64,
        [pick](const OpCall& call, const std::vector<HostTensor>& stored) { return sumSquares(pick(call, stored)); });
    addScalar(out, DType::Float32,
        [pick](const OpCall& call, const std::vector<HostTensor>& stored) { return largest(pick(call, stored)); });
}

/// updateSquares and weightSquares from the weights before (inputs from firstWeight on) and after (outputs 0, 1, 2).
void addUpdateSquares(OpCase& out, std::size_t firstWeight, bool isSkipped)
{
    addScalar(out, DType::Float64, [firstWeight, isSkipped](const OpCall& call, const std::vector<HostTensor>& stored) {
        if (isSkipped) {
            return Expectation {0, 0};
        }
        Expectation sum = summed(stored, [&](std::size_t t, std::int64_t i) {
            const double change = stored[t].at(i) - call.inputs[firstWeight + t].at(i);
            return change * change;
        });
        sum.error += 4 * unit * (std::isfinite(sum.exact) ? sum.exact : 0); // the difference may be taken in FP32
        return sum;
    });
    addScalar(
        out, DType::Float64, [](const OpCall&, const std::vector<HostTensor>& stored) { return sumSquares(stored); });
}

OpCase gradientNormCase(const CaseSpec& spec, RandomValues& random)
{
    OpCase out;
    out.call.op = Op::GradientNorm;
    out.call.inputs = group(spec, random);
    addStatistics(out, true);
    return out;
}

OpCase unscaleCase(const CaseSpec& spec, double inverseScale, RandomValues& random)
{
    OpCase out;
    out.name = "by " + std::to_string(inverseScale);
    out.call.op = Op::Unscale;
    out.call.inputs = {HostTensor::scalar(DType::Float32, inverseScale)};
    append(out.call.inputs, group(spec, random));
    addInPlace(out, 1, tensors, inverseScale == 1 ? noError() : relative(1));
    setBounds(out, 0, [inverseScale](const Exact& exact, std::size_t t, std::int64_t i) {
        return inverseScale == 1 ? 0 : unit * std::abs(exact.out(t, i)) + tiny;
    });
    addStatistics(out, false);
    return out;
}

OpCase clipByNormCase(const CaseSpec& spec, double maxNorm, double squares, RandomValues& random)
{
    OpCase out;
    out.name = "norm^2 " + std::to_string(squares) + " to " + std::to_string(maxNorm);
    out.call.op = Op::ClipByNorm;
    out.call.inputs = {HostTensor::scalar(DType::Float32, maxNorm), HostTensor::scalar(DType::Float64, squares)};
    append(out.call.inputs, group(spec, random));
    addInPlace(out, 2, tensors, noError());
    setBounds(out, 0, [](const Exact& exact, std::size_t t, std::int64_t i) {
        return exact.out(tensors, 0) == 1 ? 0 : 8 * unit * std::abs(exact.out(t, i)) + 2 * tiny;
    });
    addScalar(out, DType::Float32, {});
    out.rules.back().bound = [](const Exact& exact, std::int64_t) { return 8 * unit * exact.out(tensors, 0) + tiny; };
    return out;
}

OpCase clipByValueCase(const CaseSpec& spec, double limit, RandomValues& random)
{
    OpCase out;
    out.name = "to " + std::to_string(limit);
    out.call.op = Op::ClipByValue;
    out.call.inputs = {HostTensor::scalar(DType::Float32, limit)};
    append(out.call.inputs, group(spec, random));
    addInPlace(out, 1, tensors, noError());
    return out;
}

/// The size of a decay term, which is left out at weight decay 0.
double decayed(double weightDecay, double weight)
{
    return weightDecay == 0 ? 0 : weightDecay * std::abs(weight);
}

OpCase sgdCase(const CaseSpec& spec, const SgdAttributes& attributes, bool foundInf, RandomValues& random)
{
    constexpr double learningRate = 0.1F;
    const bool hasMomentum = attributes.momentum != 0;
    const bool isSkipped = foundInf && attributes.skipOnNonFinite;
    OpCase out;
    out.name = std::string(attributes.nesterov ? "Nesterov"
                       : hasMomentum           ? "momentum"
                                               : "plain")
        + (isSkipped ? ", skipped" : "");
    out.call.op = Op::SgdUpdate;
    out.call.attributes = attributes;
    out.call.inputs
        = {HostTensor::scalar(DType::Float32, learningRate), HostTensor::scalar(DType::Float32, foundInf ? 1 : 0)};
    for (int operand = 0; operand < (hasMomentum ? 3 : 2); ++operand) {
        append(out.call.inputs, group(spec, random));
    }
    addInPlace(out, 2 + tensors, tensors * (hasMomentum ? 2 : 1), noError());
    if (!isSkipped) {
        // The sizes of what is added up; every partial sum is at most that, and each costs one rounding.
        const auto velocity = [attributes, hasMomentum](const Exact& exact, std::size_t t, std::int64_t i) {
            const double kept = hasMomentum ? attributes.momentum * std::abs(exact.in(2 + 2 * tensors + t, i)) : 0;
            return kept + std::abs(exact.in(2 + t, i)) + decayed(attributes.weightDecay, exact.in(2 + tensors + t, i));
        };
        setBounds(out, 0, [velocity](const Exact& exact, std::size_t t, std::int64_t i) {
            const double step = 2 * learningRate * velocity(exact, t, i);
            return unit * (2 * std::abs(exact.in(2 + tensors + t, i)) + 8 * step) + 8 * tiny;
        });
        if (hasMomentum) {
            setBounds(out, tensors, [velocity](const Exact& exact, std::size_t t, std::int64_t i) {
                return 4 * (unit * velocity(exact, t, i) + tiny);
            });
        }
    }
    addUpdateSquares(out, 2 + tensors, isSkipped);
    return out;
}

/// Errors of one Adam step, from the sizes of what is added up.
struct AdamErrors
{
    double first;
    double second;
    double weight;
};

AdamErrors adamErrors(
    const AdamAttributes& attributes, double learningRate, const Exact& exact, std::size_t t, std::int64_t i)
{
    const double b1 = attributes.beta1;
    const double b2 = attributes.beta2;
    const double epsilon = attributes.epsilon;
    const double decay = attributes.weightDecay;
    const bool decoupled = attributes.decoupled;
    const double w = std::abs(exact.in(2 + tensors + t, i));
    const double g = std::abs(exact.in(2 + t, i)) + (decoupled ? 0 : decayed(decay, w));
    const double firstSize = b1 * std::abs(exact.in(2 + 2 * tensors + t, i)) + (1 - b1) * g;
    const double secondSize = b2 * exact.in(2 + 3 * tensors + t, i) + (1 - b2) * g * g;
    AdamErrors errors {};
    errors.first = 4 * (unit * firstSize + tiny);
    errors.second = 8 * (unit * secondSize + tiny);
    const double taken = exact.out(3 * tensors, 0);
    const double second = exact.out(2 * tensors + t, i);
    const double root = std::sqrt(second) / std::sqrt(1 - std::pow(b2, taken));
    const double rate = learningRate / (1 - std::pow(b1, taken)) / (root + epsilon);
    // The root's error: half the relative error of its argument, or the root of the error where that is larger.
    const double rootError = second > errors.second ? root * errors.second / second
                                                    : std::sqrt(errors.second) / std::sqrt(1 - std::pow(b2, taken));
    errors.weight = 4 * unit * w + rate * errors.first
        + rate * firstSize * (16 * unit + std::min(1.0, rootError / (root + epsilon))) + 8 * tiny;
    return errors;
}

OpCase adamCase(
    const CaseSpec& spec, const AdamAttributes& attributes, double taken, bool foundInf, RandomValues& random)
{
    constexpr double learningRate = 0.01F;
    const bool isSkipped = foundInf && attributes.skipOnNonFinite;
    OpCase out;
    out.name = std::string(attributes.decoupled ? "decoupled" : "coupled") + " after " + std::to_string(taken)
        + (isSkipped ? ", skipped" : "");
    out.call.op = Op::AdamUpdate;
    out.call.attributes = attributes;
    out.call.inputs
        = {HostTensor::scalar(DType::Float32, learningRate), HostTensor::scalar(DType::Float32, foundInf ? 1 : 0)};
    for (int operand = 0; operand < 3; ++operand) {
        append(out.call.inputs, group(spec, random));
    }
    for (HostTensor& second : group(spec, random)) {
        for (std::int64_t i = 0; i < second.size(); ++i) {
            second.set(i, std::abs(second.at(i)));
        }
        out.call.inputs.push_back(std::move(second));
    }
    out.call.inputs.push_back(HostTensor::scalar(DType::Float32, taken));
    addInPlace(out, 2 + tensors, 3 * tensors + 1, noError());
    if (!isSkipped) {
        const auto errors = [attributes](const Exact& exact, std::size_t t, std::int64_t i) {
            return adamErrors(attributes, learningRate, exact, t, i);
        };
        setBounds(out, 0, [errors](const Exact& e, std::size_t t, std::int64_t i) { return errors(e, t, i).weight; });
        setBounds(
            out, tensors, [errors](const Exact& e, std::size_t t, std::int64_t i) { return errors(e, t, i).first; });
        setBounds(out, 2 * tensors,
            [errors](const Exact& e, std::size_t t, std::int64_t i) { return errors(e, t, i).second; });
    }
    addUpdateSquares(out, 2 + tensors, isSkipped);
    return out;
}

OpCase emaCase(const CaseSpec& spec, DType format, double decay, bool foundInf, bool skips, RandomValues& random)
{
    OpCase out;
    out.name
        = std::string(nameOf(format)) + ", decay " + std::to_string(decay) + (foundInf && skips ? ", skipped" : "");
    out.call.op = Op::EmaUpdate;
    out.call.attributes = EmaAttributes {skips};
    out.call.inputs = {HostTensor::scalar(DType::Float32, decay), HostTensor::scalar(DType::Float32, foundInf ? 1 : 0)};
    append(out.call.inputs, group(spec, random));
    append(out.call.inputs, group({format, spec.size, spec.fill}, random));
    addInPlace(out, 2 + tensors, tensors, noError());
    if (!(foundInf && skips)) {
        setBounds(out, 0, [](const Exact& exact, std::size_t t, std::int64_t i) {
            return 4 * unit * (std::abs(exact.in(2 + t, i)) + std::abs(exact.in(2 + tensors + t, i))) + tiny;
        });
    }
    return out;
}

/// A scale that moves: what a step found, the rule, and what the step began with.
struct ScalerCase
{
    const char* name;
    bool foundInf;
    double growthFactor;
    double backoffFactor;
    double growthInterval;
    bool isFrozen;
    double scale;
    double tracker;
    double lossScale;
    double inverseScale;
};

constexpr ScalerCase scalerCases[] {
    {"counts", false, 2, 0.5, 5, false, 1024, 3, 1024, 0x1p-10},
    {"grows, by a factor that rounds", false, 1.3, 0.7, 5, false, 1000.1F, 4, 1, 1},
    {"backs off, by a factor that rounds", true, 1.3, 0.7, 5, false, 1000.1F, 4, 1, 1},
    {"is past a lowered interval", false, 2, 0.5, 5, false, 1024, 5, 1024, 0x1p-10},
    {"never grows", false, 2, 0.5, 0, false, 1024, 7e9, 1024, 0x1p-10},
    {"does not grow to infinity", false, 2, 0.5, 1, false, 0x1p127, 0, 0x1p127, 0x1p-127},
    {"backs off to 0", true, 2, 0.5, 5, false, 0x1p-149, 3, 0x1p-149, 1},
    {"is frozen", false, 2, 0.5, 5, true, 1024, 4, 4096, 0x1p-10},
    {"is frozen, with an overflow", true, 2, 0.5, 5, true, 1024, 4, 4096, 0x1p-10},
    {"ends a spike of the loss", false, 2, 0.5, 5, false, 1024, 1, 4096, 0x1p-10},
};

OpCase scalerCase(const ScalerCase& given)
{
    const auto single = [](double value) { return HostTensor::scalar(DType::Float32, value); };
    const auto wide = [](double value) { return HostTensor::scalar(DType::Float64, value); };
    OpCase out;
    out.name = given.name;
    out.call.op = Op::ScalerUpdate;
    out.call.inputs = {single(given.foundInf ? 1 : 0), wide(given.growthFactor), wide(given.backoffFactor),
        wide(given.growthInterval), single(given.isFrozen ? 1 : 0), single(given.scale), wide(given.tracker),
        single(given.lossScale), single(given.inverseScale)};
    addInPlace(out, 5, 4, noError());
    if (!given.isFrozen) {
        // The scale is rounded before it is inverted.
        out.rules.back().bound = [](const Exact& exact, std::int64_t) { return unit * exact.out(3, 0); };
    }
    return out;
}

} // namespace

std::vector<OpCase> updateCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    switch (op) {
    case Op::GradientNorm:
        return {gradientNormCase(spec, random)};
    case Op::Unscale:
        for (const double inverseScale : {1.0, 1.0 / 65536, 0.37, 0x1p-24}) {
            cases.push_back(unscaleCase(spec, inverseScale, random));
        }
        return cases;
    case Op::ClipByNorm:
        for (const double squares :
            {0.0, 1e-12, 0.25, 100.0, 1e60, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
            cases.push_back(clipByNormCase(spec, 0.75, squares, random));
        }
        return cases;
    case Op::ClipByValue:
        return {
            clipByValueCase(spec, 0.7, random), clipByValueCase(spec, 0, random), clipByValueCase(spec, 1e20, random)};
    case Op::SgdUpdate:
        for (const bool foundInf : {false, true}) {
            for (const bool skip : {false, true}) {
                cases.push_back(sgdCase(spec, {0, 0, false, skip}, foundInf, random));
                cases.push_back(sgdCase(spec, {0.9F, 0.01F, false, skip}, foundInf, random));
                cases.push_back(sgdCase(spec, {0.9F, 0.01F, true, skip}, foundInf, random));
            }
        }
        return cases;
    case Op::AdamUpdate:
        for (const bool foundInf : {false, true}) {
            for (const bool decoupled : {false, true}) {
                cases.push_back(adamCase(spec, {0.9, 0.999, 1e-8F, 0.01F, decoupled, true}, 0, foundInf, random));
                cases.push_back(adamCase(spec, {0.9, 0.999, 1e-8F, 0, decoupled, false}, 41, foundInf, random));
            }
        }
        return cases;
    case Op::EmaUpdate:
        for (const DType format : {DType::Float32, DType::Float16, DType::BFloat16}) {
            for (const double decay : {0.0, 0.9, 0.999}) {
                cases.push_back(emaCase(spec, format, decay, false, false, random));
                cases.push_back(emaCase(spec, format, decay, true, true, random));
            }
        }
        return cases;
    case Op::ScalerUpdate:
        for (const ScalerCase& given : scalerCases) {
            cases.push_back(scalerCase(given));
        }
        return cases;
    default:
        return {};
    }
}

} // namespace mantissa::test
