/// The questions that the protocol asks, answered.
#pragma once

#include "engine/diagnose/run_facts.h"
#include "engine/protocol/protocol_result.h"

#include <span>
#include <string>
#include <vector>

namespace mantissa {

/// `result` has everything but checks and verdict; the facts are those of its runs, in their order.
std::vector<ProtocolCheck> protocolChecks(
    const ProtocolResult& result, std::span<const RunFacts> fp32, std::span<const RunFacts> amp);

/// "2^16" for a power of two, else four digits.
std::string scaleText(double scale);
/// Four digits; infinity and NaN as words.
std::string protocolNumber(double value);

} // namespace mantissa
