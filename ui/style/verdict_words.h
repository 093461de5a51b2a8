/// Whether a claim is borne out, as people read it.
#pragma once

#include <QString>

namespace mantissa {

/// "✓ holds": a sign and a word, translated, for a verdict as files spell it ("holds", "partly", "does not hold",
/// "depends"); empty for any other text.
QString verdictWords(const QString& verdict);

} // namespace mantissa
