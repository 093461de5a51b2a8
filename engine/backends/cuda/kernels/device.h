/// What kernels share: reading and rounding elements, counting the roundings, sums over a block, random numbers.
#pragma once

#include "engine/backends/cuda/kernels/launch.h"
#include "engine/backends/cuda/kernels/views.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

namespace mantissa::cuda {

constexpr unsigned fullMask = 0xffffffffU;
constexpr int warpWidth = 32;

__device__ inline int threadInBlock()
{
    return static_cast<int>(threadIdx.x);
}

__device__ inline int threadsInBlock()
{
    return static_cast<int>(blockDim.x);
}

__device__ inline std::int64_t blockInGrid()
{
    return static_cast<std::int64_t>(blockIdx.x);
}

__device__ inline std::int64_t threadInGrid()
{
    return blockInGrid() * threadsInBlock() + threadInBlock();
}

__device__ inline std::int64_t threadsInGrid()
{
    return static_cast<std::int64_t>(gridDim.x) * threadsInBlock();
}

__device__ inline bool isNan(float x)
{
    return x != x;
}

__device__ inline bool isFinite(float x)
{
    return fabsf(x) <= 3.402823466e38F;
}

// --- elements ---

__device__ inline float load(const In& x, std::int64_t i)
{
    switch (x.format) {
    case Format::Float16:
        return __half2float(static_cast<const __half*>(x.data)[i]);
    case Format::BFloat16:
        return __bfloat162float(static_cast<const __nv_bfloat16*>(x.data)[i]);
    case Format::Float64:
        return static_cast<float>(static_cast<const double*>(x.data)[i]);
    case Format::Int32:
        return static_cast<float>(static_cast<const std::int32_t*>(x.data)[i]);
    case Format::UInt8:
        return static_cast<float>(static_cast<const std::uint8_t*>(x.data)[i]);
    default:
        return static_cast<const float*>(x.data)[i];
    }
}

__device__ inline std::int32_t loadInteger(const In& x, std::int64_t i)
{
    return static_cast<const std::int32_t*>(x.data)[i];
}

/// The bits of a value rounded to a 16-bit format, nearest even.
__device__ inline unsigned roundedBits(Format format, float value)
{
    return format == Format::Float16 ? static_cast<__half_raw>(__float2half_rn(value)).x
                                     : static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(value)).x;
}

/// The value that the format holds for `value`; FP32 stands for no rounding.
__device__ inline float roundTo(Format format, float value)
{
    switch (format) {
    case Format::Float16:
        return __half2float(__float2half_rn(value));
    case Format::BFloat16:
        return __bfloat162float(__float2bfloat16_rn(value));
    default:
        return value;
    }
}

/// The census of what one thread rounded: how many elements reach each boundary, from all of them to NaN. A class of
/// Census is what lies between two.
struct Tally
{
    unsigned reached[7] = {0, 0, 0, 0, 0, 0, 0};

    __device__ void add(Format format, float source, unsigned bits)
    {
        const unsigned magnitude = bits & 0x7fffU;
        const unsigned infinity = format == Format::Float16 ? 0x7c00U : 0x7f80U;
        const unsigned minNormal = format == Format::Float16 ? 0x0400U : 0x0080U;
        reached[0] += 1;
        reached[1] += source != 0.0F ? 1U : 0U; // NaN counts as reaching everything
        reached[2] += magnitude != 0 ? 1U : 0U;
        reached[3] += magnitude >= minNormal ? 1U : 0U;
        reached[4] += magnitude >= infinity ? 1U : 0U;
        reached[5] += isFinite(source) ? 0U : 1U;
        reached[6] += magnitude > infinity ? 1U : 0U;
    }
};

/// Rounds, stores, counts, and returns what was stored.
__device__ inline float store(const Out& y, std::int64_t i, float value, Tally& tally)
{
    switch (y.format) {
    case Format::Float16:
    case Format::BFloat16: {
        const unsigned bits = roundedBits(y.format, value);
        static_cast<unsigned short*>(y.data)[i] = static_cast<unsigned short>(bits);
        if (y.census != nullptr) {
            tally.add(y.format, value, bits);
        }
        if (y.histogram != nullptr) {
            atomicAdd(y.histogram + (__float_as_uint(value) >> 23U & 0xffU), 1ULL);
        }
        return roundTo(y.format, value);
    }
    case Format::Float64:
        static_cast<double*>(y.data)[i] = static_cast<double>(value);
        return value;
    default:
        static_cast<float*>(y.data)[i] = value;
        return value;
    }
}

// --- sums over a warp and a block; every thread of the block takes part ---

template <typename T> __device__ T warpSum(T value)
{
    for (int distance = warpWidth / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(fullMask, value, distance);
    }
    return value;
}

/// The larger; NaN if there is one.
__device__ inline float largerOrNan(float a, float b)
{
    return b > a || isNan(b) ? b : a;
}

__device__ inline float warpMax(float value)
{
    for (int distance = warpWidth / 2; distance > 0; distance /= 2) {
        value = largerOrNan(value, __shfl_xor_sync(fullMask, value, distance));
    }
    return value;
}

/// In an order that depends on the block's size alone; every thread gets it.
template <typename T> __device__ T blockSum(T value)
{
    SHARED_ARRAY(T, parts, blockSize / warpWidth);
    value = warpSum(value);
    if (threadInBlock() % warpWidth == 0) {
        parts[threadInBlock() / warpWidth] = value;
    }
    __syncthreads();
    T sum = parts[0];
    for (int warp = 1; warp < threadsInBlock() / warpWidth; ++warp) {
        sum += parts[warp];
    }
    __syncthreads();
    return sum;
}

__device__ inline float blockMax(float value)
{
    SHARED_ARRAY(float, parts, blockSize / warpWidth);
    value = warpMax(value);
    if (threadInBlock() % warpWidth == 0) {
        parts[threadInBlock() / warpWidth] = value;
    }
    __syncthreads();
    float largest = parts[0];
    for (int warp = 1; warp < threadsInBlock() / warpWidth; ++warp) {
        largest = largerOrNan(largest, parts[warp]);
    }
    __syncthreads();
    return largest;
}

/// Adds the block's counts to the census of `y`, if it has one.
__device__ inline void flush(const Out& y, const Tally& tally)
{
    constexpr int boundaries = 7;
    if (y.census == nullptr) { // the same for the whole block
        return;
    }
    SHARED_ARRAY(unsigned, parts, blockSize / warpWidth * boundaries);
    for (int boundary = 0; boundary < boundaries; ++boundary) {
        const unsigned sum = warpSum(tally.reached[boundary]);
        if (threadInBlock() % warpWidth == 0) {
            parts[threadInBlock() / warpWidth * boundaries + boundary] = sum;
        }
    }
    __syncthreads();
    if (threadInBlock() < boundaries) {
        const int boundary = threadInBlock();
        unsigned count = 0;
        for (int warp = 0; warp < threadsInBlock() / warpWidth; ++warp) {
            const unsigned* const part = parts + warp * boundaries + boundary;
            count += part[0] - (boundary + 1 < boundaries ? part[1] : 0U);
        }
        if (count != 0) {
            atomicAdd(y.census + boundary, static_cast<unsigned long long>(count));
        }
    }
    __syncthreads();
}

// --- random numbers: engine/core/philox.h on the device ---

struct RandomWords
{
    std::uint32_t word[4];
};

__device__ inline RandomWords philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter)
{
    auto c0 = static_cast<std::uint32_t>(counter);
    auto c1 = static_cast<std::uint32_t>(counter >> 32U);
    auto c2 = static_cast<std::uint32_t>(stream);
    auto c3 = static_cast<std::uint32_t>(stream >> 32U);
    auto key0 = static_cast<std::uint32_t>(seed);
    auto key1 = static_cast<std::uint32_t>(seed >> 32U);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t {0xD2511F53U} * c0;
        const std::uint64_t product1 = std::uint64_t {0xCD9E8D57U} * c2;
        c0 = static_cast<std::uint32_t>(product1 >> 32U) ^ c1 ^ key0;
        c1 = static_cast<std::uint32_t>(product1);
        c2 = static_cast<std::uint32_t>(product0 >> 32U) ^ c3 ^ key1;
        c3 = static_cast<std::uint32_t>(product0);
        key0 += 0x9E3779B9U;
        key1 += 0xBB67AE85U;
    }
    return {{c0, c1, c2, c3}};
}

__device__ inline float toUnitFloat(std::uint32_t bits)
{
    return static_cast<float>(bits >> 8U) * 5.9604644775390625e-8F; // 2^-24
}

// --- the plain pattern: element i of the result is function(i) ---

template <typename Function>
__global__ void __launch_bounds__(blockSize) elementwiseKernel(Function function, Out y, std::int64_t n)
{
    Tally tally;
    for (std::int64_t i = threadInGrid(); i < n; i += threadsInGrid()) {
        store(y, i, function(i), tally);
    }
    flush(y, tally);
}

template <typename Function>
void elementwise(const Function& function, const Out& y, std::int64_t n, cudaStream_t stream)
{
    if (n > 0) {
        launch(elementwiseKernel<Function>, blocksFor(n), blockSize, 0, stream, function, y, n);
    }
}

} // namespace mantissa::cuda
