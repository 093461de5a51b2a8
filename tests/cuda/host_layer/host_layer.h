/// What tests set on the device that is not there: the order of threads, when streams run, how much memory there is,
/// and which library call fails.
#pragma once

#include "tests/cuda/host_layer/fiber_engine.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mantissa::host_layer {

/// Eager: work runs when it is enqueued. Lazy: when something waits for it, so that a wait that is missing shows.
enum class Streams { Eager, Lazy };

struct Device
{
    int count = 1;
    int driverVersion = 13000; ///< 0: none
    int major = 8;
    int minor = 0;
    std::size_t memory = std::size_t {1} << 30U;
};

void setStreams(Streams streams);
void setDevice(const Device& device);
/// Back to a healthy default device: all of the above, no failing call. Memory in use stays.
void reset();

/// Library calls since reset(), of the runtime, cuBLASLt and cuDNN.
std::uint64_t callCount();
/// Those of one name.
std::uint64_t callsOf(const std::string& name);
/// The call of that number from now on (0: the next one), and every later one, fails; nothing runs on the device
/// from there. reset() mends it.
void failFrom(std::uint64_t call);
/// The next call of that name fails; those after it do not.
void failOnce(const std::string& name);
/// Its name, once it has failed.
std::string failedCall();
/// Why the last kernel failed that did what a device cannot.
std::string lastFault();
/// Pieces of work that are enqueued and have not run: with Lazy streams, what nothing has waited for.
std::size_t pendingWork();
/// Memory of the device that is in use.
std::size_t usedBytes();
/// Allocations that are not freed, on the device and page-locked.
std::size_t liveAllocations();

// --- for the parts of the layer ---

/// Counts the call; true if it is to fail.
bool isFailing(const char* call);
/// Whether device memory of one allocation covers the range.
bool isDeviceRange(const void* begin, std::size_t bytes);

} // namespace mantissa::host_layer
