/// What tests set on the NCCL that is not there.
#pragma once

#include <nccl.h>

#include <cstddef>

namespace mantissa::host_layer {

struct NcclFaults
{
    int version = NCCL_VERSION_CODE;
    int unconnectable = -1; ///< the rank that cannot be connected
    bool isBroken = false; ///< every connection, from now on
};

void setNccl(const NcclFaults& faults);
/// Connections that were not ended.
int openConnections();

} // namespace mantissa::host_layer
