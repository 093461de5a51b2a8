/// The GPUs of ranks that are processes, connected by NCCL. Nothing here blocks: NCCL waits for ever for a rank that is
/// gone, so whoever waits asks whether it is ready and looks after the ranks meanwhile (Communicator::await()).
#pragma once

#include "engine/backends/cuda/nccl.h"
#include "engine/backends/cuda/nccl_library.h"

#include <cuda_runtime.h>

namespace mantissa::cuda {

class NcclRanks
{
public:
    /// Collective: connects the ranks, or finds out on all of them why that cannot be; see support(). `ranks` must
    /// outlive the constructor only. Throws what Communicator does.
    NcclRanks(std::shared_ptr<const NcclLibrary> library, Communicator& ranks, const GpuIdentity& gpu);

    [[nodiscard]] const Support& support() const { return m_support; }

    /// Whether NCCL takes the next call: the last one is in the stream then, which may have needed the other ranks.
    /// Throws Error (BackendFailure) if the connection has failed for so long that nobody else says which rank is lost.
    [[nodiscard]] bool isReady();

    /// Enqueues: of `all`, which has room for the parcels of all ranks, the own one is there already. When ready.
    void gather(void* all, std::size_t parcelBytes, cudaStream_t stream);

    /// Ends what still runs on the device, and the connection.
    void abort() { m_comm.reset(); }

private:
    /// Also for connections that are in order: to end one properly NCCL waits for the other ranks, which may be gone.
    /// No call is under way then, since each is waited for, and the ranks have met since.
    struct Abort
    {
        const NcclLibrary* library;

        void operator()(ncclComm* comm) const { static_cast<void>(library->calls.CommAbort(comm)); }
    };

    std::string connect(Communicator& ranks, const ncclUniqueId& id);

    [[nodiscard]] std::string wordsFor(ncclResult_t status) const { return m_library->calls.GetErrorString(status); }

    std::shared_ptr<const NcclLibrary> m_library;
    int m_rank;
    std::unique_ptr<ncclComm, Abort> m_comm; ///< null: not connected
    Support m_support;
    ncclResult_t m_status = ncclSuccess; ///< of the last call
    double m_failedAt = 0; ///< 0: it has not
};

} // namespace mantissa::cuda
