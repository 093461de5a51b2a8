/// The time in seconds: for intervals, and as records and files state it.
#pragma once

#include <chrono>

namespace mantissa {

/// Never goes back; its zero means nothing.
inline double steadySeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Since 1970-01-01 00:00 UTC.
inline double unixSeconds()
{
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace mantissa
