/// Whether a file that is dropped or opened is a training log rather than an experiment.
#pragma once

#include <QString>

namespace mantissa {

/// By its name, and for JSON by its first bytes: an experiment says "mantissa". Folders are taken for logs.
bool looksLikeLog(const QString& file);

} // namespace mantissa
