/// The texts of the experiments that ship, in the window's language: experiments/translations/zh_CN.json, an object by
/// the file's path under experiments/ without its suffix:
/// {"gallery/c05_inference": {"name", "text", "says", "that": [in the order of expect], "lanes": {English: Chinese}}},
/// and of a lesson {"lessons/amp_in_30_minutes": {"name", "text", "steps": [{"title", "predict", "do", "see",
/// "ask"}]}}.
#pragma once

#include "engine/lesson/lesson.h"
#include "engine/train/experiment.h"

#include <filesystem>
#include <string>

namespace mantissa {

struct ShippedText
{
    std::string name;
    std::string text;
};

/// What is shown of an experiment that came from the file. A name or a text of one's own stays as it is, and so does
/// everything of a file that did not ship.
ShippedText inPresentLanguage(const std::filesystem::path& file, ShippedText own);

/// The file's experiment; one that ships has its texts and the names of its lanes in the present language. Throws what
/// loadExperiment() throws.
Experiment loadInPresentLanguage(const std::filesystem::path& file);

/// The same for one that is loaded already, but lanes keep the names that a reference run knows them by. `file` may be
/// empty.
Experiment withShownTexts(const std::filesystem::path& file, Experiment own);

/// The file's lesson; one that ships has its texts in the present language. Throws what loadLesson() throws.
Lesson loadLessonInPresentLanguage(const std::filesystem::path& file);

/// The document with other texts, an entry of the catalog; what the entry lacks stays.
nlohmann::json withTexts(nlohmann::json document, const nlohmann::json& texts);

} // namespace mantissa
