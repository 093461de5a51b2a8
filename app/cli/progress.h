/// A progress bar on stderr; silent where stderr is not a terminal.
#pragma once

#include "engine/train/session.h"

#include <chrono>
#include <optional>
#include <string>

namespace mantissa::cli {

class Progress
{
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Redraws at most ten times a second.
    void show(const SessionStatus& status);
    /// A line of its own above the bar; also where stderr is no terminal.
    void message(const std::string& text);
    void clear();

private:
    /// Steps per second: the session's figure, or the mean so far while it has none yet.
    double rateOf(const SessionStatus& status);

    bool m_terminal;
    bool m_drawn = false;
    std::chrono::steady_clock::time_point m_next;
    std::optional<std::chrono::steady_clock::time_point> m_started; ///< when the first step was seen to be over
    std::int64_t m_firstStep = 0;
};

} // namespace mantissa::cli
