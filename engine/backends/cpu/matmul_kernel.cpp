// Linear and MatMul on a oneDNN matmul primitive that is created once and executed on fixed memory.
//
// Half operands follow one contract on every CPU: exact products, FP32 sums, one rounding. oneDNN 2.6 has no FP16
// product, and its BF16 product needs AVX512_BF16, so both formats are expanded to FP32 (exact) where that is missing.
// Either way the FP32 result lands in the workspace and our own pass rounds it: oneDNN's flushes subnormal results.
#include "engine/backends/cpu/cpu_backend.h"
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"
#include "engine/core/cpu_features.h"
#include "engine/core/error.h"

#include <dnnl.hpp>
#include <omp.h>

#include <array>
#include <atomic>

namespace mantissa {

namespace {

std::atomic<std::uint64_t> createdPrimitives {0};

} // namespace

std::uint64_t cpuPrimitivesCreated()
{
    return createdPrimitives.load();
}

} // namespace mantissa

namespace mantissa::cpu {

namespace {

using dnnl::memory;

/// oneDNN reads the calling thread's OpenMP thread count both when it creates and when it executes.
class OmpThreads
{
public:
    explicit OmpThreads(int threads)
        : m_previous(omp_get_max_threads())
    {
        omp_set_num_threads(threads);
    }

    ~OmpThreads() { omp_set_num_threads(m_previous); }

    OmpThreads(const OmpThreads&) = delete;
    OmpThreads& operator=(const OmpThreads&) = delete;

private:
    int m_previous;
};

[[noreturn]] void failDnnl(const char* what, dnnl_status_t status)
{
    const ErrorCode code = status == dnnl_out_of_memory ? ErrorCode::OutOfMemory : ErrorCode::BackendFailure;
    throw Error(code,
        std::string("oneDNN could not ") + what + " (status " + std::to_string(status)
            + "). Less memory use by other programs or a smaller batch may help.");
}

const dnnl::engine& cpuEngine()
{
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

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

/// Pieces of the workspace, each on its own cache lines.
class WorkspaceLayout
{
public:
    std::size_t take(std::size_t bytes)
    {
        const std::size_t offset = m_bytes;
        m_bytes += (bytes + 63) / 64 * 64;
        return offset;
    }

    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    std::size_t m_bytes = 0;
};

/// One input of the product: as it is, or expanded to FP32 in the workspace first.
struct Operand
{
    Source source;
    std::size_t elements = 0;
    bool expands = false;
    std::size_t offset = 0; ///< in the workspace
    float* expanded = nullptr;

    [[nodiscard]] void* bind(void* data, std::byte* workspace)
    {
        source.data = data;
        expanded = reinterpret_cast<float*>(workspace + offset);
        return expands ? expanded : data;
    }

    void prepare() const
    {
        if (expands) {
            expand(source.dtype, source.data, expanded, elements);
        }
    }
};

class MatMulKernel : public Kernel
{
public:
    explicit MatMulKernel(const KernelRequest& request)
        : m_shape(shapeOf(request))
        , m_threads(request.threads)
        , m_isNative(request.inputs[0].dtype == DType::BFloat16 && request.inputs[1].dtype == DType::BFloat16
              && cpuIsa() == CpuIsa::Avx512Bf16)
        , m_stream(cpuEngine())
    {
        m_result.dtype = request.outputs[0].dtype;
        for (std::size_t i = 0; i < request.inputs.size(); ++i) {
            Operand& operand = m_operands[i];
            operand.source.dtype = request.inputs[i].dtype;
            operand.elements = elementsOf(request.inputs[i]);
            operand.expands = isHalf(operand.source.dtype) && !(m_isNative && i < 2);
        }
        m_hasBias = request.inputs.size() > 2;
        create();
        layOut();
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        auto* workspace = static_cast<std::byte*>(binding.workspace);
        m_result.data = binding.outputs[0];
        m_result.census = binding.census;
        m_result.histogram = binding.histogram;
        m_product = reinterpret_cast<float*>(workspace + m_productOffset);
        m_arguments.clear();
        m_memories.clear();
        addArgument(DNNL_ARG_SRC, m_description.src_desc(), m_operands[0].bind(binding.inputs[0], workspace));
        addArgument(DNNL_ARG_WEIGHTS, m_description.weights_desc(), m_operands[1].bind(binding.inputs[1], workspace));
        if (m_hasBias) {
            addArgument(DNNL_ARG_BIAS, m_biasDescription, m_operands[2].bind(binding.inputs[2], workspace));
        }
        addArgument(DNNL_ARG_DST, m_description.dst_desc(),
            m_result.dtype == DType::Float32 ? m_result.data : static_cast<void*>(m_product));
        addArgument(DNNL_ARG_SCRATCHPAD, m_description.scratchpad_desc(), workspace + m_scratchpadOffset);
    }

    void run(Stream& /*stream*/) override
    {
        for (const Operand& operand : m_operands) {
            operand.prepare();
        }
        const OmpThreads threads(m_threads);
        // The C function: the C++ one builds a vector of arguments for each call.
        const dnnl_status_t status = dnnl_primitive_execute(
            m_primitive.get(), m_stream.get(), static_cast<int>(m_arguments.size()), m_arguments.data());
        if (status != dnnl_success) {
            failDnnl("run a matrix product", status);
        }
        m_result.finish(0, results(), m_product);
    }

private:
    [[nodiscard]] std::size_t results() const
    {
        return static_cast<std::size_t>(m_shape.batch * m_shape.m * m_shape.n);
    }

    void create()
    {
        const memory::data_type type = m_isNative ? memory::data_type::bf16 : memory::data_type::f32;
        const auto [batch, m, n, k, transposeA, transposeB] = m_shape;
        const memory::desc a = matrix(m_shape, m, k, type, transposeA);
        const memory::desc b = matrix(m_shape, k, n, type, transposeB);
        const memory::desc y = matrix(m_shape, m, n, memory::data_type::f32);
        m_biasDescription = memory::desc({1, n}, memory::data_type::f32, memory::dims {n, 1});
        dnnl::primitive_attr attributes;
        attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
        const OmpThreads threads(m_threads);
        try {
            const auto operation
                = m_hasBias ? dnnl::matmul::desc(a, b, m_biasDescription, y) : dnnl::matmul::desc(a, b, y);
            m_description = dnnl::matmul::primitive_desc(operation, attributes, cpuEngine());
            m_primitive = dnnl::matmul(m_description);
        } catch (const dnnl::error& error) {
            failDnnl("create a matrix product", error.status);
        }
        ++createdPrimitives;
    }

    void layOut()
    {
        for (Operand& operand : m_operands) {
            operand.offset = m_layout.take(operand.expands ? operand.elements * sizeof(float) : 0);
        }
        m_productOffset = m_layout.take(isHalf(m_result.dtype) ? results() * sizeof(float) : 0);
        m_scratchpadOffset = m_layout.take(m_description.scratchpad_desc().get_size());
    }

    void addArgument(int argument, const memory::desc& description, void* data)
    {
        m_memories.emplace_back(description, cpuEngine(), data);
        m_arguments.push_back({argument, m_memories.back().get()});
    }

    ProductShape m_shape;
    int m_threads;
    bool m_isNative;
    bool m_hasBias = false;
    dnnl::stream m_stream;
    dnnl::matmul::primitive_desc m_description;
    dnnl::matmul m_primitive;
    memory::desc m_biasDescription;
    WorkspaceLayout m_layout;
    std::size_t m_productOffset = 0;
    std::size_t m_scratchpadOffset = 0;
    std::array<Operand, 3> m_operands; ///< a, b, bias
    float* m_product = nullptr;
    Target m_result;
    std::vector<memory> m_memories;
    std::vector<dnnl_exec_arg_t> m_arguments;
};

} // namespace

std::unique_ptr<Kernel> makeMatMul(const KernelRequest& request)
{
    const bool hasBias = request.op == Op::Linear && request.inputs.size() == 3;
    requireArity(request, hasBias ? 3 : 2, 1);
    for (const TensorType& type : request.inputs) {
        requireFloating(request, type);
    }
    requireFloating(request, request.outputs[0]);
    if (hasBias) {
        requireElements(request, request.inputs[2], request.outputs[0].shape.back());
    }
    return std::make_unique<MatMulKernel>(request);
}

} // namespace mantissa::cpu
