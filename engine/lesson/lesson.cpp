#include "engine/lesson/lesson.h"

#include "engine/core/error.h"
#include "engine/core/json_file.h"
#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/core/text.h"
#include "engine/train/lane_document.h"
#include "engine/verify/shipped_experiments.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa {

namespace {

using Json = nlohmann::ordered_json;

constexpr int fileVersion = 1;
constexpr std::size_t mostSteps = 100;
constexpr std::size_t longestText = 20'000;
constexpr std::size_t longestTitle = 200;
constexpr double mostMinutes = 600;
constexpr const char* lessonSuffix = ".mantissa-lesson";

void checkKeys(const nlohmann::json& object, const std::vector<std::string>& keys, const std::string& what,
    const DocumentPlace& place)
{
    for (const auto& [key, value] : object.items()) {
        if (std::ranges::find(keys, key) == keys.end()) {
            failAt(place, key,
                fmt::format("is not a key of {} (its value: {}); {}", what, shortText(value), suggestion(key, keys)));
        }
    }
}

std::string textAt(const nlohmann::json& object, const std::string& key, const DocumentPlace& place)
{
    const auto found = object.find(key);
    if (found == object.end()) {
        return {};
    }
    if (!found->is_string() || found->get_ref<const std::string&>().size() > longestText) {
        failAt(place, key, fmt::format("is {}; it must be a text of at most {} bytes", shortText(*found), longestText));
    }
    return found->get<std::string>();
}

/// One line that must be there.
std::string titleAt(
    const nlohmann::json& object, const std::string& key, const std::string& what, const DocumentPlace& place)
{
    if (!object.contains(key)) {
        failAt(place, key, fmt::format("is missing; {} has one", what));
    }
    std::string title = textAt(object, key, place);
    if (!isOneLine(title, longestTitle)) {
        failAt(place, key,
            fmt::format(
                "is {}; it must be a text of 1 to {} bytes in one line", shortText(object.at(key)), longestTitle));
    }
    return title;
}

std::optional<ControlGroups> groupsAt(const nlohmann::json& object, const std::string& key, const DocumentPlace& place)
{
    const auto list = object.find(key);
    if (list == object.end()) {
        return {};
    }
    std::vector<std::string> names;
    for (const ControlGroupInfo& info : controlGroups()) {
        names.emplace_back(info.name);
    }
    if (!list->is_array()) {
        failAt(place, key,
            fmt::format(
                "is {}; it must be a list of groups of controls, as in [\"setup\", \"lanes\"]", shortText(*list)));
    }
    ControlGroups groups;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const nlohmann::json& entry = list->at(i);
        const auto found = entry.is_string() ? std::ranges::find(names, entry.get<std::string>()) : names.end();
        if (found == names.end()) {
            failAt(place, fmt::format("{}[{}]", key, i),
                fmt::format("is {}, which is no group of controls; {}", shortText(entry),
                    suggestion(entry.is_string() ? entry.get<std::string>() : std::string(), names)));
        }
        groups.insert(controlGroups()[static_cast<std::size_t>(found - names.begin())].group);
    }
    return groups;
}

/// By its name without folder and suffix; empty if none ships under it.
std::filesystem::path shippedNamed(const std::string& name)
{
    for (const std::filesystem::path& file : shippedExperiments()) {
        if (file.stem().string() == name) {
            return file;
        }
    }
    return {};
}

void readExperiment(LessonStep& step, const nlohmann::json& value, const DocumentPlace& place)
{
    if (value.is_object()) {
        step.own = parseExperiment(value.dump(), fmt::format("{}: {}experiment", place.source, place.prefix));
        return;
    }
    if (!value.is_string()) {
        failAt(place, "experiment",
            fmt::format("is {}; it must be the name of an experiment that ships, or an experiment", shortText(value)));
    }
    step.shipped = value.get<std::string>();
    if (shippedNamed(step.shipped).empty()) {
        std::vector<std::string> names;
        for (const std::filesystem::path& file : shippedExperiments()) {
            names.push_back(file.stem().string());
        }
        failAt(place, "experiment",
            names.empty()
                ? "is one that ships, but the shipped experiments were not found; set MANTISSA_EXPERIMENTS to "
                  "their folder"
                : fmt::format("is {}, but no experiment of that name ships; {}", shortText(value),
                    suggestion(step.shipped, names)));
    }
}

void readReferenceOf(LessonStep& step, const nlohmann::json& value, const DocumentPlace& place)
{
    step.reference = readReference(value, place.source, place.prefix + "reference.");
    if (!step.hasExperiment()) {
        failAt(place, "reference", "is of no experiment; the step has none");
    }
    if (step.own && step.reference->fingerprint != fingerprintOf(*step.own)) {
        failAt(place, "reference.of",
            fmt::format("is \"{}\", but this experiment's is \"{}\": it was changed after the run; train it again",
                step.reference->fingerprint, fingerprintOf(*step.own)));
    }
}

LessonStep readStep(const nlohmann::json& object, const DocumentPlace& place)
{
    static const std::vector<std::string> keys {
        "title", "minutes", "experiment", "predict", "do", "see", "ask", "lock", "hide", "reference"};
    if (!object.is_object()) {
        failAt(place, "", fmt::format("is {}; a step is an object with title and minutes", shortText(object)));
    }
    checkKeys(object, keys, "a step of a lesson", place);
    LessonStep step {.title = titleAt(object, "title", "a step", place)};
    const auto minutes = object.find("minutes");
    const bool isTime = minutes != object.end() && minutes->is_number() && minutes->get<double>() > 0
        && minutes->get<double>() <= mostMinutes;
    if (!isTime) {
        failAt(place, "minutes",
            minutes == object.end()
                ? std::string("is missing; a step says how long it takes")
                : fmt::format("is {}; it must be a number above 0 to {}", shortText(*minutes), mostMinutes));
    }
    step.minutes = minutes->get<double>();
    if (const auto experiment = object.find("experiment"); experiment != object.end()) {
        readExperiment(step, *experiment, place);
    }
    step.predict = textAt(object, "predict", place);
    step.todo = textAt(object, "do", place);
    step.see = textAt(object, "see", place);
    step.ask = textAt(object, "ask", place);
    step.locks = groupsAt(object, "lock", place);
    step.hides = groupsAt(object, "hide", place);
    if (const auto reference = object.find("reference"); reference != object.end()) {
        readReferenceOf(step, *reference, place);
    }
    return step;
}

void checkVersion(const nlohmann::json& document, const DocumentPlace& place)
{
    if (!document.is_object()) {
        failAt(place, "",
            fmt::format("the file holds {}; a lesson is an object that begins with \"mantissa_lesson\": 1",
                shortText(document)));
    }
    const auto version = document.find("mantissa_lesson");
    if (version == document.end()) {
        failAt(place, "mantissa_lesson",
            document.contains("mantissa") ? "is missing: the file is an experiment, not a lesson"
                                          : "is missing; a lesson begins with \"mantissa_lesson\": 1");
    }
    const auto number = integerOf<std::int64_t>(*version);
    if (number && *number > fileVersion) {
        failAt(place, "mantissa_lesson",
            fmt::format(
                "is {}: the file was written for a newer Mantissa; this one reads version {}", *number, fileVersion));
    }
    if (number != fileVersion) {
        failAt(place, "mantissa_lesson", fmt::format("is {}; it must be {}", shortText(*version), fileVersion));
    }
}

Json namesOf(const ControlGroups& groups)
{
    Json names = Json::array();
    for (const ControlGroup group : groups) {
        names.push_back(nameOf(group));
    }
    return names;
}

Json stepAsJson(const LessonStep& step)
{
    Json json {{"title", step.title}, {"minutes", step.minutes}};
    if (step.own) {
        json["experiment"] = composeExperiment(*step.own);
    } else if (!step.shipped.empty()) {
        json["experiment"] = step.shipped;
    }
    for (const auto& [key, text] :
        {std::pair("predict", &step.predict), {"do", &step.todo}, {"see", &step.see}, {"ask", &step.ask}}) {
        if (!text->empty()) {
            json[key] = *text;
        }
    }
    if (step.locks) {
        json["lock"] = namesOf(*step.locks);
    }
    if (step.hides) {
        json["hide"] = namesOf(*step.hides);
    }
    if (step.reference) {
        json["reference"] = referenceAsJson(*step.reference);
    }
    return json;
}

} // namespace

double Lesson::minutes() const
{
    double sum = 0;
    for (const LessonStep& step : steps) {
        sum += step.minutes;
    }
    return sum;
}

Lesson parseLesson(std::string_view text, const std::string& source)
{
    static const std::vector<std::string> keys {"mantissa_lesson", "name", "text", "lock", "hide", "steps"};
    const DocumentPlace place {source, ""};
    const nlohmann::json document = parseJson(text, source);
    checkVersion(document, place);
    checkKeys(document, keys, "a lesson", place);
    Lesson lesson {.name = titleAt(document, "name", "a lesson", place)};
    lesson.text = textAt(document, "text", place);
    lesson.locks = groupsAt(document, "lock", place).value_or(ControlGroups());
    lesson.hides = groupsAt(document, "hide", place).value_or(ControlGroups());
    const auto steps = document.find("steps");
    const bool isList = steps != document.end() && steps->is_array() && !steps->empty() && steps->size() <= mostSteps;
    if (!isList) {
        failAt(place, "steps",
            steps == document.end()
                ? std::string("is missing; a lesson has steps")
                : fmt::format("is {}; it must be a list of 1 to {} steps", shortText(*steps), mostSteps));
    }
    for (std::size_t i = 0; i < steps->size(); ++i) {
        lesson.steps.push_back(readStep(steps->at(i), {source, fmt::format("steps[{}].", i)}));
    }
    return lesson;
}

Lesson loadLesson(const std::filesystem::path& file)
{
    Lesson lesson = parseLesson(readJsonText(file, "a lesson"), file.string());
    for (LessonStep& step : lesson.steps) {
        if (step.own) {
            step.own->directory = file.parent_path();
        }
    }
    return lesson;
}

bool isLessonFile(const std::filesystem::path& file)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) {
        return false;
    }
    if (file.extension() == lessonSuffix || file.extension() != ".json") {
        return file.extension() == lessonSuffix;
    }
    try {
        const nlohmann::json document = parseJson(readJsonText(file, "a lesson"), file.string());
        return document.is_object() && document.contains("mantissa_lesson");
    } catch (const std::exception&) {
        return false; // whoever opens it says what is wrong
    }
}

std::filesystem::path shippedFileOf(const LessonStep& step)
{
    return step.shipped.empty() ? std::filesystem::path() : shippedNamed(step.shipped);
}

Experiment experimentOf(const LessonStep& step)
{
    return step.own ? *step.own : loadExperiment(shippedNamed(step.shipped));
}

std::optional<ReferenceRun> referenceOf(const LessonStep& step)
{
    if (step.reference || step.shipped.empty()) {
        return step.reference;
    }
    const std::filesystem::path file = shippedNamed(step.shipped);
    return shippedReference(file, loadExperiment(file));
}

Lesson selfContained(Lesson lesson)
{
    for (LessonStep& step : lesson.steps) {
        if (step.hasExperiment()) {
            step.reference = referenceOf(step);
            step.own = experimentOf(step);
            step.shipped.clear();
        }
    }
    return lesson;
}

std::string lessonText(const Lesson& lesson)
{
    Json json {{"mantissa_lesson", fileVersion}, {"name", lesson.name}, {"text", lesson.text},
        {"lock", namesOf(lesson.locks)}, {"hide", namesOf(lesson.hides)}, {"steps", Json::array()}};
    for (const LessonStep& step : lesson.steps) {
        json["steps"].push_back(stepAsJson(step));
    }
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::filesystem::path> shippedLessons()
{
    std::vector<std::filesystem::path> files;
    const std::filesystem::path folder = shippedExperimentsFolder();
    std::error_code ignored;
    if (!folder.empty()) {
        for (const auto& entry : std::filesystem::directory_iterator(folder / "lessons", ignored)) {
            if (entry.is_regular_file(ignored) && entry.path().extension() == ".json") {
                files.push_back(entry.path());
            }
        }
    }
    std::ranges::sort(files);
    return files;
}

} // namespace mantissa
