#include "engine/backends/cuda/device_choice.h"

#include "engine/backends/cuda/cuda_call.h"
#include "engine/parallel/local_rank.h"

#include <cuda_runtime.h>

#include <algorithm>

namespace mantissa::cuda {

int chosenDevice(int count)
{
    return localRank() % std::max(count, 1);
}

void useDevice(int device)
{
    thread_local int current = 0;
    if (current != device) {
        check(cudaSetDevice(device), "choose the GPU");
        current = device;
    }
}

} // namespace mantissa::cuda
