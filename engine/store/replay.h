/// The experiment that repeats a stored run exactly.
#pragma once

#include "engine/train/event.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

struct ReplaySource
{
    nlohmann::json settings; ///< the lane's merged document when the run started
    nlohmann::json experiment; ///< the document that the run came from
    std::string experimentName;
    std::string lane;
    std::string color;
    std::int64_t nextStep = 0; ///< after the last recorded one; a copied lane's first is not 0, so no count of records
    std::vector<Event> events; ///< in the order they happened
};

/// One lane whose settings stand at the top, and as `events` every change that happened, by hand or by script, in its
/// order, followed by the scripted ones that lie behind the run's last step.
nlohmann::json replayDocument(const ReplaySource& source);

} // namespace mantissa
