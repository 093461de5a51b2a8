#include "engine/backends/cuda/nccl_ranks.h"

#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/parallel/broadcast_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace mantissa::cuda {

namespace {

/// Seconds until all have to be connected; fewer than those after which Communicator::await() takes it for a
/// standstill.
double connectPatience()
{
    constexpr double usual = 20;
    constexpr double most = 50;
    const char* const named = std::getenv("MANTISSA_NCCL_PATIENCE");
    const double seconds = named == nullptr ? usual : std::atof(named);
    return seconds > 0 ? std::min(seconds, most) : usual;
}

/// NCCL notices at once that a connection broke, but not whose end is gone; the ranks' signs of life tell that soon.
constexpr double namePatience = 2;

/// Collective: why the first rank with a reason cannot; the same on all ranks.
std::string firstReason(Communicator& ranks, const std::string& own)
{
    const double has = own.empty() ? 0 : 1;
    std::vector<double> all(static_cast<std::size_t>(ranks.size()));
    ranks.allGather(std::span(&has, 1), all);
    for (int rank = 0; rank < ranks.size(); ++rank) {
        if (all[static_cast<std::size_t>(rank)] != 0) {
            return fmt::format("rank {}: {}", rank, broadcastText(ranks, own, rank));
        }
    }
    return {};
}

/// Collective: names two ranks on one GPU; empty if each has its own.
std::string sharedGpu(Communicator& ranks, const GpuIdentity& gpu)
{
    const std::vector<double> own(gpu.begin(), gpu.end());
    std::vector<double> all(own.size() * static_cast<std::size_t>(ranks.size()));
    ranks.allGather(own, all);
    const auto of
        = [&](int rank) { return std::span(all).subspan(static_cast<std::size_t>(rank) * own.size(), own.size()); };
    for (int rank = 1; rank < ranks.size(); ++rank) {
        for (int other = 0; other < rank; ++other) {
            if (std::ranges::equal(of(rank), of(other))) {
                return fmt::format("ranks {} and {} share a GPU, which NCCL refuses", other, rank);
            }
        }
    }
    return {};
}

} // namespace

NcclRanks::NcclRanks(std::shared_ptr<const NcclLibrary> library, Communicator& ranks, const GpuIdentity& gpu)
    : m_library(std::move(library))
    , m_rank(ranks.rank())
    , m_comm(nullptr, Abort {m_library.get()})
{
    std::string reason = firstReason(ranks, m_library->support().reason);
    if (reason.empty()) {
        reason = sharedGpu(ranks, gpu);
    }
    ncclUniqueId id {};
    if (reason.empty()) {
        const ncclResult_t status = m_rank == 0 ? m_library->calls.GetUniqueId(&id) : ncclSuccess;
        reason = firstReason(
            ranks, status == ncclSuccess ? "" : fmt::format("NCCL could not begin: {}", wordsFor(status)));
    }
    if (reason.empty()) {
        ranks.broadcast(std::as_writable_bytes(std::span(id.internal)), 0);
        reason = firstReason(ranks, connect(ranks, id));
    }
    if (!reason.empty()) {
        abort();
    }
    m_support = {reason.empty(), reason};
}

/// Collective: this rank's reason why it is not connected.
std::string NcclRanks::connect(Communicator& ranks, const ncclUniqueId& id)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    ncclResult_t status = m_library->calls.CommInitRankConfig(&comm, ranks.size(), id, m_rank, &config);
    m_comm.reset(comm);
    const double patience = connectPatience();
    const double end = steadySeconds() + patience;
    ranks.await(sizeof id, [&] {
        if (comm != nullptr && (status == ncclSuccess || status == ncclInProgress)) {
            const ncclResult_t asked = m_library->calls.CommGetAsyncError(comm, &status);
            status = asked == ncclSuccess ? status : asked;
        }
        return status != ncclInProgress || steadySeconds() > end;
    });
    return status == ncclSuccess ? ""
        : status == ncclInProgress
        ? fmt::format("NCCL could not connect the ranks within {:.0f} s (MANTISSA_NCCL_PATIENCE)", patience)
        : fmt::format("NCCL could not connect the ranks: {} (NCCL_DEBUG=WARN tells more)", wordsFor(status));
}

bool NcclRanks::isReady()
{
    if (!m_comm) {
        throw Error(ErrorCode::BackendFailure, "NCCL: the connection between the ranks has ended.");
    }
    if (m_status == ncclSuccess || m_status == ncclInProgress) {
        const ncclResult_t asked = m_library->calls.CommGetAsyncError(m_comm.get(), &m_status);
        m_status = asked == ncclSuccess ? m_status : asked;
    }
    if (m_status == ncclSuccess || m_status == ncclInProgress) {
        return m_status == ncclSuccess;
    }
    const double now = steadySeconds();
    m_failedAt = m_failedAt == 0 ? now : m_failedAt;
    if (now - m_failedAt < namePatience) {
        return false;
    }
    throw Error(ErrorCode::BackendFailure,
        fmt::format("The exchange of gradients by NCCL failed: {}. A rank or its GPU was lost, or the network between "
                    "them fails; NCCL_DEBUG=WARN tells more.",
            wordsFor(m_status)));
}

void NcclRanks::gather(void* all, std::size_t parcelBytes, cudaStream_t stream)
{
    auto* const parcels = static_cast<std::byte*>(all);
    m_status = m_library->calls.AllGather(parcels + static_cast<std::size_t>(m_rank) * parcelBytes, parcels,
        parcelBytes, ncclUint8, m_comm.get(), stream);
}

} // namespace mantissa::cuda
