/// How the ranks of a data-parallel lane exchange numbers: threads of this process, processes under MPI, GPUs.
#pragma once

#include "engine/formats/dtype.h"

#include <cstddef>
#include <functional>
#include <span>

namespace mantissa {

/// All calls are collective: every rank makes the same ones in the same order, and each returns when its own part is
/// there. Throws Error (BackendFailure) that names the rank where one has failed, gone or not come within the time
/// that the implementation grants; every later call then throws too. One thread per rank.
class Communicator
{
public:
    virtual ~Communicator() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;

    /// Each value becomes its sum over the ranks, in rank order: ((v0 + v1) + v2) + ... Each rank's value and each
    /// partial sum is rounded to `format` (FP32, FP16 or BF16; nearest even). Every rank gets the same bits, and so
    /// does every implementation.
    virtual void allReduceSum(std::span<float> values, DType format) = 0;

    /// `all`, size() times as long as `own`, becomes rank 0's values, rank 1's, ...
    virtual void allGather(std::span<const double> own, std::span<double> all) = 0;

    /// `bytes` become those of rank `root`.
    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;

    /// Whether each rank is a process of its own, which may have a device of its own.
    [[nodiscard]] virtual bool isAcrossProcesses() const { return false; }

    /// For numbers that travel by other means, such as a library of the device: returns once `isDone` says so, which is
    /// asked often and may throw. `bytes` is how many travel, equal on all ranks.
    virtual void await(std::size_t bytes, const std::function<bool()>& isDone) = 0;
};

} // namespace mantissa
