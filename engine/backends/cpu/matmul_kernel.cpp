// Linear and MatMul on a oneDNN matmul primitive that is created once and executed on fixed memory.
//
// Half operands follow one contract on every CPU: exact products, FP32 sums, one rounding. oneDNN 2.6 has no FP16
// product, and its BF16 product needs AVX512_BF16, so both formats are expanded to FP32 (exact) where that is missing.
// Either way the FP32 result lands in the workspace and our own pass rounds it: oneDNN's flushes subnormal results.
#include "engine/backends/cpu/dnnl_call.h"
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/workspace.h"
#include "engine/core/cpu_features.h"
#include "engine/core/error.h"

#include <array>

namespace mantissa::cpu {

namespace {

using dnnl::memory;

/// Sizes of y[m,n] = op(a)[m,k] op(b)[k,n], `batch` times.
struct ProductShape
{
    memory::dim batch = 1;
    memory::dim m = 0;
    memory::dim n = 0;
    memory::dim k = 0;
    bool transposeA = false;
    bool transposeB = false;
};

ProductShape shapeOf(const KernelRequest& request)
{
    const auto attributes = request.op == Op::MatMul ? attributesOf<MatMulAttributes>(request.attributes)
                                                     : MatMulAttributes {.transposeA = false, .transposeB = true};
    const Shape& a = request.inputs[0].shape;
    const Shape& b = request.inputs[1].shape;
    const Shape& y = request.outputs[0].shape;
    if (a.rank() < 2 || b.rank() < 2 || y.rank() < 2 || y.elements() == 0) {
        refuse(request, "matrices with elements");
    }
    ProductShape shape {
        .m = y[y.rank() - 2], .n = y.back(), .transposeA = attributes.transposeA, .transposeB = attributes.transposeB};
    if (!attributes.joinRows && b.rank() > 2) {
        shape.batch = y.elements() / (shape.m * shape.n);
    } else {
        shape.m = y.elements() / shape.n;
    }
    shape.k = a.elements() / (shape.batch * shape.m);
    if (shape.batch * shape.m * shape.k != a.elements() || shape.batch * shape.k * shape.n != b.elements()) {
        throw Error(ErrorCode::ShapeMismatch,
            "[matmul] The inner dimensions of " + a.text() + " and " + b.text() + " and the result " + y.text()
                + " do not fit.");
    }
    return shape;
}

/// A matrix of `rows` x `columns`, or one per batch; transposed: stored as its transpose.
memory::desc matrix(
    const ProductShape& shape, memory::dim rows, memory::dim columns, memory::data_type type, bool isTransposed = false)
{
    const memory::dim down = isTransposed ? 1 : columns;
    const memory::dim across = isTransposed ? rows : 1;
    if (shape.batch == 1) {
        return {{rows, columns}, type, memory::dims {down, across}};
    }
    return {{shape.batch, rows, columns}, type, memory::dims {rows * columns, down, across}};
}

class MatMulKernel : public Kernel
{
public:
    explicit MatMulKernel(const KernelRequest& request)
        : m_shape(shapeOf(request))
        , m_isNative(request.inputs[0].dtype == DType::BFloat16 && request.inputs[1].dtype == DType::BFloat16
              && cpuIsa() == CpuIsa::Avx512Bf16)
        , m_hasBias(request.inputs.size() > 2)
        , m_threads(request.threads)
        , m_call("a matrix product", request.threads)
    {
        m_call.create([this] {
            m_description = describe();
            return dnnl::matmul(m_description);
        });
        for (std::size_t i = 0; i < request.inputs.size(); ++i) {
            m_operands[i].plan(request.inputs[i], m_layout, m_isNative && i < 2);
        }
        m_result.plan(request.outputs[0], m_layout);
        m_scratchpadOffset = m_layout.take(m_description.scratchpad_desc().get_size());
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        auto* workspace = static_cast<std::byte*>(binding.workspace);
        m_result.bind(binding, 0);
        m_call.clearArguments();
        m_call.addArgument(DNNL_ARG_SRC, m_description.src_desc(), m_operands[0].bind(binding.inputs[0], workspace));
        m_call.addArgument(
            DNNL_ARG_WEIGHTS, m_description.weights_desc(), m_operands[1].bind(binding.inputs[1], workspace));
        if (m_hasBias) {
            m_call.addArgument(DNNL_ARG_BIAS, biasDescription(), m_operands[2].bind(binding.inputs[2], workspace));
        }
        m_call.addArgument(DNNL_ARG_DST, m_description.dst_desc(), m_result.values);
        m_call.addArgument(DNNL_ARG_SCRATCHPAD, m_description.scratchpad_desc(), workspace + m_scratchpadOffset);
    }

    void run(Stream& /*stream*/) override
    {
        for (const Operand& operand : m_operands) {
            operand.prepare(m_threads);
        }
        m_call.run();
        m_result.finish(m_threads);
    }

private:
    [[nodiscard]] dnnl::matmul::primitive_desc describe() const
    {
        const memory::data_type type = m_isNative ? memory::data_type::bf16 : memory::data_type::f32;
        const auto [batch, m, n, k, transposeA, transposeB] = m_shape;
        const memory::desc a = matrix(m_shape, m, k, type, transposeA);
        const memory::desc b = matrix(m_shape, k, n, type, transposeB);
        const memory::desc y = matrix(m_shape, m, n, memory::data_type::f32);
        const auto operation = m_hasBias ? dnnl::matmul::desc(a, b, biasDescription(), y) : dnnl::matmul::desc(a, b, y);
        return {operation, userScratchpad(), cpuEngine()};
    }

    [[nodiscard]] memory::desc biasDescription() const
    {
        return {{1, m_shape.n}, memory::data_type::f32, memory::dims {m_shape.n, 1}};
    }

    ProductShape m_shape;
    bool m_isNative;
    bool m_hasBias;
    int m_threads;
    DnnlCall m_call;
    dnnl::matmul::primitive_desc m_description;
    WorkspaceLayout m_layout;
    std::size_t m_scratchpadOffset = 0;
    std::array<Operand, 3> m_operands; ///< a, b, bias
    Result m_result;
};

} // namespace

std::unique_ptr<Kernel> makeMatMul(const KernelRequest& request)
{
    requireProduct(request, request.op == Op::Linear);
    return std::make_unique<MatMulKernel>(request);
}

} // namespace mantissa::cpu
