// Ops that move elements, and rows of a table by index.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

struct PermuteFunction
{
    PermuteSetting setting;
    In x;

    __device__ float operator()(std::int64_t i) const
    {
        std::int64_t source = 0;
        for (int axis = setting.axes - 1; axis >= 0; --axis) {
            source += i % setting.sizes[axis] * setting.strides[axis];
            i /= setting.sizes[axis];
        }
        return load(x, source);
    }
};

/// The element of `target` at the same outer and inner place as element i of `from`, at `position` of the axis.
__device__ std::int64_t placeIn(const AxisView& target, const AxisView& from, std::int64_t i, std::int64_t position)
{
    return (i / from.inner / from.size * target.size + position) * from.inner + i % from.inner;
}

__device__ std::int64_t along(const AxisView& view, std::int64_t i)
{
    return i / view.inner % view.size;
}

__global__ void __launch_bounds__(blockSize)
    concatKernel(AxisView part, AxisView whole, std::int64_t begin, In x, Out y, std::int64_t n)
{
    Tally tally;
    for (std::int64_t i = threadInGrid(); i < n; i += threadsInGrid()) {
        store(y, placeIn(whole, part, i, begin + along(part, i)), load(x, i), tally);
    }
    flush(y, tally);
}

struct SliceFunction
{
    AxisView part;
    AxisView whole;
    std::int64_t begin;
    In x;

    __device__ float operator()(std::int64_t i) const
    {
        return load(x, placeIn(whole, part, i, begin + along(part, i)));
    }
};

struct SliceGradFunction
{
    AxisView part;
    AxisView whole;
    std::int64_t begin;
    In d;

    __device__ float operator()(std::int64_t i) const
    {
        const std::int64_t position = along(whole, i) - begin;
        return position >= 0 && position < part.size ? load(d, placeIn(part, whole, i, position)) : 0.0F;
    }
};

struct ExpandFunction
{
    std::int64_t inner;
    std::int64_t copies;
    float divisor;
    In x;

    __device__ float operator()(std::int64_t i) const
    {
        return load(x, i / inner / copies * inner + i % inner) / divisor;
    }
};

struct EmbeddingFunction
{
    In w;
    std::int64_t rows;
    std::int64_t channels;
    const std::int32_t* indices;

    __device__ float operator()(std::int64_t i) const
    {
        const std::int64_t row = indices[i / channels];
        return row >= 0 && row < rows ? load(w, row * channels + i % channels) : NAN;
    }
};

/// Each element looks for its row among all indices: the order of the sum is that of the indices, without atomics.
struct EmbeddingGradFunction
{
    In d;
    std::int64_t channels;
    const std::int32_t* indices;
    std::int64_t count;

    __device__ float operator()(std::int64_t i) const
    {
        const std::int64_t row = i / channels;
        float sum = 0.0F;
        for (std::int64_t j = 0; j < count; ++j) {
            if (indices[j] == row) {
                sum += load(d, j * channels + i % channels);
            }
        }
        return sum;
    }
};

} // namespace

void runPermute(const PermuteSetting& setting, const In& x, const Out& y, std::int64_t n, cudaStream_t stream)
{
    elementwise(PermuteFunction {setting, x}, y, n, stream);
}

void runConcat(const AxisView& part, const AxisView& whole, std::int64_t begin, const In& x, const Out& y,
    std::int64_t n, cudaStream_t stream)
{
    if (n > 0) {
        launch(concatKernel, blocksFor(n), blockSize, 0, stream, part, whole, begin, x, y, n);
    }
}

void runSlice(const AxisView& part, const AxisView& whole, std::int64_t begin, const In& x, const Out& y,
    std::int64_t n, cudaStream_t stream)
{
    elementwise(SliceFunction {part, whole, begin, x}, y, n, stream);
}

void runSliceGrad(const AxisView& part, const AxisView& whole, std::int64_t begin, const In& d, const Out& dx,
    std::int64_t n, cudaStream_t stream)
{
    elementwise(SliceGradFunction {part, whole, begin, d}, dx, n, stream);
}

void runExpand(std::int64_t inner, std::int64_t copies, float divisor, const In& x, const Out& y, std::int64_t n,
    cudaStream_t stream)
{
    elementwise(ExpandFunction {inner, copies, divisor, x}, y, n, stream);
}

void runEmbedding(const In& w, std::int64_t rows, std::int64_t channels, const std::int32_t* indices, const Out& y,
    std::int64_t n, cudaStream_t stream)
{
    elementwise(EmbeddingFunction {w, rows, channels, indices}, y, n, stream);
}

void runEmbeddingGrad(const In& d, std::int64_t channels, const std::int32_t* indices, std::int64_t count,
    const Out& dw, std::int64_t n, cudaStream_t stream)
{
    elementwise(EmbeddingGradFunction {d, channels, indices, count}, dw, n, stream);
}

} // namespace mantissa::cuda
