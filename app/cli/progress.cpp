#include "app/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace mantissa::cli {

namespace {

using Clock = std::chrono::steady_clock;

std::string durationText(double seconds)
{
    const auto whole = static_cast<long long>(seconds + 0.5);
    return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                         : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string barText(const SessionStatus& status, double rate)
{
    constexpr std::int64_t width = 24;
    const std::int64_t total = std::max<std::int64_t>(status.totalSteps, 1);
    const std::int64_t step = std::clamp<std::int64_t>(status.step, 0, total);
    const auto filled = static_cast<std::size_t>(width * step / total);
    std::string text
        = fmt::format("[{}{}] {}/{}", std::string(filled, '#'), std::string(width - filled, '-'), step, total);
    if (rate > 0) {
        text += fmt::format("  {:.0f} steps/s  {} left", rate, durationText(static_cast<double>(total - step) / rate));
    }
    return text;
}

} // namespace

Progress::Progress()
    : m_terminal(::isatty(STDERR_FILENO) == 1)
    , m_next(Clock::now())
{
}

Progress::~Progress()
{
    clear();
}

void Progress::show(const SessionStatus& status)
{
    if (!m_terminal || Clock::now() < m_next) {
        return;
    }
    m_next = Clock::now() + std::chrono::milliseconds(100);
    const std::string text = status.state == SessionState::Preparing ? "preparing" : barText(status, rateOf(status));
    // Erases to the end of the line: the text before may have been longer.
    std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
    std::fflush(stderr);
    m_drawn = true;
}

double Progress::rateOf(const SessionStatus& status)
{
    const Clock::time_point now = Clock::now();
    if (!m_started && status.step > 0) {
        m_started = now;
        m_firstStep = status.step;
    }
    if (status.stepsPerSecond > 0 || !m_started || now == *m_started) {
        return status.stepsPerSecond;
    }
    return static_cast<double>(status.step - m_firstStep) / std::chrono::duration<double>(now - *m_started).count();
}

void Progress::message(const std::string& text)
{
    clear();
    std::fprintf(stderr, "%s\n", text.c_str());
}

void Progress::clear()
{
    if (m_drawn) {
        std::fputs("\r\x1b[K", stderr);
        m_drawn = false;
    }
}

} // namespace mantissa::cli
