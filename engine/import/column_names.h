/// What the name of a column says about its meaning.
#pragma once

#include "engine/import/log_field.h"

#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// "train/lossScale" -> {"train", "loss", "scale"}
std::vector<std::string> wordsOf(std::string_view name);

/// How well a column of this name fits the field, up to 100; 0: not at all.
int fitOf(std::string_view name, LogField field);

/// Whether the name is one of a count rather than of a flag: "skipped_iterations".
bool namesCount(std::string_view name);

} // namespace mantissa
