/// Counts this program's calls of operator new; linking it replaces the global operators.
#pragma once

#include <cstdint>

namespace mantissa::test {

/// Allocations so far, on all threads, except those made inside oneDNN: it keeps a map of arguments per execution,
/// which no caller can prevent.
std::uint64_t allocationCount();

} // namespace mantissa::test
