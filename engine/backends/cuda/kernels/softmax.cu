// Softmax and its logarithm over the last axis, and their gradients: a block per row.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

/// With every step rounded to `format` where that is a 16-bit one; its sum then runs from the first element to the
/// last, in one thread.
__global__ void __launch_bounds__(blockSize)
    softmaxKernel(bool isLog, Format format, In x, Out y, std::int64_t rows, std::int64_t n)
{
    Tally tally;
    for (std::int64_t row = blockInGrid(); row < rows; row += static_cast<std::int64_t>(gridDim.x)) {
        const std::int64_t first = row * n;
        float largest = -INFINITY;
        for (std::int64_t i = threadInBlock(); i < n; i += threadsInBlock()) {
            largest = largerOrNan(largest, roundTo(format, load(x, first + i)));
        }
        largest = blockMax(largest);
        float sum = 0.0F;
        const bool isNarrow = format != Format::Float32;
        const std::int64_t step = isNarrow ? 1 : threadsInBlock();
        for (std::int64_t i = isNarrow ? 0 : threadInBlock(); i < n && (!isNarrow || threadInBlock() == 0); i += step) {
            const float power = roundTo(format, expf(roundTo(format, roundTo(format, load(x, first + i)) - largest)));
            sum = roundTo(format, sum + power);
        }
        sum = blockSum(sum);
        const float logSum = roundTo(format, logf(sum));
        for (std::int64_t i = threadInBlock(); i < n; i += threadsInBlock()) {
            const float shifted = roundTo(format, roundTo(format, load(x, first + i)) - largest);
            const float result = isLog ? shifted - logSum : roundTo(format, expf(shifted)) / sum;
            store(y, first + i, roundTo(format, result), tally);
        }
    }
    flush(y, tally);
}

__global__ void __launch_bounds__(blockSize)
    softmaxGradKernel(bool isLog, In d, In y, Out dx, std::int64_t rows, std::int64_t n)
{
    Tally tally;
    for (std::int64_t row = blockInGrid(); row < rows; row += static_cast<std::int64_t>(gridDim.x)) {
        const std::int64_t first = row * n;
        double partial = 0;
        for (std::int64_t i = threadInBlock(); i < n; i += threadsInBlock()) {
            const float slope = load(d, first + i);
            partial += static_cast<double>(slope) * (isLog ? 1.0 : static_cast<double>(load(y, first + i)));
        }
        const double sum = blockSum(partial);
        for (std::int64_t i = threadInBlock(); i < n; i += threadsInBlock()) {
            const auto slope = static_cast<double>(load(d, first + i));
            const float value = load(y, first + i);
            const double result
                = isLog ? slope - static_cast<double>(expf(value)) * sum : static_cast<double>(value) * (slope - sum);
            store(dx, first + i, static_cast<float>(result), tally);
        }
    }
    flush(dx, tally);
}

std::int64_t blocksOf(std::int64_t rows)
{
    constexpr std::int64_t most = 65536;
    return rows < most ? rows : most;
}

} // namespace

void runSoftmax(
    bool isLog, Format accumulate, const In& x, const Out& y, std::int64_t rows, std::int64_t n, cudaStream_t stream)
{
    if (rows > 0) {
        launch(softmaxKernel, blocksOf(rows), threadsFor(n), 0, stream, isLog, accumulate, x, y, rows, n);
    }
}

void runSoftmaxGrad(
    bool isLog, const In& d, const In& y, const Out& dx, std::int64_t rows, std::int64_t n, cudaStream_t stream)
{
    if (rows > 0) {
        launch(softmaxGradKernel, blocksOf(rows), threadsFor(n), 0, stream, isLog, d, y, dx, rows, n);
    }
}

} // namespace mantissa::cuda
