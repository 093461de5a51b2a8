// How a lane trains a step: enqueued in two halves, and its numbers read when they are there.
#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/optim/schedule.h"
#include "engine/train/lane.h"
#include "engine/train/watchpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace mantissa {

namespace {

void tell(const StepWatcher& watcher, StepStage stage)
{
    if (watcher) {
        watcher(stage);
    }
}

float millisecondsSince(double seconds)
{
    return static_cast<float>((steadySeconds() - seconds) * 1e3);
}

/// What rounding did to the gradients of the parameters, by position, that are `wanted`.
template <typename Wanted> LayerShares sharesOver(const StepGraph& step, const Executor& executor, Wanted wanted)
{
    if (!executor.isCounting()) {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        return {.flushed = unknown, .subnormal = unknown, .overflowed = unknown};
    }
    const auto add = [&executor](Census& sum, ValueId id, Phase phase) {
        const Census* const census = executor.census(id, phase);
        sum += census == nullptr ? Census {} : *census;
    };
    // Half weights have half gradients, which unscaling rounds once more: what was lost before is zero there.
    Census computed;
    for (std::size_t i = 0; i < step.gradientRoundings.size(); ++i) {
        if (wanted(i) && step.gradientRoundings[i]) {
            add(computed, *step.gradientRoundings[i], Phase::Backward);
        }
    }
    Census unscaled;
    for (std::size_t i = 0; i < step.gradients.size(); ++i) {
        if (wanted(i)) {
            add(unscaled, step.gradients[i], Phase::Unscale);
        }
    }
    const auto share = [](std::uint64_t count, const Census& of) {
        return of.total() == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(of.total());
    };
    const Census& last = unscaled.total() == 0 ? computed : unscaled;
    return {.flushed = share(computed.flushed, computed) + share(unscaled.flushed, unscaled),
        .subnormal = share(last.subnormal, last),
        .overflowed = share(computed.overflowed, computed) + share(unscaled.overflowed, unscaled)};
}

} // namespace

// --- the two halves, and the numbers ---

StepRecord Lane::stepRank(const StepWatcher& watcher, const NodeWatcher& nodes)
{
    requireBoundary();
    begin(watcher, nodes);
    complete(watcher);
    return collect(watcher);
}

void Lane::begin(const StepWatcher& watcher, const NodeWatcher& nodes)
{
    const std::int64_t ahead = m_completed != nullptr ? 1 : 0;
    StepFlight& flight = m_flights[static_cast<std::size_t>((m_nextStep + ahead) % 2)];
    flight = {};
    StepRecord& record = flight.record;
    record.step = m_nextStep + ahead;
    record.lane = m_id;
    record.scale = m_scaler->scale(); // ahead it is the scale before: collect() puts it right
    record.lr = lrAt(m_schedulePosition + ahead);
    flight.batchesBefore = m_loader->fingerprint();
    if (m_exchange) {
        m_exchange->begin();
    }
    if (ahead > 0) {
        m_executor->keepBuffers();
    }
    writeScalars(record);
    m_executor->startTiming();
    runMicroBatches(record, watcher, nodes);
    runBlocks(record, 0, firstOfSecondHalf(), watcher);
    record.batchHash = m_loader->fingerprint();
    m_begun = &flight;
}

void Lane::complete(const StepWatcher& watcher)
{
    StepFlight& flight = *std::exchange(m_begun, nullptr);
    m_executor->timeTo(flight.record.timeMs.instrumentsMs);
    runBlocks(flight.record, firstOfSecondHalf(), firstBehindResults(), watcher);
    sendAhead(); // while all that is enqueued runs
    m_executor->sendResults(flight.record.timeMs.instrumentsMs);
    m_completed = &flight;
}

StepRecord Lane::collect(const StepWatcher& watcher)
{
    StepRecord& record = std::exchange(m_completed, nullptr)->record;
    m_executor->takeResults();
    const double before = steadySeconds();
    for (std::size_t i = firstBehindResults(); i < m_config->order.size(); ++i) {
        runOnHost(m_config->order[i], true, record);
        tell(watcher, stageOf(m_config->order[i]));
    }
    if (m_scaleOnDevice) {
        m_scaleOnDevice->take(*m_executor, *m_scaler);
    }
    record.loss = stepLoss(record.droppedMicroBatches);
    record.lossFinite = std::isfinite(record.loss) && record.droppedMicroBatches == 0;
    reportGradients(record);
    reportUpdate(record);
    record.growthTracker = static_cast<std::int32_t>(m_scaler->growthTracker());
    const std::optional<int> hysteresis = m_scaler->hysteresisLeft();
    record.hysteresis = hysteresis ? std::max(*hysteresis, 0) : -1;
    reportCensus(record);
    if (m_exchange) {
        finishRank(record);
    } else {
        findOrigin(record);
    }
    record.bytes = bytes();
    m_faults = {};
    ++m_nextStep;
    if (m_begun != nullptr) {
        m_begun->record.scale = m_scaler->scale();
    }
    record.timeMs.instrumentsMs += millisecondsSince(before);
    return record;
}

void Lane::discard()
{
    m_completed = nullptr;
    if (m_begun != nullptr) {
        const std::uint64_t batchesBefore = std::exchange(m_begun, nullptr)->batchesBefore;
        m_loader = makeLoader(*m_config);
        m_loader->restoreFingerprint(batchesBefore);
        m_executor->putBackBuffers();
    }
}

bool Lane::canRunAhead() const
{
    const AccumulationConfig& accumulation = m_config->accumulation;
    const bool isScaleKnown = m_scaleOnDevice || !m_config->scaler || m_config->scaler->family == "none";
    const bool isLrKnown = m_config->schedule.countSkipped || !m_scaler->skipsOnNonFinite();
    return m_executor->runsAhead() && isScaleKnown && isLrKnown && blocksBehindResults(m_config->order) == 2
        && !m_exchange && !accumulation.guard && !accumulation.scalerPerMicroBatch && !keepsGradients()
        && m_faults == ArmedFaults {};
}

void Lane::requireBoundary() const
{
    if (m_begun != nullptr || m_completed != nullptr) {
        throw Error(ErrorCode::Internal,
            fmt::format("The lane \"{}\" is in the middle of step {}.", m_config->name, m_nextStep));
    }
}

/// What is changed by a step lies behind this block: gradients and running statistics apart.
std::size_t Lane::firstOfSecondHalf() const
{
    return static_cast<std::size_t>(std::ranges::find(m_config->order, StepBlock::Step) - m_config->order.begin());
}

/// What the host does there needs the step's results.
std::size_t Lane::firstBehindResults() const
{
    return m_config->order.size() - blocksBehindResults(m_config->order);
}

// --- what a step needs ---

void Lane::writeScalars(const StepRecord& record)
{
    const auto write = [this](const std::optional<ValueId>& id, double value) {
        if (id) {
            m_executor->setScalar(*id, static_cast<float>(value));
        }
    };
    const auto parts = static_cast<double>(m_config->accumulation.steps);
    write(m_step.lossWeight, m_config->lossWeight);
    write(m_step.inverseAccumulation, m_config->accumulation.divide ? 1.0 / parts : 1.0);
    write(m_step.clipLimit, m_config->clip.maxNorm.value_or(m_config->clip.maxValue.value_or(0)));
    write(m_step.emaDecay, m_config->ema.decay);
    if (m_step.roundingCounter) {
        m_executor->setScalar(*m_step.roundingCounter, static_cast<std::int32_t>(record.step & 0x7FFFFFFF));
    }
    m_executor->setScalar(m_step.lr, static_cast<float>(record.lr));
    if (m_completed == nullptr) { // else the device has the scale, and the host does not know it yet
        writeScale();
    }
}

void Lane::writeScale()
{
    if (m_scaleOnDevice) {
        m_scaleOnDevice->bring(*m_executor, *m_scaler, m_faults.lossFactor);
        return;
    }
    // A loss that is a factor larger has gradients that are: this is where both enter backward.
    m_executor->setScalar(m_step.lossScale, static_cast<float>(m_scaler->scale() * m_faults.lossFactor));
    m_executor->setScalar(m_step.inverseScale, static_cast<float>(1 / m_scaler->unscaleBy()));
}

/// Returns the milliseconds that it waited for the batch.
double Lane::feed(std::int64_t step, std::int64_t microBatch)
{
    const double before = steadySeconds();
    const Batch& batch = m_loader->next(step, microBatch);
    const double waited = (steadySeconds() - before) * 1e3;
    if (m_faults.touchSamples() && microBatch == 0) {
        std::vector<std::byte> samples(batch.samples().begin(), batch.samples().end());
        spoil(samples);
        m_executor->write(m_step.input, samples);
    } else {
        m_executor->write(m_step.input, batch.samples(), batch.fingerprint);
    }
    m_executor->write(m_step.target, batch.answers(), batch.fingerprint);
    return waited;
}

/// On the device alone, but for what needs a number of each micro-batch: the guard's count and a scaler per
/// micro-batch.
void Lane::runMicroBatches(StepRecord& record, const StepWatcher& watcher, const NodeWatcher& nodes)
{
    const auto timeTo = [this](float& milliseconds) { m_executor->timeTo(milliseconds); };
    const auto run = [&](Phase phase) { nodes ? m_executor->run(phase, nodes) : m_executor->run(phase); };
    m_executor->clearCensus();
    timeTo(record.timeMs.instrumentsMs);
    for (std::int64_t i = 0; i < m_config->accumulation.steps; ++i) {
        record.timeMs.waitMs += static_cast<float>(feed(record.step, i));
        if (m_step.dropoutCounter) {
            // Philox takes 32 bits of counter; a run of 2^31 micro-batches would repeat its masks.
            m_executor->setScalar(*m_step.dropoutCounter,
                static_cast<std::int32_t>((record.step * m_config->accumulation.steps + i) & 0x7FFFFFFF));
        }
        if (m_step.keep) {
            const bool keepsLast = !m_config->accumulation.zeroGradients;
            m_executor->setScalar(*m_step.keep, i == 0 ? 0.0F : 1.0F);
            m_executor->setScalar(*m_step.keepGradients, i == 0 && !keepsLast ? 0.0F : 1.0F);
        }
        m_executor->uploadStepInputs();
        timeTo(record.timeMs.dataMs);
        tell(watcher, StepStage::Data);
        timeTo(record.timeMs.instrumentsMs);
        if (i == 0) {
            run(Phase::WeightCast);
        }
        run(Phase::Forward);
        timeTo(record.timeMs.forwardMs);
        tell(watcher, StepStage::Forward);
        timeTo(record.timeMs.instrumentsMs);
        run(Phase::Backward);
        timeTo(record.timeMs.backwardMs);
        const bool isLast = i + 1 == m_config->accumulation.steps;
        if (isLast) {
            spoilGradients();
        }
        if (averagesGradients() && (isLast || m_config->parallel.everyMicroBatch)) {
            m_exchange->averageGradients(*m_executor, m_config->parallel, m_scaler->unscaleBy());
            timeTo(record.timeMs.backwardMs);
        }
        tell(watcher, StepStage::Backward);
        timeTo(record.timeMs.instrumentsMs);
        if (m_config->accumulation.guard || m_step.microFoundInf) {
            m_executor->downloadStepOutputs();
        }
        if (m_config->accumulation.guard) {
            record.droppedMicroBatches += std::isfinite(m_executor->scalar(m_step.microLoss)) ? 0 : 1;
        }
        if (m_step.microFoundInf) {
            updateScaler(microFoundInf(), lossForScaler(m_executor->scalar(m_step.microLoss) * m_faults.lossFactor));
            writeScale();
            m_executor->uploadStepInputs();
        }
    }
}

/// Blocks first .. end - 1 of what follows backward, in the lane's order. Where one of the host's is among them, the
/// device goes on afterwards, and so the host needs its numbers in between.
void Lane::runBlocks(StepRecord& record, std::size_t first, std::size_t end, const StepWatcher& watcher)
{
    const auto run = [&](Phase phase, float& milliseconds) {
        m_executor->run(phase);
        m_executor->timeTo(milliseconds);
    };
    for (std::size_t i = first; i < end; ++i) {
        const StepBlock block = m_config->order[i];
        switch (block) {
        case StepBlock::Unscale:
            run(Phase::Unscale, record.timeMs.unscaleMs);
            break;
        case StepBlock::Check:
            run(Phase::Check, record.timeMs.unscaleMs);
            if (m_exchange) {
                shareFoundInf();
                m_executor->timeTo(record.timeMs.unscaleMs);
            }
            break;
        case StepBlock::Clip:
            run(Phase::Clip, record.timeMs.clipMs);
            break;
        case StepBlock::Step:
            record.lr = nextLr();
            run(Phase::Optimizer, record.timeMs.optimizerMs);
            break;
        case StepBlock::Update:
        case StepBlock::Schedule:
            m_executor->downloadStepOutputs();
            runOnHost(block, comesBefore(m_config->order, StepBlock::Check, block), record);
            writeScale();
            m_executor->setScalar(m_step.lr, static_cast<float>(nextLr()));
            m_executor->uploadStepInputs(); // the unscaling or the optimizer is still to come
            break;
        }
        tell(watcher, stageOf(block));
        m_executor->timeTo(record.timeMs.instrumentsMs);
    }
}

/// A block of the host's. Before this step's check only that of the step before is known.
void Lane::runOnHost(StepBlock block, bool hasChecked, const StepRecord& record)
{
    const bool isOfMicroBatches = block == StepBlock::Update && m_step.microFoundInf;
    if (isOfMicroBatches) {
        return; // they have done it
    }
    if (hasChecked) {
        m_foundInf = m_executor->scalar(m_step.foundInf) != 0;
    }
    if (block == StepBlock::Update) {
        updateScaler(m_foundInf, lossForScaler(stepLoss(record.droppedMicroBatches)));
    } else {
        advanceSchedule(hasChecked);
    }
}

/// The mean over the micro-batches that the guard let pass; NaN if it dropped them all.
double Lane::stepLoss(std::int32_t dropped) const
{
    const auto parts = static_cast<double>(m_config->accumulation.steps);
    const double toMean = (m_config->accumulation.divide ? parts : 1.0) / (parts - static_cast<double>(dropped));
    return m_faults.lossFactor * m_executor->scalar(m_step.loss) * toMean;
}

/// The next step's first micro-batch, if it lies ready.
void Lane::sendAhead()
{
    if (const Batch* const batch = m_loader->ahead()) {
        m_executor->writeAhead(m_step.input, batch->samples(), batch->fingerprint);
        m_executor->writeAhead(m_step.target, batch->answers(), batch->fingerprint);
    }
}

void Lane::updateScaler(bool foundInf, double loss)
{
    const ScalerVerdict verdict = m_scaler->update({foundInf, loss});
    if (!verdict.raised.empty()) {
        throw Error(ErrorCode::Cancelled, verdict.raised);
    }
}

/// Whether what the last check found keeps the optimizer from stepping.
bool Lane::mustSkip() const
{
    return m_foundInf && m_scaler->skipsOnNonFinite()
        && comesBefore(m_config->order, StepBlock::Check, StepBlock::Step);
}

void Lane::advanceSchedule(bool hasChecked)
{
    const bool isSkipped = hasChecked && mustSkip();
    if (!isSkipped || m_config->schedule.countSkipped) {
        ++m_schedulePosition;
    }
}

void Lane::reportUpdate(StepRecord& record)
{
    const auto scalar = [this](ValueId id) { return m_executor->scalar(id); };
    m_foundInf = scalar(m_step.foundInf) != 0;
    record.foundInf = m_foundInf;
    record.skipped = mustSkip();
    const double weightSquares = scalar(m_step.weightSquares);
    const double moved = std::sqrt(scalar(m_step.updateSquares))
        + (m_step.extraUpdateSquares ? std::sqrt(scalar(*m_step.extraUpdateSquares)) : 0.0);
    record.updateRatio = weightSquares == 0 ? 0.0 : moved / std::sqrt(weightSquares);
    m_diverged = !std::isfinite(weightSquares);
}

void Lane::reportGradients(StepRecord& record) const
{
    const auto scalar = [this](ValueId id) { return m_executor->scalar(id); };
    record.gradNorm = std::sqrt(scalar(m_step.sumSquares));
    record.gradNormClipped = record.gradNorm;
    record.gradMax = scalar(m_step.maxAbs);
    if (m_step.clippedSumSquares) {
        record.gradNormClipped = std::sqrt(scalar(*m_step.clippedSumSquares));
    }
    if (m_step.scaledSumSquares) {
        record.gradNorm = std::sqrt(scalar(*m_step.scaledSumSquares)) / record.scale;
        record.gradMax = scalar(*m_step.scaledMaxAbs) / record.scale;
    }
    if (std::isnan(record.gradNorm)) {
        record.gradMax = record.gradNorm; // the kernels' maximum passes over NaN
    }
}

void Lane::reportCensus(StepRecord& record)
{
    const LayerShares all = sharesOver(m_step, *m_executor, [](std::size_t) { return true; });
    record.flushed = all.flushed;
    record.overflowed = all.overflowed;
    record.subnormal = all.subnormal;
}

LayerShares Lane::layerShares(std::string_view layer) const
{
    return sharesOver(m_step, *m_executor, [this, layer](std::size_t parameter) {
        return belongsTo(m_step.graph.value(m_step.parameters[parameter]).name, layer);
    });
}

void Lane::findOrigin(const StepRecord& record)
{
    const bool isFinite = record.lossFinite && !record.foundInf;
    if (isFinite && (record.gradNorm != 0 || record.loss == 0)) {
        return;
    }
    const bool isCounting = m_executor->isCounting();
    const std::optional<Origin> origin = isFinite ? firstVanished(*m_executor) : firstNonFinite(*m_executor);
    if (isCounting ? !m_knownOrigins.insert(origin).second : std::exchange(m_saysUnknownOrigin, true)) {
        return;
    }
    const std::string_view what = isFinite ? "The whole gradient is zero"
        : record.lossFinite                ? "A gradient is not finite"
                                           : "The loss is not finite";
    const std::string place = origin ? describe(*origin, m_step.graph) : "";
    m_newOrigin = Event {.kind = EventKind::Numerics,
        .step = m_nextStep,
        .lane = m_id,
        .path = place,
        .text = rankPrefix()
            + (origin            ? fmt::format("{}; first in {}.", what, place)
                    : isCounting ? fmt::format("{}, but not by a rounding to 16 bits.", what)
                                 : fmt::format("{}; where is not known, as roundings are not counted.", what))};
}

} // namespace mantissa
