// What a data-parallel lane does with its ranks.
#include "engine/core/error.h"
#include "engine/train/lane.h"
#include "engine/train/model_task.h"
#include "engine/train/rank_lanes.h"

#include <fmt/format.h>

#include <cmath>

namespace mantissa {

namespace {

/// Steps between comparisons of the ranks' weights, which cost as much as exchanging gradients.
constexpr std::int64_t distanceInterval = 10;

} // namespace

void Lane::joinRanks(std::shared_ptr<Communicator> ranks)
{
    const ParallelConfig& parallel = m_config->parallel;
    if (!parallel.isOn()) {
        return;
    }
    if (parallel.batchNorm == "synchronised" && m_backend.device().backend == "cuda") {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format(
                "parallel.batch_norm is \"synchronised\" in lane \"{}\", which the CUDA backend does not do; use "
                "the device \"cpu\", or \"local\".",
                m_config->name));
    }
    if (ranks && ranks->size() != parallel.ranks) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("parallel.ranks is {} in lane \"{}\", but {} processes train it; start as many, or set "
                        "parallel.ranks to their number.",
                parallel.ranks, m_config->name, ranks->size()));
    }
    if (!ranks) {
        m_others = std::make_unique<RankLanes>(static_cast<int>(parallel.ranks), m_threads);
        ranks = m_others->end(0);
    }
    m_exchange = std::make_unique<RankExchange>(std::move(ranks), m_backend);
}

void Lane::addOtherRanks()
{
    for (int rank = 1; m_others && rank < m_config->parallel.ranks; ++rank) {
        m_others->add(std::make_unique<Lane>(
            m_id, *m_config, std::vector<ScriptedEvent> {}, m_data, m_backend, m_threads, m_others->end(rank)));
    }
}

std::shared_ptr<Communicator> Lane::givenRanks() const
{
    return m_exchange && !m_others ? m_exchange->communicator() : nullptr;
}

ModelTask Lane::shareTask(const LaneConfig& config) const
{
    ModelTask task = trainingTask(config, *m_data);
    if (m_exchange) {
        const BatchShare share = shareOf(config, rank());
        task.batch = share.count;
        task.firstSample = share.first;
    }
    return task;
}

bool Lane::averagesGradients() const
{
    return m_exchange && m_config->parallel.gradients == "averaged";
}

bool Lane::sharesScaler() const
{
    return m_exchange && m_config->parallel.scaler == "synchronised";
}

// --- what all ranks do alike ---

Event Lane::set(const std::string& path, const nlohmann::json& value)
{
    Event event = setRank(path, value);
    if (m_others) {
        try {
            for (const auto& other : m_others->lanes()) {
                other->setRank(path, value);
            }
        } catch (const std::exception& error) {
            m_others->fail(fmt::format("it could not follow a change of {}: {}", path, error.what()));
            throw;
        }
    }
    return event;
}

void Lane::setCounting(bool counts)
{
    requireBoundary();
    m_executor->setCounting(counts);
    if (m_others) {
        for (const auto& other : m_others->lanes()) {
            other->setCounting(counts);
        }
    }
}

void Lane::restore(const LaneState& state)
{
    restoreRank(m_exchange ? stateOfRank(state, rank()) : state);
    if (m_others) {
        for (const auto& other : m_others->lanes()) {
            other->restore(state);
        }
    }
}

LaneState Lane::state()
{
    LaneState whole = rankState();
    if (m_others) {
        for (const auto& other : m_others->lanes()) {
            LaneState own = other->rankState();
            RankState part {own.schedulePosition, own.foundInf, std::move(own.scaler), std::move(own.tensors)};
            keepDifferences(part, whole.tensors);
            whole.others.push_back(std::move(part));
        }
    } else if (m_exchange) {
        m_exchange->gather(whole);
    }
    return whole;
}

StepRecord Lane::step(const StepWatcher& watcher, const NodeWatcher& nodes)
{
    if (!m_others) {
        return stepRank(watcher, nodes);
    }

    struct Call
    {
        Lane& lane;
        const StepWatcher& watcher;
        const NodeWatcher& nodes;
        StepRecord record {};
    } call {*this, watcher, nodes};

    // One pointer, for which std::function allocates nothing.
    m_others->step([&call] { call.record = call.lane.stepRank(call.watcher, call.nodes); });
    return call.record;
}

// --- what a rank exchanges with the others ---

/// Behind the check, and before whatever asks what it found.
void Lane::shareFoundInf()
{
    m_executor->downloadStepOutputs();
    const bool own = m_executor->scalar(m_step.foundInf) != 0;
    m_exchange->noteFoundInf(own);
    if (sharesScaler() && m_exchange->any(own) && !own) {
        const float yes = 1;
        m_executor->write(m_step.foundInf, std::as_bytes(std::span(&yes, 1)));
        m_executor->synchronize();
    }
}

/// Of the gradients as the scaler finds them behind a micro-batch.
bool Lane::microFoundInf()
{
    const bool isAveraged = averagesGradients() && m_config->parallel.everyMicroBatch;
    const bool own = isAveraged ? !m_exchange->isMeanFinite() : m_executor->scalar(*m_step.microFoundInf) != 0;
    return sharesScaler() ? m_exchange->any(own) : own;
}

double Lane::lossForScaler(double own)
{
    return sharesScaler() ? m_exchange->mean(own) : own;
}

void Lane::finishRank(StepRecord& record)
{
    const bool isDue = m_nextStep % distanceInterval == 0 || m_nextStep + 1 == m_config->steps;
    StepRecord own = record;
    m_exchange->finish(record, m_diverged, *m_executor, isDue);
    m_diverged = m_exchange->hasAnyDiverged();
    // Where its own gradient stopped being finite each rank tells; the mean's is told once.
    own.gradNorm = m_exchange->own().gradNorm;
    own.foundInf = !std::isfinite(own.gradNorm);
    findOrigin(own);
    if (rank() == 0 && record.foundInf && !own.foundInf && own.lossFinite) {
        findForeignOrigin(record);
    }
}

/// Of what is not finite in the mean of the gradients, while rank 0's own gradient is.
void Lane::findForeignOrigin(const StepRecord& record)
{
    const auto records = m_exchange->records();
    const auto culprit = std::ranges::find_if(
        records, [](const RankRecord& other) { return !std::isfinite(other.gradNorm) || other.foundInf; });
    const auto isOwnFinite = [](const RankRecord& other) { return std::isfinite(other.gradNorm); };
    const bool isFromSum = std::ranges::all_of(records, isOwnFinite);
    if (m_others && !isFromSum) {
        return; // that rank's lane tells, and where
    }
    if (culprit == records.end() || !m_knownForeign.insert(isFromSum ? m_exchange->size() : culprit->rank).second) {
        return;
    }
    m_newOrigin = Event {.kind = EventKind::Numerics,
        .step = record.step,
        .lane = m_id,
        .text = isFromSum
            ? fmt::format("A gradient is not finite, though every rank's own is: the exchange in {} overflowed.",
                m_config->parallel.communication)
            : fmt::format("A gradient is not finite: rank {}'s, from which the exchange carried it to all ranks.",
                std::ranges::find_if_not(records, isOwnFinite)->rank)};
}

std::string Lane::rankPrefix() const
{
    return m_exchange ? fmt::format("Rank {}: ", rank()) : std::string();
}

std::optional<Event> Lane::takeOrigin()
{
    std::optional<Event> origin = std::exchange(m_newOrigin, std::nullopt);
    if (m_others) {
        for (const auto& other : m_others->lanes()) {
            std::optional<Event> theirs = other->takeOrigin();
            if (theirs && (!origin || (origin->path.empty() && !theirs->path.empty()))) {
                origin = std::move(theirs); // it says where
            }
        }
    }
    return origin;
}

std::optional<Event> Lane::takeExchange()
{
    std::string text = m_exchange ? m_exchange->takeNews() : std::string();
    if (text.empty()) {
        return std::nullopt;
    }
    return Event {
        .kind = EventKind::Exchange, .step = std::max<std::int64_t>(m_nextStep - 1, 0), .text = std::move(text)};
}

std::span<const RankRecord> Lane::rankRecords() const
{
    return m_exchange ? m_exchange->records() : std::span<const RankRecord> {};
}

} // namespace mantissa
