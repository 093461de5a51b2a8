/// The "data" settings of an experiment: which data set, and how it is cut into batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

struct DataConfig
{
    std::string kind = "digits"; ///< a name of dataKinds()
    std::int64_t batch = 64; ///< samples in a micro-batch; may exceed the training samples
    std::string path; ///< the file or folder of a kind that is read from one; relative to the experiment's
    std::int64_t samples = 2000; ///< of a generated set
    std::int64_t classes = 3; ///< spirals: arms
    std::int64_t features = 8; ///< regression: inputs
    double noise = 0.1; ///< of a generated set: standard deviation, in the units of what it is added to
    std::string header = "auto"; ///< csv: whether the first row names the columns; auto, yes, no
    std::string target; ///< csv: the column to predict, by its name or its number from 1; empty: the last
    bool standardise = true; ///< csv: columns of numbers to mean 0 and deviation 1, over the training samples
    std::int64_t context = 64; ///< text: characters in a sample
    std::int64_t stride = 0; ///< text: characters from a sample's beginning to the next one's; 0: the context
    std::int64_t modulus = 97; ///< modular_addition
    std::int64_t length = 12; ///< copy, sort: symbols in a word; brackets: brackets, an even number
    std::int64_t symbols = 8; ///< copy, sort: kinds of symbols
    double validationShare = 0.2; ///< held out, the same samples for every lane of one seed
    std::int64_t prefetch = 2; ///< micro-batches to hold ready; 0: gathered within the step
    double throttleMs = 0; ///< that loading a micro-batch takes longer
    bool operator==(const DataConfig&) const = default;
};

/// What data.path names.
enum class DataPath : std::uint8_t { None, Folder, File };

struct DataKind
{
    std::string_view name;
    DataPath path = DataPath::None;
    std::string_view contents {}; ///< what the folder or file has, in words
    bool isTokens = false; ///< samples are sequences of tokens with a label for each, which only some models read
    /// The keys of "data" that this kind reads besides path and those that every kind has.
    std::vector<std::string_view> settings {};

    [[nodiscard]] bool reads(std::string_view setting) const;
};

/// The names, in the order in which people should see them.
std::vector<std::string> dataKinds();

/// Throws Error (InvalidArgument) if there is no such kind.
const DataKind& dataKind(const std::string& name);

/// A setting and what is wrong with it: "path" + "is missing; ...".
struct DataFault
{
    std::string setting;
    std::string text;
};

/// What is wrong with settings that are each in its range: a missing path, too large a product. Touches no file.
std::optional<DataFault> findDataFault(const DataConfig& config);

/// Checks ranges and what findDataFault() does. Throws Error (InvalidArgument) naming the setting, its value and what
/// is allowed.
void checkData(const DataConfig& config);

} // namespace mantissa
