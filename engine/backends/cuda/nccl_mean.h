/// Gradients become their mean over ranks that NCCL connects. Its own reductions would leave the order of the sums, and
/// with it the bits, to the library: so every rank gets all ranks' values, rounded to the communication format, and
/// adds them up in rank order itself. R ranks receive R - 1 times the gradients, where a ring of reductions receives
/// twice them: as much for three ranks, more for many.
#pragma once

#include "engine/backends/cuda/device_memory.h"
#include "engine/backends/cuda/event.h"
#include "engine/backends/cuda/kernels/rank_mean.h"
#include "engine/backends/cuda/nccl_ranks.h"
#include "engine/backends/cuda/pinned_memory.h"

namespace mantissa::cuda {

class NcclMean final : public GradientMean
{
public:
    NcclMean(std::shared_ptr<NcclRanks> link, std::shared_ptr<Communicator> ranks);

    MeanFindings average(void* gradients, std::size_t count, const MeanRule& rule, Stream& stream) override;

    [[nodiscard]] std::size_t deviceBytes() const override;

private:
    /// Of all ranks together at a time: gradients go in pieces, whose memory does not grow with the model.
    static constexpr std::size_t mostBytes = std::size_t {32} << 20U;

    /// One call of average(), as far as it has come.
    struct Progress
    {
        void* gradients;
        std::size_t count;
        MeanRule rule;
        RankMeanSetting setting;
        cudaStream_t stream;
        std::size_t begin = 0; ///< of the present piece
        bool isGathering = false; ///< that piece is under way
        bool isEnqueued = false; ///< all of it
    };

    [[nodiscard]] std::size_t pieceAt(const Progress& progress) const;
    void sendPiece(Progress& progress);
    void addPiece(Progress& progress);
    bool advance(Progress& progress);

    std::shared_ptr<NcclRanks> m_link;
    std::shared_ptr<Communicator> m_ranks;
    std::unique_ptr<DeviceMemory> m_parcels;
    DeviceMemory m_figures;
    PinnedMemory m_foundFigures;
    Event m_allDone {Event::Use::Order};
};

} // namespace mantissa::cuda
