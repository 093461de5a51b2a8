#include "engine/train/checkpoint.h"

#include "engine/core/error.h"
#include "engine/core/hash.h"
#include "engine/core/json_text.h"
#include "engine/formats/convert.h"
#include "engine/train/lane_document.h"
#include "engine/train/watchpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

namespace mantissa {

namespace {

using json = nlohmann::json;

constexpr int version = 1;
constexpr std::int64_t manySteps = 1'000'000'000;
constexpr auto metadataKey = "mantissa";
constexpr std::string_view filePrefix = "step-";
constexpr std::string_view bufferSuffix = "running_";
constexpr std::string_view gradientSuffix = ".grad";
constexpr std::string_view ranksPrefix
    = "ranks/"; ///< of tensors that other ranks have of their own; no layer's name has it

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what)
{
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", file.string(), what));
}

std::string hex(std::uint64_t number)
{
    return fmt::format("{:016x}", number);
}

std::string folderName(const std::string& lane)
{
    std::string name;
    for (const char c : lane) {
        const bool isPlain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (isPlain || (!name.empty() && name.back() != '-')) {
            name += isPlain ? c : '-';
        }
    }
    return name.empty() ? "lane" : name;
}

/// That in which a session writes lanes, if the file lies as one of its files does.
std::filesystem::path plannedFolder(const std::filesystem::path& file, const std::string& lane)
{
    std::error_code ignored; // then the path stays relative
    const std::filesystem::path whole = std::filesystem::absolute(file, ignored).lexically_normal();
    const bool isPlanned
        = whole.parent_path().filename() == folderName(lane) && whole.filename().string().starts_with(filePrefix);
    return isPlanned ? whole.parent_path().parent_path() : std::filesystem::path();
}

json tensorHashes(const std::vector<StateTensor>& tensors)
{
    json hashes = json::object();
    for (const StateTensor& tensor : tensors) {
        hashes[tensor.name] = hex(fnv1a(tensor.bytes));
    }
    return hashes;
}

std::string rankPrefix(std::size_t rank)
{
    return fmt::format("{}{}/", ranksPrefix, rank);
}

StoredTensor stored(const StateTensor& tensor, const std::string& prefix)
{
    const bool isOptimizer = tensor.kind == ValueKind::OptimizerState;
    return {.name = prefix + (isOptimizer ? std::string(optimizerPrefix) : "") + tensor.name,
        .dtype = safetensorsName(tensor.type.dtype),
        .shape = tensor.type.shape,
        .bytes = tensor.bytes};
}

json othersJson(const std::vector<RankState>& others)
{
    json list = json::array();
    for (const RankState& rank : others) {
        list.push_back({{"schedule_position", rank.schedulePosition}, {"found_inf", rank.foundInf ? 1 : 0},
            {"scaler", rank.scaler}, {"tensor_hashes", tensorHashes(rank.tensors)}});
    }
    return list;
}

json eventsJson(const Checkpoint& checkpoint)
{
    json events = json::array();
    for (const auto* list : {&checkpoint.state.history, &checkpoint.state.script}) {
        for (const ScriptedEvent& event : *list) {
            json set = json::array();
            for (const auto& [path, value] : event.set) {
                set.push_back({path, value});
            }
            events.push_back({{"step", event.step}, {"set", std::move(set)}});
        }
    }
    return events;
}

/// The keys of a checkpoint's metadata, each read with its type checked.
class Metadata
{
public:
    Metadata(const std::filesystem::path& file, const std::string& text)
        : Metadata(file, parseJson(text, file.string() + ", metadata"))
    {
    }

    Metadata(const std::filesystem::path& file, json object)
        : m_file(file)
        , m_json(std::move(object))
    {
        if (!m_json.is_object()) {
            refuse(m_file, "its metadata is no object");
        }
    }

    [[nodiscard]] bool has(const char* key) const { return m_json.contains(key); }

    [[nodiscard]] const json& at(const char* key) const
    {
        const auto found = m_json.find(key);
        if (found == m_json.end()) {
            refuse(m_file, fmt::format("its metadata lacks \"{}\"", key));
        }
        return *found;
    }

    [[nodiscard]] std::string text(const char* key) const
    {
        const json& value = at(key);
        if (!value.is_string()) {
            refuse(m_file, fmt::format("\"{}\" is {}; it must be a text", key, shortText(value)));
        }
        return value.get<std::string>();
    }

    [[nodiscard]] std::int64_t count(const char* key, std::int64_t most) const
    {
        const auto number = integerOf<std::int64_t>(at(key));
        if (!number || *number < 0 || *number > most) {
            refuse(m_file,
                fmt::format("\"{}\" is {}; it must be a whole number from 0 to {}", key, shortText(at(key)), most));
        }
        return *number;
    }

    [[nodiscard]] double number(const char* key, double most) const
    {
        const json& value = at(key);
        if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= most)) {
            refuse(m_file, fmt::format("\"{}\" is {}; it must be a number from 0 to {}", key, shortText(value), most));
        }
        return value.get<double>();
    }

    [[nodiscard]] std::uint64_t hash(const char* key) const
    {
        const std::string digits = text(key);
        std::uint64_t number = 0;
        const char* const end = digits.data() + digits.size();
        const auto [stopped, error] = std::from_chars(digits.data(), end, number, 16);
        if (error != std::errc() || stopped != end) {
            refuse(m_file, fmt::format("\"{}\" is \"{}\"; it must be hexadecimal digits", key, digits));
        }
        return number;
    }

private:
    const std::filesystem::path& m_file;
    json m_json;
};

std::vector<ScriptedEvent> readEvents(const std::filesystem::path& file, const json& list, const LaneConfig& initial)
{
    std::vector<ScriptedEvent> events;
    if (!list.is_array()) {
        refuse(file, "\"events\" is no list");
    }
    for (const json& entry : list) {
        const auto step = entry.is_object() ? integerOf<std::int64_t>(entry.value("step", json())) : std::nullopt;
        if (!step || *step < 0 || !entry.value("set", json()).is_array()) {
            refuse(file, fmt::format("\"events\" holds {}, which is no change of settings", shortText(entry)));
        }
        ScriptedEvent event {*step, initial.name, {}};
        for (const json& change : entry.at("set")) {
            if (!change.is_array() || change.size() != 2 || !change[0].is_string()) {
                refuse(file, fmt::format("\"events\" holds {}, which is no change of settings", shortText(entry)));
            }
            event.set.emplace_back(change[0].get<std::string>(), change[1]);
        }
        events.push_back(std::move(event));
    }
    checkEvents(events, {initial}, file.string());
    return events;
}

/// The settings after the events that have happened.
LaneConfig presentSettings(LaneConfig config, const std::vector<ScriptedEvent>& history)
{
    for (const ScriptedEvent& event : history) {
        for (const auto& [path, value] : event.set) {
            config = withSetting(config, path, value);
        }
    }
    return config;
}

ValueKind kindOf(const std::string& name)
{
    if (name.ends_with(gradientSuffix)) {
        return ValueKind::Gradient;
    }
    const std::size_t dot = name.rfind('.');
    const std::string_view last = std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1);
    return last.starts_with(bufferSuffix) ? ValueKind::Buffer : ValueKind::Parameter;
}

void requireFinite(const std::filesystem::path& file, const StateTensor& tensor)
{
    std::vector<float> values(static_cast<std::size_t>(tensor.type.shape.elements()));
    if (tensor.type.dtype == DType::Float32 || isHalf(tensor.type.dtype)) {
        toFloats(tensor.type.dtype, tensor.bytes, values);
    }
    const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
    if (bad != values.end()) {
        refuse(file,
            fmt::format("element {} of \"{}\" is {}: no training can go on from weights that are not finite",
                bad - values.begin(), tensor.name, *bad));
    }
}

/// Each tensor that the file holds is as it was saved. Files of before there were hashes have none.
void requireHashes(const std::filesystem::path& file, const Metadata& about, const std::vector<StateTensor>& tensors)
{
    if (!about.has("tensor_hashes")) {
        return;
    }
    const json& hashes = about.at("tensor_hashes");
    for (const StateTensor& tensor : tensors) {
        const json saved = hashes.is_object() ? hashes.value(tensor.name, json()) : json();
        if (!saved.is_null() && saved != hex(fnv1a(tensor.bytes))) {
            refuse(file,
                fmt::format("\"{}\" is not as it was saved; the file is damaged. Resume from an older checkpoint",
                    tensor.name));
        }
    }
}

std::vector<StateTensor> readTensors(const std::filesystem::path& file, std::vector<StoredTensor> stored)
{
    std::vector<StateTensor> tensors;
    for (StoredTensor& from : stored) {
        const auto type = from.type();
        if (!type) {
            refuse(
                file, fmt::format("\"{}\" is of dtype {}, which no checkpoint of Mantissa has", from.name, from.dtype));
        }
        const bool isOptimizer = from.name.starts_with(optimizerPrefix);
        StateTensor tensor {.name = isOptimizer ? from.name.substr(optimizerPrefix.size()) : from.name,
            .kind = isOptimizer ? ValueKind::OptimizerState : kindOf(from.name),
            .type = {*type, from.shape},
            .bytes = std::move(from.bytes)};
        if (tensor.kind == ValueKind::Parameter) {
            requireFinite(file, tensor);
        }
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

/// Takes the tensors of the other ranks out of `all`.
std::vector<RankState> readOthers(
    const std::filesystem::path& file, const Metadata& about, std::vector<StoredTensor>& all, const LaneConfig& lane)
{
    std::vector<RankState> others;
    const json list = about.has("ranks") ? about.at("ranks") : json::array();
    if (!list.is_array() || std::cmp_not_equal(list.size() + 1, lane.parallel.ranks)) {
        refuse(file,
            fmt::format("it holds the state of {} ranks, but parallel.ranks is {}",
                list.is_array() ? list.size() + 1 : 0, lane.parallel.ranks));
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string prefix = rankPrefix(i + 1);
        const auto theirs = std::stable_partition(
            all.begin(), all.end(), [&](const StoredTensor& tensor) { return !tensor.name.starts_with(prefix); });
        std::vector<StoredTensor> own(std::make_move_iterator(theirs), std::make_move_iterator(all.end()));
        all.erase(theirs, all.end());
        for (StoredTensor& tensor : own) {
            tensor.name.erase(0, prefix.size());
        }
        const Metadata rank(file, list[i]);
        RankState state;
        state.schedulePosition = rank.count("schedule_position", manySteps);
        state.foundInf = rank.count("found_inf", 1) != 0;
        state.scaler = rank.at("scaler");
        state.tensors = readTensors(file, std::move(own));
        requireHashes(file, rank, state.tensors);
        others.push_back(std::move(state));
    }
    return others;
}

/// Not in files of earlier versions.
void readWatchpoints(const std::filesystem::path& file, const Metadata& about, Checkpoint& checkpoint)
{
    const auto listAt = [&](const char* key) {
        json list = about.has(key) ? about.at(key) : json::array();
        if (!list.is_array()) {
            refuse(file, fmt::format("\"{}\" is {}; it must be a list", key, shortText(list)));
        }
        return list;
    };
    for (const json& entry : listAt("watch")) {
        const std::string place = fmt::format("watch[{}].", checkpoint.watchpoints.size());
        checkpoint.watchpoints.push_back(readWatchpoint(entry, file.string(), place));
        checkWatchpoint(checkpoint.watchpoints.back(), {checkpoint.initial}, file.string(), place);
    }
    for (const json& entry : listAt("watch_true")) {
        if (!entry.is_string()) {
            refuse(file, fmt::format("\"watch_true\" holds {}, which is no condition", shortText(entry)));
        }
        checkpoint.trueConditions.push_back(entry.get<std::string>());
    }
}

CheckpointPlan readPlan(const std::filesystem::path& file, const Metadata& about, const std::string& lane)
{
    CheckpointPlan plan {.folder = plannedFolder(file, lane)};
    if (about.has("every_steps")) { // not in files of earlier versions
        plan.everySteps = about.count("every_steps", manySteps);
        plan.everySeconds = about.number("every_seconds", manySteps);
        plan.kept = std::max<std::int64_t>(about.count("kept", manySteps), 1);
    }
    return plan;
}

} // namespace

bool isCheckpoint(const Safetensors& contents)
{
    return contents.metadata.contains(metadataKey);
}

std::filesystem::path checkpointFile(
    const std::filesystem::path& folder, const std::string& lane, std::int64_t nextStep)
{
    return folder / folderName(lane) / fmt::format("{}{:08}.safetensors", filePrefix, nextStep);
}

void writeCheckpoint(const std::filesystem::path& file, const Checkpoint& checkpoint)
{
    const LaneState& state = checkpoint.state;
    Safetensors contents;
    for (const StateTensor& tensor : state.tensors) {
        contents.tensors.push_back(stored(tensor, {}));
    }
    json about {{"version", version}, {"experiment", checkpoint.experimentName}, {"text", checkpoint.experimentText},
        {"lane", documentOf(checkpoint.initial)}, {"events", eventsJson(checkpoint)},
        {"applied_events", state.history.size()}, {"step", state.nextStep},
        {"schedule_position", state.schedulePosition}, {"found_inf", state.foundInf ? 1 : 0},
        {"batch_hash", hex(state.batchHash)}, {"initial_weights_hash", hex(state.initialHash)},
        {"weights_hash", checkpoint.weightsHash}, {"tensor_hashes", tensorHashes(state.tensors)},
        {"scaler", state.scaler}, {"instruction_set", checkpoint.instructionSet},
        {"threads_per_lane", checkpoint.threadsPerLane}, {"every_steps", checkpoint.plan.everySteps},
        {"every_seconds", checkpoint.plan.everySeconds}, {"kept", checkpoint.plan.kept}};
    for (const Watchpoint& watchpoint : checkpoint.watchpoints) {
        about["watch"].push_back(writeWatchpoint(watchpoint));
    }
    if (!checkpoint.trueConditions.empty()) {
        about["watch_true"] = checkpoint.trueConditions;
    }
    if (!state.others.empty()) {
        about["ranks"] = othersJson(state.others);
        for (std::size_t i = 0; i < state.others.size(); ++i) {
            for (const StateTensor& tensor : state.others[i].tensors) {
                contents.tensors.push_back(stored(tensor, rankPrefix(i + 1)));
            }
        }
    }
    // "format" is what loaders of other programs ask for before they take the tensors as PyTorch's.
    contents.metadata = {{"format", "pt"}, {metadataKey, about.dump()}};
    writeSafetensors(file, contents);
}

Checkpoint readCheckpoint(const std::filesystem::path& file)
{
    Safetensors contents = readSafetensors(file);
    if (!isCheckpoint(contents)) {
        refuse(file, "is a safetensors file, but no checkpoint of Mantissa");
    }
    const Metadata about(file, contents.metadata.at(metadataKey));
    if (about.count("version", manySteps) != version) {
        refuse(file,
            fmt::format("was written by another version of Mantissa (format {}, this one reads {})",
                about.count("version", manySteps), version));
    }
    Checkpoint checkpoint;
    checkpoint.experimentName = about.text("experiment");
    checkpoint.experimentText = about.text("text");
    checkpoint.initial = parseLane(about.at("lane"), file.string());
    std::vector<ScriptedEvent> events = readEvents(file, about.at("events"), checkpoint.initial);
    const auto applied
        = static_cast<std::ptrdiff_t>(about.count("applied_events", static_cast<std::int64_t>(events.size())));
    LaneState& state = checkpoint.state;
    state.history.assign(events.begin(), events.begin() + applied);
    state.script.assign(events.begin() + applied, events.end());
    state.config = presentSettings(checkpoint.initial, state.history);
    state.nextStep = about.count("step", manySteps);
    state.schedulePosition = about.count("schedule_position", manySteps);
    state.foundInf = about.has("found_inf") && about.count("found_inf", 1) != 0;
    state.batchHash = about.hash("batch_hash");
    state.initialHash = about.hash("initial_weights_hash");
    state.scaler = about.at("scaler");
    state.others = readOthers(file, about, contents.tensors, checkpoint.initial);
    state.tensors = readTensors(file, std::move(contents.tensors));
    checkpoint.weightsHash = about.text("weights_hash");
    requireHashes(file, about, state.tensors);
    checkpoint.instructionSet = about.text("instruction_set");
    checkpoint.threadsPerLane = static_cast<int>(about.count("threads_per_lane", 1 << 20));
    readWatchpoints(file, about, checkpoint);
    checkpoint.plan = readPlan(file, about, checkpoint.initial.name);
    return checkpoint;
}

} // namespace mantissa
