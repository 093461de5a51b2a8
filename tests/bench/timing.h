/// Clocks of the benchmarks.
#pragma once

#include <chrono>
#include <ctime>
#include <functional>

namespace mantissa {

inline double secondsOf(const std::function<void()>& work)
{
    const auto before = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

/// CPU time of the calling thread, which other programs do not disturb.
inline double threadSeconds()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The same that some work takes.
inline double threadSecondsOf(const std::function<void()>& work)
{
    const double before = threadSeconds();
    work();
    return threadSeconds() - before;
}

/// CPU time of all threads of the program.
inline double programSeconds()
{
    timespec now {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

} // namespace mantissa
