#include "tests/support/op_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa::test {

namespace {

/// The inputs as native BF16 products see them: subnormals are zero (design, section 3.4).
OpCall withoutSubnormals(OpCall call)
{
    for (HostTensor& input : call.inputs) {
        for (std::int64_t i = 0; i < input.size(); ++i) {
            if (std::abs(input.at(i)) < limitsOf(DType::BFloat16).minNormal) {
                input.set(i, 0);
            }
        }
    }
    return call;
}

/// Native BF16 products may take subnormal inputs as zero.
bool mayFlushSubnormals(const DeviceInfo& device, const OpCall& call)
{
    using enum Op;
    constexpr std::array products {Linear, MatMul, Conv2d, Conv2dInputGrad, Conv2dWeightGrad};
    return std::find(products.begin(), products.end(), call.op) != products.end()
        && call.inputs[0].dtype() == DType::BFloat16 && device.bf16 == FormatSupport::Native;
}

} // namespace

const char* nameOf(Fill fill)
{
    return fill == Fill::Plain ? "plain" : fill == Fill::Wide ? "wide" : "special";
}

Verdict::Verdict(const OpCase& opCase, OpCall call)
    : m_case(opCase)
    , m_call(std::move(call))
{
    const std::vector<HostTensor> outputs = exactOutputs(m_call);
    const Exact exact {m_call, outputs};
    for (std::size_t output = 0; output < outputs.size(); ++output) {
        std::vector<Expectation> expected;
        for (std::int64_t i = 0; i < outputs[output].size() && !m_case.rules[output].derived; ++i) {
            expected.push_back({outputs[output].at(i), m_case.rules[output].bound(exact, i)});
        }
        m_expected.push_back(std::move(expected));
    }
}

std::optional<std::string> Verdict::complaintAbout(const OpResult& result, const DeviceInfo& device) const
{
    const auto complaint = complaintAbout(result);
    if (complaint.has_value() && mayFlushSubnormals(device, m_call)) {
        Verdict lenient(m_case, withoutSubnormals(m_call));
        lenient.forgiveFlushedSums();
        return lenient.complaintAbout(result);
    }
    return complaint;
}

/// Each of an element's partial sums may have been subnormal and become zero.
void Verdict::forgiveFlushedSums()
{
    const double perElement = limitsOf(DType::Float32).minNormal * static_cast<double>(m_call.inputs[0].size());
    for (std::vector<Expectation>& output : m_expected) {
        for (Expectation& element : output) {
            element.error += perElement;
        }
    }
}

std::optional<std::string> Verdict::complaintAbout(const OpResult& result) const
{
    for (std::size_t output = 0; output < m_expected.size(); ++output) {
        const DerivedScalar& derived = m_case.rules[output].derived;
        const auto complaint = derived ? compare(output, {derived(m_call, result.outputs)}, result.outputs[output])
                                       : compare(output, m_expected[output], result.outputs[output]);
        if (complaint.has_value()) {
            return complaint;
        }
    }
    for (std::size_t output = 0; output < m_expected.size(); ++output) {
        if (!hasCensus(m_call, output)) {
            continue;
        }
        const bool isFirst = output == 0;
        const auto complaint = checkCensus(result.outputs[output].dtype(), m_expected[output],
            isFirst ? result.census : result.moreCensus[output - 1], isFirst ? &result.histogram : nullptr);
        if (complaint.has_value()) {
            return fmt::format("output {}: {}", output, *complaint);
        }
    }
    return std::nullopt;
}

std::optional<std::string> Verdict::compare(
    std::size_t output, const std::vector<Expectation>& expected, const HostTensor& actual)
{
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double value = actual.at(static_cast<std::int64_t>(i));
        const bool isBoundless = std::isfinite(expected[i].exact) && std::isnan(expected[i].error);
        if (isBoundless || !expected[i].accepts(actual.dtype(), value)) {
            return fmt::format(
                "output {} element {}: {:.9g}, expected {}", output, i, value, expected[i].text(actual.dtype()));
        }
    }
    return std::nullopt;
}

} // namespace mantissa::test
