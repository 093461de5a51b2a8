/// Colours for what runs of a sweep came to: from dark blue, the least, over green to yellow. On this page colour means
/// the result and not a lane.
#pragma once

#include "ui/sweep/sweep_results.h"

#include <QColor>
#include <QPalette>

#include <optional>
#include <vector>

namespace mantissa {

struct SweepTable;

/// The colour at `share`, 0 to 1, of the range, light or dark enough for the palette's background.
/// Source: nine of the colours of "viridis" (van der Walt and Smith, matplotlib 1.5), equal steps to the eye, also of
/// people who are colour-blind.
QColor resultColor(double share, const QPalette& palette);
/// For a run whose result is not finite, or that has none yet.
QColor noResultColor(const QPalette& palette);

/// The range of a result over a sweep's runs, and a place in it for each.
struct ResultRange
{
    ResultRange(const SweepTable& table, SweepResult result);

    SweepResult result;
    double low = 0;
    double high = 1;
    bool isLog = false; ///< where positive values span more than a decade and a half
    std::vector<std::optional<double>> shares; ///< by row; nothing where it is not finite

    [[nodiscard]] QColor color(std::size_t row, const QPalette& palette) const;
};

/// Whether values from `low` to `high` are better seen on a logarithmic axis.
bool spansDecades(double low, double high);

} // namespace mantissa
