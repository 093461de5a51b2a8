/// Labelled images as a Dataset.
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/idx_file.h"

namespace mantissa {

/// An IDX array and what to call it in messages.
struct NamedIdx
{
    IdxArray array;
    std::string name;
};

/// Pixels stay bytes, to be read as shares of `brightest`; class i is called classNames[i].
/// Throws Error (InvalidArgument) if the counts of images and labels differ or a label has no class name.
Dataset imageDataset(NamedIdx images, const NamedIdx& labels, float brightest, std::vector<std::string> classNames);

} // namespace mantissa
