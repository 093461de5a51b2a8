/// Ranks that are processes exchange numbers by MPI, bit for bit as threads of one process do.
#pragma once

#include "engine/parallel/communicator.h"
#include "engine/parallel/mpi/mpi_link.h"

#include <memory>
#include <vector>

namespace mantissa {

/// Sums by parts: of each rank's values, rank r gets the r-th part, adds them up in rank order and sends the sum to
/// all. So every rank sends and receives about twice the values, however many ranks there are, and 16-bit formats
/// travel in 16 bits. MPI's own reductions would leave the order, and with it the bits, to the library.
class MpiCommunicator : public Communicator
{
public:
    explicit MpiCommunicator(std::shared_ptr<MpiLink> link);

    [[nodiscard]] int rank() const override { return m_link->rank(); }

    [[nodiscard]] int size() const override { return m_link->size(); }

    void allReduceSum(std::span<float> values, DType format) override;
    void allGather(std::span<const double> own, std::span<double> all) override;
    void broadcast(std::span<std::byte> bytes, int root) override;

    [[nodiscard]] bool isAcrossProcesses() const override { return true; }

    void await(std::size_t bytes, const std::function<bool()>& isDone) override;

private:
    void reduce(std::span<float> values, DType format);
    void gather(std::span<const double> own, std::span<double> all);
    void spread(std::span<std::byte> bytes, int root);
    template <typename Exchange> void guarded(const Exchange& exchange);
    std::span<std::byte> buffer(std::size_t index, std::size_t bytes);

    std::shared_ptr<MpiLink> m_link;
    std::vector<std::vector<std::byte>> m_buffers; ///< 2 per rank: what goes to it and what comes from it
    std::vector<Transfer> m_transfers;
    std::vector<float> m_part; ///< of one rank
    std::vector<float> m_sum;
};

} // namespace mantissa
