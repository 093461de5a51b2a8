#include "app/cli/interrupt.h"

#include <csignal>

namespace mantissa::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void noteInterrupt(int)
{
    interrupted = 1;
}

} // namespace

void catchInterrupts()
{
    struct sigaction action
    {
    };

    action.sa_handler = noteInterrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, &action, nullptr);
}

bool wasInterrupted()
{
    return interrupted != 0;
}

} // namespace mantissa::cli
