// GroupNorm over [n, ..., c]: per image, sums per channel that are joined per group, then one pass that applies numbers
// per channel.
#include "engine/backends/cpu/channel_sums.h"
#include "engine/backends/cpu/norm_operands.h"
#include "engine/backends/cpu/row_buffers.h"
#include "engine/backends/cpu/storage_moments.h"

#include <cmath>

namespace mantissa::cpu {

namespace {

/// Sizes of images whose channels are cut into groups.
struct Groups
{
    Groups(const Shape& x, std::int64_t groups)
        : walk(static_cast<std::size_t>(x.back()))
        , images(static_cast<std::size_t>(x[0]))
        , rows(static_cast<std::size_t>(x.elements()) / images / walk.channels())
        , count(static_cast<std::size_t>(groups))
        , width(walk.channels() / count)
    {
    }

    ChannelWalk walk;
    std::size_t images;
    std::size_t rows; ///< per image
    std::size_t count;
    std::size_t width; ///< channels of a group
};

/// Sums of a and a (b - centre) per channel over the rows of one image.
void sumImage(const Groups& groups, std::size_t image, const Source& a, const Source& b, const double* centre,
    double* sums, double* products)
{
    const auto add = simdKernels().columnProducts;
    Block scratchA;
    Block scratchB;
    std::fill_n(sums, groups.walk.width(), 0.0);
    std::fill_n(products, groups.walk.width(), 0.0);
    groups.walk.forPieces(
        image * groups.rows, (image + 1) * groups.rows, [&](std::size_t offset, std::size_t at, std::size_t n) {
            const float* left = a.read(offset, n, scratchA.values);
            const float* right = b.data == a.data ? left : b.read(offset, n, scratchB.values);
            add(sums + at, products + at, left, right, centre + at, n);
        });
    groups.walk.fold(sums);
    groups.walk.fold(products);
}

class GroupNormKernel : public Kernel
{
public:
    explicit GroupNormKernel(const KernelRequest& request)
        : m_attributes(attributesOf<NormAttributes>(request.attributes))
        , m_threads(request.threads)
        , m_groups(request.inputs[0].shape, m_attributes.groups)
        , m_operands(request)
    {
        m_arrays.plan(request.threads, arrayCount, m_groups.walk.width(), m_layout);
        m_isNarrow = isHalf(m_attributes.accumulate);
        m_statisticsOffset = m_layout.take(m_isNarrow ? 2 * m_groups.images * m_groups.count * sizeof(float) : 0);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_operands.bind(binding);
        m_arrays.bind(binding.workspace);
        m_statistics = reinterpret_cast<float*>(static_cast<std::byte*>(binding.workspace) + m_statisticsOffset);
    }

    void run(Stream& /*stream*/) override
    {
        if (m_isNarrow) {
            narrowStatistics();
        }
        forPartsOf(m_operands.outputs[0], m_threads, m_groups.images, m_groups.rows * m_groups.walk.channels(),
            [this](std::size_t begin, std::size_t end, const Target& y) {
                for (std::size_t image = begin; image < end; ++image) {
                    normalise(image, y);
                }
            });
    }

private:
    enum : std::size_t { sums, squares, scale, shift, arrayCount };

    void normalise(std::size_t image, const Target& y) const
    {
        if (!m_isNarrow) {
            std::fill_n(m_arrays.row(shift), m_groups.walk.width(), 0.0);
            sumImage(m_groups, image, m_operands.inputs[0], m_operands.inputs[0], m_arrays.row(shift),
                m_arrays.row(sums), m_arrays.row(squares));
        }
        for (std::size_t group = 0; group < m_groups.count; ++group) {
            const NormRow statistics = m_isNarrow ? narrow(image, group) : wide(image, group);
            for (std::size_t c = group * m_groups.width; c < (group + 1) * m_groups.width; ++c) {
                const double slope = statistics.rstd * double {valueAt(m_operands.inputs[1], c)};
                m_arrays.row(scale)[c] = slope;
                m_arrays.row(shift)[c] = double {valueAt(m_operands.inputs[2], c)} - statistics.mean * slope;
            }
        }
        m_groups.walk.repeat(m_arrays.row(scale));
        m_groups.walk.repeat(m_arrays.row(shift));
        Block in;
        Block out;
        m_groups.walk.forPieces(
            image * m_groups.rows, (image + 1) * m_groups.rows, [&](std::size_t offset, std::size_t at, std::size_t n) {
                m_affine(y.place(offset, out.values), m_operands.inputs[0].read(offset, n, in.values),
                    m_arrays.row(scale) + at, m_arrays.row(shift) + at, n);
                y.finish(offset, n, out.values);
            });
    }

    [[nodiscard]] NormRow wide(std::size_t image, std::size_t group) const
    {
        double sum = 0.0;
        double square = 0.0;
        for (std::size_t c = group * m_groups.width; c < (group + 1) * m_groups.width; ++c) {
            sum += m_arrays.row(sums)[c];
            square += m_arrays.row(squares)[c];
        }
        const auto n = static_cast<double>(m_groups.rows * m_groups.width);
        const double mean = sum / n;
        const double variance = square / n - mean * mean; // see BatchNormKernel
        const NormRow statistics {
            mean, 1.0 / std::sqrt((variance < 0.0 ? 0.0 : variance) + double {m_attributes.epsilon})};
        storeAt(m_operands.outputs[1], image * m_groups.count + group, statistics.mean);
        storeAt(m_operands.outputs[2], image * m_groups.count + group, statistics.rstd);
        return statistics;
    }

    [[nodiscard]] NormRow narrow(std::size_t image, std::size_t group) const
    {
        const float* statistics = m_statistics + 2 * (image * m_groups.count + group);
        return {double {statistics[0]}, double {statistics[1]}};
    }

    void narrowStatistics()
    {
        const MomentRequest request {m_attributes.accumulate, m_groups.images * m_groups.count,
            m_groups.rows * m_groups.width, double {m_attributes.epsilon}, true};
        storageMoments(
            request,
            [this](float* values, std::size_t first, std::size_t lanes, std::size_t i) {
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    const std::size_t image = (first + lane) / m_groups.count;
                    const std::size_t group = (first + lane) % m_groups.count;
                    const std::size_t row = image * m_groups.rows + i / m_groups.width;
                    values[lane] = valueAt(m_operands.inputs[0],
                        row * m_groups.walk.channels() + group * m_groups.width + i % m_groups.width);
                }
            },
            [this](std::size_t lane, float mean, float /*variance*/, float rstd) {
                m_statistics[2 * lane] = mean;
                m_statistics[2 * lane + 1] = rstd;
                storeAt(m_operands.outputs[1], lane, double {mean});
                storeAt(m_operands.outputs[2], lane, double {rstd});
            });
    }

    decltype(SimdKernels::affine) m_affine = simdKernels().affine;
    NormAttributes m_attributes;
    int m_threads;
    Groups m_groups;
    NormOperands m_operands; ///< x, gamma, beta -> y, mean, rstd
    WorkspaceLayout m_layout;
    ThreadRows<double> m_arrays;
    bool m_isNarrow = false;
    std::size_t m_statisticsOffset = 0;
    float* m_statistics = nullptr;
};

class GroupNormGradKernel : public Kernel
{
public:
    explicit GroupNormGradKernel(const KernelRequest& request)
        : m_threads(request.threads)
        , m_groups(request.inputs[1].shape, attributesOf<NormAttributes>(request.attributes).groups)
        , m_operands(request)
    {
        m_arrays.plan(request.threads, arrayCount, m_groups.walk.width(), m_layout);
        m_parameters.plan(2 * m_groups.images, m_groups.walk.channels(), m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_operands.bind(binding);
        m_arrays.bind(binding.workspace);
        m_parameters.bind(binding.workspace);
    }

    void run(Stream& /*stream*/) override
    {
        forPartsOf(m_operands.outputs[0], m_threads, m_groups.images, m_groups.rows * m_groups.walk.channels(),
            [this](std::size_t begin, std::size_t end, const Target& dx) {
                for (std::size_t image = begin; image < end; ++image) {
                    differentiate(image, dx);
                }
            });
        for (std::size_t output = 1; output < m_operands.outputCount; ++output) {
            for (std::size_t c = 0; c < m_groups.walk.channels(); ++c) {
                double sum = 0.0;
                for (std::size_t image = 0; image < m_groups.images; ++image) {
                    sum += m_parameters.array(2 * image + output - 1)[c];
                }
                storeAt(m_operands.outputs[output], c, sum);
            }
        }
    }

private:
    enum : std::size_t { sums, products, mean, rstd, gamma, constant, perDeviation, arrayCount };

    void differentiate(std::size_t image, const Target& dx) const
    {
        const auto array = [this](std::size_t i) { return m_arrays.row(i); };
        for (std::size_t c = 0; c < m_groups.walk.channels(); ++c) {
            const std::size_t group = image * m_groups.count + c / m_groups.width;
            array(mean)[c] = m_operands.inputCount > 4 ? double {valueAt(m_operands.inputs[4], group)} : 0.0;
            array(rstd)[c] = valueAt(m_operands.inputs[3], group);
            array(gamma)[c] = valueAt(m_operands.inputs[2], c);
        }
        m_groups.walk.repeat(array(mean));
        sumImage(
            m_groups, image, m_operands.inputs[0], m_operands.inputs[1], array(mean), array(sums), array(products));
        for (std::size_t group = 0; group < m_groups.count; ++group) {
            joinGroup(group);
        }
        for (std::size_t c = 0; c < m_groups.walk.channels(); ++c) {
            m_parameters.array(2 * image)[c] = array(products)[c] * array(rstd)[c];
            m_parameters.array(2 * image + 1)[c] = array(sums)[c];
        }
        for (const std::size_t i : {rstd, gamma, constant, perDeviation}) {
            m_groups.walk.repeat(array(i));
        }
        Block gradient;
        Block in;
        Block out;
        m_groups.walk.forPieces(
            image * m_groups.rows, (image + 1) * m_groups.rows, [&](std::size_t offset, std::size_t at, std::size_t n) {
                const NormColumns columns {array(mean) + at, array(rstd) + at, array(gamma) + at, array(constant) + at,
                    array(perDeviation) + at};
                m_gradient(dx.place(offset, out.values), m_operands.inputs[0].read(offset, n, gradient.values),
                    m_operands.inputs[1].read(offset, n, in.values), columns, n);
                dx.finish(offset, n, out.values);
            });
    }

    /// Means over the group of g d and of g d normal, for each of its channels.
    void joinGroup(std::size_t group) const
    {
        const std::size_t begin = group * m_groups.width;
        const std::size_t end = begin + m_groups.width;
        double scaled = 0.0;
        double product = 0.0;
        for (std::size_t c = begin; c < end; ++c) {
            scaled += m_arrays.row(gamma)[c] * m_arrays.row(sums)[c];
            product += m_arrays.row(gamma)[c] * m_arrays.row(products)[c];
        }
        const auto n = static_cast<double>(m_groups.rows * m_groups.width);
        const double inverse = m_arrays.row(rstd)[begin];
        std::fill(
            m_arrays.row(constant) + begin, m_arrays.row(constant) + end, m_operands.inputCount > 4 ? scaled / n : 0.0);
        std::fill(
            m_arrays.row(perDeviation) + begin, m_arrays.row(perDeviation) + end, inverse * (product * inverse / n));
    }

    decltype(SimdKernels::columnNormGrad) m_gradient = simdKernels().columnNormGrad;
    int m_threads;
    Groups m_groups;
    NormOperands m_operands; ///< d, x, gamma, rstd, (mean) -> dx, dgamma, (dbeta)
    WorkspaceLayout m_layout;
    ThreadRows<double> m_arrays;
    ChannelArrays m_parameters; ///< dgamma and dbeta of each image
};

} // namespace

std::unique_ptr<Kernel> makeGroupNorm(const KernelRequest& request)
{
    requireArity(request, 3, 3);
    requireRows(request, request.inputs[0]);
    const Shape& x = request.inputs[0].shape;
    const auto attributes = attributesOf<NormAttributes>(request.attributes);
    if (attributes.groups < 1 || x.back() % attributes.groups != 0) {
        refuse(request, "a number of groups that divides the channels");
    }
    requireVector(request, request.outputs[0], x.elements());
    for (std::size_t i = 1; i < 3; ++i) {
        requireVector(request, request.inputs[i], x.back());
        requireDType(request, request.outputs[i], attributes.accumulate);
        requireElements(request, request.outputs[i], x[0] * attributes.groups);
    }
    return std::make_unique<GroupNormKernel>(request);
}

std::unique_ptr<Kernel> makeGroupNormGrad(const KernelRequest& request)
{
    return std::make_unique<GroupNormGradKernel>(request);
}

} // namespace mantissa::cpu
