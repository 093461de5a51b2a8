#include "ui/time/lane_times_model.h"

#include "ui/style/number_format.h"

#include <algorithm>

namespace mantissa {

void LaneTimesModel::setRows(std::vector<LaneTimes> rows)
{
    const bool sameLanes = std::ranges::equal(rows, m_rows, {}, &LaneTimes::lane, &LaneTimes::lane);
    if (!sameLanes) {
        beginResetModel();
    }
    m_rows = std::move(rows);
    if (!sameLanes) {
        endResetModel();
    } else if (!m_rows.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

double LaneTimesModel::longest() const
{
    double longest = 0;
    for (const LaneTimes& row : m_rows) {
        longest = std::max(longest, row.summary.mean.total());
    }
    return longest;
}

int LaneTimesModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LaneTimesModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

double LaneTimesModel::number(const LaneTimes& row, int column) const
{
    const PhaseMs& mean = row.summary.mean;
    switch (column) {
    case Milliseconds:
        return trainingMs(mean);
    case Ratio:
        return row.summary.baseline.isEmpty() ? 1 : row.summary.ratio;
    case Scaler:
        return mean.share(StepPhase::Unscale) + mean.share(StepPhase::Clip);
    case Wait:
        return mean.share(StepPhase::Wait);
    case Casts:
        return row.summary.casts;
    default:
        return mean.total();
    }
}

QVariant LaneTimesModel::data(const QModelIndex& index, int role) const
{
    const LaneTimes& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    if (role == SortRole) {
        return column == Name ? QVariant(row.summary.lane) : QVariant(number(row, column));
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(
            column == Name ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole && (column == Bar || column == Name)) {
        return sentenceOf(row.summary);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (column) {
    case Name:
        return row.summary.lane;
    case Milliseconds:
        return formatColumn(number(row, column), 3);
    case Ratio:
        return row.summary.ratio == 0 ? QString() : formatColumn(number(row, column), 3);
    case Scaler:
    case Wait:
        return percent(number(row, column));
    case Casts:
        return formatCount(row.summary.casts);
    default:
        return {};
    }
}

QVariant LaneTimesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) {
        return {};
    }
    const bool isTip = role == Qt::ToolTipRole;
    switch (section) {
    case Name:
        return isTip ? QVariant() : tr("Lane");
    case Milliseconds:
        return isTip ? tr("A step of training, without evaluation and instruments") : tr("ms a step");
    case Ratio:
        return isTip ? tr("Of the time that the baseline lane takes for a step") : tr("of baseline");
    case Scaler:
        return isTip ? tr("Share of unscaling, checking and clipping") : tr("Scaler");
    case Wait:
        return isTip ? tr("Share of waiting for the batch") : tr("Waits");
    case Casts:
        return isTip ? tr("Casts between formats in a step") : tr("Casts");
    default:
        return isTip ? tr("Mean time of a step by phase, on one scale for all lanes") : tr("Phases");
    }
}

} // namespace mantissa
