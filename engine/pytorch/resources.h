/// The Python files that every exported folder gets: resources/pytorch, embedded when the engine is built.
#pragma once

#include <span>

namespace mantissa {

std::span<const unsigned char> recorderScript();
std::span<const unsigned char> tensorsScript();
std::span<const unsigned char> compareScript();

} // namespace mantissa
