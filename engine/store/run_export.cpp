#include "engine/store/run_export.h"

#include "engine/core/error.h"
#include "engine/store/step_chunk.h"
#include "engine/store/store_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>
#include <type_traits>

namespace mantissa {

namespace {

using Json = nlohmann::ordered_json;

/// The shortest digits that read back as the same value.
template <typename Number> std::string digits(Number value)
{
    if constexpr (std::is_floating_point_v<Number>) {
        return std::isnan(value) ? "nan" : fmt::format("{}", value);
    } else {
        return fmt::format("{}", static_cast<std::conditional_t<std::is_same_v<Number, bool>, int, Number>>(value));
    }
}

std::string quoted(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string result = "\"";
    for (const char c : text) {
        result += c;
        if (c == '"') {
            result += c;
        }
    }
    return result + '"';
}

std::string textOf(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RunInfo knownRun(const RunStore& store, RunId id)
{
    if (auto run = store.run(id)) {
        return *std::move(run);
    }
    throw Error(ErrorCode::InvalidArgument, fmt::format("There is no run {}: 'runs list' shows those there are.", id));
}

void check(const std::ostream& out)
{
    if (!out) {
        throw Error(ErrorCode::Io,
            "The export could not be written: check that the disk has space and the file may be written.");
    }
}

Json bytesAsJson(const MemoryBytes& bytes)
{
    return {{"weights", bytes.weights}, {"copies", bytes.copies}, {"gradients", bytes.gradients},
        {"optimizer", bytes.optimizer}, {"activations", bytes.activations}, {"workspace", bytes.workspace}};
}

} // namespace

Json exactNumber(double value)
{
    if (std::isfinite(value)) {
        return value;
    }
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

namespace {

/// Makes null what the log of an imported run does not tell: a 0 would claim that it was measured.
void blankUnknown(Json& step, const ImportSource& source)
{
    forEachStepColumn([&](const char* name, const auto&) {
        if (!source.knows(name) && step.contains(name)) {
            step[name] = nullptr;
        }
    });
    for (const char* group : {"time_ms", "bytes"}) {
        step.erase(group);
    }
}

} // namespace

Json runAsJson(const RunInfo& run)
{
    Json json {{"id", run.id}, {"uuid", run.uuid}, {"experiment", run.experimentName}, {"lane", run.lane},
        {"status", nameOf(run.status)}, {"message", run.message}, {"policy", run.policy}, {"scaler", run.scaler},
        {"steps", run.steps}, {"final_loss", exactNumber(run.finalLoss)},
        {"validation", {{"loss", exactNumber(run.validationLoss)}, {"accuracy", exactNumber(run.validationAccuracy)}}},
        {"skipped_steps", run.skippedSteps}, {"final_scale", exactNumber(run.finalScale)},
        {"weights_hash", run.weightsHash}, {"initial_weights_hash", run.initialWeightsHash},
        {"steps_per_second", exactNumber(run.stepsPerSecond)}, {"bytes", bytesAsJson(run.bytes)},
        {"casts_per_step", run.castsPerStep}, {"seed", run.seed}, {"device", run.device},
        {"instruction_set", run.instructionSet}, {"threads", run.threads}, {"threads_per_lane", run.threadsPerLane},
        {"started", run.startedUnixSeconds}, {"ended", run.endedUnixSeconds}, {"tags", run.tags}, {"note", run.note}};
    if (run.imported) {
        for (const char* unknown : {"policy", "scaler", "weights_hash", "initial_weights_hash", "steps_per_second",
                 "bytes", "casts_per_step", "seed", "device", "instruction_set", "threads", "threads_per_lane"}) {
            json[unknown] = nullptr;
        }
        if (run.skippedSteps < 0) {
            json["skipped_steps"] = nullptr;
        }
        json["imported"] = importSourceAsJson(*run.imported);
    }
    if (run.sweep) {
        json["sweep"] = sweepPointAsJson(*run.sweep);
    }
    return json;
}

Json stepAsJson(const StepRecord& record, const std::string& lane)
{
    const PhaseTimes& time = record.timeMs;
    Json json = {{"lane", lane}, {"step", record.step}, {"loss", exactNumber(record.loss)},
        {"loss_finite", record.lossFinite}, {"grad_norm", exactNumber(record.gradNorm)},
        {"grad_norm_clipped", exactNumber(record.gradNormClipped)}, {"grad_max", exactNumber(record.gradMax)},
        {"scale", exactNumber(record.scale)}, {"growth_tracker", record.growthTracker},
        {"hysteresis", record.hysteresis}, {"found_inf", record.foundInf}, {"skipped", record.skipped},
        {"dropped_micro_batches", record.droppedMicroBatches}, {"lr", exactNumber(record.lr)},
        {"flushed", exactNumber(record.flushed)}, {"subnormal", exactNumber(record.subnormal)},
        {"overflowed", exactNumber(record.overflowed)}, {"update_ratio", exactNumber(record.updateRatio)},
        {"baseline_distance", exactNumber(record.baselineDistance)},
        {"batch_hash", fmt::format("{:016x}", record.batchHash)},
        {"time_ms",
            {{"data", time.dataMs}, {"wait", time.waitMs}, {"forward", time.forwardMs}, {"backward", time.backwardMs},
                {"unscale", time.unscaleMs}, {"clip", time.clipMs}, {"optimizer", time.optimizerMs},
                {"instruments", time.instrumentsMs}, {"evaluation", time.evaluationMs}}},
        {"wall_seconds", exactNumber(record.wallSeconds)}, {"bytes", bytesAsJson(record.bytes)}};
    if (!std::isnan(record.validationLoss)) {
        json["validation"]
            = {{"loss", exactNumber(record.validationLoss)}, {"accuracy", exactNumber(record.validationAccuracy)}};
    }
    return json;
}

Json rankAsJson(const RankRecord& record)
{
    Json json = {{"rank", record.rank}, {"loss", exactNumber(record.loss)}, {"scale", exactNumber(record.scale)},
        {"grad_norm", exactNumber(record.gradNorm)}, {"flushed", exactNumber(record.flushed)},
        {"found_inf", record.foundInf}, {"skipped", record.skipped}};
    if (!std::isnan(record.distance)) {
        json["distance"] = exactNumber(record.distance);
    }
    return json;
}

Json tensorAsJson(const StepSample& sample, const TensorSample& tensor, const std::string& lane)
{
    const Census& census = tensor.census;
    Json json = {{"lane", lane}, {"step", sample.step}, {"scale", exactNumber(sample.scale)}, {"tensor", tensor.tensor},
        {"role", nameOf(tensor.role)}, {"format", nameOf(tensor.format)}, {"elements", tensor.elements},
        {"census",
            {{"zero", census.zero}, {"flushed", census.flushed}, {"subnormal", census.subnormal},
                {"normal", census.normal}, {"overflowed", census.overflowed}, {"infinite", census.infinite},
                {"nan", census.nan}}},
        {"largest", exactNumber(tensor.largest)}, {"smallest", exactNumber(tensor.smallest)},
        {"norm", exactNumber(tensor.norm)}, {"first_exponent", tensor.firstExponent}, {"exponents", tensor.exponents}};
    for (const auto& [name, value] :
        {std::pair("dead", tensor.dead), std::pair("saturated", tensor.saturated), std::pair("cosine", tensor.cosine),
            std::pair("relative_error", tensor.relativeError), std::pair("ratio", tensor.ratio),
            std::pair("unmoved", tensor.unmoved), std::pair("below_half_ulp", tensor.belowHalfUlp)}) {
        if (!std::isnan(value)) {
            json[name] = exactNumber(value);
        }
    }
    return json;
}

Json eventAsJson(const Event& event)
{
    Json json = {{"step", event.step}, {"kind", nameOf(event.kind)}};
    if (event.kind == EventKind::Set) {
        json["path"] = event.path;
        json["before"] = event.before;
        json["after"] = event.after;
    }
    if (!event.text.empty()) {
        json["text"] = event.text;
    }
    json["scripted"] = event.scripted;
    json["unix_seconds"] = event.unixSeconds;
    return json;
}

void exportCsv(std::ostream& out, const RunStore& store, std::span<const RunId> runs)
{
    out << "run,lane,step";
    forEachStepColumn([&](const char* name, const auto&) { out << ',' << name; });
    out << '\n';
    for (const RunId id : runs) {
        const RunInfo run = knownRun(store, id);
        const std::string start = fmt::format("{},{},", run.id, quoted(run.lane));
        for (const StepRecord& record : store.records(id)) {
            std::string row = start;
            row += digits(record.step);
            forEachStepColumn([&](const char* name, const auto& access) {
                row += ',';
                row += !run.imported || run.imported->knows(name) ? digits(access(record)) : "nan";
            });
            row += '\n';
            out << row;
        }
    }
    out.flush();
    check(out);
}

void exportRanksCsv(std::ostream& out, const RunStore& store, std::span<const RunId> runs)
{
    out << "run,lane,step,rank,loss,scale,grad_norm,flushed,distance,found_inf,skipped\n";
    for (const RunId id : runs) {
        const RunInfo run = knownRun(store, id);
        for (const RankRecord& record : store.ranks(id)) {
            out << fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", run.id, quoted(run.lane), record.step, record.rank,
                digits(record.loss), digits(record.scale), digits(record.gradNorm), digits(record.flushed),
                digits(record.distance), digits(record.foundInf), digits(record.skipped));
        }
    }
    out.flush();
    check(out);
}

void exportJson(std::ostream& out, const RunStore& store, std::span<const RunId> runs)
{
    out << "{\"runs\": [";
    const char* betweenRuns = "\n";
    for (const RunId id : runs) {
        const RunInfo run = knownRun(store, id);
        Json head = runAsJson(run);
        if (!run.imported) {
            head["experiment_document"] = store.experiment(id);
            head["replay"] = store.replayExperiment(id);
        }
        head["events"] = Json::array();
        for (const Event& event : store.events(id)) {
            head["events"].push_back(eventAsJson(event));
        }
        std::string text = textOf(head);
        text.pop_back();
        out << betweenRuns << text << ", \"records\": [";
        const char* betweenSteps = "\n";
        const std::vector<RankRecord> ranks = store.ranks(id);
        auto rank = ranks.begin();
        for (const StepRecord& record : store.records(id)) {
            Json step = stepAsJson(record, run.lane);
            for (rank = std::find_if(rank, ranks.end(), [&](const RankRecord& r) { return r.step >= record.step; });
                 rank != ranks.end() && rank->step == record.step; ++rank) {
                step["ranks"].push_back(rankAsJson(*rank));
            }
            if (run.imported) {
                blankUnknown(step, *run.imported);
            }
            out << betweenSteps << textOf(step);
            betweenSteps = ",\n";
        }
        out << "]}";
        betweenRuns = ",\n";
    }
    out << "\n]}\n";
    out.flush();
    check(out);
}

} // namespace mantissa
