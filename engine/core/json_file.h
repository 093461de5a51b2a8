/// Reading a file that should hold JSON, as far as parseJson() takes it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mantissa {

/// The file's text; of a file that is too large only so much that parseJson() refuses it. Throws Error (Io) naming the
/// file; `what` says in that message which kind of file is wanted: "an experiment file (.json)".
std::string readJsonText(const std::filesystem::path& file, std::string_view what);

} // namespace mantissa
