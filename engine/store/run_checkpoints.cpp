#include "engine/store/run_checkpoints.h"

#include <algorithm>
#include <system_error>

namespace mantissa {

std::vector<WrittenCheckpoint> checkpointsOf(const RunStore& store, RunId run)
{
    std::vector<WrittenCheckpoint> found;
    for (const Event& event : store.events(run)) {
        std::error_code ignored; // then it is not there for us
        if (event.kind == EventKind::Checkpoint && event.text.empty() && std::filesystem::exists(event.path, ignored)) {
            found.push_back({event.path, event.step, event.unixSeconds});
        }
    }
    std::ranges::reverse(found);
    return found;
}

} // namespace mantissa
