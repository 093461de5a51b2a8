/// Op -> operands and function of the reference backend.
#pragma once

#include "engine/backends/reference/operands.h"

#include <string_view>

namespace mantissa::reference {

struct KernelEntry
{
    Op op;
    /// One letter per operand: f floating, i int32, u uint8, n any of them. A trailing ? makes the last one
    /// optional, a trailing * stands for any number of floating ones.
    std::string_view inputs;
    std::string_view outputs;
    void (*run)(const Operands& operands);
};

/// The entry that serves a request. Throws Error (UnsupportedDtype) naming op, operand and what it must be.
const KernelEntry& kernelFor(const KernelRequest& request);

} // namespace mantissa::reference
