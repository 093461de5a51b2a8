// Gradients on their way over the ranks: rounded to the communication format, and added up in rank order.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/rank_mean.h"

namespace mantissa::cuda {

namespace {

std::int64_t rankBlocksFor(std::int64_t n)
{
    const std::int64_t wanted = blocksFor(n);
    return wanted < rankMeanBlocks ? wanted : rankMeanBlocks;
}

__global__ void __launch_bounds__(blockSize)
    parcelKernel(RankMeanSetting setting, In x, Out parcel, RankFigures* figures, std::int64_t n)
{
    Tally tally;
    double squares = 0;
    unsigned long long zeros = 0;
    unsigned long long sentZeros = 0;
    for (std::int64_t i = threadInGrid(); i < n; i += threadsInGrid()) {
        const float own = load(x, i);
        squares += static_cast<double>(own) * static_cast<double>(own);
        zeros += own == 0.0F ? 1U : 0U;
        const float given = setting.dividesFirst ? own / static_cast<float>(setting.ranks) : own;
        sentZeros += store(parcel, i, given, tally) == 0.0F ? 1U : 0U;
    }
    squares = blockSum(squares);
    zeros = blockSum(zeros);
    sentZeros = blockSum(sentZeros);
    if (threadInBlock() == 0) {
        figures->squares[blockInGrid()] += squares; // this block's alone
        atomicAdd(&figures->zeros, zeros);
        atomicAdd(&figures->sentZeros, sentZeros);
    }
}

__global__ void __launch_bounds__(blockSize)
    meanKernel(RankMeanSetting setting, In parcels, std::int64_t stride, Out mean, RankFigures* figures, std::int64_t n)
{
    Tally tally;
    unsigned long long notFinite = 0;
    for (std::int64_t i = threadInGrid(); i < n; i += threadsInGrid()) {
        float sum = load(parcels, i);
        for (int rank = 1; rank < setting.ranks; ++rank) {
            sum = roundTo(setting.communication, sum + load(parcels, rank * stride + i));
        }
        const float whole = setting.dividesFirst ? sum : sum / static_cast<float>(setting.ranks);
        notFinite += isFinite(whole) ? 0U : 1U;
        store(mean, i, whole, tally);
    }
    notFinite = blockSum(notFinite);
    if (threadInBlock() == 0) {
        atomicAdd(&figures->notFinite, notFinite);
    }
}

} // namespace

void runRankParcel(const RankMeanSetting& setting, const In& gradients, void* parcel, RankFigures* figures,
    std::int64_t n, cudaStream_t stream)
{
    launch(parcelKernel, rankBlocksFor(n), blockSize, 0, stream, setting, gradients,
        Out {parcel, setting.communication, nullptr, nullptr}, figures, n);
}

void runRankMean(const RankMeanSetting& setting, const void* parcels, std::int64_t stride, const Out& gradients,
    RankFigures* figures, std::int64_t n, cudaStream_t stream)
{
    launch(meanKernel, rankBlocksFor(n), blockSize, 0, stream, setting, In {parcels, setting.communication}, stride,
        gradients, figures, n);
}

} // namespace mantissa::cuda
