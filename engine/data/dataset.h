/// A data set in memory, and its division into training and validation samples.
#pragma once

#include "engine/data/data_config.h"
#include "engine/tensor/shape.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

/// The label of what is not asked: it counts neither in the loss nor in the accuracy (PyTorch's ignore_index).
inline constexpr std::int32_t ignoredLabel = -100;

/// n samples of f numbers or tokens each, with labels (classification, next token) or targets (regression). Both after
/// labelsToTargets(), and of a csv whose target is numbers that may be classes.
struct Dataset
{
    std::string name; ///< its kind: "digits"
    Shape sampleShape; ///< of one sample: [8, 8] for digits, [32, 32, 3] in colour, [2] for points, [f] for tokens
    std::int64_t samples = 0; ///< n
    std::int64_t features = 0; ///< f
    std::int64_t classes = 0; ///< of labels; 0 for a regression
    std::int64_t targetWidth = 0; ///< t, numbers in a target; 0 without targets
    std::int64_t vocabulary = 0; ///< tokens are from 0 to below it; 0 where samples are numbers
    std::int64_t tokenStride = 0; ///< from a sample's first token to the next one's: below f where samples overlap
    bool labelsTokens = false; ///< a label for each token instead of one for each sample

    // One of the three holds the samples.
    std::vector<float> inputs; ///< [n, f] row-major
    std::vector<std::uint8_t> pixels; ///< [n, f] row-major; read as pixel / brightest, which is in [0, 1]
    std::vector<std::int32_t> tokens; ///< sample i begins at i tokenStride

    float brightest = 255; ///< pixel value
    std::vector<std::int32_t> labels; ///< [n], each in 0 .. classes - 1; of tokens: beside them, some ignoredLabel
    std::vector<float> targets; ///< [n, t] row-major
    std::vector<std::string> classNames;

    std::vector<std::uint32_t> train; ///< sample indices, ascending
    std::vector<std::uint32_t> validation; ///< ascending; the others, of text only those that share no character

    [[nodiscard]] std::int64_t labelsPerSample() const { return labelsTokens ? features : 1; }
};

/// Loads or generates the data set, and splits it. The result depends on `config` (batch apart), `seed` and the files
/// alone. `directory` is where a relative config.path starts. Blocks on file reading; call it from a worker.
/// Throws Error (InvalidArgument) for settings out of range and for files that are missing, damaged or not what their
/// name says, naming the file and what was found; Error (Io) where a file exists but cannot be read.
Dataset loadDataset(const DataConfig& config, std::uint64_t seed, const std::filesystem::path& directory);

/// Adds targets that say what the labels say, for the losses that compare numbers (mse, bce_with_logits): one 0 or 1
/// per sample for two classes, otherwise one per class with a 1 at the label's place. Targets that are there stay;
/// labels beside them go unless the targets are 0 and 1, since other numbers are not to be counted as right or wrong.
/// Data with a label for each token it leaves as it is.
void labelsToTargets(Dataset& dataset);

/// A fingerprint of all samples, labels and targets, and of what is held out.
std::uint64_t contentsHash(const Dataset& dataset);

/// Copy the samples with the given indices into the caller's memory: inputs or tokens [m, f], labels [m] or [m, f],
/// targets [m, t], where m is the number of indices. They allocate nothing. Throw Error (ShapeMismatch) if the size of
/// `into` is another.
void gatherInputs(const Dataset& dataset, std::span<const std::uint32_t> indices, std::span<float> into);
void gatherTokens(const Dataset& dataset, std::span<const std::uint32_t> indices, std::span<std::int32_t> into);
void gatherLabels(const Dataset& dataset, std::span<const std::uint32_t> indices, std::span<std::int32_t> into);
void gatherTargets(const Dataset& dataset, std::span<const std::uint32_t> indices, std::span<float> into);

} // namespace mantissa
