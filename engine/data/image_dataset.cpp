#include "engine/data/image_dataset.h"

#include "engine/core/error.h"

#include <fmt/format.h>

namespace mantissa {

Dataset imageDataset(NamedIdx images, const NamedIdx& labels, float brightest, std::vector<std::string> classNames)
{
    const std::vector<std::int64_t>& dims = images.array.dims;
    const std::int64_t labelCount = labels.array.dims.front();
    if (dims.front() != labelCount) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} holds {} images but {} holds {} labels; the two files do not belong together", images.name,
                dims.front(), labels.name, labelCount));
    }
    for (std::size_t i = 0; i < labels.array.values.size(); ++i) {
        const int label = labels.array.values[i];
        if (static_cast<std::size_t>(label) >= classNames.size()) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}: label {} is {}; it must be from 0 to {}. The file is damaged or of another data set",
                    labels.name, i, label, classNames.size() - 1));
        }
    }

    Dataset dataset;
    dataset.sampleShape = {dims[1], dims[2]};
    dataset.samples = dims[0];
    dataset.features = dims[1] * dims[2];
    dataset.classes = static_cast<std::int64_t>(classNames.size());
    dataset.classNames = std::move(classNames);
    dataset.pixels = std::move(images.array.values);
    dataset.brightest = brightest;
    dataset.labels.assign(labels.array.values.begin(), labels.array.values.end());
    return dataset;
}

} // namespace mantissa
