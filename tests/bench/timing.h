/// Clocks of the benchmarks.
#pragma once

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

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

/// CPU time so far of the program's living threads of a name, as /proc gives it.
inline double threadSeconds(std::string_view name)
{
    double seconds = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string comm;
        double nanoseconds = 0;
        std::getline(std::ifstream(task.path() / "comm"), comm);
        std::ifstream(task.path() / "schedstat") >> nanoseconds;
        seconds += comm == name ? nanoseconds * 1e-9 : 0;
    }
    return seconds;
}

/// CPU time of all threads of the program.
inline double programSeconds()
{
    timespec now {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

} // namespace mantissa
