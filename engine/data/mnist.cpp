// MNIST and the data sets that share its files: train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or .gz.
// The separate test files (t10k-...) are not read: what is held out is drawn from the training files by
// data.validation_share, as for every data set, so that a run depends on its settings and not on what else lies there.
#include "engine/core/error.h"
#include "engine/data/byte_source.h"
#include "engine/data/image_dataset.h"
#include "engine/data/sources.h"

#include <fmt/format.h>

#include <array>

namespace mantissa {

namespace {

namespace fs = std::filesystem;

/// The file called `stem`, as it is distributed: with a dash or, in some copies, a dot before "idx"; plain or .gz.
fs::path findFile(const fs::path& folder, std::string_view stem, std::string_view ending)
{
    for (const char* separator : {"-", "."}) {
        for (const char* compression : {"", ".gz"}) {
            const fs::path file = folder / fmt::format("{}{}{}{}", stem, separator, ending, compression);
            std::error_code ignored;
            if (fs::exists(file, ignored)) {
                return file;
            }
        }
    }
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("data.path: the folder {} holds no {}-{} (plain or .gz)", folder.string(), stem, ending));
}

NamedIdx read(const fs::path& folder, std::string_view stem, std::string_view ending, IdxContents contents)
{
    const fs::path file = findFile(folder, stem, ending);
    return {.array = readIdxFile(file, contents), .name = file.string()};
}

Dataset loadIdxFolder(const DataRequest& request, std::vector<std::string> classNames)
{
    const fs::path& folder = requireFolder(request.path);
    // The small file first: a wrong folder shows at once.
    const NamedIdx labels = read(folder, "train-labels", "idx1-ubyte", IdxContents::Labels);
    NamedIdx images = read(folder, "train-images", "idx3-ubyte", IdxContents::Images);
    constexpr float brightest = 255;
    return imageDataset(std::move(images), labels, brightest, std::move(classNames));
}

} // namespace

Dataset loadMnist(const DataRequest& request)
{
    return loadIdxFolder(request, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
}

Dataset loadFashionMnist(const DataRequest& request)
{
    return loadIdxFolder(request,
        {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"});
}

} // namespace mantissa
