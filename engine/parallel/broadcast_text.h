/// Texts that all ranks are to have.
#pragma once

#include "engine/parallel/communicator.h"

#include <string>

namespace mantissa {

/// Collective: rank `root`'s text. What the others bring does not matter.
std::string broadcastText(Communicator& ranks, std::string text, int root);

} // namespace mantissa
