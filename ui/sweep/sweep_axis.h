/// The axes of a sweep's parallel coordinates: one for each setting that is swept and each result that is known.
#pragma once

#include "engine/sweep/sweep_table.h"
#include "ui/sweep/sweep_results.h"

#include <QString>

#include <optional>
#include <vector>

namespace mantissa {

struct SweepAxis
{
    struct Mark
    {
        double place; ///< as below
        QString text;
    };

    QString title;
    bool isResult = false;
    bool isLog = false;
    bool hasCategories = false;
    std::vector<Mark> marks; ///< of all categories, of few numbers all, else of round ones
    /// By row: 0 at the lower end of the axis, 1 at the upper one, notFinite beyond; nothing where the row has no
    /// value.
    std::vector<std::optional<double>> places;
    std::vector<QString> texts; ///< by row

    static constexpr double notFinite = 1.09;

    [[nodiscard]] bool hasNotFinite() const;
};

/// Settings in the order of the table's columns, then results. Results that are the same in all runs are left out, but
/// for the final loss.
std::vector<SweepAxis> axesOf(const SweepTable& table);

} // namespace mantissa
