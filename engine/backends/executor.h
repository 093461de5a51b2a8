/// A graph compiled for a backend: memory in place, kernels bound, ready to be walked step after step.
#pragma once

#include "engine/backends/backend.h"
#include "engine/graph/graph.h"
#include "engine/graph/memory_plan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace mantissa {

using NodeWatcher = std::function<void(const Node&)>;

class Executor
{
public:
    /// Plans memory, allocates it (zeroed), and prepares every node. Throws what the backend throws.
    /// `ranks`, which must outlive it, are those over which batch norm takes its statistics, if any.
    Executor(Graph graph, Backend& backend, int threads, const ProductPrecision& products = {},
        Communicator* ranks = nullptr);

    /// Enqueues the nodes of a phase in order. Creates no primitive, and allocates nothing from the third time on: the
    /// second one records the phase where the backend can replay it as a whole.
    void run(Phase phase);
    /// The same, node by node; each is shown once it is enqueued, while its outputs are still there to be read.
    void run(Phase phase, const NodeWatcher& watcher);

    /// Waits for the device; throws Error (BackendFailure) if something failed.
    void synchronize() { m_stream->synchronize(); }

    /// Phases that are replayed as a whole.
    [[nodiscard]] std::size_t recordedPhases() const;

    // --- times, on the device where it works beside the host ---
    void startTiming(); ///< of a step; the times of the one before may still be on their way
    /// What was enqueued since the last call took this long: added to `milliseconds`, which must stay until then, by
    /// takeResults().
    void timeTo(float& milliseconds);

    // --- results of a step: its outputs, the census if roundings are counted, and times ---
    /// Enqueues their way to the host, which itself takes the time that is added to `milliseconds`.
    void sendResults(float& milliseconds);
    /// Waits for what was sent, and for nothing behind it.
    void takeResults();

    /// Whether a step may be enqueued with profit before the results of the one before are taken.
    [[nodiscard]] bool runsAhead() const { return m_stream->runsAhead(); }

    // --- scalars: host mirrors of all StepInput and StepOutput values ---
    void setScalar(ValueId stepInput, float value);
    void setScalar(ValueId stepInput, double value);
    void setScalar(ValueId stepInput, std::int32_t value);
    void uploadStepInputs(); ///< enqueues one copy
    void downloadStepOutputs(); ///< one copy, waits
    /// The mirror of a scalar StepOutput of dtype fp32 or fp64.
    [[nodiscard]] double scalar(ValueId stepOutput) const;
    [[nodiscard]] std::span<const float> floats(ValueId stepOutput) const; ///< of an fp32 StepOutput

    // --- tensors ---
    void write(ValueId value, std::span<const std::byte> bytes); ///< enqueues; sizes must match
    /// Begins to bring to the device what the write() of the same tag (a fingerprint of the bytes) will want, while
    /// what is enqueued runs.
    void writeAhead(ValueId value, std::span<const std::byte> bytes, std::uint64_t tag);
    void write(ValueId value, std::span<const std::byte> bytes, std::uint64_t tag);
    void read(ValueId value, std::span<std::byte> bytes); ///< waits
    /// The same with FP32 numbers, rounded to the value's format and exact from it. Both wait.
    void writeFloats(ValueId value, std::span<const float> values);
    [[nodiscard]] std::vector<float> readFloats(ValueId value);
    void readFloats(ValueId value, std::vector<float>& into); ///< the same; allocates only where `into` is too small
    /// What `from` holds in a value of the same shape: bit for bit, or, where the formats differ, rounded to this one's
    /// or widened exactly. Waits.
    void copyFrom(Executor& from, ValueId source, ValueId target);
    void readKind(ValueKind kind, std::span<std::byte> bytes); ///< a whole block, waits
    void writeKind(ValueKind kind, std::span<const std::byte> bytes); ///< waits
    /// Enqueues a copy of the running statistics, and their return. Only where it runsAhead().
    void keepBuffers();
    void putBackBuffers();
    [[nodiscard]] std::size_t kindBytes(ValueKind kind) const;
    MeanFindings averageGradients(GradientMean& mean, const MeanRule& rule); ///< the whole block; waits

    // --- census of every half output, as counted since clearCensus() ---
    /// Whether roundings are counted, which they are until told otherwise. Nothing else that is computed changes by it.
    /// Binds the kernels anew, which may allocate. Waits.
    void setCounting(bool counts);

    [[nodiscard]] bool isCounting() const { return m_isCounting; }

    void clearCensus(); ///< enqueues
    void downloadCensus(); ///< waits
    /// As the value was rounded in that phase: a half gradient is where it is computed and again where it is unscaled.
    /// Null for what is not the half output of a node of the phase, or only another shape of one, and for new weights.
    /// Null for all of them while nothing is counted. Valid after downloadCensus().
    [[nodiscard]] const Census* census(ValueId value, Phase phase) const;

    [[nodiscard]] const Graph& graph() const { return m_graph; }

    /// All device memory that it holds: the blocks of every kind, the workspace, the census and what is staged.
    [[nodiscard]] std::size_t allocatedBytes() const;

    [[nodiscard]] std::size_t censusBytes() const { return m_censusBuffer->bytes(); }

    [[nodiscard]] std::size_t workspaceBytes() const
    {
        return (m_workspace ? m_workspace->bytes() : 0) + m_kernelBytes + m_stream->deviceBytes()
            + (m_keptBuffers ? m_keptBuffers->bytes() : 0);
    }

private:
    /// How a phase has been run so far.
    struct Replay
    {
        int runs = 0; ///< up to 2
        std::unique_ptr<Recording> recording;
    };

    [[nodiscard]] std::byte* address(ValueId value) const;

    [[nodiscard]] Buffer& block(ValueKind kind) const { return *m_blocks[static_cast<std::size_t>(kind)]; }

    /// The times of one step; mark i of the two in turn has slot 2 i, or 2 i + 1.
    using Timing = std::vector<float*>; ///< the figures of the marks so far

    [[nodiscard]] std::size_t slotOf(std::size_t timing, std::size_t mark) const { return 2 * mark + timing; }

    void settleTimes(std::size_t timing);

    void compile(Backend& backend, int threads, const ProductPrecision& products, Communicator* ranks);
    void bind();
    void enqueue(Phase phase);

    [[nodiscard]] Replay& replayOf(Phase phase)
    {
        return m_replays[m_isCounting ? 1 : 0][static_cast<std::size_t>(phase)];
    }

    [[nodiscard]] bool hasCensus() const { return m_isCounting && !m_census.empty(); }

    void checkSize(ValueId value, std::size_t bytes) const;
    void bindCensus(const Node& node, KernelBinding& binding) const;

    Graph m_graph;
    MemoryPlan m_plan;
    std::array<std::unique_ptr<Buffer>, valueKindCount> m_blocks;
    std::unique_ptr<Buffer> m_workspace;
    std::size_t m_kernelBytes = 0; ///< the kernels' own
    std::unique_ptr<Buffer> m_censusBuffer;
    std::unique_ptr<Stream> m_stream;
    std::array<std::vector<std::unique_ptr<Kernel>>, phaseCount> m_kernels;
    std::array<std::array<Replay, phaseCount>, 2> m_replays; ///< without and with counting: other addresses
    std::array<Timing, 2> m_timings;
    std::size_t m_timing = 0; ///< of the step that is being enqueued
    std::size_t m_sentTiming = 0; ///< of the one whose results were sent
    std::unique_ptr<Parcel> m_parcel; ///< made when it is first needed
    bool m_sendsCensus = false;
    std::unique_ptr<Buffer> m_keptBuffers; ///< null: there are none, or no need
    std::map<ValueId, std::uint64_t> m_ahead; ///< the tags of what is on its way
    std::vector<std::byte> m_stepInputs;
    std::vector<std::byte> m_stepOutputs;
    std::vector<std::byte> m_staging; ///< of readFloats()
    std::vector<Census> m_census;
    std::map<std::pair<ValueId, Phase>, std::size_t> m_censusSlot;
    bool m_isCounting = true;
};

} // namespace mantissa
