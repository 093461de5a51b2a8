/// Ctrl+C while something trains.
#pragma once

namespace mantissa::cli {

/// From now on the first Ctrl+C (or SIGTERM, SIGHUP) is only noted, so that what there is can be kept; the second ends
/// the program as usual.
void catchInterrupts();
bool wasInterrupted();

} // namespace mantissa::cli
