/// Ranks that are threads of this process.
#pragma once

#include "engine/parallel/communicator.h"

#include <memory>
#include <string>
#include <vector>

namespace mantissa {

class ThreadRanks;

/// One of a group's ends; each is used by one thread at a time. A rank whose thread gives up says so with fail(): then
/// all ranks' calls throw, those that are waiting too, so that nobody waits in vain. Steady calls allocate nothing.
class ThreadCommunicator final : public Communicator
{
public:
    /// The ends of a new group of `ranks` threads, by rank.
    static std::vector<std::shared_ptr<ThreadCommunicator>> group(int ranks);

    ThreadCommunicator(std::shared_ptr<ThreadRanks> ranks, int rank);

    [[nodiscard]] int rank() const override { return m_rank; }

    [[nodiscard]] int size() const override;
    void allReduceSum(std::span<float> values, DType format) override;
    void allGather(std::span<const double> own, std::span<double> all) override;
    void broadcast(std::span<std::byte> bytes, int root) override;
    void await(std::size_t bytes, const std::function<bool()>& isDone) override;

    /// `why` is what the other ranks' errors say after the rank's name.
    void fail(const std::string& why);

private:
    std::shared_ptr<ThreadRanks> m_ranks;
    int m_rank;
};

} // namespace mantissa
