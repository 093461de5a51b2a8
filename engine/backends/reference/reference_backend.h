/// The oracle of the tests: every op as plain loops, inputs read exactly, computed and accumulated in double, each
/// output rounded once. Takes any mix of floating dtypes, FP64 included. One thread, synchronous, slow on purpose.
#pragma once

#include "engine/backends/backend.h"

#include <memory>

namespace mantissa {

std::unique_ptr<Backend> makeReferenceBackend();

} // namespace mantissa
