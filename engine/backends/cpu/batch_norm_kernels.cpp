// Normalisation per channel over all rows: sums in FP64 over chunks of rows, then one pass that applies two numbers per
// channel.
#include "engine/backends/cpu/channel_sums.h"
#include "engine/backends/cpu/norm_operands.h"
#include "engine/backends/cpu/storage_moments.h"
#include "engine/parallel/rank_totals.h"

#include <cmath>

namespace mantissa::cpu {

namespace {

class BatchNormKernel : public Kernel
{
public:
    explicit BatchNormKernel(const KernelRequest& request)
        : m_attributes(attributesOf<BatchNormAttributes>(request.attributes))
        , m_threads(request.threads)
        , m_walk(static_cast<std::size_t>(request.inputs[0].shape.back()))
        , m_rows(elementsOf(request.inputs[0]) / m_walk.channels())
        , m_sums(m_rows, m_walk, request.threads)
        , m_totals(request.ranks, 2 * m_walk.channels() + 1)
        , m_operands(request)
    {
        m_isNarrow = m_attributes.training && isHalf(m_attributes.accumulate);
        if (m_isNarrow && request.ranks != nullptr) {
            refuse(request, "statistics in FP32 where they are taken over all ranks");
        }
        if (m_isNarrow) {
            m_expanded.plan(request.inputs[0], m_layout);
        } else {
            m_sums.plan(m_layout);
        }
        m_coefficients.plan(2, m_walk.width(), m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_operands.bind(binding);
        m_sums.bind(binding.workspace);
        m_coefficients.bind(binding.workspace);
        m_x = static_cast<const float*>(m_expanded.bind(binding.inputs[0], static_cast<std::byte*>(binding.workspace)));
    }

    void run(Stream& /*stream*/) override
    {
        if (m_isNarrow) {
            narrowStatistics();
        } else if (m_attributes.training) {
            batchStatistics();
        } else {
            runningStatistics();
        }
        m_walk.repeat(m_coefficients.array(0));
        m_walk.repeat(m_coefficients.array(1));
        forPartsOf(m_operands.outputs[0], m_threads, m_rows, m_walk.channels(),
            [this](std::size_t begin, std::size_t end, const Target& y) {
                Block in;
                Block out;
                m_walk.forPieces(begin, end, [&](std::size_t offset, std::size_t at, std::size_t n) {
                    m_affine(y.place(offset, out.values), m_operands.inputs[0].read(offset, n, in.values),
                        m_coefficients.array(0) + at, m_coefficients.array(1) + at, n);
                    y.finish(offset, n, out.values);
                });
            });
    }

private:
    void batchStatistics()
    {
        std::fill_n(m_coefficients.array(0), m_walk.width(), 0.0);
        m_sums.run(m_operands.inputs[0], m_operands.inputs[0], m_coefficients.array(0));
        const std::size_t channels = m_walk.channels();
        const std::span<double> totals = m_totals.own();
        for (std::size_t c = 0; c < channels; ++c) {
            totals[c] = m_sums.sum(c);
            totals[channels + c] = m_sums.product(c);
        }
        totals.back() = static_cast<double>(m_rows);
        m_totals.exchange();
        const double rows = totals.back();
        for (std::size_t c = 0; c < channels; ++c) {
            const double mean = totals[c] / rows;
            // Sums of squares in FP64: what cancels here lies 2^-53 below them, FP32 values 2^-24.
            const double square = totals[channels + c] / rows - mean * mean;
            const double variance = square < 0.0 ? 0.0 : square; // NaN stays
            finishTraining(c, mean, variance, 1.0 / std::sqrt(variance + double {m_attributes.epsilon}), rows);
        }
    }

    void narrowStatistics()
    {
        m_expanded.prepare(m_threads);
        const MomentRequest request {
            m_attributes.accumulate, m_walk.channels(), m_rows, double {m_attributes.epsilon}, true};
        storageMoments(
            request,
            [this](float* values, std::size_t first, std::size_t lanes, std::size_t row) {
                std::copy_n(m_x + row * m_walk.channels() + first, lanes, values);
            },
            [this](std::size_t c, float mean, float variance, float rstd) {
                finishTraining(c, double {mean}, double {variance}, double {rstd}, static_cast<double>(m_rows));
            });
    }

    void runningStatistics()
    {
        for (std::size_t c = 0; c < m_walk.channels(); ++c) {
            const float mean = valueAt(m_operands.inputs[3], c);
            const float variance = valueAt(m_operands.inputs[4], c);
            storeAt(m_operands.outputs[3], c, double {mean});
            storeAt(m_operands.outputs[4], c, double {variance});
            save(c, double {mean}, 1.0 / std::sqrt(double {variance} + double {m_attributes.epsilon}));
        }
    }

    void finishTraining(std::size_t c, double mean, double variance, double rstd, double rows)
    {
        const double momentum = m_attributes.momentum;
        const double unbiased = variance * rows / (rows - 1.0);
        const double oldMean = valueAt(m_operands.inputs[3], c);
        const double oldVariance = valueAt(m_operands.inputs[4], c);
        storeAt(m_operands.outputs[3], c, (1.0 - momentum) * oldMean + momentum * mean);
        storeAt(m_operands.outputs[4], c, (1.0 - momentum) * oldVariance + momentum * unbiased);
        save(c, mean, rstd);
    }

    /// Keeps the statistics of a channel and what y = x scale + shift needs of them.
    void save(std::size_t c, double mean, double rstd)
    {
        storeAt(m_operands.outputs[1], c, mean);
        storeAt(m_operands.outputs[2], c, rstd);
        const double scale = rstd * double {valueAt(m_operands.inputs[1], c)};
        m_coefficients.array(0)[c] = scale;
        m_coefficients.array(1)[c] = double {valueAt(m_operands.inputs[2], c)} - mean * scale;
    }

    decltype(SimdKernels::affine) m_affine = simdKernels().affine;
    BatchNormAttributes m_attributes;
    int m_threads;
    ChannelWalk m_walk;
    std::size_t m_rows;
    ColumnSums m_sums;
    RankTotals m_totals; ///< sums and sums of squares per channel, rows
    NormOperands m_operands; ///< x, gamma, beta, running mean and variance -> y, mean, rstd, both running ones
    WorkspaceLayout m_layout;
    bool m_isNarrow = false;
    Operand m_expanded;
    ChannelArrays m_coefficients;
    const float* m_x = nullptr;
};

/// dx = gamma rstd (d - sum d / rows - normal sum (d normal) / rows)
class BatchNormGradKernel : public Kernel
{
public:
    explicit BatchNormGradKernel(const KernelRequest& request)
        : m_isTraining(attributesOf<BatchNormAttributes>(request.attributes).training)
        , m_threads(request.threads)
        , m_walk(static_cast<std::size_t>(request.inputs[1].shape.back()))
        , m_rows(elementsOf(request.inputs[1]) / m_walk.channels())
        , m_sums(m_rows, m_walk, request.threads)
        , m_totals(m_isTraining ? request.ranks : nullptr, 2 * m_walk.channels() + 1)
        , m_operands(request)
    {
        m_sums.plan(m_layout);
        m_columns.plan(5, m_walk.width(), m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_operands.bind(binding);
        m_sums.bind(binding.workspace);
        m_columns.bind(binding.workspace);
    }

    void run(Stream& /*stream*/) override
    {
        for (std::size_t c = 0; c < m_walk.channels(); ++c) {
            m_columns.array(mean)[c] = valueAt(m_operands.inputs[3], c);
        }
        m_walk.repeat(m_columns.array(mean));
        m_sums.run(m_operands.inputs[0], m_operands.inputs[1], m_columns.array(mean));
        const std::size_t channels = m_walk.channels();
        const std::span<double> totals = m_totals.own();
        for (std::size_t c = 0; c < channels; ++c) {
            totals[c] = m_sums.sum(c);
            totals[channels + c] = m_sums.product(c) * double {valueAt(m_operands.inputs[4], c)};
            // The gradients of gamma and beta are this rank's own: they are averaged with all others.
            storeAt(m_operands.outputs[1], c, totals[channels + c]);
            storeAt(m_operands.outputs[2], c, totals[c]);
        }
        totals.back() = static_cast<double>(m_rows);
        m_totals.exchange();
        for (std::size_t c = 0; c < channels; ++c) {
            finishSums(c, totals[c], totals[channels + c], totals.back());
        }
        for (const std::size_t i : {rstd, gamma, constant, perDeviation}) {
            m_walk.repeat(m_columns.array(i));
        }
        forPartsOf(m_operands.outputs[0], m_threads, m_rows, m_walk.channels(),
            [this](std::size_t begin, std::size_t end, const Target& dx) {
                Block gradient;
                Block in;
                Block out;
                m_walk.forPieces(begin, end, [&](std::size_t offset, std::size_t at, std::size_t n) {
                    const NormColumns columns {m_columns.array(mean) + at, m_columns.array(rstd) + at,
                        m_columns.array(gamma) + at, m_columns.array(constant) + at,
                        m_columns.array(perDeviation) + at};
                    m_gradient(dx.place(offset, out.values), m_operands.inputs[0].read(offset, n, gradient.values),
                        m_operands.inputs[1].read(offset, n, in.values), columns, n);
                    dx.finish(offset, n, out.values);
                });
            });
    }

private:
    enum : std::size_t { mean, rstd, gamma, constant, perDeviation }; // arrays of m_columns

    void finishSums(std::size_t c, double sum, double product, double rows)
    {
        const double slope = valueAt(m_operands.inputs[2], c);
        const double inverse = valueAt(m_operands.inputs[4], c);
        m_columns.array(rstd)[c] = inverse;
        m_columns.array(gamma)[c] = slope;
        m_columns.array(constant)[c] = m_isTraining ? slope * sum / rows : 0.0;
        m_columns.array(perDeviation)[c] = m_isTraining ? slope * inverse * product / rows : 0.0;
    }

    decltype(SimdKernels::columnNormGrad) m_gradient = simdKernels().columnNormGrad;
    bool m_isTraining;
    int m_threads;
    ChannelWalk m_walk;
    std::size_t m_rows;
    ColumnSums m_sums;
    RankTotals m_totals; ///< of d and of d times the normalised x per channel, rows
    NormOperands m_operands; ///< d, x, gamma, mean, rstd -> dx, dgamma, dbeta
    WorkspaceLayout m_layout;
    ChannelArrays m_columns;
};

} // namespace

std::unique_ptr<Kernel> makeBatchNorm(const KernelRequest& request)
{
    const bool isGradient = request.op == Op::BatchNorm2dGrad;
    requireArity(request, 5, isGradient ? 3 : 5);
    const std::size_t image = isGradient ? 1 : 0;
    requireRows(request, request.inputs[image]);
    const Shape& x = request.inputs[image].shape;
    for (std::size_t i = 0; i < 5; ++i) {
        requireVector(request, request.inputs[i], i <= image ? x.elements() : x.back());
    }
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
        requireVector(request, request.outputs[i], i == 0 ? x.elements() : x.back());
    }
    if (isGradient) {
        return std::make_unique<BatchNormGradKernel>(request);
    }
    return std::make_unique<BatchNormKernel>(request);
}

} // namespace mantissa::cpu
