#include "engine/diagnose/diagnose.h"

#include "engine/autocast/policy.h"
#include "engine/diagnose/rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

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

nlohmann::json mastersFix(const LaneConfig& config)
{
    const bool isBf16 = policyNamed(config.precision.policy).lower == DType::BFloat16;
    return {{"precision", {{"policy", isBf16 ? "bf16" : "fp16"}, {"weights", "master"}}}};
}

nlohmann::json dynamicScalerFix()
{
    return {{"scaler", {{"family", "pytorch"}, {"init_scale", 65536}}}};
}

nlohmann::json scaleThatMovesFix(const RunFacts& facts)
{
    const auto& scaler = facts.config.scaler;
    if (!scaler) {
        return facts.hasScaler ? nlohmann::json::object() : dynamicScalerFix(); // a log's is not known
    }
    if (!facts.hasScaler || scaler->family == "fixed" || scaler->family == "loss-driven") {
        return dynamicScalerFix();
    }
    return scaler->frozen ? nlohmann::json {{"scaler.frozen", false}} : nlohmann::json::object();
}

nlohmann::json bf16Fix()
{
    return {{"precision.policy", "bf16"}, {"scaler", nullptr}};
}

nlohmann::json slowerFix(const LaneConfig& config)
{
    return {{"optimizer.lr", config.optimizer.lr / 10}};
}

namespace {

std::vector<Finding> applied(const std::vector<Rule>& rules, const RunFacts& facts)
{
    std::vector<Finding> findings;
    for (const Rule& rule : rules) {
        if (!facts.knows(rule.needs)) {
            continue;
        }
        if (auto finding = rule.judge(facts)) {
            if (!facts.knows(KnownSettings)) {
                finding->fix = nlohmann::json::object(); // what is not known cannot be mended by its name
            }
            findings.push_back(std::move(*finding));
        }
    }
    return findings;
}

/// The rules on settings, for every stretch of steps in which they stayed the same. A rule that holds in several names
/// the first, and the steps of all.
std::vector<Finding> settingFindings(const RunView& run)
{
    if (run.history.empty()) {
        return applied(settingRules(), factsOf(run));
    }
    std::vector<Finding> findings;
    for (std::size_t i = 0; i < run.history.size(); ++i) {
        const bool isLast = i + 1 == run.history.size();
        const auto begin = std::ranges::lower_bound(run.records, run.history[i].step, {}, &StepRecord::step);
        const auto end = isLast ? run.records.end()
                                : std::ranges::lower_bound(run.records, run.history[i + 1].step, {}, &StepRecord::step);
        if (begin == end) {
            continue;
        }
        const RunView part {run.history[i].config, std::span(begin, end), run.events,
            isLast ? run.status : std::optional(RunStatus::Stopped), run.siblings, {}, {}, run.known};
        for (Finding& finding : applied(settingRules(), factsOf(part))) {
            const auto known = std::ranges::find(findings, finding.rule, &Finding::rule);
            if (known != findings.end()) {
                known->lastStep = std::prev(end)->step;
            } else {
                finding.firstStep = begin->step;
                finding.lastStep = std::prev(end)->step;
                findings.push_back(std::move(finding));
            }
        }
    }
    return findings;
}

} // namespace

std::vector<Finding> diagnose(const RunView& run)
{
    const RunFacts facts = factsOf(run);
    std::vector<Finding> findings = settingFindings(run);
    for (const auto& rules : {numericsRules(), scaleRules(), layerRules(), trainingRules()}) {
        std::ranges::move(applied(rules, facts), std::back_inserter(findings));
    }
    std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
        return a.severity != b.severity ? a.severity > b.severity : a.confidence < b.confidence;
    });
    return findings;
}

} // namespace mantissa
