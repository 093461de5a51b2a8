#include "ui/session/shipped_texts.h"

#include "engine/verify/shipped_experiments.h"
#include "ui/language/language.h"

#include <fstream>
#include <map>
#include <mutex>
#include <utility>

namespace mantissa {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json readJson(const fs::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    json document = json::parse(stream, nullptr, false);
    return document.is_object() ? document : json::object();
}

/// Of a folder of experiments. An absent one is as good as an empty one: the texts are English then.
const json& catalogOf(const fs::path& folder)
{
    static std::mutex mutex; // hand-outs are made on a thread of their own
    static std::map<fs::path, json> known;
    const std::scoped_lock lock(mutex);
    const auto [entry, isNew] = known.try_emplace(folder);
    if (isNew) {
        entry->second = readJson(folder / "translations" / "zh_CN.json");
    }
    return entry->second;
}

/// An object; empty if the file did not ship or its texts were not translated.
json textsOf(const fs::path& file)
{
    const fs::path folder = shippedExperimentsFolder();
    std::error_code ignored;
    const fs::path relative = fs::canonical(file, ignored).lexically_relative(folder);
    if (folder.empty() || relative.empty() || *relative.begin() == "..") {
        return json::object();
    }
    const auto& catalog = catalogOf(folder);
    const auto found = catalog.find((relative.parent_path() / relative.stem()).generic_string());
    return found != catalog.end() && found->is_object() ? *found : json::object();
}

std::string textAt(const json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void replace(json& object, const char* key, const std::string& text)
{
    if (!text.empty() && object.is_object() && object.contains(key)) {
        object[key] = text;
    }
}

/// Wherever an event, a watchpoint or an expectation names a lane.
void renameLanes(json& part, const json& names)
{
    if (part.is_object()) {
        replace(part, "lane", textAt(names, textAt(part, "lane").c_str()));
    }
    if (part.is_structured()) {
        for (json& inner : part) {
            renameLanes(inner, names);
        }
    }
}

/// The file's experiment with these texts; as it is if there are none, or they do not fit.
Experiment translated(const fs::path& file, const json& texts, Experiment own)
{
    if (texts.empty()) {
        return own;
    }
    try {
        Experiment result = parseExperiment(withTexts(readJson(file), texts).dump(), file.string());
        result.directory = own.directory;
        return result;
    } catch (const std::exception&) { // such as two lanes of one name
        return own;
    }
}

} // namespace

json withTexts(json document, const json& texts)
{
    replace(document, "name", textAt(texts, "name"));
    replace(document, "text", textAt(texts, "text"));
    if (const auto claim = document.find("claim"); claim != document.end()) {
        replace(*claim, "says", textAt(texts, "says"));
    }
    const auto that = texts.find("that");
    const auto expect = document.find("expect");
    if (that != texts.end() && that->is_array() && expect != document.end() && that->size() == expect->size()) {
        for (std::size_t i = 0; i < that->size(); ++i) {
            replace((*expect)[i], "that", (*that)[i].is_string() ? (*that)[i].get<std::string>() : std::string());
        }
    }
    const auto names = texts.find("lanes");
    if (names == texts.end() || !names->is_object()) {
        return document;
    }
    if (const auto lanes = document.find("lanes"); lanes != document.end() && lanes->is_array()) {
        for (json& lane : *lanes) {
            replace(lane, "name", textAt(*names, textAt(lane, "name").c_str()));
        }
    }
    for (const char* part : {"events", "watchpoints", "expect"}) {
        if (const auto found = document.find(part); found != document.end()) {
            renameLanes(*found, *names);
        }
    }
    return document;
}

ShippedText inPresentLanguage(const fs::path& file, ShippedText own)
{
    const json texts = textsOf(file);
    if (texts.empty()) {
        return own;
    }
    const json english = readJson(file);
    const auto turn = [&](std::string& shown, const char* key) {
        const std::string translated = textAt(texts, key);
        if (!translated.empty() && (shown == translated || shown == textAt(english, key))) {
            shown = isChinese() ? translated : textAt(english, key);
        }
    };
    turn(own.name, "name");
    turn(own.text, "text");
    return own;
}

Experiment loadInPresentLanguage(const fs::path& file)
{
    return translated(file, isChinese() ? textsOf(file) : json::object(), loadExperiment(file));
}

Experiment withShownTexts(const fs::path& file, Experiment own)
{
    json texts = isChinese() ? textsOf(file) : json::object();
    texts.erase("lanes");
    return translated(file, texts, std::move(own));
}

Lesson loadLessonInPresentLanguage(const fs::path& file)
{
    Lesson lesson = loadLesson(file);
    const json texts = isChinese() ? textsOf(file) : json::object();
    const auto turn = [](std::string& shown, const json& from, const char* key) {
        const std::string translated = textAt(from, key);
        shown = shown.empty() || translated.empty() ? shown : translated;
    };
    turn(lesson.name, texts, "name");
    turn(lesson.text, texts, "text");
    const auto steps = texts.find("steps");
    if (steps == texts.end() || !steps->is_array() || steps->size() != lesson.steps.size()) {
        return lesson;
    }
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        LessonStep& step = lesson.steps[i];
        turn(step.title, (*steps)[i], "title");
        turn(step.predict, (*steps)[i], "predict");
        turn(step.todo, (*steps)[i], "do");
        turn(step.see, (*steps)[i], "see");
        turn(step.ask, (*steps)[i], "ask");
    }
    return lesson;
}

} // namespace mantissa
