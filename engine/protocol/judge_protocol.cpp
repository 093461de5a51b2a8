/// From records to a verdict: numbers, findings, and the answers to the protocol's questions.
#include "engine/autocast/policy.h"
#include "engine/core/error.h"
#include "engine/core/statistics.h"
#include "engine/diagnose/diagnose.h"
#include "engine/protocol/protocol.h"
#include "engine/protocol/protocol_checks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

using Runs = std::vector<ProtocolRun>;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

template <typename Number> double meanOverRuns(const Runs& runs, Number number)
{
    std::vector<double> values;
    std::ranges::transform(runs, std::back_inserter(values), number);
    return meanOf(values);
}

double stepMs(const StepRecord& record)
{
    const PhaseTimes& t = record.timeMs;
    return double {t.dataMs} + t.forwardMs + t.backwardMs + t.unscaleMs + t.clipMs + t.optimizerMs;
}

/// The quarter of the steps that ran fastest ends here: what other programs do disturbs it least.
double usualStepMs(const ProtocolRun& run)
{
    constexpr std::size_t warmUp = 5; // first touches of memory and caches
    std::vector<double> times;
    for (const StepRecord& record : std::span(run.records).subspan(std::min(warmUp, run.records.size() / 2))) {
        times.push_back(stepMs(record));
    }
    if (times.empty()) {
        return nothing;
    }
    const auto quarter = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
    std::ranges::nth_element(times, quarter);
    return *quarter;
}

double meanGradNorm(const ProtocolRun& run)
{
    std::vector<double> norms;
    for (const StepRecord& record : std::span(run.records).subspan(run.records.size() / 2)) {
        norms.push_back(record.foundInf ? nothing : record.gradNorm);
    }
    return meanOf(norms);
}

double meanFlushed(const ProtocolRun& run)
{
    std::vector<double> shares;
    for (const StepRecord& record : run.records) {
        shares.push_back(record.foundInf ? nothing : record.flushed);
    }
    return meanOf(shares);
}

double medianUpdateRatio(const ProtocolRun& run)
{
    std::vector<double> ratios;
    for (const StepRecord& record : run.records) {
        ratios.push_back(record.skipped ? nothing : record.updateRatio);
    }
    return medianOf(std::move(ratios));
}

ProtocolNumbers numbersOf(const Runs& runs)
{
    ProtocolNumbers numbers;
    const auto summary = [&runs](auto field) {
        return meanOverRuns(runs, [field](const ProtocolRun& run) { return run.summary.*field; });
    };
    numbers.validationLoss = summary(&RunSummary::validationLoss);
    // Outputs that are not finite are no answers, right or wrong.
    numbers.validationAccuracy = std::isfinite(numbers.validationLoss) ? summary(&RunSummary::validationAccuracy)
                                                                       : std::numeric_limits<double>::quiet_NaN();
    numbers.finalScale = summary(&RunSummary::finalScale);
    numbers.gradNorm = meanOverRuns(runs, meanGradNorm);
    numbers.flushed = meanOverRuns(runs, meanFlushed);
    numbers.updateRatio = meanOverRuns(runs, medianUpdateRatio);
    for (const ProtocolRun& run : runs) {
        numbers.skipped += run.summary.skippedSteps;
    }
    std::vector<double> times;
    std::ranges::transform(runs, std::back_inserter(times), usualStepMs);
    numbers.stepMs = medianOf(std::move(times));
    numbers.bytes = runs.front().summary.bytes;
    numbers.casts = runs.front().summary.castsPerStep;
    return numbers;
}

std::vector<std::vector<double>> lossesOf(const Runs& runs)
{
    std::vector<std::vector<double>> all;
    for (const ProtocolRun& run : runs) {
        std::vector<double>& losses = all.emplace_back();
        for (const StepRecord& record : run.records) {
            losses.push_back(record.loss);
        }
    }
    return all;
}

/// The settings of the run as its events changed them.
std::vector<SettingsSince> historyOf(const ProtocolRun& run)
{
    std::vector<SettingsSince> history {{0, run.config}};
    for (const Event& event : run.events) {
        if (event.kind != EventKind::Set) {
            continue;
        }
        LaneConfig changed = withSetting(history.back().config, event.path, nlohmann::json::parse(event.after));
        if (history.back().step == event.step) {
            history.back().config = std::move(changed);
        } else {
            history.push_back({event.step, std::move(changed)});
        }
    }
    return history;
}

RunView viewOf(const ProtocolRun& run)
{
    std::vector<SettingsSince> history = historyOf(run);
    LaneConfig last = history.back().config;
    return {std::move(last), run.records, run.events, run.summary.status, {}, std::move(history)};
}

ProtocolFinding& noted(std::vector<ProtocolFinding>& list, Finding finding)
{
    const auto known = std::ranges::find_if(
        list, [&finding](const ProtocolFinding& other) { return other.finding.rule == finding.rule; });
    if (known == list.end()) {
        return list.emplace_back(ProtocolFinding {.finding = std::move(finding), .seeds = 0, .isInAmp = false});
    }
    if (finding.severity > known->finding.severity) {
        known->finding = std::move(finding);
    }
    return *known;
}

} // namespace

std::string_view nameOf(CheckLevel level)
{
    constexpr std::array<std::string_view, 4> names {"fine", "note", "caution", "problem"};
    return names.at(static_cast<std::size_t>(level));
}

std::string_view nameOf(ProtocolVerdict verdict)
{
    constexpr std::array<std::string_view, 3> names {"healthy", "caution", "problem"};
    return names.at(static_cast<std::size_t>(verdict));
}

ProtocolResult judgeProtocol(ProtocolRuns runs)
{
    if (runs.amp.empty() || runs.fp32.size() != runs.amp.size()) {
        throw Error(ErrorCode::InvalidArgument, "the protocol needs as many FP32 runs as AMP runs, and at least one");
    }
    ProtocolResult result;
    result.runs = std::move(runs);
    const Runs& fp32 = result.runs.fp32;
    const Runs& amp = result.runs.amp;
    result.curves = compareCurves(lossesOf(fp32), lossesOf(amp), result.runs.steps);
    result.fp32 = numbersOf(fp32);
    result.fp32.finalLoss = result.curves.fp32End;
    result.fp32.jitter = result.curves.fp32Jitter;
    result.amp = numbersOf(amp);
    result.amp.finalLoss = result.curves.ampEnd;
    result.amp.jitter = result.curves.ampJitter;

    std::vector<RunFacts> fp32Facts;
    std::vector<RunFacts> ampFacts;
    std::vector<RunView> views; // the facts refer to them
    views.reserve(2 * amp.size());
    for (std::size_t i = 0; i < amp.size(); ++i) {
        const RunView& reference = views.emplace_back(viewOf(fp32[i]));
        const RunFacts& facts = fp32Facts.emplace_back(factsOf(reference));
        RunView& view = views.emplace_back(viewOf(amp[i]));
        view.siblings = {{"FP32", facts.isBroken() || facts.hasRisen(), facts.stepMs}};
        ampFacts.push_back(factsOf(view));
        for (Finding& finding : diagnose(view)) {
            ProtocolFinding& kept = noted(result.findings, std::move(finding));
            kept.isInAmp = true;
            ++kept.seeds;
        }
    }
    std::vector<ProtocolFinding> ofFp32;
    for (const RunFacts& facts : fp32Facts) {
        for (Finding& finding : diagnose(facts.run)) {
            ++noted(ofFp32, std::move(finding)).seeds;
        }
    }
    for (ProtocolFinding& finding : ofFp32) {
        const auto known = std::ranges::find_if(result.findings,
            [&finding](const ProtocolFinding& other) { return other.finding.rule == finding.finding.rule; });
        if (known != result.findings.end()) {
            known->isInFp32 = true;
        } else {
            finding.isInFp32 = true;
            result.findings.push_back(std::move(finding));
        }
    }
    std::ranges::stable_sort(result.findings, [](const ProtocolFinding& a, const ProtocolFinding& b) {
        return a.finding.severity != b.finding.severity ? a.finding.severity > b.finding.severity
                                                        : a.isInAmp && !b.isInAmp;
    });

    result.checks = protocolChecks(result, fp32Facts, ampFacts);
    CheckLevel worst = CheckLevel::Fine;
    for (const ProtocolCheck& check : result.checks) {
        worst = std::max(worst, check.level);
    }
    result.verdict = worst == CheckLevel::Problem ? ProtocolVerdict::Problem
        : worst == CheckLevel::Caution            ? ProtocolVerdict::Caution
                                                  : ProtocolVerdict::Healthy;
    return result;
}

} // namespace mantissa
