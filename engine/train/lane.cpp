#include "engine/train/lane.h"

#include "engine/core/clock.h"
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
#include <string_view>

namespace mantissa {

namespace {

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
    requireBoundary();
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
    m_scaleOnDevice = m_step.scaler ? std::optional<ScaleOnDevice>(m_step) : std::nullopt;
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

std::uint64_t Lane::batchHash() const
{
    return m_begun != nullptr ? m_begun->batchesBefore : m_loader->fingerprint();
}

double Lane::nextLr() const
{
    return lrAt(m_schedulePosition);
}

double Lane::lrAt(std::int64_t position) const
{
    return m_faults.lrFactor * learningRate(m_config->schedule, m_config->optimizer.lr, position, m_config->steps);
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
    requireBoundary();
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

// --- results ---

void Lane::readWeights(std::vector<float>& into)
{
    requireBoundary();
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
    requireBoundary();
    const std::size_t parameters = m_executor->kindBytes(ValueKind::Parameter);
    std::vector<std::byte> state(parameters + m_executor->kindBytes(ValueKind::Buffer));
    m_executor->readKind(ValueKind::Parameter, std::span(state).first(parameters));
    m_executor->readKind(ValueKind::Buffer, std::span(state).subspan(parameters));
    return fmt::format("{:016x}", fnv1a(state));
}

Validation Lane::validate(const std::atomic<bool>& interrupt)
{
    requireBoundary();
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
        const double before = steadySeconds();
        const Validation validation = validate(interrupt);
        record.validationLoss = validation.loss;
        record.validationAccuracy = validation.accuracy;
        record.timeMs.evaluationMs += static_cast<float>((steadySeconds() - before) * 1e3);
    }
}

LaneState Lane::rankState()
{
    requireBoundary();
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
    other.requireBoundary();
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
