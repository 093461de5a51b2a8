/// Two runs compared, in words and in the rows of a table.
#pragma once

#include "engine/store/run_comparison.h"

#include <QString>

#include <vector>

namespace mantissa {

/// How far apart the losses are at the end, and whether other seeds differ as much.
QString verdictOf(const RunComparison& comparison);
/// What other seeds there are, and what the band in the plot means.
QString seedsText(const RunComparison& comparison);

struct ComparedRow
{
    QString what;
    QString a;
    QString b;
    bool isSetting = false; ///< else a result
};

/// Settings that differ, then results, those alike among them.
std::vector<ComparedRow> rowsOf(const RunComparison& comparison);

} // namespace mantissa
