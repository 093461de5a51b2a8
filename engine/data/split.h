/// The division of a data set into training and validation samples.
#pragma once

#include "engine/data/dataset.h"

namespace mantissa {

/// How many of n are held out, at least one being left to train on.
std::int64_t heldOut(std::int64_t n, double validationShare);

/// Sets train and validation: which samples are held out depends on their number and the seed alone.
void splitAtRandom(Dataset& dataset, double validationShare, std::uint64_t seed);

} // namespace mantissa
