#include "engine/diagnose/diagnose.h"

#include "engine/diagnose/rules.h"

#include <algorithm>
#include <array>

namespace mantissa {

std::string_view nameOf(Severity severity)
{
    constexpr std::array<std::string_view, 3> names {"info", "warning", "problem"};
    return names.at(static_cast<std::size_t>(severity));
}

std::string_view nameOf(Confidence confidence)
{
    constexpr std::array<std::string_view, 3> names {"certain", "likely", "possible"};
    return names.at(static_cast<std::size_t>(confidence));
}

std::vector<Finding> diagnose(const RunView& run)
{
    const RunFacts facts = factsOf(run);
    std::vector<Finding> findings;
    for (const auto& rules : {numericsRules(), scaleRules(), settingRules(), trainingRules()}) {
        for (const Rule rule : rules) {
            if (auto finding = rule(facts)) {
                findings.push_back(std::move(*finding));
            }
        }
    }
    std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
        return a.severity != b.severity ? a.severity > b.severity : a.confidence < b.confidence;
    });
    return findings;
}

} // namespace mantissa
