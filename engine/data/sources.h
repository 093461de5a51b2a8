/// One function per data set; dataset.cpp gives each its name, checks the settings before it calls one, and splits the
/// result. Each fills everything in a Dataset but name, train and validation.
#pragma once

#include "engine/data/dataset.h"

namespace mantissa {

/// What a source gets: checked settings, the seed, and config.path made absolute or relative to the working directory.
struct DataRequest
{
    const DataConfig& config;
    std::uint64_t seed;
    std::filesystem::path folder;
};

/// 1797 handwritten digits, 8 x 8 pixels, compiled in. resources/data/README.md.
Dataset loadDigits(const DataRequest& request);

/// n interleaved arms in a plane: arm j winds once around the origin from radius 0 to 2, turned by j / n of a circle,
/// with normal noise on both coordinates. Sample i lies on arm i mod n.
Dataset makeSpirals(const DataRequest& request);

/// Two interleaving half circles: (cos t, sin t) and (1 - cos t, 1/2 - sin t) for t in [0, pi), with normal noise on
/// both coordinates. The shapes of sklearn.datasets.make_moons. Sample i lies on moon i mod 2.
Dataset makeMoons(const DataRequest& request);

/// y = (a . x + 2 sin(b . x)) / sqrt(f) + noise, for x with f independent standard normal numbers and fixed a and b
/// with standard normal numbers drawn from the seed.
Dataset makeRegression(const DataRequest& request);

/// train-images-idx3-ubyte and train-labels-idx1-ubyte of request.folder, plain or .gz.
Dataset loadMnist(const DataRequest& request);
Dataset loadFashionMnist(const DataRequest& request);

} // namespace mantissa
