// The cuBLASLt calls in use, strict where the library is: sizes of attributes, operands inside allocations, workspace.
#include "tests/cuda/host_layer/host_layer.h"

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <array>
#include <cstring>
#include <functional>

namespace mantissa::host_layer {

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work);

namespace {

/// Asked for, so that a caller who forgets the workspace is found out.
constexpr std::size_t neededWorkspace = 1024;

struct MatmulDesc
{
    cublasComputeType_t compute;
    cudaDataType_t scale;
    cublasOperation_t transA = CUBLAS_OP_N;
    cublasOperation_t transB = CUBLAS_OP_N;
};

struct Layout
{
    cudaDataType_t type;
    std::uint64_t rows;
    std::uint64_t columns;
    std::int64_t leading;
    std::int32_t batches = 1;
    std::int64_t stride = 0;

    [[nodiscard]] std::size_t elementBytes() const { return type == CUDA_R_32F ? 4 : 2; }

    /// From the first to behind the last element of all matrices.
    [[nodiscard]] std::size_t bytes() const
    {
        const std::int64_t last = (batches - 1) * stride + (static_cast<std::int64_t>(columns) - 1) * leading
            + static_cast<std::int64_t>(rows);
        return static_cast<std::size_t>(last) * elementBytes();
    }

    [[nodiscard]] float at(const void* data, std::int64_t batch, std::int64_t row, std::int64_t column) const
    {
        const std::int64_t index = batch * stride + column * leading + row;
        switch (type) {
        case CUDA_R_32F:
            return static_cast<const float*>(data)[index];
        case CUDA_R_16F:
            return __half2float(static_cast<const __half*>(data)[index]);
        default:
            return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]);
        }
    }
};

struct Preference
{
    std::size_t workspace = 0;
    std::array<std::uint32_t, 4> alignment {256, 256, 256, 256};
};

template <typename Mine, typename Opaque> Mine& mine(Opaque* opaque)
{
    return *reinterpret_cast<Mine*>(opaque);
}

template <typename Value> cublasStatus_t take(Value& target, const void* source, std::size_t bytes)
{
    if (bytes != sizeof(Value)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    std::memcpy(&target, source, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

struct Sizes
{
    std::int64_t m;
    std::int64_t n;
    std::int64_t k;
};

Sizes sizesOf(const MatmulDesc& desc, const Layout& a, const Layout& d)
{
    return {static_cast<std::int64_t>(d.rows), static_cast<std::int64_t>(d.columns),
        static_cast<std::int64_t>(desc.transA == CUBLAS_OP_N ? a.columns : a.rows)};
}

bool isValid(const MatmulDesc& desc, const Layout& a, const Layout& b, const Layout& c, const Layout& d)
{
    const auto [m, n, k] = sizesOf(desc, a, d);
    const bool isTransA = desc.transA != CUBLAS_OP_N;
    const bool isTransB = desc.transB != CUBLAS_OP_N;
    const auto fits = [](const Layout& layout, std::int64_t rows, std::int64_t columns) {
        return static_cast<std::int64_t>(layout.rows) == rows && static_cast<std::int64_t>(layout.columns) == columns
            && layout.leading >= rows;
    };
    return fits(a, isTransA ? k : m, isTransA ? m : k) && fits(b, isTransB ? n : k, isTransB ? k : n) && fits(c, m, n)
        && fits(d, m, n) && a.type == b.type && c.type == d.type && d.type == desc.scale
        && (desc.compute == CUBLAS_COMPUTE_16F ? desc.scale == CUDA_R_16F && a.type == CUDA_R_16F
                                               : desc.scale == CUDA_R_32F)
        && (desc.compute != CUBLAS_COMPUTE_32F_FAST_TF32 || a.type == CUDA_R_32F) && a.batches == d.batches
        && b.batches == d.batches && c.batches == d.batches;
}

/// As the matrix units see an FP32 operand: with 10 fraction bits, the nearest.
float asTf32(float value)
{
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x0FFFU + (bits >> 13U & 1U)) & 0xFFFFE000U;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

void multiply(const MatmulDesc& desc, const void* a, const Layout& aLayout, const void* b, const Layout& bLayout,
    void* d, const Layout& dLayout)
{
    const bool isTf32 = desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const bool isHalf = desc.compute == CUBLAS_COMPUTE_16F;
    const auto [m, n, k] = sizesOf(desc, aLayout, dLayout);
    const bool isTransA = desc.transA != CUBLAS_OP_N;
    const bool isTransB = desc.transB != CUBLAS_OP_N;
    for (std::int64_t batch = 0; batch < dLayout.batches; ++batch) {
        for (std::int64_t column = 0; column < n; ++column) {
            for (std::int64_t row = 0; row < m; ++row) {
                float sum = 0;
                for (std::int64_t i = 0; i < k; ++i) {
                    const float left = isTransA ? aLayout.at(a, batch, i, row) : aLayout.at(a, batch, row, i);
                    const float right = isTransB ? bLayout.at(b, batch, column, i) : bLayout.at(b, batch, i, column);
                    sum += isTf32 ? asTf32(left) * asTf32(right) : left * right;
                    sum = isHalf ? __half2float(__float2half_rn(sum)) : sum;
                }
                const std::int64_t at = batch * dLayout.stride + column * dLayout.leading + row;
                if (isHalf) {
                    static_cast<__half*>(d)[at] = __float2half_rn(sum);
                } else {
                    static_cast<float*>(d)[at] = sum;
                }
            }
        }
    }
}

bool isAligned(const void* pointer, std::uint32_t alignment)
{
    return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

/// Of the type of the sums.
bool isFactor(const MatmulDesc& desc, const void* factor, float value)
{
    return value
        == (desc.scale == CUDA_R_16F ? __half2float(*static_cast<const __half*>(factor))
                                     : *static_cast<const float*>(factor));
}

/// What the heuristic keeps in its opaque answer, to be checked when it is used.
struct Algorithm
{
    std::array<std::uint32_t, 4> alignment;
};

} // namespace

} // namespace mantissa::host_layer

using namespace mantissa::host_layer;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle)
{
    static int object = 0;
    *handle = reinterpret_cast<cublasLtHandle_t>(&object);
    return isFailing("cublasLtCreate") ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t /*handle*/)
{
    return CUBLAS_STATUS_SUCCESS;
}

std::size_t cublasLtGetVersion()
{
    return CUBLAS_VERSION;
}

const char* cublasLtGetStatusString(cublasStatus_t /*status*/)
{
    return "an error of the host layer";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale)
{
    if (isFailing("cublasLtMatmulDescCreate")) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new MatmulDesc {compute, scale});
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    delete &mine<MatmulDesc>(desc);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void* value, std::size_t bytes)
{
    if (isFailing("cublasLtMatmulDescSetAttribute")) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
        return take(mine<MatmulDesc>(desc).transA, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        return take(mine<MatmulDesc>(desc).transB, value, bytes);
    default:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, std::uint64_t rows,
    std::uint64_t columns, std::int64_t leading)
{
    if (isFailing("cublasLtMatrixLayoutCreate")) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout {type, rows, columns, leading});
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    delete &mine<Layout>(layout);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, const void* value, std::size_t bytes)
{
    if (isFailing("cublasLtMatrixLayoutSetAttribute")) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        return take(mine<Layout>(layout).batches, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        return take(mine<Layout>(layout).stride, value, bytes);
    default:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference)
{
    if (isFailing("cublasLtMatmulPreferenceCreate")) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    delete &mine<Preference>(preference);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void* value, std::size_t bytes)
{
    if (isFailing("cublasLtMatmulPreferenceSetAttribute")) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    Preference& mineOf = mine<Preference>(preference);
    switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return take(mineOf.workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
        return take(mineOf.alignment[0], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
        return take(mineOf.alignment[1], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
        return take(mineOf.alignment[2], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return take(mineOf.alignment[3], value, bytes);
    default:
        return CUBLAS_STATUS_INVALID_VALUE;
    }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t desc,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int /*wanted*/, cublasLtMatmulHeuristicResult_t* results, int* found)
{
    *found = 0;
    if (isFailing("cublasLtMatmulAlgoGetHeuristic")) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (!isValid(mine<MatmulDesc>(desc), mine<Layout>(a), mine<Layout>(b), mine<Layout>(c), mine<Layout>(d))
        || mine<Preference>(preference).workspace < neededWorkspace) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    *results = {};
    static_assert(sizeof(Algorithm) <= sizeof(results->algo));
    const Algorithm algorithm {mine<Preference>(preference).alignment};
    std::memcpy(&results->algo, &algorithm, sizeof algorithm);
    results->workspaceSize = neededWorkspace;
    results->state = CUBLAS_STATUS_SUCCESS;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
    cublasLtMatrixLayout_t aLayout, const void* b, cublasLtMatrixLayout_t bLayout, const void* beta, const void* c,
    cublasLtMatrixLayout_t cLayout, void* d, cublasLtMatrixLayout_t dLayout, const cublasLtMatmulAlgo_t* algo,
    void* workspace, std::size_t workspaceBytes, cudaStream_t stream)
{
    if (isFailing("cublasLtMatmul")) {
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    const Layout layoutA = mine<Layout>(aLayout);
    const Layout layoutB = mine<Layout>(bLayout);
    const Layout layoutD = mine<Layout>(dLayout);
    const MatmulDesc wanted = mine<MatmulDesc>(desc);
    Algorithm algorithm {};
    std::memcpy(&algorithm, algo, sizeof algorithm);
    const bool isInPlace = isDeviceRange(a, layoutA.bytes()) && isDeviceRange(b, layoutB.bytes())
        && isDeviceRange(d, layoutD.bytes()) && isDeviceRange(workspace, workspaceBytes);
    const bool areAligned = isAligned(a, algorithm.alignment[0]) && isAligned(b, algorithm.alignment[1])
        && isAligned(c, algorithm.alignment[2]) && isAligned(d, algorithm.alignment[3]) && isAligned(workspace, 256);
    if (!isInPlace || !areAligned || workspaceBytes < neededWorkspace || !isFactor(wanted, alpha, 1.0F)
        || !isFactor(wanted, beta, 0.0F) || !isValid(wanted, layoutA, layoutB, mine<Layout>(cLayout), layoutD)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const cudaError_t status = enqueue(stream, [=] {
        multiply(wanted, a, layoutA, b, layoutB, d, layoutD);
        return cudaSuccess;
    });
    return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
