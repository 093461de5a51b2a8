/// A graph compiled for a backend: memory in place, kernels bound, ready to be walked step after step.
#pragma once

#include "engine/backends/backend.h"
#include "engine/graph/graph.h"
#include "engine/graph/memory_plan.h"

#include <array>
#include <cstddef>
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
    Executor(Graph graph, Backend& backend, int threads, Communicator* ranks = nullptr);

    /// Enqueues the nodes of a phase in order. Allocates nothing and creates no primitive.
    void run(Phase phase);
    /// The same, node by node; each is shown once it is enqueued, while its outputs are still there to be read.
    void run(Phase phase, const NodeWatcher& watcher);

    /// Waits for the device; throws Error (BackendFailure) if something failed.
    void synchronize() { m_stream->synchronize(); }

    // --- scalars: host mirrors of all StepInput and StepOutput values ---
    void setScalar(ValueId stepInput, float value);
    void setScalar(ValueId stepInput, std::int32_t value);
    void uploadStepInputs(); ///< enqueues one copy
    void downloadStepOutputs(); ///< one copy, waits
    /// The mirror of a scalar StepOutput of dtype fp32 or fp64.
    [[nodiscard]] double scalar(ValueId stepOutput) const;
    [[nodiscard]] std::span<const float> floats(ValueId stepOutput) const; ///< of an fp32 StepOutput

    // --- tensors ---
    void write(ValueId value, std::span<const std::byte> bytes); ///< enqueues; sizes must match
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
    [[nodiscard]] std::size_t kindBytes(ValueKind kind) const;

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

    /// All device memory that it holds: the blocks of every kind, the workspace and the census.
    [[nodiscard]] std::size_t allocatedBytes() const;

    [[nodiscard]] std::size_t censusBytes() const { return m_censusBuffer->bytes(); }

    [[nodiscard]] std::size_t workspaceBytes() const { return m_workspace ? m_workspace->bytes() : 0; }

private:
    [[nodiscard]] std::byte* address(ValueId value) const;

    [[nodiscard]] Buffer& block(ValueKind kind) const { return *m_blocks[static_cast<std::size_t>(kind)]; }

    void compile(Backend& backend, int threads, Communicator* ranks);
    void bind();
    void bindCensus(const Node& node, KernelBinding& binding) const;

    Graph m_graph;
    MemoryPlan m_plan;
    std::array<std::unique_ptr<Buffer>, valueKindCount> m_blocks;
    std::unique_ptr<Buffer> m_workspace;
    std::unique_ptr<Buffer> m_censusBuffer;
    std::unique_ptr<Stream> m_stream;
    std::array<std::vector<std::unique_ptr<Kernel>>, phaseCount> m_kernels;
    std::vector<std::byte> m_stepInputs;
    std::vector<std::byte> m_stepOutputs;
    std::vector<std::byte> m_staging; ///< of readFloats()
    std::vector<Census> m_census;
    std::map<std::pair<ValueId, Phase>, std::size_t> m_censusSlot;
    bool m_isCounting = true;
};

} // namespace mantissa
