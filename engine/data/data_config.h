/// The "data" settings of an experiment: which data set, and how it is cut into batches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

struct DataConfig
{
    std::string kind = "digits"; ///< a name of dataKinds()
    std::int64_t batch = 64; ///< samples in a micro-batch; may exceed the training samples
    std::string path; ///< mnist, fashion_mnist: folder of the IDX files; relative to the experiment's
    std::int64_t samples = 2000; ///< of a generated set
    std::int64_t classes = 3; ///< spirals: arms
    std::int64_t features = 8; ///< regression: inputs
    double noise = 0.1; ///< of a generated set: standard deviation, in the units of what it is added to
    double validationShare = 0.2; ///< held out, the same samples for every lane of one seed
    std::int64_t prefetch = 2; ///< micro-batches to hold ready; 0: gathered within the step
    double throttleMs = 0; ///< that loading a micro-batch takes longer
    bool operator==(const DataConfig&) const = default;
};

/// "digits", "spirals", "moons", "regression", "mnist", "fashion_mnist".
std::vector<std::string> dataKinds();

/// Checks ranges without touching a file. Throws Error (InvalidArgument) naming the setting, its value and what is
/// allowed.
void checkData(const DataConfig& config);

} // namespace mantissa
