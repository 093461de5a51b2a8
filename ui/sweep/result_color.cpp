#include "ui/sweep/result_color.h"

#include "engine/sweep/sweep_table.h"
#include "ui/style/theme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mantissa {

bool spansDecades(double low, double high)
{
    constexpr double ratio = 30;
    return low > 0 && std::isfinite(high) && high / low >= ratio;
}

QColor resultColor(double share, const QPalette& palette)
{
    static constexpr std::array<QRgb, 9> viridis {
        0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21918C, 0x28AE80, 0x5EC962, 0xADDC30, 0xFDE725};
    // The end that is nearest to the background is left out.
    const bool dark = isDark(palette);
    const double place = (dark ? 0.3 + 0.7 * share : 0.86 * share) * (viridis.size() - 1);
    const auto at = std::min(static_cast<std::size_t>(std::max(place, 0.0)), viridis.size() - 2);
    const double rest = std::clamp(place - static_cast<double>(at), 0.0, 1.0);
    const QColor a(viridis[at]);
    const QColor b(viridis[at + 1]);
    return readableOn(blend(b, a, rest), plotColors(palette).background, 2.0);
}

QColor noResultColor(const QPalette& palette)
{
    return plotColors(palette).mark;
}

ResultRange::ResultRange(const SweepTable& table, SweepResult what)
    : result(what)
    , low(std::numeric_limits<double>::infinity())
    , high(-low)
{
    const auto valueOf = [this](const SweepRow& row) {
        return row.run ? resultOf(*row.run, result) : std::numeric_limits<double>::quiet_NaN();
    };
    for (const SweepRow& row : table.rows) {
        if (const double value = valueOf(row); std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    if (low > high) {
        low = 0;
        high = 1;
    }
    isLog = spansDecades(low, high);
    for (const SweepRow& row : table.rows) {
        const double value = valueOf(row);
        if (!std::isfinite(value)) {
            shares.emplace_back();
        } else if (high <= low) {
            shares.emplace_back(0.5);
        } else {
            shares.emplace_back(isLog ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low));
        }
    }
}

QColor ResultRange::color(std::size_t row, const QPalette& palette) const
{
    const std::optional<double>& share = shares.at(row);
    return share ? resultColor(*share, palette) : noResultColor(palette);
}

} // namespace mantissa
