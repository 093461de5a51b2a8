/// A progress bar on stderr; silent where stderr is not a terminal.
#pragma once

#include "engine/train/session.h"

#include <chrono>
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
    bool m_terminal;
    bool m_drawn = false;
    std::chrono::steady_clock::time_point m_next;
};

} // namespace mantissa::cli
