/// Which steps were skipped, where a log does not say so but leaves no doubt.
#pragma once

#include "engine/import/log_values.h"

#include <string>
#include <vector>

namespace mantissa {

struct DerivedSkips
{
    bool isCertain = false;
    std::vector<std::int64_t> steps {}; ///< of the skipped ones, if so
    std::string how {}; ///< a sentence: how, or why not; empty if there is nothing to say
};

/// From the falls of the scale. A fall says that a step was skipped; that step is known only if every fall lies between
/// two neighbouring steps, halves the scale, and the loss or the gradient norm of the same one of both, always the
/// earlier or always the later, is not finite: logs differ in whether they hold the scale before a step's update or
/// after it.
DerivedSkips deriveSkips(const LogValues& values);

} // namespace mantissa
