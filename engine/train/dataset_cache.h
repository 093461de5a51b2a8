/// The data that lanes train on, loaded once for all that ask for the same.
#pragma once

#include "engine/data/dataset.h"
#include "engine/train/experiment.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace mantissa {

class DatasetCache
{
public:
    /// A relative data.path starts at `directory`.
    explicit DatasetCache(std::filesystem::path directory)
        : m_directory(std::move(directory))
    {
    }

    /// The lane's data set, with targets instead of labels where its loss compares numbers. Throws as loadDataset().
    std::shared_ptr<const Dataset> get(const LaneConfig& lane);

private:
    std::filesystem::path m_directory;
    std::map<std::string, std::shared_ptr<const Dataset>> m_datasets;
};

} // namespace mantissa
