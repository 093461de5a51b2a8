/// An experiment as pages to hand out: the claim, the plots of a run, the experiment's text, and the verdict with its
/// numbers.
#pragma once

#include "engine/verify/reference_run.h"

#include <QString>

namespace mantissa {

/// A4, as many pages as it takes. May be called on any thread. Throws Error (Io) naming the file.
void writeHandout(const Experiment& experiment, const ReferenceRun& run, const QString& file);

} // namespace mantissa
