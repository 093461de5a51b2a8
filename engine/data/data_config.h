/// The "data" settings of an experiment: which data set, and how it is cut into batches.
#pragma once

#include <cstdint>
#include <string>

namespace mantissa {

struct DataConfig
{
    std::string kind = "digits"; ///< digits, spirals, moons, regression, mnist, fashion_mnist
    std::int64_t batch = 64;
    std::string path;               ///< folder of the IDX files
    std::int64_t samples = 2000;    ///< of a generated set
    std::int64_t classes = 3;       ///< spirals: arms
    std::int64_t features = 8;      ///< regression: inputs
    double noise = 0.1;             ///< of a generated set
    double validationShare = 0.2;   ///< held out, the same samples for every lane of one seed
    bool operator==(const DataConfig&) const = default;
};

} // namespace mantissa
