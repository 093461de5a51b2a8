#include "ui/views/lane_card_values.h"

#include "ui/style/figure_label.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/lane_words.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

/// The longest number that formatColumn() gives.
const QString longestNumber = QStringLiteral("0.00012345");

FigureLabel* addPair(QGridLayout* grid, int row, int column, const QString& name, const QString& tip)
{
    auto* label = new QLabel(name);
    label->setForegroundRole(QPalette::PlaceholderText);
    auto* value = new FigureLabel(longestNumber);
    value->setText(QStringLiteral("\u2013"));
    value->setFont(tabularFont(value->font()));
    value->setAccessibleName(name);
    label->setToolTip(tip);
    value->setToolTip(tip);
    grid->addWidget(label, row, column);
    grid->addWidget(value, row, column + 1);
    return value;
}

void setNumber(FigureLabel* label, const QString& shown, const QString& tip)
{
    label->setText(shown);
    label->setToolTip(tip);
}

QString shareText(double share)
{
    if (std::isnan(share)) {
        return QStringLiteral("–");
    }
    if (!(share > 0)) {
        return QStringLiteral("0 %");
    }
    return share < 0.0001 ? QStringLiteral("< 0.01 %")
                          : QLocale().toString(share * 100, 'f', share < 0.0995 ? 2 : 1) + QStringLiteral(" %");
}

} // namespace

QGridLayout* CardValues::makeLayout()
{
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(1, 1);
    grid->setColumnStretch(3, 1);
    loss = addPair(grid, 0, 0, tr("Loss"), tr("Loss of the newest step"));
    gradNorm = addPair(grid, 0, 2, tr("|g|"), tr("Norm of the true gradient, before clipping"));
    gradNorm->setAccessibleName(tr("Gradient norm"));
    scale = addPair(grid, 1, 0, tr("Scale"), tr("What the loss is multiplied with"));
    skipped = addPair(grid, 1, 2, tr("Skips"), tr("Steps whose update was skipped"));
    flushed = addPair(grid, 2, 0, tr("Flushed"), tr("Share of gradient elements that rounded to zero"));
    memory = addPair(grid, 2, 2, tr("Memory"), {});
    return grid;
}

int CardValues::widthWanted(const QFontMetrics& metrics) const
{
    constexpr int gaps = 3 * 8 + 2 * 4;
    const auto labels = std::max({metrics.horizontalAdvance(tr("Loss")), metrics.horizontalAdvance(tr("Scale")),
                            metrics.horizontalAdvance(tr("Flushed"))})
        + std::max({metrics.horizontalAdvance(tr("|g|")), metrics.horizontalAdvance(tr("Skips")),
            metrics.horizontalAdvance(tr("Memory"))});
    return labels + 2 * metrics.horizontalAdvance(longestNumber) + gaps;
}

void CardValues::show(const LaneStatus& lane, const LaneFacts& facts)
{
    const bool hasScaler = lane.config->scaler && lane.config->scaler->family != "none";
    setNumber(scale, hasScaler ? formatPowerOfTwo(lane.scale) : tr("none"),
        hasScaler ? tr("The loss is multiplied with %1").arg(formatScale(lane.scale)) : tr("This lane has no scaler."));
    setNumber(memory, formatBytes(lane.bytes.total()), memoryText(lane.bytes));
    if (!facts.last) {
        for (FigureLabel* label : {loss, gradNorm, skipped, flushed}) {
            label->setText(QStringLiteral("\u2013"));
        }
        return;
    }
    const StepRecord& last = *facts.last;
    setNumber(loss, formatColumn(last.loss),
        tr("Loss %1 at step %2; lowest %3")
            .arg(formatExact(last.loss), formatCount(last.step), formatValue(facts.minLoss)));
    setNumber(gradNorm, formatColumn(last.gradNorm),
        tr("Gradient norm %1 before clipping, %2 after")
            .arg(formatExact(last.gradNorm), formatValue(last.gradNormClipped)));
    setNumber(skipped, formatCount(facts.skipped),
        facts.skipped == 0
            ? tr("No step was skipped.")
            : tr("First at step %1, last at step %2").arg(formatCount(facts.firstSkip), formatCount(facts.lastSkip)));
    setNumber(flushed, shareText(last.flushed),
        std::isnan(last.flushed)
            ? tr("Not counted in this step: the Gradients tab can have every step counted")
            : tr("Of the gradient elements, %1 rounded to zero, %2 became subnormal, %3 overflowed")
                  .arg(shareText(last.flushed), shareText(last.subnormal), shareText(last.overflowed)));
}

} // namespace mantissa
