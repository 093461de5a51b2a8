/// NCCL as the rest of the backend sees it, whether its header was there when this was built or not. The library is
/// looked for when it is first needed: it is large.
#pragma once

#include "engine/backends/gradient_mean.h"
#include "engine/parallel/communicator.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace mantissa::cuda {

class NcclLibrary;
class NcclRanks;

/// Different for any two GPUs of the world.
using GpuIdentity = std::array<std::uint32_t, 4>;

class Nccl
{
public:
    /// "by NCCL 2.28.9" or "through the host (NCCL missing (libnccl.so.2))".
    [[nodiscard]] std::string text();

    /// Collective; see Backend::gradientMean(). The calling thread uses the device whose identity is given.
    FoundMean meanOver(const std::shared_ptr<Communicator>& ranks, const GpuIdentity& gpu);

private:
    std::shared_ptr<const NcclLibrary> library();

    std::mutex m_mutex; ///< guards what follows
    std::shared_ptr<const NcclLibrary> m_library; ///< null: not looked for yet
    /// The lanes of a session share one connection, which ends with the last of them.
    std::weak_ptr<Communicator> m_for;
    std::weak_ptr<NcclRanks> m_ranks;
    std::string m_refusal; ///< why those ranks have none
};

} // namespace mantissa::cuda
