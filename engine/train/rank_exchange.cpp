#include "engine/train/rank_exchange.h"

#include "engine/core/error.h"
#include "engine/formats/convert.h"
#include "engine/parallel/rank_order_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mantissa {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double sumOfSquares(std::span<const float> values)
{
    double sum = 0;
    for (const float value : values) {
        sum += double {value} * value;
    }
    return sum;
}

std::size_t zerosIn(std::span<const float> values)
{
    return static_cast<std::size_t>(std::ranges::count(values, 0.0F));
}

void divide(std::span<float> values, int ranks)
{
    for (float& value : values) {
        value /= static_cast<float>(ranks);
    }
}

} // namespace

/// What each rank tells all others about a step.
enum class RankExchange::Figure : std::uint8_t {
    Loss,
    LossFinite,
    Dropped,
    Scale,
    GradNorm,
    FoundInf,
    Skipped,
    Lost,
    Distance,
    Diverged,
    Flushed,
    Subnormal,
    Overflowed,
    Count
};

BatchShare shareOf(const LaneConfig& config, int rank)
{
    const ParallelConfig& parallel = config.parallel;
    if (parallel.shards.empty()) {
        const std::int64_t count = config.data.batch / parallel.ranks;
        return {rank * count, count};
    }
    const auto own = parallel.shards.begin() + rank;
    return {std::accumulate(parallel.shards.begin(), own, std::int64_t {0}), *own};
}

MeanFindings averageOnHost(Communicator& ranks, std::span<float> gradients, const MeanRule& rule)
{
    MeanFindings found {.sumOfSquares = sumOfSquares(gradients), .zeros = zerosIn(gradients)};
    if (rule.dividesFirst) {
        divide(gradients, ranks.size());
    }
    roundToFormat(gradients, rule.communication);
    found.sentZeros = zerosIn(gradients);
    ranks.allReduceSum(gradients, rule.communication);
    if (!rule.dividesFirst) {
        divide(gradients, ranks.size());
    }
    found.isFinite = std::ranges::all_of(gradients, [](float value) { return std::isfinite(value); });
    return found;
}

RankExchange::RankExchange(std::shared_ptr<Communicator> ranks, Backend& backend)
    : m_ranks(std::move(ranks))
    , m_backend(backend)
    , m_figures(static_cast<std::size_t>(Figure::Count))
    , m_allFigures(m_figures.size() * static_cast<std::size_t>(size()))
    , m_votes(static_cast<std::size_t>(size()))
    , m_records(static_cast<std::size_t>(size()))
{
}

void RankExchange::prepare(const Executor& executor, const std::vector<ValueId>& parameters)
{
    m_format = executor.graph().value(parameters.front()).type.dtype;
    m_bytes.resize(executor.kindBytes(ValueKind::Parameter));
    m_values.resize(m_bytes.size() / sizeOf(m_format));
    m_firstWeights.resize(m_values.size());
}

std::size_t RankExchange::allocatedBytes() const
{
    return m_bytes.size() + (m_values.size() + m_firstWeights.size()) * sizeof(float)
        + (m_onDevice ? m_onDevice->deviceBytes() : 0);
}

void RankExchange::begin()
{
    m_own = {.rank = rank()};
    m_wasAveraged = false;
    m_isMeanFinite = true;
}

/// In the first step: only what trains needs it, and all ranks come to it together.
void RankExchange::chooseMean()
{
    m_isChosen = true;
    if (!m_ranks->isAcrossProcesses()) {
        return;
    }
    // Ranks on devices of different kinds would each ask for something else.
    const bool areAllOnGpus = mean(m_backend.device().backend == "cuda" ? 1 : 0) == 1;
    if (areAllOnGpus) {
        FoundMean found = m_backend.gradientMean(m_ranks);
        m_onDevice = std::move(found.mean);
        m_news = std::move(found.text);
    }
}

void RankExchange::averageGradients(Executor& executor, const ParallelConfig& config, double unscaleBy)
{
    if (!m_isChosen) {
        chooseMean();
    }
    const MeanRule rule {.gradients = m_format,
        .communication = dtypeFromName(config.communication).value(),
        .dividesFirst = config.divide == "before"};
    MeanFindings found;
    if (m_onDevice) {
        found = executor.averageGradients(*m_onDevice, rule);
    } else {
        executor.readKind(ValueKind::Gradient, m_bytes);
        toFloats(m_format, m_bytes, m_values);
        found = averageOnHost(*m_ranks, m_values, rule);
        fromFloats(m_format, m_values, m_bytes);
        executor.writeKind(ValueKind::Gradient, m_bytes);
    }
    m_wasAveraged = true;
    m_own.gradNorm = std::sqrt(found.sumOfSquares) / unscaleBy;
    const std::size_t notZero = m_values.size() - found.zeros;
    m_own.flushed
        = notZero == 0 ? 0 : static_cast<double>(found.sentZeros - found.zeros) / static_cast<double>(notZero);
    m_isMeanFinite = found.isFinite;
}

bool RankExchange::any(bool own)
{
    return mean(own ? 1.0 : 0.0) != 0;
}

double RankExchange::mean(double own)
{
    m_ranks->allGather(std::span(&own, 1), m_votes);
    return std::accumulate(m_votes.begin(), m_votes.end(), 0.0) / static_cast<double>(size());
}

void RankExchange::finish(StepRecord& record, bool hasDiverged, Executor& executor, bool measuresDistance)
{
    m_own.gradNorm = m_wasAveraged ? m_own.gradNorm : record.gradNorm;
    m_own.distance = measuresDistance ? distanceToFirst(executor) : unknown;
    const auto put = [this](Figure figure, double value) { m_figures[static_cast<std::size_t>(figure)] = value; };
    put(Figure::Loss, record.loss);
    put(Figure::LossFinite, record.lossFinite ? 1 : 0);
    put(Figure::Dropped, record.droppedMicroBatches);
    put(Figure::Scale, record.scale);
    put(Figure::GradNorm, m_own.gradNorm);
    put(Figure::FoundInf, m_own.foundInf ? 1 : 0);
    put(Figure::Skipped, record.skipped ? 1 : 0);
    put(Figure::Lost, m_own.flushed);
    put(Figure::Distance, m_own.distance);
    put(Figure::Diverged, hasDiverged ? 1 : 0);
    put(Figure::Flushed, record.flushed);
    put(Figure::Subnormal, record.subnormal);
    put(Figure::Overflowed, record.overflowed);
    m_ranks->allGather(m_figures, m_allFigures);

    const auto of = [this](std::size_t rank, Figure figure) {
        return m_allFigures[rank * m_figures.size() + static_cast<std::size_t>(figure)];
    };
    const auto meanOf = [&](Figure figure) {
        double sum = 0;
        for (std::size_t rank = 0; rank < m_records.size(); ++rank) {
            sum += of(rank, figure);
        }
        return sum / static_cast<double>(m_records.size());
    };
    for (std::size_t rank = 0; rank < m_records.size(); ++rank) {
        m_records[rank] = {.step = record.step,
            .lane = record.lane,
            .rank = static_cast<std::int32_t>(rank),
            .foundInf = of(rank, Figure::FoundInf) != 0,
            .skipped = of(rank, Figure::Skipped) != 0,
            .loss = of(rank, Figure::Loss),
            .scale = of(rank, Figure::Scale),
            .gradNorm = of(rank, Figure::GradNorm),
            .flushed = of(rank, Figure::Lost),
            .distance = of(rank, Figure::Distance)};
    }
    record.loss = meanOf(Figure::Loss);
    record.lossFinite = meanOf(Figure::LossFinite) == 1;
    record.droppedMicroBatches
        = static_cast<std::int32_t>(std::lround(meanOf(Figure::Dropped) * static_cast<double>(size())));
    record.flushed = meanOf(Figure::Flushed);
    record.subnormal = meanOf(Figure::Subnormal);
    record.overflowed = meanOf(Figure::Overflowed);
    m_anyDiverged = meanOf(Figure::Diverged) != 0;
}

double RankExchange::distanceToFirst(Executor& executor)
{
    executor.readKind(ValueKind::Parameter, m_bytes);
    toFloats(m_format, m_bytes, m_values);
    m_ranks->broadcast(m_bytes, 0);
    toFloats(m_format, m_bytes, m_firstWeights);
    double difference = 0;
    for (std::size_t i = 0; i < m_values.size(); ++i) {
        const double apart = double {m_values[i]} - m_firstWeights[i];
        difference += apart * apart;
    }
    return difference == 0 ? 0 : std::sqrt(difference / sumOfSquares(m_firstWeights));
}

void RankExchange::gather(LaneState& state)
{
    const std::string scaler = state.scaler.dump();
    std::vector<double> numbers(3 * static_cast<std::size_t>(size()));
    const std::vector<double> own {
        static_cast<double>(state.schedulePosition), state.foundInf ? 1.0 : 0.0, static_cast<double>(scaler.size())};
    m_ranks->allGather(own, numbers);
    const std::vector<StateTensor> ownTensors = state.tensors;
    for (int rank = 0; rank < size(); ++rank) {
        const double* const of = numbers.data() + 3 * static_cast<std::size_t>(rank);
        std::string text = rank == this->rank() ? scaler : std::string(static_cast<std::size_t>(of[2]), ' ');
        m_ranks->broadcast(std::as_writable_bytes(std::span(text)), rank);
        RankState part {static_cast<std::int64_t>(of[0]), of[1] != 0, nlohmann::json::parse(text), ownTensors};
        for (StateTensor& tensor : part.tensors) {
            m_ranks->broadcast(tensor.bytes, rank);
        }
        if (rank == 0) {
            state.schedulePosition = part.schedulePosition;
            state.foundInf = part.foundInf;
            state.scaler = std::move(part.scaler);
            state.tensors = std::move(part.tensors);
        } else {
            keepDifferences(part, state.tensors);
            state.others.push_back(std::move(part));
        }
    }
}

} // namespace mantissa
