#include "engine/backends/cuda/nccl_mean.h"

#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mantissa::cuda {

namespace {

constexpr std::size_t parcelAlignment = 16; // with which NCCL copies fastest

std::size_t parcelBytes(std::size_t elements, DType dtype)
{
    return (elements * sizeOf(dtype) + parcelAlignment - 1) / parcelAlignment * parcelAlignment;
}

void* elementAt(void* data, std::size_t element, DType dtype)
{
    return static_cast<std::byte*>(data) + element * sizeOf(dtype);
}

} // namespace

NcclMean::NcclMean(std::shared_ptr<NcclRanks> link, std::shared_ptr<Communicator> ranks)
    : m_link(std::move(link))
    , m_ranks(std::move(ranks))
    , m_figures(sizeof(RankFigures))
    , m_foundFigures(sizeof(RankFigures))
{
}

std::size_t NcclMean::deviceBytes() const
{
    return m_figures.bytes() + (m_parcels ? m_parcels->bytes() : 0);
}

/// How many gradients the present piece has.
std::size_t NcclMean::pieceAt(const Progress& progress) const
{
    const std::size_t most = mostBytes / static_cast<std::size_t>(m_ranks->size()) / parcelAlignment * parcelAlignment
        / sizeOf(progress.rule.communication);
    return std::min(most, progress.count - progress.begin);
}

MeanFindings NcclMean::average(void* gradients, std::size_t count, const MeanRule& rule, Stream& stream)
{
    Progress progress {.gradients = gradients,
        .count = count,
        .rule = rule,
        .setting = {formatOf(rule.communication), m_ranks->size(), rule.dividesFirst},
        .stream = streamOf(stream)};
    const std::size_t needed
        = static_cast<std::size_t>(m_ranks->size()) * parcelBytes(pieceAt(progress), rule.communication);
    if (!m_parcels || m_parcels->bytes() < needed) {
        m_parcels = std::make_unique<DeviceMemory>(needed);
    }
    check(cudaMemsetAsync(m_figures.data(), 0, m_figures.bytes(), progress.stream), "clear memory");
    stream.synchronize(); // what this rank still computes is no waiting for others
    try {
        m_ranks->await(count * sizeOf(rule.communication), [this, &progress] { return advance(progress); });
    } catch (...) {
        m_link->abort();
        throw;
    }
    RankFigures figures;
    std::memcpy(&figures, m_foundFigures.data(), sizeof figures);
    MeanFindings found {.zeros = figures.zeros, .sentZeros = figures.sentZeros, .isFinite = figures.notFinite == 0};
    for (const double squares : figures.squares) {
        found.sumOfSquares += squares;
    }
    return found;
}

/// Enqueues what can be; whether all has run.
bool NcclMean::advance(Progress& progress)
{
    while (m_link->isReady()) {
        if (progress.isEnqueued) {
            return m_allDone.isReached();
        }
        if (progress.isGathering) {
            addPiece(progress);
        } else if (progress.begin < progress.count) {
            sendPiece(progress);
        } else {
            check(cudaMemcpyAsync(m_foundFigures.data(), m_figures.data(), m_figures.bytes(), cudaMemcpyDeviceToHost,
                      progress.stream),
                "copy from the GPU");
            m_allDone.record(progress.stream);
            progress.isEnqueued = true;
        }
    }
    return false;
}

void NcclMean::sendPiece(Progress& progress)
{
    const std::size_t elements = pieceAt(progress);
    const std::size_t bytes = parcelBytes(elements, progress.rule.communication);
    const In own {
        elementAt(progress.gradients, progress.begin, progress.rule.gradients), formatOf(progress.rule.gradients)};
    auto* const parcel = static_cast<std::byte*>(m_parcels->data()) + static_cast<std::size_t>(m_ranks->rank()) * bytes;
    runRankParcel(progress.setting, own, parcel, static_cast<RankFigures*>(m_figures.data()),
        static_cast<std::int64_t>(elements), progress.stream);
    m_link->gather(m_parcels->data(), bytes, progress.stream);
    progress.isGathering = true;
}

void NcclMean::addPiece(Progress& progress)
{
    const std::size_t elements = pieceAt(progress);
    const std::size_t bytes = parcelBytes(elements, progress.rule.communication);
    const Out mean {elementAt(progress.gradients, progress.begin, progress.rule.gradients),
        formatOf(progress.rule.gradients), nullptr, nullptr};
    runRankMean(progress.setting, m_parcels->data(),
        static_cast<std::int64_t>(bytes / sizeOf(progress.rule.communication)), mean,
        static_cast<RankFigures*>(m_figures.data()), static_cast<std::int64_t>(elements), progress.stream);
    progress.begin += elements;
    progress.isGathering = false;
}

// --- what the rest of the backend sees ---

namespace {

std::string throughHost(const std::string& reason)
{
    return fmt::format("through the host ({})", reason);
}

} // namespace

std::shared_ptr<const NcclLibrary> Nccl::library()
{
    const std::lock_guard lock(m_mutex);
    if (!m_library) {
        m_library = std::make_shared<const NcclLibrary>();
    }
    return m_library;
}

std::string Nccl::text()
{
    const std::shared_ptr<const NcclLibrary> nccl = library();
    return nccl->support().ok ? "by " + nccl->text() : throughHost(nccl->support().reason);
}

FoundMean Nccl::meanOver(const std::shared_ptr<Communicator>& ranks, const GpuIdentity& gpu)
{
    std::shared_ptr<NcclRanks> link;
    std::string refusal;
    {
        const std::lock_guard lock(m_mutex);
        if (m_for.lock() == ranks) {
            link = m_ranks.lock();
            refusal = m_refusal;
        }
    }
    if (!link && refusal.empty()) {
        link = std::make_shared<NcclRanks>(library(), *ranks, gpu); // not under the lock: it waits for other ranks
        refusal = link->support().reason;
        const std::lock_guard lock(m_mutex);
        m_for = ranks;
        m_ranks = link;
        m_refusal = refusal;
    }
    if (!refusal.empty()) {
        return {nullptr, "gradients go from GPU to GPU " + throughHost(refusal)};
    }
    return {std::make_unique<NcclMean>(link, ranks), "gradients go from GPU to GPU " + text()};
}

} // namespace mantissa::cuda
