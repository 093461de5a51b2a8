#include "engine/diagnose/finding_json.h"

namespace mantissa {

nlohmann::ordered_json findingAsJson(const Finding& finding)
{
    using Json = nlohmann::ordered_json;
    Json where = Json::object();
    if (!finding.layer.empty()) {
        where["layer"] = finding.layer;
    }
    if (!finding.op.empty()) {
        where["op"] = finding.op;
    }
    if (finding.firstStep >= 0) {
        where["first_step"] = finding.firstStep;
        where["last_step"] = finding.lastStep;
    }
    return {{"rule", finding.rule}, {"severity", nameOf(finding.severity)}, {"confidence", nameOf(finding.confidence)},
        {"title", finding.title}, {"where", std::move(where)}, {"evidence", Json(finding.evidence)},
        {"advice", finding.advice}, {"fix", Json(finding.fix)}};
}

} // namespace mantissa
