/// How a command ends that throws.
#pragma once

#include <exception>
#include <string>

namespace mantissa::cli {

struct Outcome
{
    int code; ///< exit code
    std::string text; ///< for people
};

Outcome outcomeOf(const std::exception_ptr& thrown);

} // namespace mantissa::cli
