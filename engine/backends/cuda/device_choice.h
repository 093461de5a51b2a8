/// Which GPU this process computes on, and that each of its threads knows.
#pragma once

namespace mantissa::cuda {

/// Of `count` GPUs: processes that train together take one each, in turn.
[[nodiscard]] int chosenDevice(int count);

/// What this thread creates, allocates and launches from now on is the device's. Threads begin at device 0, and nothing
/// else in this program changes that. Throws Error (BackendFailure).
void useDevice(int device);

} // namespace mantissa::cuda
