/// The readers that openLog() chooses from, and how it knows their files.
#pragma once

#include "engine/import/log_reader.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace mantissa {

/// Whether these first bytes are those of a record of an event file.
bool isEventFile(std::string_view head);
std::unique_ptr<LogReader> openEventFile(const std::filesystem::path& file);
/// Each folder below that has event files is one run; of several in one folder the later ones go on where the earlier
/// ended.
std::unique_ptr<LogReader> openEventFolder(const std::filesystem::path& folder);

/// The first line names the columns. Names like "run - loss" of Weights & Biases name runs too.
std::unique_ptr<LogReader> openCsv(const std::filesystem::path& file);

/// One object a line; objects within become columns like "train/loss".
std::unique_ptr<LogReader> openJsonLines(const std::filesystem::path& file);
/// An array of such objects, or an object with one as "log_history", or with "runs" whose "records" they are.
std::unique_ptr<LogReader> openJsonDocument(const std::filesystem::path& file);

} // namespace mantissa
