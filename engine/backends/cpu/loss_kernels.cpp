// Losses and their gradients. Sums are FP64 in a fixed order.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa::cpu {

namespace {

void writeScalar(const Target& target, double value)
{
    float scratch = 0.0F;
    *target.place(0, &scratch) = static_cast<float>(value);
    target.finish(0, 1, &scratch);
}

/// Rows whose label is not the one to be ignored.
double countedRows(const std::int32_t* labels, std::size_t rows, std::int32_t ignoreIndex)
{
    return static_cast<double>(rows) - static_cast<double>(std::count(labels, labels + rows, ignoreIndex));
}

/// Mean over rows of log(sum exp(x - max)) - (x[label] - max), the label's term smoothed. A label outside 0 .. n-1
/// makes the loss NaN.
class CrossEntropyKernel : public Kernel
{
public:
    explicit CrossEntropyKernel(const KernelRequest& request)
        : m_attributes(attributesOf<CrossEntropyAttributes>(request.attributes))
        , m_classes(static_cast<std::size_t>(request.inputs[0].shape.back()))
        , m_rows(elementsOf(request.inputs[1]))
    {
        m_logits.dtype = request.inputs[0].dtype;
        m_loss.dtype = request.outputs[0].dtype;
    }

    [[nodiscard]] std::size_t workspaceBytes() const override
    {
        return isHalf(m_logits.dtype) ? m_classes * sizeof(float) : 0;
    }

    void bind(const KernelBinding& binding) override
    {
        m_logits.data = binding.inputs[0];
        m_labels = static_cast<const std::int32_t*>(binding.inputs[1]);
        m_loss.bind(binding);
        m_logProbabilities = static_cast<float*>(binding.outputs[1]);
        m_row = static_cast<float*>(binding.workspace);
    }

    void run(Stream& /*stream*/) override
    {
        double sum = 0.0;
        for (std::size_t row = 0; row < m_rows; ++row) {
            const float* x = m_logits.read(row * m_classes, m_classes, m_row);
            const float max = m_simd.rowMax(x, m_classes);
            const double logSum = std::log(m_simd.sumExp(x, max, m_classes));
            float* logProbabilities = m_logProbabilities + row * m_classes;
            m_simd.logSoftmax(logProbabilities, x, max, logSum, m_classes);
            if (m_labels[row] == m_attributes.ignoreIndex) {
                continue;
            }
            const auto label = static_cast<std::size_t>(m_labels[row]); // a negative one becomes huge
            const double term = label < m_classes ? logSum - (double {x[label]} - double {max})
                                                  : std::numeric_limits<double>::quiet_NaN();
            sum += smoothed(term, logProbabilities);
        }
        writeScalar(m_loss, sum / countedRows(m_labels, m_rows, m_attributes.ignoreIndex));
    }

private:
    [[nodiscard]] double smoothed(double term, const float* logProbabilities) const
    {
        const double share = m_attributes.labelSmoothing;
        if (share == 0.0) {
            return term;
        }
        double total = 0.0;
        for (std::size_t i = 0; i < m_classes; ++i) {
            total += double {logProbabilities[i]};
        }
        return (1.0 - share) * term - share * total / static_cast<double>(m_classes);
    }

    const SimdKernels& m_simd = simdKernels();
    CrossEntropyAttributes m_attributes;
    std::size_t m_classes;
    std::size_t m_rows;
    Source m_logits;
    const std::int32_t* m_labels = nullptr;
    Target m_loss;
    float* m_logProbabilities = nullptr;
    float* m_row = nullptr;
};

/// (exp(logP) - target) d / m, the target being one-hot or smoothed; 0 in rows to be ignored
class CrossEntropyGradKernel : public Kernel
{
public:
    explicit CrossEntropyGradKernel(const KernelRequest& request)
        : m_attributes(attributesOf<CrossEntropyAttributes>(request.attributes))
        , m_classes(static_cast<std::size_t>(request.inputs[1].shape.back()))
        , m_rows(elementsOf(request.inputs[2]))
    {
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_d = binding.inputs[0];
        m_logProbabilities = static_cast<const float*>(binding.inputs[1]);
        m_labels = static_cast<const std::int32_t*>(binding.inputs[2]);
        m_y.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        const double factor = double {scalarAt(m_d)} / countedRows(m_labels, m_rows, m_attributes.ignoreIndex);
        const double share = m_attributes.labelSmoothing;
        const LabelTarget target {share / static_cast<double>(m_classes), 1.0 - share};
        Block out;
        for (std::size_t row = 0; row < m_rows; ++row) {
            const bool isIgnored = m_labels[row] == m_attributes.ignoreIndex;
            const auto label = static_cast<std::size_t>(m_labels[row]);
            forBlocks(m_classes, [&](std::size_t column, std::size_t n) {
                const std::size_t offset = row * m_classes + column;
                float* place = m_y.place(offset, out.values);
                if (isIgnored) {
                    std::fill_n(place, n, 0.0F);
                } else {
                    // Left of the block the label wraps around, and is outside all the same.
                    m_gradient(place, m_logProbabilities + offset, target, label - column, factor, n);
                }
                m_y.finish(offset, n, out.values);
            });
        }
    }

private:
    decltype(SimdKernels::crossEntropyGrad) m_gradient = simdKernels().crossEntropyGrad;
    CrossEntropyAttributes m_attributes;
    std::size_t m_classes;
    std::size_t m_rows;
    const void* m_d = nullptr;
    const float* m_logProbabilities = nullptr;
    const std::int32_t* m_labels = nullptr;
    Target m_y;
};

/// Mean over rows of -logP[label], smoothed, or its gradient.
class NllKernel : public Kernel
{
public:
    explicit NllKernel(const KernelRequest& request)
        : m_attributes(attributesOf<CrossEntropyAttributes>(request.attributes))
        , m_isGradient(request.op == Op::NllLossGrad)
        , m_classes(static_cast<std::size_t>((m_isGradient ? request.outputs : request.inputs)[0].shape.back()))
        , m_rows(elementsOf(request.inputs[1]))
    {
        m_in.dtype = request.inputs[0].dtype;
        m_out.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_in.data = binding.inputs[0];
        m_labels = static_cast<const std::int32_t*>(binding.inputs[1]);
        m_out.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        const double rows = countedRows(m_labels, m_rows, m_attributes.ignoreIndex);
        if (m_isGradient) {
            spread(-double {scalarAt(m_in.data)} / rows);
        } else {
            writeScalar(m_out, -picked() / rows);
        }
    }

private:
    /// The sum of what the labels point to, smoothed; NaN if one points outside.
    [[nodiscard]] double picked() const
    {
        const double share = m_attributes.labelSmoothing;
        double sum = 0.0;
        for (std::size_t row = 0; row < m_rows; ++row) {
            if (m_labels[row] == m_attributes.ignoreIndex) {
                continue;
            }
            const auto label = static_cast<std::size_t>(m_labels[row]);
            float scratch = 0.0F;
            sum += label < m_classes ? (1.0 - share) * double {*m_in.read(row * m_classes + label, 1, &scratch)}
                                     : std::numeric_limits<double>::quiet_NaN();
            if (share != 0.0) { // 0 times an infinity would be NaN
                sum += share / static_cast<double>(m_classes) * rowTotal(row);
            }
        }
        return sum;
    }

    [[nodiscard]] double rowTotal(std::size_t row) const
    {
        double total = 0.0;
        Block in;
        forBlocks(m_classes, [&](std::size_t column, std::size_t n) {
            const float* values = m_in.read(row * m_classes + column, n, in.values);
            for (std::size_t i = 0; i < n; ++i) {
                total += double {values[i]};
            }
        });
        return total;
    }

    /// `d` shared out among a row's elements as the smoothed label says.
    void spread(double d) const
    {
        const double share = m_attributes.labelSmoothing;
        const double other = share / static_cast<double>(m_classes);
        const auto elsewhere = static_cast<float>(share == 0.0 ? 0.0 : other * d);
        const auto atLabel = static_cast<float>((1.0 - share + other) * d);
        Block out;
        for (std::size_t row = 0; row < m_rows; ++row) {
            const bool isIgnored = m_labels[row] == m_attributes.ignoreIndex;
            const auto label = static_cast<std::size_t>(m_labels[row]);
            forBlocks(m_classes, [&](std::size_t column, std::size_t n) {
                float* place = m_out.place(row * m_classes + column, out.values);
                std::fill_n(place, n, isIgnored ? 0.0F : elsewhere);
                if (!isIgnored && label - column < n) {
                    place[label - column] = atLabel;
                }
                m_out.finish(row * m_classes + column, n, out.values);
            });
        }
    }

    CrossEntropyAttributes m_attributes;
    bool m_isGradient;
    std::size_t m_classes;
    std::size_t m_rows;
    Source m_in; ///< log-probabilities, or the scalar gradient of the loss
    const std::int32_t* m_labels = nullptr;
    Target m_out;
};

/// A mean over elements of f(prediction, target).
class ElementLossKernel : public Kernel
{
public:
    ElementLossKernel(const KernelRequest& request, decltype(SimdKernels::squaredErrors) terms)
        : m_terms(terms)
        , m_elements(elementsOf(request.inputs[0]))
    {
        m_prediction.dtype = request.inputs[0].dtype;
        m_target.dtype = request.inputs[1].dtype;
        m_loss.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_prediction.data = binding.inputs[0];
        m_target.data = binding.inputs[1];
        m_loss.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        LaneSums sums;
        Block prediction;
        Block target;
        forBlocks(m_elements, [&](std::size_t offset, std::size_t n) {
            m_terms(&sums, m_prediction.read(offset, n, prediction.values), m_target.read(offset, n, target.values), n);
        });
        writeScalar(m_loss, total(sums) / static_cast<double>(m_elements));
    }

private:
    decltype(SimdKernels::squaredErrors) m_terms;
    std::size_t m_elements;
    Source m_prediction;
    Source m_target;
    Target m_loss;
};

class ElementLossGradKernel : public Kernel
{
public:
    ElementLossGradKernel(const KernelRequest& request, decltype(SimdKernels::mseGrad) gradient)
        : m_gradient(gradient)
        , m_elements(elementsOf(request.outputs[0]))
    {
        m_prediction.dtype = request.inputs[1].dtype;
        m_target.dtype = request.inputs[2].dtype;
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_d = binding.inputs[0];
        m_prediction.data = binding.inputs[1];
        m_target.data = binding.inputs[2];
        m_y.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        const double factor = double {scalarAt(m_d)} / static_cast<double>(m_elements);
        Block prediction;
        Block target;
        Block out;
        forBlocks(m_elements, [&](std::size_t offset, std::size_t n) {
            m_gradient(m_y.place(offset, out.values), m_prediction.read(offset, n, prediction.values),
                m_target.read(offset, n, target.values), factor, n);
            m_y.finish(offset, n, out.values);
        });
    }

private:
    decltype(SimdKernels::mseGrad) m_gradient;
    std::size_t m_elements;
    const void* m_d = nullptr;
    Source m_prediction;
    Source m_target;
    Target m_y;
};

} // namespace

std::unique_ptr<Kernel> makeCrossEntropy(const KernelRequest& request)
{
    requireArity(request, 2, 2);
    requireFloating(request, request.inputs[0]);
    requireDType(request, request.inputs[1], DType::Int32);
    requireFloating(request, request.outputs[0]);
    requireDType(request, request.outputs[1], DType::Float32);
    if (request.inputs[0].shape.rank() < 2 || request.inputs[0].shape.elements() == 0) {
        refuse(request, "logits [..., n] first");
    }
    requireElements(request, request.inputs[1], request.inputs[0].shape.elements() / request.inputs[0].shape.back());
    requireElements(request, request.outputs[1], request.inputs[0].shape.elements());
    return std::make_unique<CrossEntropyKernel>(request);
}

std::unique_ptr<Kernel> makeCrossEntropyGrad(const KernelRequest& request)
{
    requireArity(request, 3, 1);
    requireDType(request, request.inputs[0], DType::Float32);
    requireDType(request, request.inputs[1], DType::Float32);
    requireDType(request, request.inputs[2], DType::Int32);
    requireFloating(request, request.outputs[0]);
    if (request.inputs[1].shape.rank() < 2 || request.inputs[1].shape.elements() == 0) {
        refuse(request, "logProbabilities [..., n] second");
    }
    requireElements(request, request.inputs[2], request.inputs[1].shape.elements() / request.inputs[1].shape.back());
    requireElements(request, request.outputs[0], request.inputs[1].shape.elements());
    return std::make_unique<CrossEntropyGradKernel>(request);
}

std::unique_ptr<Kernel> makeNll(const KernelRequest& request)
{
    const bool isGradient = request.op == Op::NllLossGrad;
    requireArity(request, 2, 1);
    requireFloating(request, request.inputs[0]);
    requireDType(request, request.inputs[1], DType::Int32);
    requireFloating(request, request.outputs[0]);
    if (isGradient) {
        requireDType(request, request.inputs[0], DType::Float32);
    }
    const Shape& rows = (isGradient ? request.outputs : request.inputs)[0].shape;
    if (rows.rank() < 2 || rows.elements() == 0) {
        refuse(request, "log-probabilities [..., n]");
    }
    requireElements(request, request.inputs[1], rows.elements() / rows.back());
    return std::make_unique<NllKernel>(request);
}

std::unique_ptr<Kernel> makeElementLoss(const KernelRequest& request)
{
    requireArity(request, 2, 1);
    requireFloating(request, request.inputs[0]);
    requireFloating(request, request.inputs[1]);
    requireFloating(request, request.outputs[0]);
    requireElements(request, request.inputs[1], request.inputs[0].shape.elements());
    const SimdKernels& simd = simdKernels();
    return std::make_unique<ElementLossKernel>(request, request.op == Op::MseLoss ? simd.squaredErrors : simd.bceTerms);
}

std::unique_ptr<Kernel> makeElementLossGrad(const KernelRequest& request)
{
    requireArity(request, 3, 1);
    requireDType(request, request.inputs[0], DType::Float32);
    requireFloating(request, request.inputs[1]);
    requireFloating(request, request.inputs[2]);
    requireFloating(request, request.outputs[0]);
    requireElements(request, request.inputs[1], request.outputs[0].shape.elements());
    requireElements(request, request.inputs[2], request.outputs[0].shape.elements());
    const SimdKernels& simd = simdKernels();
    return std::make_unique<ElementLossGradKernel>(
        request, request.op == Op::MseLossGrad ? simd.mseGrad : simd.bceGrad);
}

} // namespace mantissa::cpu
