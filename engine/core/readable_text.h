/// Quantities as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace mantissa {

/// "1.2 MiB"
std::string bytesText(std::uint64_t bytes);
/// "2026-11-29 14:25" in local time; "-" for 0.
std::string timeText(double unixSeconds);

} // namespace mantissa
