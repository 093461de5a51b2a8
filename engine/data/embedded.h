/// Files of resources/data/ that are compiled in. The bodies are written at build time by engine/embed_file.cmake.
#pragma once

#include <span>

namespace mantissa {

std::span<const unsigned char> digitImages();
std::span<const unsigned char> digitLabels();

} // namespace mantissa
