/// Scaled dot-product attention and its gradient, and the scaling and masking of scores.
#include "engine/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>

namespace mantissa::reference {

namespace {

/// One of q, k, v (or of their gradients): its rows lie `stride` apart, its channels begin at `offset`.
template <typename Tensor> struct Strided
{
    Tensor tensor;
    std::int64_t stride;
    std::int64_t offset;
    std::int64_t rows; ///< per batch

    [[nodiscard]] std::int64_t index(std::int64_t batch, std::int64_t row, std::int64_t channel) const
    {
        return (batch * rows + row) * stride + offset + channel;
    }
};

/// q, k and v from operand `first` on: three tensors, or one that holds them side by side.
template <typename Tensor, typename Get> std::array<Strided<Tensor>, 3> strided(Get get, bool isPacked)
{
    const auto at = [&](std::int64_t i) {
        const Tensor tensor = get(isPacked ? 0 : static_cast<std::size_t>(i));
        const std::int64_t stride = tensor.shape().back();
        return Strided<Tensor> {tensor, stride, isPacked ? i * stride / 3 : 0, tensor.shape()[1]};
    };
    return {at(0), at(1), at(2)};
}

/// One head's view of an attention.
class Head
{
public:
    Head(const std::array<Strided<Input>, 3>& qkv, const AttentionAttributes& attributes, std::int64_t channels,
        std::int64_t batch, std::int64_t head)
        : m_qkv(&qkv)
        , m_width(channels / attributes.heads)
        , m_first(head * m_width)
        , m_batch(batch)
        , m_isCausal(attributes.causal)
        , m_scale(attributes.scale != 0 ? double {attributes.scale} : 1 / std::sqrt(static_cast<double>(m_width)))
    {
    }

    [[nodiscard]] std::int64_t width() const { return m_width; }

    [[nodiscard]] double scale() const { return m_scale; }

    /// The keys that query i sees.
    [[nodiscard]] std::int64_t keys(std::int64_t i) const
    {
        return m_isCausal ? std::min(i + 1, (*m_qkv)[1].rows) : (*m_qkv)[1].rows;
    }

    [[nodiscard]] double q(std::int64_t i, std::int64_t c) const { return value(0, i, c); }

    [[nodiscard]] double k(std::int64_t j, std::int64_t c) const { return value(1, j, c); }

    [[nodiscard]] double v(std::int64_t j, std::int64_t c) const { return value(2, j, c); }

    [[nodiscard]] double score(std::int64_t i, std::int64_t j) const
    {
        double sum = 0;
        for (std::int64_t c = 0; c < m_width; ++c) {
            sum += q(i, c) * k(j, c);
        }
        return sum * m_scale;
    }

    /// Index in a [b, t, channels] tensor.
    [[nodiscard]] std::int64_t plain(std::int64_t i, std::int64_t c, std::int64_t channels) const
    {
        return (m_batch * (*m_qkv)[0].rows + i) * channels + m_first + c;
    }

    template <typename Tensor>
    [[nodiscard]] std::int64_t index(const Strided<Tensor>& t, std::int64_t i, std::int64_t c) const
    {
        return t.index(m_batch, i, m_first + c);
    }

private:
    [[nodiscard]] double value(std::size_t which, std::int64_t row, std::int64_t channel) const
    {
        const Strided<Input>& operand = m_qkv->at(which);
        return operand.tensor[index(operand, row, channel)];
    }

    const std::array<Strided<Input>, 3>* m_qkv;
    std::int64_t m_width;
    std::int64_t m_first;
    std::int64_t m_batch;
    bool m_isCausal;
    double m_scale;
};

/// Gradients of q, k and v, summed in double before they are stored.
class GradientSums
{
public:
    GradientSums(std::array<Strided<Output>, 3> outputs, bool isPacked)
        : m_outputs(std::move(outputs))
        , m_isPacked(isPacked)
    {
        for (std::size_t i = 0; i < 3; ++i) {
            m_sums.at(i).resize(static_cast<std::size_t>(m_outputs.at(i).tensor.size()));
        }
    }

    void add(std::size_t which, const Head& head, std::int64_t row, std::int64_t channel, double value)
    {
        m_sums.at(which)[static_cast<std::size_t>(head.index(m_outputs.at(which), row, channel))] += value;
    }

    void store() const
    {
        for (std::size_t which = 0; which < 3; ++which) {
            const Strided<Output>& output = m_outputs.at(which);
            const std::int64_t width = m_isPacked ? output.stride / 3 : output.stride;
            for (std::int64_t i = 0; i < output.tensor.size(); ++i) {
                if ((i % output.stride - output.offset) / width == 0 && i % output.stride >= output.offset) {
                    output.tensor.set(i, m_sums.at(which)[static_cast<std::size_t>(i)]);
                }
            }
        }
    }

private:
    std::array<Strided<Output>, 3> m_outputs;
    bool m_isPacked;
    std::array<std::vector<double>, 3> m_sums;
};

} // namespace

void attention(const Operands& operands)
{
    const auto attributes = operands.attributes<AttentionAttributes>();
    const Output y = operands.out(0);
    const Output logSumExp = operands.out(1);
    const auto qkv = strided<Input>([&](std::size_t i) { return operands.in(i); }, operands.inputCount() == 1);
    const std::int64_t t = y.shape()[1];
    const std::int64_t channels = y.shape()[2];
    for (std::int64_t row = 0; row < logSumExp.size(); ++row) { // [b, heads, t]
        const std::int64_t i = row % t;
        const Head head(qkv, attributes, channels, row / t / attributes.heads, row / t % attributes.heads);
        std::vector<double> scores(static_cast<std::size_t>(head.keys(i)));
        for (std::size_t j = 0; j < scores.size(); ++j) {
            scores[j] = head.score(i, static_cast<std::int64_t>(j));
        }
        const double largest = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        for (const double score : scores) {
            sum += std::exp(score - largest);
        }
        for (std::int64_t c = 0; c < head.width(); ++c) {
            double mix = 0;
            for (std::size_t j = 0; j < scores.size(); ++j) {
                mix += std::exp(scores[j] - largest) / sum * head.v(static_cast<std::int64_t>(j), c);
            }
            y.set(head.plain(i, c, channels), mix);
        }
        logSumExp.set(row, largest + std::log(sum));
    }
}

void attentionGrad(const Operands& operands)
{
    const auto attributes = operands.attributes<AttentionAttributes>();
    const Input d = operands.in(0);
    const Input logSumExp = operands.in(1);
    const bool isPacked = operands.inputCount() == 3;
    const auto qkv = strided<Input>([&](std::size_t i) { return operands.in(2 + i); }, isPacked);
    GradientSums sums(strided<Output>([&](std::size_t i) { return operands.out(i); }, isPacked), isPacked);
    const std::int64_t t = d.shape()[1];
    const std::int64_t channels = d.shape()[2];
    for (std::int64_t row = 0; row < logSumExp.size(); ++row) {
        const std::int64_t i = row % t;
        const Head head(qkv, attributes, channels, row / t / attributes.heads, row / t % attributes.heads);
        const std::int64_t keys = head.keys(i);
        std::vector<double> probability(static_cast<std::size_t>(keys));
        std::vector<double> slope(static_cast<std::size_t>(keys)); // of the probability
        double mean = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
            const auto at = static_cast<std::size_t>(j);
            probability[at] = std::exp(head.score(i, j) - logSumExp[row]);
            for (std::int64_t c = 0; c < head.width(); ++c) {
                slope[at] += d[head.plain(i, c, channels)] * head.v(j, c);
            }
            mean += probability[at] * slope[at];
        }
        for (std::int64_t j = 0; j < keys; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const double score = probability[at] * (slope[at] - mean) * head.scale();
            for (std::int64_t c = 0; c < head.width(); ++c) {
                sums.add(0, head, i, c, score * head.k(j, c));
                sums.add(1, head, j, c, score * head.q(i, c));
                sums.add(2, head, j, c, probability[at] * d[head.plain(i, c, channels)]);
            }
        }
    }
    sums.store();
}

void scaleMask(const Operands& operands)
{
    const auto attributes = operands.attributes<ScaleMaskAttributes>();
    const Input x = operands.in(0);
    const std::int64_t columns = x.shape().back();
    const std::int64_t rows = x.shape()[x.shape().rank() - 2];
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const bool isMasked = attributes.causal && i % columns > i / columns % rows;
        operands.out(0).set(i, isMasked ? double {attributes.maskValue} : x[i] * double {attributes.factor});
    }
}

} // namespace mantissa::reference
