#include "engine/backends/executor.h"

#include "engine/core/error.h"
#include "engine/formats/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace mantissa {

namespace {

/// Whether the node's half outputs are rounded, not only moved, and counted. New weights are not: their rounding is
/// part of the update, which updateSquares measures as stored.
bool isCounted(const Node& node)
{
    return node.op != Op::Reshape && node.op < Op::SgdUpdate;
}

/// Refuses before anything is allocated: an operating system that promises memory it does not have would end the
/// program. Lanes that were prepared before have taken theirs.
void requireMemory(const MemoryPlan& plan, const Backend& backend)
{
    const std::size_t needed = std::accumulate(plan.blockBytes.begin(), plan.blockBytes.end(), std::size_t {0});
    const std::uint64_t free = backend.freeMemory();
    if (free > 0 && needed > free) {
        constexpr double gibibyte = 1U << 30U;
        const std::size_t activations = plan.blockBytes[static_cast<std::size_t>(ValueKind::Activation)];
        throw Error(ErrorCode::OutOfMemory,
            fmt::format("A lane needs {:.1f} GiB of memory, {:.1f} of them for activations, but only {:.1f} are free. "
                        "Choose a smaller batch or model, fewer lanes, or model.checkpointing.",
                static_cast<double>(needed) / gibibyte, static_cast<double>(activations) / gibibyte,
                static_cast<double>(free) / gibibyte));
    }
}

/// Other values have no place in the host's mirror.
void requireStepInput(const Value& value)
{
    if (value.kind != ValueKind::StepInput) {
        throw Error(ErrorCode::Internal, "[executor] " + value.name + " is no scalar that the host writes.");
    }
}

} // namespace

Executor::Executor(Graph graph, Backend& backend, int threads, const ProductPrecision& products, Communicator* ranks)
    : m_graph(std::move(graph))
    , m_plan(planMemory(m_graph))
    , m_stream(backend.createStream(threads))
{
    requireMemory(m_plan, backend);
    for (std::size_t kind = 0; kind < valueKindCount; ++kind) {
        m_blocks[kind] = backend.allocate(std::max<std::size_t>(m_plan.blockBytes[kind], 1));
        m_stream->fillZero(m_blocks[kind]->data(), m_blocks[kind]->bytes());
    }
    m_stepInputs.resize(kindBytes(ValueKind::StepInput));
    m_stepOutputs.resize(kindBytes(ValueKind::StepOutput));
    for (Timing& timing : m_timings) {
        timing.reserve(Stream::markCount / 2);
    }
    if (m_stream->runsAhead() && kindBytes(ValueKind::Buffer) > 0) {
        m_keptBuffers = backend.allocate(kindBytes(ValueKind::Buffer));
    }
    compile(backend, threads, products, ranks);
    m_stream->synchronize();
}

void Executor::compile(Backend& backend, int threads, const ProductPrecision& products, Communicator* ranks)
{
    const auto typesOf = [this](const std::vector<ValueId>& ids) {
        std::vector<TensorType> types;
        for (const ValueId id : ids) {
            types.push_back(m_graph.value(id).type);
        }
        return types;
    };
    std::size_t workspaceBytes = 0;
    std::size_t censusCount = 0;
    for (const Node& node : m_graph.nodes()) {
        auto kernel = backend.prepare(
            {node.op, node.attributes, typesOf(node.inputs), typesOf(node.outputs), threads, ranks, products});
        workspaceBytes = std::max(workspaceBytes, kernel->workspaceBytes());
        m_kernelBytes += kernel->deviceBytes();
        for (const ValueId id : node.outputs) {
            if (isCounted(node) && isHalf(m_graph.value(id).type.dtype)) {
                m_censusSlot.emplace(std::pair(id, node.phase), censusCount++);
            }
        }
        m_kernels[static_cast<std::size_t>(node.phase)].push_back(std::move(kernel));
    }
    m_census.resize(censusCount);
    m_workspace = backend.allocate(std::max<std::size_t>(workspaceBytes, 1));
    m_censusBuffer = backend.allocate(std::max<std::size_t>(censusCount * sizeof(Census), 1));
    bind();
}

void Executor::bind()
{
    std::array<std::size_t, phaseCount> next {};
    for (const Node& node : m_graph.nodes()) {
        const auto phase = static_cast<std::size_t>(node.phase);
        KernelBinding binding;
        for (const ValueId id : node.inputs) {
            binding.inputs.push_back(address(id));
        }
        for (const ValueId id : node.outputs) {
            binding.outputs.push_back(address(id));
        }
        binding.workspace = m_workspace->data();
        if (m_isCounting) {
            bindCensus(node, binding);
        }
        m_kernels[phase][next[phase]++]->bind(binding);
    }
}

void Executor::bindCensus(const Node& node, KernelBinding& binding) const
{
    binding.moreCensus.resize(node.outputs.size() - 1);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const auto slot = m_censusSlot.find({node.outputs[i], node.phase});
        if (slot != m_censusSlot.end() && isCounted(node)) {
            (i == 0 ? binding.census : binding.moreCensus[i - 1])
                = static_cast<Census*>(m_censusBuffer->data()) + slot->second;
        }
    }
}

std::size_t Executor::allocatedBytes() const
{
    std::size_t sum = workspaceBytes() + m_censusBuffer->bytes();
    for (const auto& kind : m_blocks) {
        sum += kind->bytes();
    }
    return sum;
}

void Executor::run(Phase phase)
{
    Replay& replay = replayOf(phase);
    if (replay.runs == 1 && m_kernels[static_cast<std::size_t>(phase)].size() > 1) {
        // Not the first time: what a library loads when it is first used is no part of a recording.
        replay.recording = m_stream->record([this, phase] { enqueue(phase); });
    }
    replay.runs = std::min(replay.runs + 1, 2);
    if (replay.recording) {
        m_stream->replay(*replay.recording);
    } else {
        enqueue(phase);
    }
}

void Executor::enqueue(Phase phase)
{
    for (const auto& kernel : m_kernels[static_cast<std::size_t>(phase)]) {
        kernel->run(*m_stream);
    }
}

std::size_t Executor::recordedPhases() const
{
    return static_cast<std::size_t>(std::ranges::count_if(
        m_replays[m_isCounting ? 1 : 0], [](const Replay& replay) { return replay.recording != nullptr; }));
}

void Executor::startTiming()
{
    m_timing = 1 - m_timing;
    m_timings[m_timing].clear();
    m_stream->mark(slotOf(m_timing, 0));
}

void Executor::timeTo(float& milliseconds)
{
    Timing& timing = m_timings[m_timing];
    timing.push_back(&milliseconds);
    m_stream->mark(slotOf(m_timing, timing.size()));
    if (timing.size() + 1 == Stream::markCount / 2) {
        m_stream->synchronize();
        settleTimes(m_timing);
        m_stream->mark(slotOf(m_timing, 0));
    }
}

/// Its marks have been reached.
void Executor::settleTimes(std::size_t timing)
{
    Timing& figures = m_timings[timing];
    for (std::size_t i = 0; i < figures.size(); ++i) {
        *figures[i] += m_stream->timeBetween(slotOf(timing, i), slotOf(timing, i + 1));
    }
    figures.clear();
}

void Executor::sendResults(float& milliseconds)
{
    if (!m_parcel) {
        m_parcel = m_stream->createParcel(m_stepOutputs.size() + m_census.size() * sizeof(Census));
    }
    m_parcel->add(block(ValueKind::StepOutput).data(), m_stepOutputs.size());
    m_sendsCensus = hasCensus();
    if (m_sendsCensus) {
        m_parcel->add(m_censusBuffer->data(), m_census.size() * sizeof(Census));
    }
    timeTo(milliseconds);
    m_parcel->seal();
    m_sentTiming = m_timing;
}

void Executor::takeResults()
{
    const std::span<const std::byte> bytes = m_parcel->open();
    std::memcpy(m_stepOutputs.data(), bytes.data(), m_stepOutputs.size());
    if (m_sendsCensus) {
        std::memcpy(m_census.data(), bytes.data() + m_stepOutputs.size(), m_census.size() * sizeof(Census));
    }
    settleTimes(m_sentTiming);
}

void Executor::run(Phase phase, const NodeWatcher& watcher)
{
    auto kernel = m_kernels[static_cast<std::size_t>(phase)].begin();
    for (const Node& node : m_graph.nodes()) {
        if (node.phase == phase) {
            (*kernel++)->run(*m_stream);
            watcher(node);
        }
    }
}

std::byte* Executor::address(ValueId value) const
{
    return static_cast<std::byte*>(block(m_graph.value(value).kind).data()) + m_plan.offsets[value];
}

void Executor::setScalar(ValueId stepInput, float value)
{
    requireStepInput(m_graph.value(stepInput));
    std::memcpy(m_stepInputs.data() + m_plan.offsets[stepInput], &value, sizeof value);
}

void Executor::setScalar(ValueId stepInput, double value)
{
    requireStepInput(m_graph.value(stepInput));
    std::memcpy(m_stepInputs.data() + m_plan.offsets[stepInput], &value, sizeof value);
}

void Executor::setScalar(ValueId stepInput, std::int32_t value)
{
    requireStepInput(m_graph.value(stepInput));
    std::memcpy(m_stepInputs.data() + m_plan.offsets[stepInput], &value, sizeof value);
}

void Executor::uploadStepInputs()
{
    m_stream->upload(block(ValueKind::StepInput).data(), m_stepInputs.data(), m_stepInputs.size());
}

void Executor::downloadStepOutputs()
{
    m_stream->download(m_stepOutputs.data(), block(ValueKind::StepOutput).data(), m_stepOutputs.size());
    m_stream->synchronize();
}

double Executor::scalar(ValueId stepOutput) const
{
    const std::byte* source = m_stepOutputs.data() + m_plan.offsets[stepOutput];
    if (m_graph.value(stepOutput).type.dtype == DType::Float64) {
        double value = 0;
        std::memcpy(&value, source, sizeof value);
        return value;
    }
    float value = 0;
    std::memcpy(&value, source, sizeof value);
    return value;
}

std::span<const float> Executor::floats(ValueId stepOutput) const
{
    // The mirror comes from operator new and fp32 offsets are multiples of 4, so the floats are aligned.
    return {reinterpret_cast<const float*>(m_stepOutputs.data() + m_plan.offsets[stepOutput]),
        static_cast<std::size_t>(m_graph.value(stepOutput).type.shape.elements())};
}

void Executor::checkSize(ValueId value, std::size_t bytes) const
{
    if (bytes != m_graph.value(value).type.bytes()) {
        throw Error(ErrorCode::ShapeMismatch, "[executor] " + m_graph.value(value).name + " has another size.");
    }
}

void Executor::write(ValueId value, std::span<const std::byte> bytes)
{
    checkSize(value, bytes.size());
    m_stream->upload(address(value), bytes.data(), bytes.size());
}

void Executor::writeAhead(ValueId value, std::span<const std::byte> bytes, std::uint64_t tag)
{
    checkSize(value, bytes.size());
    m_stream->uploadAhead(address(value), bytes.data(), bytes.size());
    m_ahead[value] = tag;
}

void Executor::write(ValueId value, std::span<const std::byte> bytes, std::uint64_t tag)
{
    const auto ahead = m_ahead.find(value);
    if (ahead == m_ahead.end() || ahead->second != tag || !m_stream->uploadTaken(address(value))) {
        write(value, bytes);
    }
}

void Executor::read(ValueId value, std::span<std::byte> bytes)
{
    checkSize(value, bytes.size());
    m_stream->download(bytes.data(), address(value), bytes.size());
    m_stream->synchronize();
}

void Executor::writeFloats(ValueId value, std::span<const float> values)
{
    const TensorType& type = m_graph.value(value).type;
    std::vector<std::byte> bytes(type.bytes());
    fromFloats(type.dtype, values, bytes);
    write(value, bytes);
    m_stream->synchronize();
}

std::vector<float> Executor::readFloats(ValueId value)
{
    std::vector<float> values;
    readFloats(value, values);
    return values;
}

void Executor::readFloats(ValueId value, std::vector<float>& into)
{
    const TensorType& type = m_graph.value(value).type;
    into.resize(static_cast<std::size_t>(type.shape.elements()));
    if (type.dtype == DType::Float32) {
        read(value, std::as_writable_bytes(std::span(into)));
        return;
    }
    m_staging.resize(std::max(m_staging.size(), type.bytes()));
    const std::span stored = std::span(m_staging).first(type.bytes());
    read(value, stored);
    toFloats(type.dtype, stored, into);
}

void Executor::copyFrom(Executor& from, ValueId source, ValueId target)
{
    const TensorType& type = from.m_graph.value(source).type;
    if (type == m_graph.value(target).type) {
        std::vector<std::byte> bytes(type.bytes());
        from.read(source, bytes);
        write(target, bytes);
        m_stream->synchronize();
        return;
    }
    writeFloats(target, from.readFloats(source));
}

void Executor::readKind(ValueKind kind, std::span<std::byte> bytes)
{
    m_stream->download(bytes.data(), block(kind).data(), std::min(bytes.size(), kindBytes(kind)));
    m_stream->synchronize();
}

MeanFindings Executor::averageGradients(GradientMean& mean, const MeanRule& rule)
{
    return mean.average(
        block(ValueKind::Gradient).data(), kindBytes(ValueKind::Gradient) / sizeOf(rule.gradients), rule, *m_stream);
}

void Executor::writeKind(ValueKind kind, std::span<const std::byte> bytes)
{
    m_stream->upload(block(kind).data(), bytes.data(), std::min(bytes.size(), kindBytes(kind)));
    m_stream->synchronize();
}

void Executor::keepBuffers()
{
    if (m_keptBuffers) {
        m_stream->copy(m_keptBuffers->data(), block(ValueKind::Buffer).data(), m_keptBuffers->bytes());
    }
}

void Executor::putBackBuffers()
{
    if (m_keptBuffers) {
        m_stream->copy(block(ValueKind::Buffer).data(), m_keptBuffers->data(), m_keptBuffers->bytes());
    }
}

std::size_t Executor::kindBytes(ValueKind kind) const
{
    return m_plan.blockBytes[static_cast<std::size_t>(kind)];
}

void Executor::setCounting(bool counts)
{
    if (counts != m_isCounting) {
        m_stream->synchronize();
        m_isCounting = counts;
        bind();
    }
}

void Executor::clearCensus()
{
    if (hasCensus()) {
        m_stream->fillZero(m_censusBuffer->data(), m_census.size() * sizeof(Census));
    }
}

void Executor::downloadCensus()
{
    if (hasCensus()) {
        m_stream->download(m_census.data(), m_censusBuffer->data(), m_census.size() * sizeof(Census));
        m_stream->synchronize();
    }
}

const Census* Executor::census(ValueId value, Phase phase) const
{
    if (!m_isCounting) {
        return nullptr;
    }
    const auto slot = m_censusSlot.find({value, phase});
    return slot == m_censusSlot.end() ? nullptr : &m_census[slot->second];
}

} // namespace mantissa
