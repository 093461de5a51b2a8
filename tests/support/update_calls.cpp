#include "tests/support/update_calls.h"

namespace mantissa::test {

OptimizerUnderTest::OptimizerUnderTest(Backend& backend, const SgdAttributes& attributes, HostTensor weights)
    : m_backend(&backend)
    , m_op(Op::SgdUpdate)
    , m_attributes(attributes)
    , m_weights(std::move(weights))
{
    if (attributes.momentum != 0) {
        m_state.emplace_back(m_weights.type());
    }
}

OptimizerUnderTest::OptimizerUnderTest(Backend& backend, const AdamAttributes& attributes, HostTensor weights)
    : m_backend(&backend)
    , m_op(Op::AdamUpdate)
    , m_attributes(attributes)
    , m_weights(std::move(weights))
    , m_state(2, HostTensor(m_weights.type()))
{
}

void OptimizerUnderTest::step(double learningRate, const HostTensor& gradient, bool foundInf)
{
    OpCall call {m_op, m_attributes,
        {HostTensor::scalar(DType::Float32, learningRate), HostTensor::scalar(DType::Float32, foundInf ? 1 : 0),
            gradient, m_weights},
        {}};
    call.inputs.insert(call.inputs.end(), m_state.begin(), m_state.end());
    if (m_op == Op::AdamUpdate) {
        call.inputs.push_back(m_taken);
    }
    for (std::size_t i = 3; i < call.inputs.size(); ++i) {
        call.outputs.push_back({call.inputs[i], i});
    }
    for (int i = 0; i < 2; ++i) {
        call.outputs.push_back({HostTensor({DType::Float64, Shape {}}), std::nullopt});
    }
    const std::vector<HostTensor> results = runOp(*m_backend, call).outputs;
    m_weights = results[0];
    for (std::size_t i = 0; i < m_state.size(); ++i) {
        m_state[i] = results[1 + i];
    }
    if (m_op == Op::AdamUpdate) {
        m_taken = results[1 + m_state.size()];
    }
    m_updateSquares = results[results.size() - 2].at(0);
    m_weightSquares = results.back().at(0);
}

} // namespace mantissa::test
