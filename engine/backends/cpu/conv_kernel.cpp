// Conv2d and its two gradients on oneDNN: activations stay [n, h, w, c], weights are brought into the layout that the
// primitive prefers, in the workspace. Half operands and results as in matmul_kernel.cpp.
#include "engine/backends/cpu/dnnl_call.h"
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/workspace.h"
#include "engine/core/cpu_features.h"
#include "engine/core/error.h"

#include <array>
#include <utility>

namespace mantissa::cpu {

namespace {

using dnnl::memory;

/// The shapes of a convolution, whichever of its operands a kernel computes.
struct ConvShape
{
    Shape x;
    Shape w;
    Shape y;
    Conv2dAttributes attributes;
};

ConvShape shapeOf(const KernelRequest& request)
{
    const Shape& first = request.inputs[0].shape;
    const Shape& second = request.inputs[1].shape;
    const Shape& result = request.outputs[0].shape;
    const auto attributes = attributesOf<Conv2dAttributes>(request.attributes);
    ConvShape shape {first, second, result, attributes};
    if (request.op == Op::Conv2dInputGrad) {
        shape = {result, second, first, attributes};
    } else if (request.op == Op::Conv2dWeightGrad) {
        shape = {second, result, first, attributes};
    }
    bool fits = shape.x.rank() == 4 && shape.w.rank() == 4 && shape.y.rank() == 4 && shape.y.elements() > 0
        && attributes.groups > 0 && shape.x[3] == shape.w[1] * attributes.groups && shape.y[3] == shape.w[0]
        && shape.w[0] % attributes.groups == 0 && shape.x[0] == shape.y[0];
    for (std::size_t i = 0; fits && i < 2; ++i) {
        const std::int64_t reach = attributes.dilation.at(i) * (shape.w[2 + i] - 1) + 1;
        fits = (shape.x[1 + i] + 2 * attributes.padding.at(i) - reach) / attributes.stride.at(i) + 1 == shape.y[1 + i];
    }
    if (!fits) {
        throw Error(ErrorCode::ShapeMismatch,
            "[conv2d] x " + shape.x.text() + ", w " + shape.w.text() + " and y " + shape.y.text() + " do not fit.");
    }
    return shape;
}

memory::dims pair(const std::array<std::int64_t, 2>& values, std::int64_t less = 0)
{
    return {values[0] - less, values[1] - less};
}

/// What oneDNN is told of a convolution: images as [n, h, w, c], the layout of the weights left to it.
struct ConvDescription
{
    ConvDescription(const ConvShape& shape, memory::data_type xType, memory::data_type wType, memory::data_type yType)
        : x(image(shape.x, xType))
        , w(weightDims(shape), wType, memory::format_tag::any)
        , y(image(shape.y, yType))
        , bias({shape.w[0]}, memory::data_type::f32, memory::format_tag::x)
        , strides(pair(shape.attributes.stride))
        , dilates(pair(shape.attributes.dilation, 1)) // 0: none
        , padding(pair(shape.attributes.padding))
    {
    }

    /// Weights as the parameter has them.
    static memory::desc plainWeights(const ConvShape& shape, memory::data_type type)
    {
        const bool isGrouped = shape.attributes.groups > 1;
        return {weightDims(shape), type, isGrouped ? memory::format_tag::goihw : memory::format_tag::oihw};
    }

    [[nodiscard]] dnnl::convolution_forward::primitive_desc forward(bool hasBias) const
    {
        using Conv = dnnl::convolution_forward;
        constexpr auto kind = dnnl::prop_kind::forward_training;
        const auto operation = hasBias ? Conv::desc(kind, direct, x, w, bias, y, strides, dilates, padding, padding)
                                       : Conv::desc(kind, direct, x, w, y, strides, dilates, padding, padding);
        return {operation, userScratchpad(), cpuEngine()};
    }

    /// The description of a backward primitive, with that of the forward one as a hint.
    template <typename Backward>
    [[nodiscard]] typename Backward::primitive_desc backward(const ConvDescription& hint) const
    {
        return {typename Backward::desc(direct, x, w, y, strides, dilates, padding, padding), userScratchpad(),
            cpuEngine(), hint.forward(false)};
    }

    static constexpr auto direct = dnnl::algorithm::convolution_direct;

    memory::desc x;
    memory::desc w;
    memory::desc y;
    memory::desc bias;
    memory::dims strides;
    memory::dims dilates;
    memory::dims padding;

private:
    static memory::desc image(const Shape& shape, memory::data_type type)
    {
        return {{shape[0], shape[3], shape[1], shape[2]}, type, memory::format_tag::nhwc};
    }

    static memory::dims weightDims(const ConvShape& shape)
    {
        const std::int64_t groups = shape.attributes.groups;
        const Shape& w = shape.w;
        return groups > 1 ? memory::dims {groups, w[0] / groups, w[1], w[2], w[3]} : memory::dims(w.dims());
    }
};

/// Brings weights from one layout to another; the primitive's own one has its memory in the workspace.
class WeightReorder
{
public:
    explicit WeightReorder(int threads)
        : m_call("a change of the weights' layout", threads)
    {
    }

    void plan(const memory::desc& plain, const memory::desc& preferred, bool isResult, WorkspaceLayout& layout)
    {
        m_plain = plain;
        m_preferred = preferred;
        m_isResult = isResult;
        m_isNeeded = plain != preferred;
        if (m_isNeeded) {
            m_call.create([&] {
                m_description = isResult
                    ? dnnl::reorder::primitive_desc(cpuEngine(), preferred, cpuEngine(), plain, userScratchpad())
                    : dnnl::reorder::primitive_desc(cpuEngine(), plain, cpuEngine(), preferred, userScratchpad());
                return dnnl::reorder(m_description);
            });
            m_offset = layout.take(preferred.get_size());
            m_scratchpadOffset = layout.take(m_description.scratchpad_desc().get_size());
        }
    }

    /// Where the primitive finds or leaves its weights, given where the plain ones are.
    void* bind(void* plain, std::byte* workspace)
    {
        if (!m_isNeeded) {
            return plain;
        }
        m_call.clearArguments();
        m_call.addArgument(m_isResult ? DNNL_ARG_TO : DNNL_ARG_FROM, m_plain, plain);
        m_call.addArgument(m_isResult ? DNNL_ARG_FROM : DNNL_ARG_TO, m_preferred, workspace + m_offset);
        m_call.addArgument(DNNL_ARG_SCRATCHPAD, m_description.scratchpad_desc(), workspace + m_scratchpadOffset);
        return workspace + m_offset;
    }

    void run() const
    {
        if (m_isNeeded) {
            m_call.run();
        }
    }

private:
    DnnlCall m_call;
    dnnl::reorder::primitive_desc m_description;
    memory::desc m_plain;
    memory::desc m_preferred;
    bool m_isResult = false;
    bool m_isNeeded = false;
    std::size_t m_offset = 0;
    std::size_t m_scratchpadOffset = 0;
};

class ConvKernel : public Kernel
{
public:
    explicit ConvKernel(const KernelRequest& request)
        : m_op(request.op)
        , m_shape(shapeOf(request))
        , m_isNative(request.inputs[0].dtype == DType::BFloat16 && request.inputs[1].dtype == DType::BFloat16
              && cpuIsa() == CpuIsa::Avx512Bf16)
        , m_hasBias(request.inputs.size() > 2)
        , m_threads(request.threads)
        , m_call("a convolution", request.threads)
        , m_weights(request.threads)
    {
        try {
            m_call.create([this] { return makePrimitive(); });
        } catch (const Error&) {
            if (!m_isNative) {
                throw;
            }
            m_isNative = false; // a shape that oneDNN has no BF16 code for
            m_call.create([this] { return makePrimitive(); });
        }
        for (std::size_t i = 0; i < request.inputs.size(); ++i) {
            m_operands.at(i).plan(request.inputs[i], m_layout, m_isNative && i < 2);
        }
        m_result.plan(request.outputs[0], m_layout);
        const bool isResult = m_op == Op::Conv2dWeightGrad;
        m_weights.plan(ConvDescription::plainWeights(m_shape, isResult ? f32 : operandType()), m_weightDescription,
            isResult, m_layout);
        m_scratchpadOffset = m_layout.take(m_scratchpad.get_size());
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        auto* workspace = static_cast<std::byte*>(binding.workspace);
        void* first = m_operands[0].bind(binding.inputs[0], workspace);
        void* second = m_operands[1].bind(binding.inputs[1], workspace);
        m_result.bind(binding, 0);
        m_call.clearArguments();
        if (m_op == Op::Conv2d) {
            m_call.addArgument(DNNL_ARG_SRC, m_xDescription, first);
            m_call.addArgument(DNNL_ARG_WEIGHTS, m_weightDescription, m_weights.bind(second, workspace));
            m_call.addArgument(DNNL_ARG_DST, m_yDescription, m_result.values);
        } else if (m_op == Op::Conv2dInputGrad) {
            m_call.addArgument(DNNL_ARG_DIFF_DST, m_yDescription, first);
            m_call.addArgument(DNNL_ARG_WEIGHTS, m_weightDescription, m_weights.bind(second, workspace));
            m_call.addArgument(DNNL_ARG_DIFF_SRC, m_xDescription, m_result.values);
        } else {
            m_call.addArgument(DNNL_ARG_DIFF_DST, m_yDescription, first);
            m_call.addArgument(DNNL_ARG_SRC, m_xDescription, second);
            m_call.addArgument(DNNL_ARG_DIFF_WEIGHTS, m_weightDescription, m_weights.bind(m_result.values, workspace));
        }
        if (m_hasBias) {
            m_call.addArgument(DNNL_ARG_BIAS, m_biasDescription, m_operands[2].bind(binding.inputs[2], workspace));
        }
        m_call.addArgument(DNNL_ARG_SCRATCHPAD, m_scratchpad, workspace + m_scratchpadOffset);
    }

    void run(Stream& /*stream*/) override
    {
        for (const Operand& operand : m_operands) {
            operand.prepare(m_threads);
        }
        if (m_op == Op::Conv2dWeightGrad) {
            m_call.run();
            m_weights.run();
        } else {
            m_weights.run();
            m_call.run();
        }
        m_result.finish(m_threads);
    }

private:
    static constexpr auto f32 = memory::data_type::f32;

    /// Of operands; results are always FP32.
    [[nodiscard]] memory::data_type operandType() const { return m_isNative ? memory::data_type::bf16 : f32; }

    dnnl::primitive makePrimitive()
    {
        const auto type = operandType();
        const ConvDescription forward(m_shape, type, type, f32);
        m_biasDescription = forward.bias;
        if (m_op == Op::Conv2d) {
            const auto description = forward.forward(m_hasBias);
            keep(description, dnnl::query::weights_md, description.src_desc(), description.dst_desc());
            return dnnl::convolution_forward(description);
        }
        if (m_op == Op::Conv2dInputGrad) {
            const auto description
                = ConvDescription(m_shape, f32, type, type).backward<dnnl::convolution_backward_data>(forward);
            keep(description, dnnl::query::weights_md, description.diff_src_desc(), description.diff_dst_desc());
            return dnnl::convolution_backward_data(description);
        }
        const auto description
            = ConvDescription(m_shape, type, f32, type).backward<dnnl::convolution_backward_weights>(forward);
        keep(description, dnnl::query::diff_weights_md, description.src_desc(), description.diff_dst_desc());
        return dnnl::convolution_backward_weights(description);
    }

    void keep(const dnnl::primitive_desc_base& description, dnnl::query weights, memory::desc x, memory::desc y)
    {
        m_weightDescription = description.query_md(weights);
        m_xDescription = std::move(x);
        m_yDescription = std::move(y);
        m_scratchpad = description.scratchpad_desc();
    }

    Op m_op;
    ConvShape m_shape;
    bool m_isNative;
    bool m_hasBias;
    int m_threads;
    DnnlCall m_call;
    WeightReorder m_weights;
    memory::desc m_xDescription;
    memory::desc m_yDescription;
    memory::desc m_weightDescription;
    memory::desc m_biasDescription;
    memory::desc m_scratchpad;
    WorkspaceLayout m_layout;
    std::size_t m_scratchpadOffset = 0;
    std::array<Operand, 3> m_operands;
    Result m_result;
};

} // namespace

std::unique_ptr<Kernel> makeConv(const KernelRequest& request)
{
    requireProduct(request, request.op == Op::Conv2d);
    return std::make_unique<ConvKernel>(request);
}

} // namespace mantissa::cpu
