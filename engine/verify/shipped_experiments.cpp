#include "engine/verify/shipped_experiments.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace mantissa {

namespace {

namespace fs = std::filesystem;

const fs::path firstFile = "default.json";
const fs::path galleryFolder = "gallery";

std::vector<fs::path> experimentsIn(const fs::path& folder)
{
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.is_regular_file(ignored) && entry.path().extension() == ".json") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
        const auto rank = [](const fs::path& file) { return file.filename() == firstFile ? 0 : 1; };
        return std::pair(rank(a), a.filename()) < std::pair(rank(b), b.filename());
    });
    return files;
}

} // namespace

fs::path shippedExperimentsFolder()
{
    std::error_code ignored;
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    const char* given = std::getenv("MANTISSA_EXPERIMENTS");
    const std::array<fs::path, 4> candidates {given == nullptr ? "" : given, program / "../share/mantissa/experiments",
        program / "../../../experiments", MANTISSA_SOURCE_EXPERIMENTS};
    for (const fs::path& candidate : candidates) {
        if (!candidate.empty() && fs::exists(candidate / firstFile, ignored)) {
            return fs::canonical(candidate, ignored);
        }
    }
    return {};
}

std::vector<fs::path> shippedExperiments()
{
    const fs::path folder = shippedExperimentsFolder();
    if (folder.empty()) {
        return {};
    }
    std::vector<fs::path> files = experimentsIn(folder);
    const std::vector<fs::path> gallery = experimentsIn(folder / galleryFolder);
    files.insert(files.end(), gallery.begin(), gallery.end());
    return files;
}

bool isInGallery(const fs::path& experiment)
{
    return experiment.parent_path() == shippedExperimentsFolder() / galleryFolder;
}

} // namespace mantissa
