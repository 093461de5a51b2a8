/// A finding as `mantissa-cli diagnose --json` prints it. design.md, section 8.
#pragma once

#include "engine/diagnose/finding.h"

namespace mantissa {

/// {"rule", "severity", "confidence", "title", "where", "evidence", "advice", "fix"}
nlohmann::ordered_json findingAsJson(const Finding& finding);

} // namespace mantissa
