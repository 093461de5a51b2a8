#include "engine/core/replaced_file.h"

#include "engine/core/error.h"

#include <system_error>

namespace mantissa {

std::filesystem::path replacedFile(const std::filesystem::path& file)
{
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(file, ignored); // follows links
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        throw Error(ErrorCode::Io, file.string() + " is no regular file and is not replaced; name another file");
    }
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored))) {
        return file;
    }
    const std::filesystem::path target = std::filesystem::weakly_canonical(file, ignored);
    return target.empty() ? file : target;
}

} // namespace mantissa
