/// Where a file that is written whole and then put in place of an older one belongs.
#pragma once

#include <filesystem>

namespace mantissa {

/// The file itself, or what a link in its place leads to, so that the link stays. Throws Error (Io) if something else
/// than a regular file is there: a device or a folder is not to be replaced.
std::filesystem::path replacedFile(const std::filesystem::path& file);

} // namespace mantissa
