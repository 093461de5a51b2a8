#include "engine/diagnose/finding_json.h"
#include "engine/protocol/protocol_report.h"
#include "engine/store/run_export.h"

namespace mantissa {

namespace {

using Json = nlohmann::ordered_json;

Json bytesJson(const MemoryBytes& bytes)
{
    return {{"weights", bytes.weights}, {"copies", bytes.copies}, {"gradients", bytes.gradients},
        {"optimizer", bytes.optimizer}, {"activations", bytes.activations}, {"workspace", bytes.workspace},
        {"total", bytes.total()}};
}

Json numbersJson(const ProtocolNumbers& numbers)
{
    return {{"final_loss", exactNumber(numbers.finalLoss)}, {"validation_loss", exactNumber(numbers.validationLoss)},
        {"validation_accuracy", exactNumber(numbers.validationAccuracy)}, {"jitter", exactNumber(numbers.jitter)},
        {"grad_norm", exactNumber(numbers.gradNorm)}, {"flushed", exactNumber(numbers.flushed)},
        {"update_ratio", exactNumber(numbers.updateRatio)}, {"final_scale", exactNumber(numbers.finalScale)},
        {"skipped_steps", numbers.skipped}, {"step_ms", exactNumber(numbers.stepMs)},
        {"bytes", bytesJson(numbers.bytes)}, {"casts", numbers.casts}};
}

Json curvesJson(const CurveComparison& curves)
{
    Json json {{"equal", curves.isEqual()}, {"noise_from", curves.usesSeeds ? "seeds" : "jitter"},
        {"band_times_noise", curves.timesNoise}, {"fp32_end", exactNumber(curves.fp32End)},
        {"amp_end", exactNumber(curves.ampEnd)}, {"gap", exactNumber(curves.gap)},
        {"noise", exactNumber(curves.noiseEnd)}, {"tolerance", exactNumber(curves.tolerance)},
        {"learnt", exactNumber(curves.learnt())}, {"apart_since", curves.apartSince}, {"blocks", Json::array()}};
    for (const CurveBlock& block : curves.blocks) {
        json["blocks"].push_back({{"first_step", block.firstStep}, {"last_step", block.lastStep},
            {"fp32", exactNumber(block.fp32)}, {"amp", exactNumber(block.amp)}, {"band", exactNumber(block.band)}});
    }
    return json;
}

Json runJson(const ProtocolRun& run, const char* side)
{
    const RunSummary& summary = run.summary;
    return {{"side", side}, {"seed", run.config.seed}, {"status", nameOf(summary.status)}, {"message", summary.message},
        {"steps", summary.steps}, {"final_loss", exactNumber(summary.finalLoss)},
        {"validation",
            {{"loss", exactNumber(summary.validationLoss)}, {"accuracy", exactNumber(summary.validationAccuracy)}}},
        {"skipped_steps", summary.skippedSteps}, {"final_scale", exactNumber(summary.finalScale)},
        {"weights_hash", summary.weightsHash}, {"steps_per_second", exactNumber(summary.stepsPerSecond)}};
}

} // namespace

nlohmann::ordered_json protocolJson(const ProtocolResult& result)
{
    const ProtocolRuns& runs = result.runs;
    const ProtocolWords words = protocolWords(result);
    Json json {{"experiment", runs.experiment}, {"lane", runs.amp.front().config.name},
        {"verdict", nameOf(result.verdict)}, {"summary", words.summary}, {"steps", runs.steps},
        {"seeds", runs.amp.size()}, {"settings", Json::object()}, {"checks", Json::array()}};
    for (const auto& [name, value] : words.settings) {
        json["settings"][name] = value;
    }
    for (const ProtocolCheck& check : result.checks) {
        json["checks"].push_back(
            {{"id", check.id}, {"level", nameOf(check.level)}, {"question", check.question}, {"answer", check.answer}});
    }
    json["numbers"] = {{"fp32", numbersJson(result.fp32)}, {"amp", numbersJson(result.amp)},
        {"speed_up", exactNumber(result.speedUp())}, {"memory_share", exactNumber(result.memoryShare())}};
    json["curves"] = curvesJson(result.curves);
    json["findings"] = Json::array();
    for (const ProtocolFinding& found : result.findings) {
        Json finding = findingAsJson(found.finding);
        finding["in_amp"] = found.isInAmp;
        finding["in_fp32"] = found.isInFp32;
        finding["seeds"] = found.seeds;
        json["findings"].push_back(std::move(finding));
    }
    json["runs"] = Json::array();
    for (std::size_t i = 0; i < runs.amp.size(); ++i) {
        json["runs"].push_back(runJson(runs.fp32[i], "fp32"));
        json["runs"].push_back(runJson(runs.amp[i], "amp"));
    }
    json["method"] = words.method;
    json["lane_document"] = Json(runs.amp.front().config.document);
    return json;
}

} // namespace mantissa
