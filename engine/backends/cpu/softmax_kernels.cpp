// Softmax, log-softmax and their gradients, row by row; NllLoss; ScaleMask.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/row_buffers.h"
#include "engine/backends/cpu/simd/simd_kernels.h"
#include "engine/formats/round_value.h"

#include <array>
#include <cmath>

namespace mantissa::cpu {

namespace {

/// Rows of one or two inputs that become rows of one output.
class RowKernel : public Kernel
{
public:
    explicit RowKernel(const KernelRequest& request)
        : m_threads(request.threads)
        , m_columns(static_cast<std::size_t>(request.outputs[0].shape.back()))
        , m_rows(elementsOf(request.outputs[0]) / m_columns)
    {
        for (std::size_t i = 0; i < request.inputs.size(); ++i) {
            m_inputs.at(i).dtype = request.inputs[i].dtype;
        }
        m_y.dtype = request.outputs[0].dtype;
        m_buffers.plan(request.threads, 3, m_columns, m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        for (std::size_t i = 0; i < binding.inputs.size(); ++i) {
            m_inputs.at(i).data = binding.inputs[i];
        }
        m_y.bind(binding);
        m_buffers.bind(binding.workspace);
    }

    void run(Stream& /*stream*/) override
    {
        forPartsOf(m_y, m_threads, m_rows, m_columns, [this](std::size_t begin, std::size_t end, const Target& y) {
            for (std::size_t row = begin; row < end; ++row) {
                const std::size_t offset = row * m_columns;
                const float* a = m_inputs[0].read(offset, m_columns, m_buffers.row(0));
                const float* b
                    = m_inputs[1].data != nullptr ? m_inputs[1].read(offset, m_columns, m_buffers.row(1)) : nullptr;
                compute(y.place(offset, m_buffers.row(2)), a, b, row);
                y.finish(offset, m_columns, m_buffers.row(2));
            }
        });
    }

protected:
    /// One row of the output from those of the inputs.
    virtual void compute(float* y, const float* a, const float* b, std::size_t row) const = 0;

    const SimdKernels& m_simd = simdKernels();
    int m_threads;
    std::size_t m_columns;
    std::size_t m_rows;

private:
    WorkspaceLayout m_layout;
    ThreadRows<float> m_buffers;
    std::array<Source, 2> m_inputs;
    Target m_y;
};

class SoftmaxKernel : public RowKernel
{
public:
    using RowKernel::RowKernel;

protected:
    void compute(float* y, const float* x, const float* /*b*/, std::size_t /*row*/) const override
    {
        const double sum = m_simd.expRow(y, x, 1.0F, m_simd.rowMax(x, m_columns), m_columns);
        m_simd.scale(y, y, static_cast<float>(1.0 / sum), m_columns);
    }
};

class LogSoftmaxKernel : public RowKernel
{
public:
    using RowKernel::RowKernel;

protected:
    void compute(float* y, const float* x, const float* /*b*/, std::size_t /*row*/) const override
    {
        const float max = m_simd.rowMax(x, m_columns);
        m_simd.logSoftmax(y, x, max, std::log(m_simd.sumExp(x, max, m_columns)), m_columns);
    }
};

/// Both in a 16-bit format, every intermediate result rounded to it: slow, for pitfalls to be seen.
class StorageSoftmaxKernel : public RowKernel
{
public:
    StorageSoftmaxKernel(const KernelRequest& request, DType format)
        : RowKernel(request)
        , m_round(format)
        , m_isLog(request.op == Op::LogSoftmax)
    {
    }

protected:
    void compute(float* y, const float* x, const float* /*b*/, std::size_t /*row*/) const override
    {
        double max = m_round(double {x[0]});
        for (std::size_t i = 0; i < m_columns; ++i) {
            const double value = m_round(double {x[i]});
            max = value > max || std::isnan(value) ? value : max;
        }
        double sum = 0.0;
        for (std::size_t i = 0; i < m_columns; ++i) {
            sum = m_round(sum + exponential(x[i], max));
        }
        const double logSum = m_round(std::log(sum));
        for (std::size_t i = 0; i < m_columns; ++i) {
            const double value = m_isLog ? m_round(m_round(m_round(double {x[i]}) - max) - logSum)
                                         : m_round(exponential(x[i], max) / sum);
            y[i] = static_cast<float>(value);
        }
    }

private:
    [[nodiscard]] double exponential(float x, double max) const
    {
        return m_round(std::exp(m_round(m_round(double {x}) - max)));
    }

    Storage m_round;
    bool m_isLog;
};

class SoftmaxGradKernel : public RowKernel
{
public:
    using RowKernel::RowKernel;

protected:
    void compute(float* dx, const float* d, const float* y, std::size_t /*row*/) const override
    {
        LaneSums sum;
        m_simd.dotRow(&sum, d, y, m_columns);
        m_simd.softmaxGradRow(dx, y, d, total(sum), 1.0, m_columns);
    }
};

class LogSoftmaxGradKernel : public RowKernel
{
public:
    using RowKernel::RowKernel;

protected:
    void compute(float* dx, const float* d, const float* y, std::size_t /*row*/) const override
    {
        LaneSums sum;
        m_simd.sumRow(&sum, d, m_columns);
        m_simd.logSoftmaxGradRow(dx, d, y, total(sum), m_columns);
    }
};

class ScaleMaskKernel : public RowKernel
{
public:
    explicit ScaleMaskKernel(const KernelRequest& request)
        : RowKernel(request)
        , m_attributes(attributesOf<ScaleMaskAttributes>(request.attributes))
        , m_queries(static_cast<std::size_t>(request.inputs[0].shape[request.inputs[0].shape.rank() - 2]))
    {
    }

protected:
    void compute(float* y, const float* x, const float* /*b*/, std::size_t row) const override
    {
        const std::size_t seen = m_attributes.causal ? std::min(row % m_queries + 1, m_columns) : m_columns;
        m_simd.scale(y, x, m_attributes.factor, seen);
        std::fill(y + seen, y + m_columns, m_attributes.maskValue);
    }

private:
    ScaleMaskAttributes m_attributes;
    std::size_t m_queries;
};

void requireRowwise(const KernelRequest& request, std::size_t inputs)
{
    requireArity(request, inputs, 1);
    requireFloating(request, request.outputs[0]);
    const Shape& y = request.outputs[0].shape;
    if (y.rank() == 0 || y.elements() == 0) {
        refuse(request, "rows with elements");
    }
    for (const TensorType& type : request.inputs) {
        requireFloating(request, type);
        requireElements(request, type, y.elements());
    }
}

} // namespace

std::unique_ptr<Kernel> makeSoftmax(const KernelRequest& request)
{
    requireRowwise(request, 1);
    const DType accumulate = attributesOf<SoftmaxAttributes>(request.attributes).accumulate;
    if (isHalf(accumulate)) {
        return std::make_unique<StorageSoftmaxKernel>(request, accumulate);
    }
    if (request.op == Op::LogSoftmax) {
        return std::make_unique<LogSoftmaxKernel>(request);
    }
    return std::make_unique<SoftmaxKernel>(request);
}

std::unique_ptr<Kernel> makeSoftmaxGrad(const KernelRequest& request)
{
    requireRowwise(request, 2);
    if (request.op == Op::LogSoftmaxGrad) {
        return std::make_unique<LogSoftmaxGradKernel>(request);
    }
    return std::make_unique<SoftmaxGradKernel>(request);
}

std::unique_ptr<Kernel> makeScaleMask(const KernelRequest& request)
{
    requireRowwise(request, 1);
    if (request.inputs[0].shape.rank() < 2) {
        refuse(request, "matrices of scores");
    }
    return std::make_unique<ScaleMaskKernel>(request);
}

} // namespace mantissa::cpu
