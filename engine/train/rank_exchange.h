/// What a rank of a data-parallel lane exchanges with the others in a step, and what it measures on the way:
///  - behind backward (of the last micro-batch, or of each): gradients become their mean over the ranks. Every rank's
///    gradient is divided by the number of ranks, rounded to the communication format and summed in rank order (divide:
///    before), or rounded, summed and then divided (after); the mean is FP32, rounded to the gradient's own format;
///  - behind the check, if scalers are synchronised: what any rank found;
///  - at the end of the step: what each rank has to report.
#pragma once

#include "engine/backends/executor.h"
#include "engine/data/batch_loader.h"
#include "engine/parallel/communicator.h"
#include "engine/train/experiment.h"
#include "engine/train/lane_state.h"
#include "engine/train/rank_record.h"
#include "engine/train/step_record.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// The samples of each micro-batch that a rank trains on.
BatchShare shareOf(const LaneConfig& config, int rank);

/// Collective: the gradients' mean over the ranks, made by the host.
MeanFindings averageOnHost(Communicator& ranks, std::span<float> gradients, const MeanRule& rule);

/// Collective, as Communicator's calls; allocates in prepare() only.
class RankExchange
{
public:
    /// `backend` trains this rank, and must outlive it.
    RankExchange(std::shared_ptr<Communicator> ranks, Backend& backend);

    [[nodiscard]] int rank() const { return m_ranks->rank(); }

    [[nodiscard]] int size() const { return m_ranks->size(); }

    [[nodiscard]] const std::shared_ptr<Communicator>& communicator() const { return m_ranks; }

    /// Makes room for the weights and gradients of a step.
    void prepare(const Executor& executor, const std::vector<ValueId>& parameters);

    [[nodiscard]] std::size_t allocatedBytes() const;

    /// Forgets the last step.
    void begin();

    /// Through the device's own library where there is one for ranks that are processes, else through the host.
    /// `unscaleBy` is the scale that the gradients still have.
    void averageGradients(Executor& executor, const ParallelConfig& config, double unscaleBy);

    /// What carries the gradients, or why the device does not, in words for the user; once, and empty if there is
    /// nothing to say.
    [[nodiscard]] std::string takeNews() { return std::exchange(m_news, {}); }

    /// Whether the mean of the gradients was finite, once they are averaged.
    [[nodiscard]] bool isMeanFinite() const { return m_isMeanFinite; }

    /// Whether any rank says yes.
    [[nodiscard]] bool any(bool own);
    [[nodiscard]] double mean(double own);

    void noteFoundInf(bool found) { m_own.foundInf = found; }

    /// At the end of a step: `record` becomes what the ranks have in common. Its loss and the shares of its roundings
    /// are the means over the ranks. `weights` are compared with rank 0's if `measuresDistance`.
    void finish(StepRecord& record, bool hasDiverged, Executor& executor, bool measuresDistance);

    /// Whether the weights of any rank have diverged.
    [[nodiscard]] bool hasAnyDiverged() const { return m_anyDiverged; }

    /// Of the step just trained, by rank.
    [[nodiscard]] std::span<const RankRecord> records() const { return m_records; }

    [[nodiscard]] const RankRecord& own() const { return m_records[static_cast<std::size_t>(rank())]; }

    /// Completes a rank's own state to that of all ranks. Not for steady steps.
    void gather(LaneState& state);

private:
    enum class Figure : std::uint8_t;

    void chooseMean();
    [[nodiscard]] double distanceToFirst(Executor& executor);

    std::shared_ptr<Communicator> m_ranks;
    Backend& m_backend;
    std::unique_ptr<GradientMean> m_onDevice; ///< null: gradients go through the host
    bool m_isChosen = false; ///< which of the two
    std::string m_news;
    DType m_format = DType::Float32; ///< of weights and gradients
    std::vector<std::byte> m_bytes;
    std::vector<float> m_values;
    std::vector<float> m_firstWeights;
    std::vector<double> m_figures; ///< this rank's
    std::vector<double> m_allFigures;
    std::vector<double> m_votes;
    std::vector<RankRecord> m_records;
    RankRecord m_own; ///< of the step being trained
    bool m_wasAveraged = false;
    bool m_isMeanFinite = true;
    bool m_anyDiverged = false;
};

} // namespace mantissa
