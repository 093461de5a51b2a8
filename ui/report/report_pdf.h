/// The protocol's report as one page of A4, with the plots of its HTML page.
#pragma once

#include "engine/protocol/protocol_result.h"

#include <QString>

namespace mantissa {

/// Type gets smaller where there is much to say. Throws Error (Io) naming the file.
void writeReportPdf(const ProtocolResult& result, const QString& file);

} // namespace mantissa
