/// Where the experiments are that ship.
#pragma once

#include <filesystem>
#include <vector>

namespace mantissa {

/// Their folder: $MANTISSA_EXPERIMENTS, share/mantissa/experiments beside the program's bin folder, or the source tree
/// that the program was built in. Empty if there is none.
std::filesystem::path shippedExperimentsFolder();

/// The folder's experiments and then those of the gallery in it, each sorted by file name, "default.json" first.
std::vector<std::filesystem::path> shippedExperiments();

/// Whether it is one of those about a claim.
bool isInGallery(const std::filesystem::path& experiment);

} // namespace mantissa
