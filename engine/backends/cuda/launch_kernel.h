/// A kernel that is one function of its operands' addresses.
#pragma once

#include "engine/backends/backend.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace mantissa::cuda {

using Run = std::function<void(const KernelBinding&, cudaStream_t)>;

/// The stream is one of this backend.
cudaStream_t streamOf(Stream& stream);

class LaunchKernel final : public Kernel
{
public:
    LaunchKernel(std::size_t workspaceBytes, Run run)
        : m_workspaceBytes(workspaceBytes)
        , m_run(std::move(run))
    {
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_workspaceBytes; }

    void bind(const KernelBinding& binding) override { m_binding = binding; }

    void run(Stream& stream) override { m_run(m_binding, streamOf(stream)); }

private:
    std::size_t m_workspaceBytes;
    Run m_run;
    KernelBinding m_binding;
};

inline std::unique_ptr<Kernel> makeLaunch(Run run, std::size_t workspaceBytes = 0)
{
    return std::make_unique<LaunchKernel>(workspaceBytes, std::move(run));
}

} // namespace mantissa::cuda
