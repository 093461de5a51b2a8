#include "engine/import/column_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <span>

namespace mantissa {

namespace {

using Words = std::vector<std::string>;
using WordList = std::initializer_list<std::string_view>;

bool isOneOf(std::string_view word, WordList list)
{
    return std::ranges::find(list, word) != list.end();
}

bool hasAny(const Words& words, WordList list)
{
    return std::ranges::any_of(words, [&list](const std::string& word) { return isOneOf(word, list); });
}

/// The words that are not in the list.
int strangers(const Words& words, WordList known)
{
    return static_cast<int>(
        std::ranges::count_if(words, [&known](const std::string& word) { return !isOneOf(word, known); }));
}

std::string joinedWords(const Words& words)
{
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : "_") + word;
    }
    return text;
}

bool isOfValidation(const Words& words)
{
    return hasAny(words, {"val", "valid", "validation", "eval", "evaluation", "test", "dev", "heldout", "holdout"});
}

int fitOfLoss(const Words& words, bool ofValidation)
{
    if (!hasAny(words, {"loss", "nll"}) || isOfValidation(words) != ofValidation
        || hasAny(
            words, {"scale", "scaler", "scaling", "scaled", "weight", "coef", "norm", "lr", "best", "min", "max"})) {
        return 0;
    }
    const int others = strangers(words,
        {"loss", "nll", "train", "training", "trainer", "total", "step", "epoch", "avg", "mean", "lm", "batch", "tr",
            "val", "valid", "validation", "eval", "evaluation", "test", "dev", "global", "iter", "metrics", "running"});
    const int epochs = hasAny(words, {"epoch"}) && !ofValidation ? 40 : 0;
    const int tests = hasAny(words, {"test"}) && ofValidation ? 10 : 0;
    return std::max(1, 101 - static_cast<int>(words.size()) - 15 * others - epochs - tests);
}

int fitOfAccuracy(const Words& words)
{
    if (!hasAny(words, {"acc", "accuracy", "acc1", "top1"}) || !isOfValidation(words)
        || hasAny(words, {"best", "top5"})) {
        return 0;
    }
    return std::max(1, 101 - static_cast<int>(words.size()) - (hasAny(words, {"test"}) ? 10 : 0));
}

int fitOfScale(const Words& words)
{
    if (!hasAny(words, {"scale", "scaler", "scaling", "gradscaler", "lossscale", "lossscaler"})
        || strangers(words,
               {"scale", "scaler", "scaling", "gradscaler", "lossscale", "lossscaler", "loss", "grad", "gradient",
                   "gradients", "amp", "dynamic", "cur", "current", "train", "training", "fp16", "step", "mixed",
                   "precision", "native", "value", "get", "factor", "trainer"})
            > 0) {
        return 0;
    }
    const bool saysOfWhat = hasAny(words,
        {"loss", "grad", "gradient", "gradients", "amp", "scaler", "gradscaler", "fp16", "lossscale", "lossscaler"});
    return (saysOfWhat ? 100 : 80) - static_cast<int>(words.size());
}

int fitOfNorm(const Words& words, bool isClipped)
{
    const bool isNorm = hasAny(words, {"norm", "gnorm", "gradnorm"});
    const bool isOfGradient
        = hasAny(words, {"grad", "gradient", "gradients", "gnorm", "gradnorm", "grads", "total", "global"});
    const bool isBefore = hasAny(words, {"before", "pre", "unclipped", "preclip"});
    const bool saysClipped = hasAny(words, {"clipped", "after", "post", "postclip"}) && !isBefore;
    if (!isNorm || saysClipped != isClipped || hasAny(words, {"max", "min"})) {
        return 0;
    }
    if (!isOfGradient) {
        return words.size() == 1 ? 40 : 0;
    }
    const bool hasOthers
        = strangers(words,
              {"grad", "grads", "gradient", "gradients", "norm", "gnorm", "gradnorm", "global", "total", "train",
                  "training", "trainer", "step", "2", "0", "l2", "clip", "clipped", "clipping", "unclipped", "preclip",
                  "postclip", "before", "after", "pre", "post", "avg", "mean", "model", "all", "optim"})
        > 0; // of one layer
    return hasOthers ? 0 : 101 - static_cast<int>(words.size()) - (hasAny(words, {"clip"}) && !isBefore ? 10 : 0);
}

int fitOfRate(const Words& words)
{
    const bool isRate = hasAny(words, {"lr"}) || (hasAny(words, {"learning"}) && hasAny(words, {"rate"}));
    if (!isRate
        || hasAny(
            words, {"scale", "factor", "decay", "mult", "ratio", "warmup", "min", "max", "base", "init", "loss"})) {
        return 0;
    }
    return std::max(1, 101 - 5 * static_cast<int>(words.size()));
}

int fitOfSkipped(const Words& words)
{
    if (!hasAny(words, {"skip", "skipped", "skips"})
        || strangers(words,
               {"skip", "skipped", "skips", "step", "steps", "iteration", "iterations", "iter", "iters", "num",
                   "number", "of", "is", "was", "train", "optimizer", "update", "updates", "total", "count", "amp"})
            > 0) {
        return 0;
    }
    return 101 - static_cast<int>(words.size());
}

int fitOfStep(const std::string& name)
{
    constexpr std::array<std::pair<std::string_view, int>, 20> names {
        {{"step", 100}, {"global_step", 99}, {"trainer_global_step", 98}, {"train_global_step", 97},
            {"optimizer_step", 96}, {"iteration", 95}, {"iter", 94}, {"iterations", 93}, {"iters", 92}, {"steps", 91},
            {"train_step", 90}, {"global_steps", 89}, {"num_updates", 88}, {"update", 87}, {"updates", 86},
            {"num_steps", 85}, {"it", 84}, {"train_iteration", 83}, {"batch", 20}, {"epoch", 10}}};
    const auto found = std::ranges::find(names, name, &std::pair<std::string_view, int>::first);
    return found == names.end() ? 0 : found->second;
}

int fitOfRun(const std::string& name)
{
    constexpr std::array<std::pair<std::string_view, int>, 9> names {{{"run", 100}, {"run_name", 99}, {"run_id", 95},
        {"lane", 90}, {"experiment_name", 80}, {"trial", 70}, {"experiment", 60}, {"exp", 55}, {"name", 50}}};
    const auto found = std::ranges::find(names, name, &std::pair<std::string_view, int>::first);
    return found == names.end() ? 0 : found->second;
}

} // namespace

std::vector<std::string> wordsOf(std::string_view name)
{
    Words words;
    bool isOpen = false;
    char before = 0;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) == 0 && byte < 0x80) {
            isOpen = false;
        } else {
            const bool isHump = std::isupper(byte) != 0 && std::islower(static_cast<unsigned char>(before)) != 0;
            if (!isOpen || isHump) {
                words.emplace_back();
            }
            words.back() += static_cast<char>(std::tolower(byte));
            isOpen = true;
        }
        before = c;
    }
    return words;
}

int fitOf(std::string_view name, LogField field)
{
    const Words words = wordsOf(name);
    const std::string all = joinedWords(words);
    switch (field) {
    case LogField::Step:
        return fitOfStep(all);
    case LogField::Run:
        return fitOfRun(all);
    case LogField::Loss:
        return fitOfLoss(words, false);
    case LogField::ValidationLoss:
        return fitOfLoss(words, true);
    case LogField::ValidationAccuracy:
        return fitOfAccuracy(words);
    case LogField::GradNorm:
        return fitOfNorm(words, false);
    case LogField::GradNormClipped:
        return fitOfNorm(words, true);
    case LogField::GradMax:
        return isOneOf(all, {"grad_max", "max_grad", "gradient_max", "grad_abs_max"}) ? 100 : 0;
    case LogField::Scale:
        return fitOfScale(words);
    case LogField::LearningRate:
        return fitOfRate(words);
    case LogField::FoundInf:
        return isOneOf(all,
                   {"found_inf", "foundinf", "overflow", "is_overflow", "has_overflow", "grad_overflow",
                       "found_infinite", "amp_found_inf"})
            ? 100
            : 0;
    case LogField::Skipped:
        return fitOfSkipped(words);
    case LogField::WallTime:
        // Times since 1970 tell when a run began, too.
        return isOneOf(all, {"wall_time", "walltime", "wall_seconds", "timestamp"})            ? 100
            : isOneOf(all, {"time", "runtime", "relative_time", "elapsed", "elapsed_seconds"}) ? 80
                                                                                               : 0;
    case LogField::GrowthTracker:
    case LogField::Flushed:
    case LogField::Subnormal:
    case LogField::Overflowed:
    case LogField::UpdateRatio:
        return name == nameOf(field) ? 100 : 0;
    }
    return 0;
}

bool namesCount(std::string_view name)
{
    return hasAny(
        wordsOf(name), {"steps", "iterations", "iters", "updates", "skips", "num", "number", "count", "total"});
}

} // namespace mantissa
