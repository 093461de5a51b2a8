/// A session trained to its last step on the calling thread, for those who want nothing but its results.
#pragma once

#include "engine/train/session.h"

#include <functional>

namespace mantissa {

/// Blocks until every lane has ended. `goOn` is asked about a hundred times a second; once it says no, the lanes end as
/// stopped within one step. Returns the last status. Throws Error where the session failed.
std::shared_ptr<const SessionStatus> trainToEnd(
    Session& session, const std::function<bool(const SessionStatus&)>& goOn);

} // namespace mantissa
