/// A lesson file: an ordered path through experiments with what to say at each, and which controls are locked
/// meanwhile. Every key is documented in experiments/README.md.
#pragma once

#include "engine/lesson/control_group.h"
#include "engine/train/experiment.h"
#include "engine/verify/reference_run.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

struct LessonStep
{
    std::string title;
    double minutes = 0;
    /// The name of one that ships ("c18_clip_before_unscale"), or one of the lesson's own; neither: what is open stays.
    std::string shipped {};
    std::optional<Experiment> own {};
    std::string predict {}; ///< Markdown, as the three below: what the room is to guess before the run
    std::string todo {}; ///< what to do
    std::string see {}; ///< what to look at, which gives the answer away
    std::string ask {}; ///< the question for the room afterwards
    std::optional<ControlGroups> locks {}; ///< nothing: the lesson's
    std::optional<ControlGroups> hides {};
    std::optional<ReferenceRun> reference {}; ///< what should come out; nothing: that which ships with the experiment

    [[nodiscard]] bool hasExperiment() const { return own.has_value() || !shipped.empty(); }
};

struct Lesson
{
    std::string name;
    std::string text {}; ///< Markdown
    ControlGroups locks {}; ///< visible, but not to be used
    ControlGroups hides {};
    std::vector<LessonStep> steps {}; ///< at least one

    [[nodiscard]] double minutes() const;
};

/// Reads and checks a lesson, its experiments and reference runs included. Throws Error (InvalidArgument) naming the
/// JSON path, the value and the nearest valid key; `source` names the file in messages.
Lesson parseLesson(std::string_view text, const std::string& source);
Lesson loadLesson(const std::filesystem::path& file);

/// Whether the file is a lesson rather than an experiment, by its suffix (.mantissa-lesson) or what stands in it. False
/// for what cannot be read.
bool isLessonFile(const std::filesystem::path& file);

/// Of the step's experiment if it is one that ships; else empty.
std::filesystem::path shippedFileOf(const LessonStep& step);

/// The step's experiment, read from what ships if it is not the lesson's own. Throws as loadExperiment(); the step must
/// have one. A relative data path of an own one starts at the lesson's folder.
Experiment experimentOf(const LessonStep& step);

/// The step's own reference run, or the shipped one.
std::optional<ReferenceRun> referenceOf(const LessonStep& step);

/// The lesson with all experiments and reference runs its own, so that its file needs nothing that ships. Throws as
/// experimentOf().
Lesson selfContained(Lesson lesson);

/// The lesson as a file's text; parseLesson() gives it back.
std::string lessonText(const Lesson& lesson);

/// The lessons that ship, by file name.
std::vector<std::filesystem::path> shippedLessons();

} // namespace mantissa
