// Matrix products through cuBLASLt, accumulated in FP32. A product that is to be 16-bit goes through FP32 memory, so
// that the bias joins before the one rounding, and the rounding is ours to count: the same whether it is counted or
// not. Where a lane asks for FP16 sums, cuBLASLt rounds to FP16 as it goes, and what overflowed there comes out
// infinite.
#include "engine/backends/cuda/cuda_call.h"
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"
#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mantissa::cuda {

namespace {

void checkBlas(cublasStatus_t status, const char* attempt)
{
    if (status == CUBLAS_STATUS_SUCCESS) {
        return;
    }
    const bool isMemory = status == CUBLAS_STATUS_ALLOC_FAILED;
    throw Error(isMemory ? ErrorCode::OutOfMemory : ErrorCode::BackendFailure,
        fmt::format("cuBLASLt could not {}: {} (status {}).", attempt, cublasLtGetStatusString(status),
            static_cast<int>(status)));
}

template <typename Handle, auto destroy> class Owned
{
public:
    Owned() = default;
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;

    ~Owned()
    {
        if (m_handle != nullptr) {
            destroy(m_handle);
        }
    }

    Handle* fresh() { return &m_handle; }

    [[nodiscard]] Handle get() const { return m_handle; }

private:
    Handle m_handle = nullptr;
};

using MatmulDesc = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

/// y[m,n] = op(a) op(b), row-major, `batches` times.
struct Product
{
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::int64_t batches = 1;
    bool sharesB = false;
    bool transposeA = false;
    bool transposeB = false;
};

Product productOf(const KernelRequest& request)
{
    const Shape& a = request.inputs[0].shape;
    const Shape& b = request.inputs[1].shape;
    const Shape& y = request.outputs[0].shape;
    Product out;
    if (a.rank() == 0 || b.rank() < 2 || y.rank() == 0 || y.elements() == 0) {
        refuse(request, "matrices");
    }
    if (request.op == Op::Linear) {
        out = {y.elements() / y.back(), y.back(), a.back(), 1, false, false, true};
    } else {
        const auto attributes = attributesOf<MatMulAttributes>(request.attributes);
        if (y.rank() < 2 || a.rank() < 2) {
            refuse(request, "matrices");
        }
        out.transposeA = attributes.transposeA;
        out.transposeB = attributes.transposeB;
        out.n = y.back();
        out.m = attributes.joinRows ? y[0] : y[y.rank() - 2];
        out.k = attributes.joinRows ? a.elements() / out.m : a[a.rank() - (attributes.transposeA ? 2 : 1)];
        out.batches = y.elements() / (out.m * out.n);
        out.sharesB = b.rank() == 2;
        if (out.sharesB && !out.transposeA) { // the leading dimensions count rows
            out.m *= out.batches;
            out.batches = 1;
        }
    }
    const std::int64_t matricesOfB = out.sharesB ? 1 : out.batches;
    if (a.elements() != out.m * out.k * out.batches || b.elements() != out.n * out.k * matricesOfB || out.k == 0) {
        refuse(request, "operands whose sizes fit each other");
    }
    return out;
}

cudaDataType_t blasType(Format format)
{
    return format == Format::Float16 ? CUDA_R_16F : format == Format::BFloat16 ? CUDA_R_16BF : CUDA_R_32F;
}

void createLayout(Layout& layout, cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t batches,
    std::int64_t stride)
{
    checkBlas(cublasLtMatrixLayoutCreate(
                  layout.fresh(), type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows),
        "describe a matrix");
    const auto count = static_cast<std::int32_t>(batches);
    if (batches > 1) {
        checkBlas(
            cublasLtMatrixLayoutSetAttribute(layout.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
            "describe matrices");
        checkBlas(cublasLtMatrixLayoutSetAttribute(
                      layout.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
            "describe matrices");
    }
}

std::uint32_t alignmentOf(const void* pointer)
{
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    std::uint32_t alignment = 256;
    while (address % alignment != 0) {
        alignment /= 2;
    }
    return alignment;
}

std::size_t alignedUp(std::size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

class MatMulKernel final : public Kernel
{
public:
    MatMulKernel(const KernelRequest& request, const Context& context)
        : m_context(context)
        , m_name(opDef(request.op).name)
        , m_views(request)
        , m_product(productOf(request))
        , m_hasBias(request.inputs.size() > 2)
        , m_sumsInHalf(request.products.reducedSums && request.inputs[0].dtype == DType::Float16)
        , m_isDirect(request.outputs[0].dtype == DType::Float32 && !m_hasBias && !m_sumsInHalf)
        , m_widens(request.inputs[0].dtype == DType::BFloat16 && !context.hasAmpereUnits)
        , m_elements(request.outputs[0].shape.elements())
        , m_elementsOfA(request.inputs[0].shape.elements())
        , m_elementsOfB(request.inputs[1].shape.elements())
    {
        if (request.inputs[0].dtype != request.inputs[1].dtype) {
            refuse(request, "operands of one dtype");
        }
        if (m_hasBias) {
            requireElements(request, request.inputs[2], m_product.n);
        }
        placeWorkspace();
        // Row-major y = a b is column-major y^T = b^T a^T: the operands change places and keep their flags.
        const auto [m, n, k, batches, sharesB, transposeA, transposeB] = m_product;
        const cudaDataType_t type = m_widens ? CUDA_R_32F : blasType(formatOf(request.inputs[0].dtype));
        const cudaDataType_t sums = m_sumsInHalf ? CUDA_R_16F : CUDA_R_32F;
        const bool usesTf32 = request.products.tf32 && type == CUDA_R_32F && !m_widens;
        const cublasComputeType_t compute = m_sumsInHalf ? CUBLAS_COMPUTE_16F
            : usesTf32                                   ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                         : CUBLAS_COMPUTE_32F;
        checkBlas(cublasLtMatmulDescCreate(m_desc.fresh(), compute, sums), "describe a product");
        setTransposed(CUBLASLT_MATMUL_DESC_TRANSA, transposeB);
        setTransposed(CUBLASLT_MATMUL_DESC_TRANSB, transposeA);
        createLayout(m_left, type, transposeB ? k : n, transposeB ? n : k, batches, sharesB ? 0 : n * k);
        createLayout(m_right, type, transposeA ? m : k, transposeA ? k : m, batches, m * k);
        createLayout(m_result, sums, n, m, batches, m * n);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_blasAt + m_context.blasWorkspace; }

    void bind(const KernelBinding& binding) override
    {
        m_binding = binding;
        auto* const workspace = static_cast<std::byte*>(binding.workspace);
        m_a = m_widens ? workspace + m_aAt : binding.inputs[0];
        m_b = m_widens ? workspace + m_bAt : binding.inputs[1];
        m_d = m_isDirect ? binding.outputs[0] : workspace;
        chooseAlgorithm({alignmentOf(m_b), alignmentOf(m_a), alignmentOf(m_d)});
    }

    void run(Stream& stream) override
    {
        const cudaStream_t queue = streamOf(stream);
        if (m_widens) {
            widen(m_a, 0, m_elementsOfA, queue);
            widen(m_b, 1, m_elementsOfB, queue);
        }
        const Factor one = m_sumsInHalf ? Factor {.half = halfOne} : Factor {.single = 1.0F};
        const Factor zero {.single = 0.0F};
        checkBlas(cublasLtMatmul(m_context.blas, m_desc.get(), &one, m_b, m_left.get(), m_a, m_right.get(), &zero, m_d,
                      m_result.get(), m_d, m_result.get(), &m_algorithm,
                      static_cast<std::byte*>(m_binding.workspace) + m_blasAt, m_context.blasWorkspace, queue),
            "start a product");
        if (!m_isDirect) {
            const In product {m_d, m_sumsInHalf ? Format::Float16 : Format::Float32};
            runMap(m_hasBias ? Map::Add : Map::Copy, {product, m_views.optionalIn(m_binding, 2), m_product.n, 0},
                m_views.out(m_binding, 0), m_elements, queue);
        }
    }

private:
    /// What a product is multiplied with, in the format of its sums.
    union Factor {
        float single;
        std::uint16_t half;
    };

    static constexpr std::uint16_t halfOne = 0x3C00;

    /// The FP32 product, operands widened to FP32, then cuBLASLt's own.
    void placeWorkspace()
    {
        const auto bytes
            = [](std::int64_t elements) { return alignedUp(static_cast<std::size_t>(elements) * sizeof(float)); };
        m_aAt = m_isDirect ? 0 : bytes(m_elements);
        m_bAt = m_aAt + (m_widens ? bytes(m_elementsOfA) : 0);
        m_blasAt = m_bAt + (m_widens ? bytes(m_elementsOfB) : 0);
    }

    void setTransposed(cublasLtMatmulDescAttributes_t which, bool isTransposed)
    {
        const cublasOperation_t operation = isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
        checkBlas(
            cublasLtMatmulDescSetAttribute(m_desc.get(), which, &operation, sizeof operation), "describe a product");
    }

    void widen(void* target, std::size_t operand, std::int64_t elements, cudaStream_t queue) const
    {
        runMap(Map::Copy, {m_views.in(m_binding, operand), {nullptr, Format::Float32}, 0, 0},
            {target, Format::Float32, nullptr, nullptr}, elements, queue);
    }

    /// Of the left operand, the right one and the result, as cuBLASLt sees them: it assumes 256 bytes unless told.
    void chooseAlgorithm(const std::array<std::uint32_t, 3>& alignment)
    {
        if (alignment == m_alignment) {
            return;
        }
        Preference preference;
        checkBlas(cublasLtMatmulPreferenceCreate(preference.fresh()), "choose an algorithm");
        const auto set = [&preference](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
            checkBlas(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
                "choose an algorithm");
        };
        const std::uint64_t workspace = m_context.blasWorkspace;
        set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment[0]);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment[1]);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment[2]);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment[2]);
        cublasLtMatmulHeuristicResult_t result {};
        int found = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(m_context.blas, m_desc.get(), m_left.get(),
            m_right.get(), m_result.get(), m_result.get(), preference.get(), 1, &result, &found);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
            throw Error(ErrorCode::UnsupportedDtype,
                fmt::format("[{}] cuBLASLt has no algorithm for a product of {} x {} x {} on this GPU. Train this "
                            "model on the CPU.",
                    m_name, m_product.m, m_product.k, m_product.n));
        }
        checkBlas(status, "choose an algorithm");
        m_algorithm = result.algo;
        m_alignment = alignment;
    }

    const Context& m_context;
    std::string_view m_name;
    Views m_views;
    Product m_product;
    bool m_hasBias;
    bool m_sumsInHalf;
    bool m_isDirect; ///< into the output, not through FP32 memory
    bool m_widens;
    std::int64_t m_elements;
    std::int64_t m_elementsOfA;
    std::int64_t m_elementsOfB;
    std::size_t m_aAt = 0;
    std::size_t m_bAt = 0;
    std::size_t m_blasAt = 0;
    MatmulDesc m_desc;
    Layout m_left;
    Layout m_right;
    Layout m_result;
    cublasLtMatmulAlgo_t m_algorithm {};
    std::array<std::uint32_t, 3> m_alignment {};
    KernelBinding m_binding;
    void* m_a = nullptr;
    void* m_b = nullptr;
    void* m_d = nullptr;
};

} // namespace

std::unique_ptr<Kernel> makeMatMul(const KernelRequest& request, const Context& context)
{
    return std::make_unique<MatMulKernel>(request, context);
}

} // namespace mantissa::cuda
