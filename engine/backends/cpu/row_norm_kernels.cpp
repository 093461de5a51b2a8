// LayerNorm and RmsNorm: row by row, with sums in FP64.
#include "engine/backends/cpu/channel_sums.h"
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/norm_operands.h"
#include "engine/backends/cpu/row_buffers.h"
#include "engine/backends/cpu/storage_moments.h"

#include <cmath>

namespace mantissa::cpu {

namespace {

class RowNormKernel : public Kernel
{
public:
    explicit RowNormKernel(const KernelRequest& request)
        : m_attributes(attributesOf<NormAttributes>(request.attributes))
        , m_isCentred(request.op != Op::RmsNorm)
        , m_threads(request.threads)
        , m_columns(static_cast<std::size_t>(request.inputs[0].shape.back()))
        , m_rows(elementsOf(request.inputs[0]) / m_columns)
        , m_operands(request)
    {
        m_gamma.plan(request.inputs[1], m_layout);
        if (request.inputs.size() > 2) {
            m_beta.plan(request.inputs[2], m_layout);
        }
        m_buffers.plan(request.threads, 2, m_columns, m_layout);
        m_isNarrow = isHalf(m_attributes.accumulate);
        m_statisticsOffset = m_layout.take(m_isNarrow ? 2 * m_rows * sizeof(float) : 0);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        auto* workspace = static_cast<std::byte*>(binding.workspace);
        m_operands.bind(binding);
        m_gammaValues = static_cast<const float*>(m_gamma.bind(binding.inputs[1], workspace));
        m_betaValues = binding.inputs.size() > 2 ? static_cast<const float*>(m_beta.bind(binding.inputs[2], workspace))
                                                 : nullptr;
        m_buffers.bind(workspace);
        m_statistics = reinterpret_cast<float*>(workspace + m_statisticsOffset);
    }

    void run(Stream& /*stream*/) override
    {
        m_gamma.prepare(1);
        m_beta.prepare(1);
        if (m_isNarrow) {
            narrowStatistics();
        }
        forPartsOf(m_operands.outputs[0], m_threads, m_rows, m_columns,
            [this](std::size_t begin, std::size_t end, const Target& y) {
                for (std::size_t row = begin; row < end; ++row) {
                    normalise(row, y);
                }
            });
    }

private:
    void normalise(std::size_t row, const Target& y) const
    {
        const std::size_t offset = row * m_columns;
        const float* x = m_operands.inputs[0].read(offset, m_columns, m_buffers.row(0));
        NormRow statistics {};
        if (m_isNarrow) {
            statistics = {double {m_statistics[2 * row]}, double {m_statistics[2 * row + 1]}};
        } else {
            statistics = statisticsOf(x);
            save(row, statistics);
        }
        m_simd.normaliseRow(y.place(offset, m_buffers.row(1)), x, statistics, m_gammaValues, m_betaValues, m_columns);
        y.finish(offset, m_columns, m_buffers.row(1));
    }

    [[nodiscard]] NormRow statisticsOf(const float* x) const
    {
        const auto n = static_cast<double>(m_columns);
        double mean = 0.0;
        if (m_isCentred) {
            LaneSums sum;
            m_simd.sumRow(&sum, x, m_columns);
            mean = total(sum) / n;
        }
        LaneSums squares;
        m_simd.squaresRow(&squares, x, mean, m_columns);
        return {mean, 1.0 / std::sqrt(total(squares) / n + double {m_attributes.epsilon})};
    }

    void save(std::size_t row, const NormRow& statistics) const
    {
        if (m_isCentred) {
            storeAt(m_operands.outputs[1], row, statistics.mean);
        }
        storeAt(m_operands.outputs[m_isCentred ? 2 : 1], row, statistics.rstd);
    }

    void narrowStatistics()
    {
        const MomentRequest request {
            m_attributes.accumulate, m_rows, m_columns, double {m_attributes.epsilon}, m_isCentred};
        storageMoments(
            request,
            [this](float* values, std::size_t first, std::size_t lanes, std::size_t column) {
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    values[lane] = valueAt(m_operands.inputs[0], (first + lane) * m_columns + column);
                }
            },
            [this](std::size_t row, float mean, float /*variance*/, float rstd) {
                m_statistics[2 * row] = mean;
                m_statistics[2 * row + 1] = rstd;
                save(row, {double {mean}, double {rstd}});
            });
    }

    const SimdKernels& m_simd = simdKernels();
    NormAttributes m_attributes;
    bool m_isCentred;
    int m_threads;
    std::size_t m_columns;
    std::size_t m_rows;
    NormOperands m_operands; ///< x, gamma, (beta) -> y, (mean), rstd
    WorkspaceLayout m_layout;
    Operand m_gamma;
    Operand m_beta;
    ThreadRows<float> m_buffers;
    bool m_isNarrow = false;
    std::size_t m_statisticsOffset = 0;
    const float* m_gammaValues = nullptr;
    const float* m_betaValues = nullptr;
    float* m_statistics = nullptr;
};

class RowNormGradKernel : public Kernel
{
public:
    explicit RowNormGradKernel(const KernelRequest& request)
        : m_threads(request.threads)
        , m_columns(static_cast<std::size_t>(request.inputs[1].shape.back()))
        , m_rows(elementsOf(request.inputs[1]) / m_columns)
        , m_chunks(std::min(m_rows, chunksOf(m_rows * m_columns)))
        , m_operands(request)
    {
        m_gamma.plan(request.inputs[2], m_layout);
        m_buffers.plan(request.threads, 3, m_columns, m_layout);
        m_sums.plan(2 * m_chunks, m_columns, m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_operands.bind(binding);
        m_gammaValues
            = static_cast<const float*>(m_gamma.bind(binding.inputs[2], static_cast<std::byte*>(binding.workspace)));
        m_buffers.bind(binding.workspace);
        m_sums.bind(binding.workspace);
    }

    void run(Stream& /*stream*/) override
    {
        m_gamma.prepare(1);
        forPartsOf(m_operands.outputs[0], m_threads, m_chunks, m_rows * m_columns / m_chunks,
            [this](std::size_t begin, std::size_t end, const Target& dx) {
                for (std::size_t chunk = begin; chunk < end; ++chunk) {
                    std::fill_n(m_sums.array(2 * chunk), 2 * m_columns, 0.0);
                    for (std::size_t row = m_rows * chunk / m_chunks; row < m_rows * (chunk + 1) / m_chunks; ++row) {
                        differentiate(row, dx, m_sums.array(2 * chunk), m_sums.array(2 * chunk + 1));
                    }
                }
            });
        for (std::size_t output = 1; output < m_operands.outputCount; ++output) {
            for (std::size_t column = 0; column < m_columns; ++column) {
                double sum = 0.0;
                for (std::size_t chunk = 0; chunk < m_chunks; ++chunk) {
                    sum += m_sums.array(2 * chunk + output - 1)[column];
                }
                storeAt(m_operands.outputs[output], column, sum);
            }
        }
    }

private:
    void differentiate(std::size_t row, const Target& dx, double* gammaSums, double* betaSums) const
    {
        const std::size_t offset = row * m_columns;
        const float* d = m_operands.inputs[0].read(offset, m_columns, m_buffers.row(0));
        const float* x = m_operands.inputs[1].read(offset, m_columns, m_buffers.row(1));
        const bool isCentred = m_operands.inputCount > 4;
        NormRow statistics {
            isCentred ? double {valueAt(m_operands.inputs[4], row)} : 0.0, double {valueAt(m_operands.inputs[3], row)}};
        LaneSums scaled;
        LaneSums products;
        m_simd.normGradSums(&scaled, &products, d, x, m_gammaValues, statistics, m_columns);
        const auto n = static_cast<double>(m_columns);
        statistics.meanScaled = isCentred ? total(scaled) / n : 0.0;
        statistics.meanProduct = total(products) / n;
        m_simd.normGradColumns(gammaSums, betaSums, d, x, statistics, m_columns);
        m_simd.normGradRow(dx.place(offset, m_buffers.row(2)), d, x, m_gammaValues, statistics, m_columns);
        dx.finish(offset, m_columns, m_buffers.row(2));
    }

    const SimdKernels& m_simd = simdKernels();
    int m_threads;
    std::size_t m_columns;
    std::size_t m_rows;
    std::size_t m_chunks;
    NormOperands m_operands; ///< d, x, gamma, rstd, (mean) -> dx, dgamma, (dbeta)
    WorkspaceLayout m_layout;
    Operand m_gamma;
    ThreadRows<float> m_buffers;
    ChannelArrays m_sums;
    const float* m_gammaValues = nullptr;
};

} // namespace

std::unique_ptr<Kernel> makeRowNorm(const KernelRequest& request)
{
    const bool isCentred = request.op != Op::RmsNorm;
    const bool hasBeta = isCentred && request.inputs.size() == 3;
    requireArity(request, hasBeta ? 3 : 2, isCentred ? 3 : 2);
    requireRows(request, request.inputs[0]);
    const Shape& x = request.inputs[0].shape;
    requireVector(request, request.outputs[0], x.elements());
    for (std::size_t i = 1; i < request.inputs.size(); ++i) {
        requireVector(request, request.inputs[i], x.back());
    }
    for (std::size_t i = 1; i < request.outputs.size(); ++i) {
        requireDType(request, request.outputs[i], attributesOf<NormAttributes>(request.attributes).accumulate);
        requireElements(request, request.outputs[i], x.elements() / x.back());
    }
    return std::make_unique<RowNormKernel>(request);
}

std::unique_ptr<Kernel> makeNormGrad(const KernelRequest& request)
{
    const bool isCentred = request.inputs.size() > 4;
    requireArity(request, isCentred ? 5 : 4, request.outputs.size() > 2 ? 3 : 2);
    requireRows(request, request.inputs[1]);
    const Shape& x = request.inputs[1].shape;
    requireVector(request, request.inputs[0], x.elements());
    requireVector(request, request.inputs[2], x.back());
    requireVector(request, request.outputs[0], x.elements());
    for (std::size_t i = 1; i < request.outputs.size(); ++i) {
        requireVector(request, request.outputs[i], x.back());
    }
    const std::int64_t groups = attributesOf<NormAttributes>(request.attributes).groups;
    const bool isRowwise = groups == 1 && request.inputs[3].shape.elements() * x.back() == x.elements();
    for (std::size_t i = 3; i < request.inputs.size(); ++i) {
        requireVector(request, request.inputs[i], isRowwise ? x.elements() / x.back() : x[0] * groups);
    }
    if (isRowwise) {
        return std::make_unique<RowNormGradKernel>(request);
    }
    return makeGroupNormGrad(request);
}

} // namespace mantissa::cpu
