/// What is known about a device without touching it: for the window, the command line and a run's record, which need
/// neither graph nor kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

/// An answer with its reason: ok, or why not, in words for the user.
struct Support
{
    bool ok = true;
    std::string reason;
};

/// How a device computes a 16-bit format.
enum class FormatSupport { Native, Emulated };

struct DeviceInfo
{
    std::string name; ///< "CPU (AVX2, F16C)"
    std::string backend; ///< "cpu", "cuda", "reference"
    Support available;
    FormatSupport fp16 = FormatSupport::Emulated;
    FormatSupport bf16 = FormatSupport::Emulated;
    std::string instructionSet; ///< part of a run's record: results depend on it
    std::string note; ///< deviations from the numerics contract, in words
};

/// Every device, the unavailable ones with the reason in `available`. "cpu" is always there.
std::vector<DeviceInfo> listDevices();

} // namespace mantissa
