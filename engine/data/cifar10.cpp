// CIFAR-10, binary version: files of records, each a label and 32 x 32 pixels as one plane per colour.
// The test file (test_batch.bin) is not read, as with MNIST: data.validation_share holds samples out.
// Source: A. Krizhevsky, "The CIFAR-10 dataset", section "Binary version".
#include "engine/core/error.h"
#include "engine/data/byte_source.h"
#include "engine/data/sources.h"

#include <fmt/format.h>

#include <array>

namespace mantissa {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t side = 32;
constexpr std::size_t channels = 3;
constexpr std::size_t plane = side * side;
constexpr std::size_t recordBytes = 1 + channels * plane;
constexpr std::int64_t mostRecords = 10'000; // what each file has
constexpr int files = 5;

[[noreturn]] void refuse(const std::string& file, const std::string& what)
{
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} {}", file, what));
}

bool isThere(const fs::path& path)
{
    std::error_code ignored;
    return fs::exists(path, ignored);
}

std::vector<fs::path> batchFiles(const fs::path& folder)
{
    std::vector<fs::path> found;
    for (int i = 1; i <= files; ++i) {
        for (const char* compression : {"", ".gz"}) {
            const fs::path file = folder / fmt::format("data_batch_{}.bin{}", i, compression);
            if (isThere(file)) {
                found.push_back(file);
                break;
            }
        }
    }
    return found;
}

std::vector<fs::path> findFiles(const fs::path& folder)
{
    std::vector<fs::path> found = batchFiles(requireFolder(folder));
    if (found.empty()) {
        found = batchFiles(folder / "cifar-10-batches-bin");
    }
    if (found.empty()) {
        const bool isPythonVersion = isThere(folder / "data_batch_1") || isThere(folder / "cifar-10-batches-py");
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("data.path: the folder {} holds none of data_batch_1.bin to data_batch_{}.bin (plain or .gz){}",
                folder.string(), files, isPythonVersion ? "; it holds the Python version, fetch the binary one" : ""));
    }
    return found;
}

void append(Dataset& dataset, const std::array<unsigned char, recordBytes>& record)
{
    dataset.labels.push_back(record[0]);
    for (std::size_t pixel = 0; pixel < plane; ++pixel) {
        for (std::size_t channel = 0; channel < channels; ++channel) {
            dataset.pixels.push_back(record[1 + channel * plane + pixel]);
        }
    }
}

void readFile(Dataset& dataset, const fs::path& path)
{
    const std::unique_ptr<ByteSource> source = openFile(path);
    const std::string& name = source->name();
    const std::size_t classes = dataset.classNames.size();
    std::array<unsigned char, recordBytes> record {};
    for (std::int64_t count = 0;; ++count) {
        const std::size_t got = source->read(record);
        if (got == 0 && count > 0) {
            return;
        }
        if (got < recordBytes) {
            refuse(name,
                fmt::format("holds {} bytes, which are not records of {}; it is cut off or no file of CIFAR-10's "
                            "binary version",
                    static_cast<std::size_t>(count) * recordBytes + got, recordBytes));
        }
        if (count == mostRecords) {
            refuse(name, fmt::format("holds more than {} images; it is no file of CIFAR-10", mostRecords));
        }
        if (record[0] >= classes) {
            refuse(name,
                fmt::format("gives image {} the label {}; it must be from 0 to {}. The file is damaged or of another "
                            "data set",
                    count, record[0], classes - 1));
        }
        append(dataset, record);
    }
}

} // namespace

Dataset loadCifar10(const DataRequest& request)
{
    Dataset dataset;
    dataset.sampleShape = {side, side, channels};
    dataset.features = side * side * channels;
    dataset.classNames = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
    dataset.classes = static_cast<std::int64_t>(dataset.classNames.size());
    for (const fs::path& file : findFiles(request.path)) {
        readFile(dataset, file);
    }
    dataset.samples = static_cast<std::int64_t>(dataset.labels.size());
    return dataset;
}

} // namespace mantissa
