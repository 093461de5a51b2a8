#include "engine/train/lane.h"

#include "engine/core/error.h"
#include "engine/formats/convert.h"
#include "engine/optim/schedule.h"
#include "engine/train/lane_document.h"
#include "engine/train/lane_products.h"
#include "engine/train/memory_planner.h"
#include "engine/train/model_task.h"
#include "engine/train/rank_lanes.h"
#include "engine/train/setting_table.h"
#include "engine/train/watchpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string_view>

namespace mantissa {

namespace {

using Clock = std::chrono::steady_clock;

/// Adds the time since its last use to a figure.
class PhaseTimer
{
public:
    void addTo(float& milliseconds)
    {
        const Clock::time_point now = Clock::now();
        milliseconds += std::chrono::duration<float, std::milli>(now - m_last).count();
        m_last = now;
    }

private:
    Clock::time_point m_last = Clock::now();
};

void tell(const StepWatcher& watcher, StepStage stage)
{
    if (watcher) {
        watcher(stage);
    }
}

std::unique_ptr<LossScaler> scalerOf(const LaneConfig& config)
{
    return makeScaler(config.scaler.value_or(ScalerConfig {.family = "none"}));
}

/// What training changes and a step boundary does not end. Gradients are not: the first micro-batch replaces them,
/// unless the lane keeps them.
bool isState(ValueKind kind, bool keepsGradients)
{
    return kind == ValueKind::Parameter || kind == ValueKind::Buffer || kind == ValueKind::OptimizerState
        || (kind == ValueKind::Gradient && keepsGradients);
}

/// Copies weights, running statistics, optimizer state and gradients by name; those whose format changes are rounded to
/// the new one, or come out of the old one exactly.
void copyState(Executor& from, Executor& to)
{
    const std::vector<Value>& targets = to.graph().values();
    for (ValueId target = 0; target < targets.size(); ++target) {
        if (!isState(targets[target].kind, true)) {
            continue;
        }
        const std::vector<Value>& sources = from.graph().values();
        const auto source = std::ranges::find_if(sources, [&wanted = targets[target]](const Value& value) {
            return value.kind == wanted.kind && value.name == wanted.name && value.type.shape == wanted.type.shape;
        });
        if (source != sources.end()) {
            to.copyFrom(from, static_cast<ValueId>(source - sources.begin()), target);
        }
    }
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

Lane::Lane(std::uint32_t id, LaneConfig config, std::vector<ScriptedEvent> events, std::shared_ptr<const Dataset> data,
    Backend& backend, int threads, std::shared_ptr<Communicator> ranks)
    : m_id(id)
    , m_config(std::make_shared<const LaneConfig>(std::move(config)))
    , m_script(std::move(events))
    , m_data(std::move(data))
    , m_backend(backend)
    , m_threads(threads)
    , m_scaler(scalerOf(*m_config))
{
    std::ranges::stable_sort(m_script, {}, &ScriptedEvent::step);
    joinRanks(std::move(ranks));
    m_loader = makeLoader(*m_config);
    compile(*m_config);
    const Model model = buildModel(m_config->model, trainingTask(*m_config, *m_data));
    const auto fill = [&](const std::vector<Parameter>& from, const std::vector<ValueId>& to) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::vector<float> values = initialValues(model.graph, from[i], m_config->seed);
            m_initialHash = fnv1a(std::as_bytes(std::span(values)), m_initialHash);
            m_executor->writeFloats(to[i], values);
        }
    };
    fill(model.parameters, m_step.parameters);
    fill(model.buffers, m_step.buffers);
    startAverages();
    for (const ScriptedEvent& event : m_script) {
        for (const auto& [path, value] : event.set) {
            const FaultInfo* fault = faultNamed(path);
            if (fault != nullptr && fault->kind == FaultKind::GradientInf) {
                static_cast<void>(parameterNamed(value.get<std::string>()));
            }
        }
    }
    addOtherRanks();
}

Lane::Lane(std::uint32_t id, const LaneState& state, std::shared_ptr<const Dataset> data, Backend& backend, int threads,
    std::shared_ptr<Communicator> ranks)
    : Lane(id, state.config, state.script, std::move(data), backend, threads, std::move(ranks))
{
    restore(state);
}

Lane::~Lane() = default;

void Lane::restoreRank(const LaneState& state)
{
    writeTensors(state.tensors);
    if (!state.scaler.empty()) {
        m_scaler->loadState(state.scaler);
    }
    m_script = state.script;
    m_history = state.history;
    m_nextStep = state.nextStep;
    m_schedulePosition = state.schedulePosition;
    m_foundInf = state.foundInf;
    m_diverged = false;
    m_faults = {};
    m_initialHash = state.initialHash;
    m_loader->restoreFingerprint(state.batchHash);
    for (const ScriptedEvent& event : m_history) {
        for (const auto& [path, value] : event.set) {
            if (const FaultInfo* fault = faultNamed(path); fault != nullptr && event.step == m_nextStep) {
                arm(fault->kind, value);
            }
        }
    }
}

void Lane::writeTensors(const std::vector<StateTensor>& tensors)
{
    std::string wrong;
    const auto complain = [&wrong](const std::string& text) { wrong += (wrong.empty() ? "" : "; ") + text; };
    std::set<ValueId> named;
    const std::vector<Value>& values = m_step.graph.values();
    for (const StateTensor& tensor : tensors) {
        const auto found = std::ranges::find_if(
            values, [&tensor](const Value& value) { return value.kind == tensor.kind && value.name == tensor.name; });
        if (found == values.end()) {
            complain(fmt::format("this model has no {}", tensor.name));
            continue;
        }
        const auto id = static_cast<ValueId>(found - values.begin());
        named.insert(id);
        if (found->type != tensor.type) {
            complain(fmt::format("{} is {} {} in the model, but {} {} in the state", tensor.name,
                mantissa::nameOf(found->type.dtype), found->type.shape.text(), mantissa::nameOf(tensor.type.dtype),
                tensor.type.shape.text()));
        } else {
            m_executor->write(id, tensor.bytes);
        }
    }
    for (ValueId id = 0; id < values.size(); ++id) {
        if (isState(values[id].kind, keepsGradients()) && !named.contains(id)) {
            complain(fmt::format("the state has no {}", values[id].name));
        }
    }
    m_executor->synchronize();
    if (!wrong.empty()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("The lane \"{}\" cannot go on from this state: {}.", m_config->name, wrong));
    }
}

void Lane::startFrom(const std::map<std::string, std::vector<float>>& values)
{
    m_initialHash = fnvOffset;
    for (const auto* ids : {&m_step.parameters, &m_step.buffers}) {
        for (const ValueId id : *ids) {
            const std::vector<float>& initial = values.at(m_step.graph.value(id).name);
            m_initialHash = fnv1a(std::as_bytes(std::span(initial)), m_initialHash);
            m_executor->writeFloats(id, initial);
        }
    }
    startAverages();
    if (m_others) {
        for (const auto& other : m_others->lanes()) {
            other->startFrom(values);
        }
    }
}

void Lane::compile(const LaneConfig& config)
{
    StepGraph step = buildStepGraph(config, shareTask(config));
    const bool sharesStatistics = m_exchange && config.parallel.batchNorm == "synchronised";
    auto executor = std::make_unique<Executor>(step.graph, m_backend, m_threads, productsOn(m_backend, config),
        sharesStatistics ? m_exchange->communicator().get() : nullptr);
    if (m_executor) {
        copyState(*m_executor, *executor);
    }
    const bool beginsAverages = m_executor && m_step.averages.empty();
    m_step = std::move(step);
    m_graph = std::make_shared<const Graph>(m_step.graph);
    m_executor = std::move(executor);
    if (beginsAverages) {
        startAverages();
    }
    m_evaluator.reset();
    m_knownOrigins.clear();
    if (m_exchange) {
        m_exchange->prepare(*m_executor, m_step.parameters);
    }
}

/// A moving average begins at the weights as they are.
void Lane::startAverages()
{
    for (std::size_t i = 0; i < m_step.averages.size(); ++i) {
        m_executor->copyFrom(*m_executor, m_step.parameters[i], m_step.averages[i]);
    }
}

std::unique_ptr<BatchLoader> Lane::makeLoader(const LaneConfig& config) const
{
    BatchSource source(m_data->train, config.data.batch, config.accumulation.steps, config.seed);
    if (m_loader) {
        source.restoreFingerprint(m_loader->fingerprint());
    }
    return std::make_unique<BatchLoader>(m_data, std::move(source), config.accumulation.steps,
        LoaderOptions {.usesLabels = usesLabels(config),
            .queue = config.data.prefetch,
            .throttleMs = config.data.throttleMs,
            .share = m_exchange ? shareOf(config, rank()) : BatchShare {}});
}

std::optional<std::int64_t> Lane::queuedBatches() const
{
    return m_loader->options().queue > 0 ? std::optional(m_loader->ready()) : std::nullopt;
}

double Lane::nextLr() const
{
    return m_faults.lrFactor
        * learningRate(m_config->schedule, m_config->optimizer.lr, m_schedulePosition, m_config->steps);
}

MemoryBytes Lane::bytes() const
{
    const auto bytesOf = [this](ValueKind kind) { return static_cast<std::uint64_t>(m_executor->kindBytes(kind)); };
    MemoryBytes bytes = bytesByKind(bytesOf);
    bytes.workspace = m_executor->workspaceBytes() + m_executor->censusBytes() + bytesOf(ValueKind::StepInput)
        + bytesOf(ValueKind::StepOutput) + (m_evaluator ? m_evaluator->allocatedBytes() : 0)
        + (m_exchange ? m_exchange->allocatedBytes() : 0);
    if (m_others) {
        for (const auto& other : m_others->lanes()) {
            bytes += other->bytes();
        }
    }
    return bytes;
}

// --- settings ---

std::vector<Event> Lane::applyScripted()
{
    std::vector<Event> events;
    while (!m_script.empty() && m_script.front().step <= m_nextStep) {
        const ScriptedEvent due = m_script.front();
        m_script.erase(m_script.begin());
        for (const auto& [path, value] : due.set) {
            try {
                events.push_back(set(path, value));
            } catch (const Error& error) {
                events.push_back(
                    {.kind = EventKind::Refused, .path = path, .after = value.dump(), .text = error.what()});
            }
            events.back().scripted = true;
            events.back().step = m_nextStep;
            events.back().lane = m_id;
        }
    }
    return events;
}

nlohmann::json Lane::currentValue(const std::string& path) const
{
    if (path == "scaler.scale") {
        return m_scaler->scale();
    }
    if (path == "scaler.growth_tracker") {
        return m_scaler->growthTracker();
    }
    if (const Setting* setting = findSetting(path)) {
        return setting->write(*m_config);
    }
    const nlohmann::json* section = valueAt(m_config->document, path);
    return section == nullptr ? nlohmann::json() : *section;
}

Event Lane::setRank(const std::string& path, const nlohmann::json& value)
{
    Event event {.kind = EventKind::Set,
        .step = m_nextStep,
        .lane = m_id,
        .path = path,
        .before = currentValue(path).dump(),
        .after = value.dump()};
    LaneConfig to = withSetting(*m_config, path, value);
    if (const FaultInfo* fault = faultNamed(path)) {
        inject(fault->kind, value);
    } else if (isStatePath(path)) {
        setScalerState(path.substr(path.find('.') + 1), value);
    } else {
        changeSettings(std::move(to));
    }
    m_history.push_back({m_nextStep, m_config->name, {{path, value}}});
    return event;
}

void Lane::setScalerState(const std::string& key, const nlohmann::json& value)
{
    if (key == "scale") {
        m_scaler->setScale(value.get<double>());
        return;
    }
    nlohmann::json state = m_scaler->state();
    if (!state.contains("_growth_tracker")) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("scaler.growth_tracker: the scaler of lane \"{}\" does not count this way, so there is no "
                        "tracker to set.",
                m_config->name));
    }
    state["_growth_tracker"] = value;
    m_scaler->loadState(state);
}

void Lane::changeSettings(LaneConfig to)
{
    // Everything that may throw comes before the first change, so a refused setting changes nothing.
    std::unique_ptr<LossScaler> scaler;
    const std::string familyBefore = m_config->scaler ? m_config->scaler->family : "none";
    const std::string familyAfter = to.scaler ? to.scaler->family : "none";
    if (familyBefore != familyAfter) {
        scaler = scalerOf(to);
        if (familyBefore != "none" && familyAfter != "none" && isUsableScale(m_scaler->scale())) {
            scaler->setScale(m_scaler->scale());
        }
    }
    if (needsNewGraph(*m_config, to)) {
        compile(to);
    }
    if (scaler) {
        m_scaler = std::move(scaler);
    } else if (to.scaler && *to.scaler != *m_config->scaler) {
        m_scaler->configure(*to.scaler);
    }
    if (to.accumulation != m_config->accumulation || to.data != m_config->data) {
        m_loader = makeLoader(to);
    }
    if (to.evaluation != m_config->evaluation) {
        m_evaluator.reset();
    }
    m_config = std::make_shared<const LaneConfig>(std::move(to));
}

std::vector<ScriptedEvent> Lane::history() const
{
    std::vector<ScriptedEvent> events = m_history;
    events.insert(events.end(), m_script.begin(), m_script.end());
    return events;
}

// --- training ---

StepRecord Lane::stepRank(const StepWatcher& watcher, const NodeWatcher& nodes)
{
    StepRecord record;
    record.step = m_nextStep;
    record.lane = m_id;
    record.scale = m_scaler->scale();
    record.lr = nextLr();
    if (m_exchange) {
        m_exchange->begin();
    }
    writeScalars();
    m_executor->startTiming();
    runMicroBatches(record, watcher, nodes);
    runBlocks(record, watcher);

    PhaseTimer timer;
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
    record.batchHash = batchHash();
    record.bytes = bytes();
    timer.addTo(record.timeMs.instrumentsMs);
    m_faults = {};
    ++m_nextStep;
    return record;
}

void Lane::writeScalars()
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
        m_executor->setScalar(*m_step.roundingCounter, static_cast<std::int32_t>(m_nextStep & 0x7FFFFFFF));
    }
    writeScale();
    writeLr();
}

void Lane::writeScale()
{
    // A loss that is a factor larger has gradients that are: this is where both enter backward.
    m_executor->setScalar(m_step.lossScale, static_cast<float>(m_scaler->scale() * m_faults.lossFactor));
    m_executor->setScalar(m_step.inverseScale, static_cast<float>(1 / m_scaler->unscaleBy()));
}

void Lane::writeLr()
{
    m_executor->setScalar(m_step.lr, static_cast<float>(nextLr()));
}

/// Returns the milliseconds that it waited for the batch.
double Lane::feed(std::int64_t microBatch)
{
    const Clock::time_point before = Clock::now();
    const Batch& batch = m_loader->next(m_nextStep, microBatch);
    const double waited = std::chrono::duration<double, std::milli>(Clock::now() - before).count();
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
        record.timeMs.waitMs += static_cast<float>(feed(i));
        if (m_step.dropoutCounter) {
            // Philox takes 32 bits of counter; a run of 2^31 micro-batches would repeat its masks.
            m_executor->setScalar(*m_step.dropoutCounter,
                static_cast<std::int32_t>((m_nextStep * m_config->accumulation.steps + i) & 0x7FFFFFFF));
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

/// What follows backward, in the lane's order. What the host does behind the last block of the device's, in the right
/// order all of it, waits for the step's results; only where the device goes on afterwards does it need them in
/// between.
void Lane::runBlocks(StepRecord& record, const StepWatcher& watcher)
{
    const auto run = [&](Phase phase, float& milliseconds) {
        m_executor->run(phase);
        m_executor->timeTo(milliseconds);
    };
    const auto isHosts = [](StepBlock block) { return block == StepBlock::Update || block == StepBlock::Schedule; };
    const auto device = std::find_if_not(m_config->order.rbegin(), m_config->order.rend(), isHosts);
    const auto tail = static_cast<std::size_t>(m_config->order.rend() - device);
    std::optional<PhaseTimer> atHost;
    const auto waitForResults = [&] {
        sendAhead(); // while all that is enqueued runs
        m_executor->downloadResults();
        m_executor->timeTo(record.timeMs.instrumentsMs);
        m_executor->settleTimes();
        atHost.emplace();
    };
    bool hasChecked = false;
    for (std::size_t i = 0; i < m_config->order.size(); ++i) {
        const StepBlock block = m_config->order[i];
        if (i == tail) {
            waitForResults();
        }
        switch (block) {
        case StepBlock::Unscale:
            run(Phase::Unscale, record.timeMs.unscaleMs);
            break;
        case StepBlock::Check:
            run(Phase::Check, record.timeMs.unscaleMs);
            hasChecked = true;
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
            if (!m_step.microFoundInf) {
                readCheck(hasChecked, i < tail);
                updateScaler(m_foundInf, lossForScaler(stepLoss(record.droppedMicroBatches)));
                writeScale();
            }
            break;
        case StepBlock::Schedule:
            readCheck(hasChecked, i < tail);
            advanceSchedule(hasChecked);
            writeLr();
            break;
        }
        if (isHosts(block) && i < tail) {
            m_executor->uploadStepInputs(); // the unscaling or the optimizer is still to come
        }
        tell(watcher, stageOf(block));
        if (atHost) {
            atHost->addTo(record.timeMs.instrumentsMs);
        } else {
            m_executor->timeTo(record.timeMs.instrumentsMs);
        }
    }
    if (!atHost) {
        waitForResults();
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

/// Before this step's check only that of the step before is known.
void Lane::readCheck(bool hasChecked, bool isToBeRead)
{
    if (isToBeRead) {
        m_executor->downloadStepOutputs();
    }
    if (hasChecked) {
        m_foundInf = m_executor->scalar(m_step.foundInf) != 0;
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

// --- results ---

void Lane::readWeights(std::vector<float>& into)
{
    // One format for all of them, which lie side by side.
    const DType format = m_executor->graph().value(m_step.parameters.front()).type.dtype;
    std::vector<std::byte> stored(m_executor->kindBytes(ValueKind::Parameter));
    m_executor->readKind(ValueKind::Parameter, stored);
    into.resize(stored.size() / sizeOf(format));
    toFloats(format, stored, into);
}

std::string Lane::initialWeightsHash() const
{
    return fmt::format("{:016x}", m_initialHash);
}

std::string Lane::weightsHash()
{
    const std::size_t parameters = m_executor->kindBytes(ValueKind::Parameter);
    std::vector<std::byte> state(parameters + m_executor->kindBytes(ValueKind::Buffer));
    m_executor->readKind(ValueKind::Parameter, std::span(state).first(parameters));
    m_executor->readKind(ValueKind::Buffer, std::span(state).subspan(parameters));
    return fmt::format("{:016x}", fnv1a(state));
}

Validation Lane::validate(const std::atomic<bool>& interrupt)
{
    if (!m_evaluator) {
        m_evaluator = std::make_unique<Evaluator>(*m_config, m_data, m_backend, m_threads);
    }
    const Validation validation = m_evaluator->run(*m_executor, m_step, interrupt);
    if (m_config->evaluation.every == 0) {
        m_evaluator.reset();
    }
    return validation;
}

void Lane::validateIfDue(StepRecord& record, const std::atomic<bool>& interrupt)
{
    const std::int64_t every = m_config->evaluation.every;
    if (every > 0 && m_nextStep % every == 0 && !m_diverged) {
        PhaseTimer timer;
        const Validation validation = validate(interrupt);
        record.validationLoss = validation.loss;
        record.validationAccuracy = validation.accuracy;
        timer.addTo(record.timeMs.evaluationMs);
    }
}

LaneState Lane::rankState()
{
    LaneState state {.config = *m_config,
        .history = m_history,
        .script = m_script,
        .nextStep = m_nextStep,
        .schedulePosition = m_schedulePosition,
        .foundInf = m_foundInf,
        .batchHash = batchHash(),
        .initialHash = m_initialHash,
        .scaler = m_scaler->state(),
        .tensors = {},
        .others = {}};
    const std::vector<Value>& values = m_step.graph.values();
    for (ValueId id = 0; id < values.size(); ++id) {
        if (isState(values[id].kind, keepsGradients())) {
            StateTensor tensor {values[id].name, values[id].kind, values[id].type, {}};
            tensor.bytes.resize(tensor.type.bytes());
            m_executor->read(id, tensor.bytes);
            state.tensors.push_back(std::move(tensor));
        }
    }
    return state;
}

std::unique_ptr<Lane> Lane::fork(std::uint32_t id, const std::string& name)
{
    LaneState copy = state();
    copy.config.name = name;
    copy.config.document["name"] = name;
    auto lane = std::make_unique<Lane>(id, copy, m_data, m_backend, m_threads, givenRanks());
    lane->m_diverged = m_diverged;
    return lane;
}

std::unique_ptr<Lane> Lane::fp32Twin() const
{
    LaneConfig plain;
    plain.name = m_config->name;
    plain.seed = m_config->seed;
    plain.steps = m_config->steps;
    plain.data = m_config->data;
    plain.data.prefetch = 0;
    plain.data.throttleMs = 0;
    plain.model = m_config->model;
    plain.loss = m_config->loss;
    plain.labelSmoothing = m_config->labelSmoothing;
    plain.lossWeight = m_config->lossWeight;
    plain.optimizer.kind = "sgd";
    plain.accumulation = m_config->accumulation;
    plain.accumulation.guard = false;
    plain.accumulation.scalerPerMicroBatch = false;
    plain.accumulation.zeroGradients = true;
    return std::make_unique<Lane>(m_id, std::move(plain), std::vector<ScriptedEvent> {}, m_data, m_backend, m_threads);
}

void Lane::follow(const Lane& other)
{
    copyState(*other.m_executor, *m_executor);
    m_nextStep = other.m_nextStep;
    m_faults = other.m_faults; // those of rank 0, whose samples are counted over the whole batch
    m_diverged = false;
}

std::unique_ptr<Lane> Lane::forkAt(
    std::int64_t step, const LaneState& earlier, std::uint32_t id, const std::string& name) const
{
    LaneState from = earlier;
    from.config.name = name;
    from.config.document["name"] = name;
    // What has happened to this lane since then, scripted or not, is in its history.
    from.script.assign(m_history.begin() + static_cast<std::ptrdiff_t>(earlier.history.size()), m_history.end());
    std::erase_if(from.script, [step](const ScriptedEvent& event) { return event.step >= step; });
    auto lane = std::make_unique<Lane>(id, from, m_data, m_backend, m_threads, givenRanks());
    while (lane->nextStep() < step) {
        lane->applyScripted();
        static_cast<void>(lane->step());
    }
    static_cast<void>(lane->takeOrigin());
    std::ranges::copy_if(earlier.script, std::back_inserter(lane->m_script),
        [step](const ScriptedEvent& event) { return event.step >= step; });
    return lane;
}

} // namespace mantissa
