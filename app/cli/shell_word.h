/// Texts for shells.
#pragma once

#include <string>

namespace mantissa::cli {

/// A text as one word of a shell command.
std::string shellWord(const std::string& text);

} // namespace mantissa::cli
