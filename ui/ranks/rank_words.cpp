#include "ui/ranks/rank_words.h"

#include "ui/style/number_format.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

} // namespace

QString titleOf(RankMeasure measure)
{
    return measure == RankMeasure::Distance ? tr("distance to rank 0") : tr("lost in the exchange");
}

QString sentenceOf(const QString& lane, const RankHistory& history)
{
    QStringList parts;
    std::vector<std::int32_t> skips;
    std::vector<double> scales;
    QStringList culprits;
    double farthest = 0;
    for (std::size_t rank = 0; rank < history.ranks(); ++rank) {
        const RankHistory::Span total = history.total(rank);
        skips.push_back(total.skipped);
        scales.push_back(total.scale);
        farthest = std::fmax(farthest, total.distance);
        if (total.notFinite > 0) {
            culprits << tr("rank %1 in %2 steps").arg(rank).arg(formatCount(total.notFinite));
        }
    }
    if (skips.empty()) {
        return {};
    }
    parts << tr("%1: %2 ranks.").arg(lane).arg(history.ranks());
    if (!culprits.isEmpty()) {
        parts << tr("Gradients that were not finite before the exchange: %1.").arg(culprits.join(QStringLiteral(", ")));
    }
    const auto [fewest, most] = std::ranges::minmax(skips);
    parts << (fewest == most
            ? tr("All skipped the same number of steps, %1.").arg(formatCount(most))
            : tr("They disagree on skipping: from %1 to %2 steps.").arg(formatCount(fewest), formatCount(most)));
    const auto [smallest, largest] = std::ranges::minmax(scales);
    if (smallest != largest) {
        parts << tr("Their scales differ: from %1 to %2.").arg(formatValue(smallest, 4), formatValue(largest, 4));
    }
    parts << (farthest == 0
            ? tr("They hold the same weights.")
            : tr("Their weights have drifted apart: by up to %1 of their size.").arg(formatValue(farthest, 3)));
    return parts.join(QLatin1Char(' '));
}

} // namespace mantissa
