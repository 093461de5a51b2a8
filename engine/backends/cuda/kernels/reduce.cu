// Sums and means over neighbouring axes, in FP64 and in an order that depends on the shapes alone.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

__device__ float finished(const ReduceSetting& setting, double sum)
{
    return static_cast<float>(setting.isMean ? sum / static_cast<double>(setting.divisor) : sum);
}

/// inner = 1: a block per result.
__global__ void __launch_bounds__(blockSize) reduceRowsKernel(ReduceSetting setting, In x, Out y)
{
    Tally tally;
    for (std::int64_t row = blockInGrid(); row < setting.outer; row += static_cast<std::int64_t>(gridDim.x)) {
        double sum = 0;
        for (std::int64_t j = threadInBlock(); j < setting.count; j += threadsInBlock()) {
            sum += static_cast<double>(load(x, row * setting.count + j));
        }
        sum = blockSum(sum);
        if (threadInBlock() == 0) {
            store(y, row, finished(setting, sum), tally);
        }
    }
    flush(y, tally);
}

constexpr int columnsPerBlock = 32;
constexpr int rowsPerBlock = blockSize / columnsPerBlock;

/// A block per 32 neighbouring results; eight threads share the sum of each.
__global__ void __launch_bounds__(blockSize)
    reduceColumnsKernel(ReduceSetting setting, std::int64_t blocksPerOuter, In x, Out y)
{
    SHARED_ARRAY(double, parts, blockSize);
    Tally tally;
    const std::int64_t outer = blockInGrid() / blocksPerOuter;
    const int lane = threadInBlock() % columnsPerBlock;
    const std::int64_t column = blockInGrid() % blocksPerOuter * columnsPerBlock + lane;
    double sum = 0;
    if (column < setting.inner) {
        for (std::int64_t j = threadInBlock() / columnsPerBlock; j < setting.count; j += rowsPerBlock) {
            sum += static_cast<double>(load(x, (outer * setting.count + j) * setting.inner + column));
        }
    }
    parts[threadInBlock()] = sum;
    __syncthreads();
    if (threadInBlock() < columnsPerBlock && column < setting.inner) {
        for (int row = 1; row < rowsPerBlock; ++row) {
            sum += parts[row * columnsPerBlock + lane];
        }
        store(y, outer * setting.inner + column, finished(setting, sum), tally);
    }
    flush(y, tally);
}

/// Every step rounded to a 16-bit format, from the first element to the last.
struct NarrowReduce
{
    ReduceSetting setting;
    In x;

    __device__ float operator()(std::int64_t i) const
    {
        const Format format = setting.accumulate;
        float sum = 0.0F;
        for (std::int64_t j = 0; j < setting.count; ++j) {
            const std::int64_t at = (i / setting.inner * setting.count + j) * setting.inner + i % setting.inner;
            sum = roundTo(format, sum + roundTo(format, load(x, at)));
        }
        return setting.isMean ? roundTo(format, sum / setting.divisor) : sum;
    }
};

} // namespace

void runReduce(const ReduceSetting& setting, const In& x, const Out& y, cudaStream_t stream)
{
    const std::int64_t results = setting.outer * setting.inner;
    if (results == 0) {
        return;
    }
    if (setting.accumulate != Format::Float32) {
        elementwise(NarrowReduce {setting, x}, y, results, stream);
    } else if (setting.inner == 1) {
        constexpr std::int64_t mostBlocks = 65536;
        const std::int64_t blocks = setting.outer < mostBlocks ? setting.outer : mostBlocks;
        launch(reduceRowsKernel, blocks, threadsFor(setting.count), 0, stream, setting, x, y);
    } else {
        const std::int64_t blocksPerOuter = (setting.inner + columnsPerBlock - 1) / columnsPerBlock;
        launch(
            reduceColumnsKernel, setting.outer * blocksPerOuter, blockSize, 0, stream, setting, blocksPerOuter, x, y);
    }
}

} // namespace mantissa::cuda
