/// The backends this program knows, available or not, each with its reason.
#pragma once

#include "engine/backends/backend.h"

namespace mantissa {

/// "auto" (the best available), "cpu", "cuda" or "reference". The object lives as long as the process and may be shared
/// by threads. Throws Error (BackendUnavailable) with the reason and the names that would work.
Backend& backendByName(const std::string& name);

} // namespace mantissa
