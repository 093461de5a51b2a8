/// Calls of the optimizer ops on one weight tensor that carry their state from step to step.
#pragma once

#include "tests/support/op_runner.h"

#include <vector>

namespace mantissa::test {

/// One weight tensor with its optimizer state, stepped on a backend.
class OptimizerUnderTest
{
public:
    OptimizerUnderTest(Backend& backend, const SgdAttributes& attributes, HostTensor weights);
    OptimizerUnderTest(Backend& backend, const AdamAttributes& attributes, HostTensor weights);

    void step(double learningRate, const HostTensor& gradient, bool foundInf = false);

    [[nodiscard]] const HostTensor& weights() const { return m_weights; }

    /// v of SGD with momentum; m, v of Adam.
    [[nodiscard]] const std::vector<HostTensor>& state() const { return m_state; }

    /// Adam's count of steps not skipped.
    [[nodiscard]] double taken() const { return m_taken.at(0); }

    [[nodiscard]] double updateSquares() const { return m_updateSquares; }

    [[nodiscard]] double weightSquares() const { return m_weightSquares; }

private:
    Backend* m_backend;
    Op m_op;
    Attributes m_attributes;
    HostTensor m_weights;
    std::vector<HostTensor> m_state;
    HostTensor m_taken = HostTensor::scalar(DType::Float32, 0);
    double m_updateSquares = 0;
    double m_weightSquares = 0;
};

} // namespace mantissa::test
