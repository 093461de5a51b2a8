/// What an experiment is about: something that people say.
#pragma once

#include <string>

namespace mantissa {

struct Claim
{
    std::string id; ///< "C18"
    std::string says;
    std::string verdict; ///< whether a run bears it out: "holds", "partly", "does not hold", "depends"
    bool operator==(const Claim&) const = default;
};

} // namespace mantissa
