#include "ui/sweep/sweep_model.h"

#include "ui/models/run_cells.h"
#include "ui/style/number_format.h"

#include <QPainter>
#include <QPixmap>

#include <cmath>
#include <limits>

namespace mantissa {

namespace {

const QString nothing = QStringLiteral("\u2013");

QPixmap swatch(const QColor& color)
{
    QPixmap pixmap(10, 10);
    pixmap.fill(color);
    return pixmap;
}

} // namespace

SweepModel::SweepModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void SweepModel::show(SweepTable table)
{
    const bool isSameShape
        = table.columns == m_table.columns && table.rows.size() == m_table.rows.size() && table.id == m_table.id;
    if (isSameShape && rowCount() > 0) {
        m_table = std::move(table);
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1)); // selection and place stay
        return;
    }
    beginResetModel();
    m_table = std::move(table);
    m_colors.clear();
    endResetModel();
}

void SweepModel::setColors(std::vector<QColor> colors)
{
    m_colors = std::move(colors);
    if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, 0), {Qt::DecorationRole});
    }
}

void SweepModel::setShown(RunId run, bool isShown)
{
    if (isShown) {
        m_shown.insert(run);
    } else {
        m_shown.remove(run);
    }
    for (int row = 0; row < rowCount(); ++row) {
        const auto& mine = m_table.rows[static_cast<std::size_t>(row)].run;
        if (mine && mine->id == run) {
            emit dataChanged(index(row, 0), index(row, 0), {Qt::CheckStateRole});
        }
    }
}

int SweepModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
}

int SweepModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : statusColumn() + 1 + static_cast<int>(allSweepResults.size());
}

SweepResult SweepModel::resultAt(int column)
{
    return allSweepResults.at(static_cast<std::size_t>(column));
}

QVariant SweepModel::settingData(const SweepRow& row, const std::string& column, int role) const
{
    const auto value = SweepTable::value(row, column);
    if (role == SortRole && value && value->is_number()) {
        return value->get<double>();
    }
    const bool isPlain = role != Qt::DisplayRole || !value || !value->is_number_float();
    return !value ? nothing : isPlain ? QString::fromStdString(settingText(*value)) : formatValue(value->get<double>());
}

QVariant SweepModel::resultData(const SweepRow& row, SweepResult result, int role) const
{
    if (!row.run || !isKnown(*row.run, result)) {
        return role == SortRole ? QVariant(std::numeric_limits<double>::quiet_NaN()) : QVariant(nothing);
    }
    const double value = resultOf(*row.run, result);
    return role == SortRole ? QVariant(value)
        : role == CopyRole  ? QVariant(formatExact(value))
                            : QVariant(resultText(value, result));
}

QVariant SweepModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const auto at = static_cast<std::size_t>(index.row());
    const SweepRow& row = m_table.rows[at];
    const int column = index.column();
    if (column == 0 && role == Qt::DecorationRole && at < m_colors.size()) {
        return swatch(m_colors[at]);
    }
    if (column == 0 && role == Qt::CheckStateRole && row.run) {
        return isShown(row.run->id) ? Qt::Checked : Qt::Unchecked;
    }
    if (role == Qt::TextAlignmentRole) {
        const bool isNumber = column > statusColumn() || column == 0
            || (column < statusColumn() && data(index, SortRole).typeId() == QMetaType::Double);
        return QVariant::fromValue(Qt::Alignment(isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole && column == statusColumn() && row.run) {
        return runCellDetail(*row.run, RunListModel::StatusColumn);
    }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != SortRole && role != CopyRole) {
        return {};
    }
    if (column == 0) {
        return role == Qt::ToolTipRole ? QVariant(QString::fromStdString(describe(row.point))) : row.point.number;
    }
    if (column < statusColumn()) {
        return settingData(row, m_table.columns[static_cast<std::size_t>(column) - 1], role);
    }
    if (column == statusColumn()) {
        return row.run ? runCellText(*row.run, RunListModel::StatusColumn) : nothing;
    }
    return resultData(row, resultAt(column - statusColumn() - 1), role == Qt::ToolTipRole ? CopyRole : role);
}

bool SweepModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != Qt::CheckStateRole || index.column() != 0) {
        return false;
    }
    const auto& run = m_table.rows[static_cast<std::size_t>(index.row())].run;
    if (run) {
        emit showRequested(run->id, value.toInt() == Qt::Checked);
    }
    return run.has_value();
}

Qt::ItemFlags SweepModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.column() == 0 ? flags | Qt::ItemIsUserCheckable : flags;
}

QVariant SweepModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()
        || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) {
        return {};
    }
    if (section == 0) {
        return role == Qt::ToolTipRole ? tr("Number of the point; a check mark draws its curves among the lanes")
                                       : tr("Point");
    }
    if (section < statusColumn()) {
        return settingTitle(m_table.columns[static_cast<std::size_t>(section) - 1]);
    }
    return section == statusColumn() ? tr("Status") : resultTitle(resultAt(section - statusColumn() - 1));
}

void SweepModel::languageChanged()
{
    if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    }
    emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

SweepOrder::SweepOrder(SweepModel* model, QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(SweepModel::SortRole);
    setSourceModel(model);
}

void SweepOrder::setKept(std::function<bool(int row)> isKept)
{
    m_isKept = std::move(isKept);
    invalidateFilter();
}

bool SweepOrder::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    const QVariant a = left.data(SweepModel::SortRole);
    const QVariant b = right.data(SweepModel::SortRole);
    if (a.typeId() == QMetaType::Double && b.typeId() == QMetaType::Double) {
        const double x = a.toDouble();
        const double y = b.toDouble();
        if (std::isnan(x) || std::isnan(y)) {
            // Last in either direction.
            return sortOrder() == Qt::AscendingOrder ? !std::isnan(x) && std::isnan(y)
                                                     : std::isnan(x) && !std::isnan(y);
        }
        return x < y;
    }
    return QSortFilterProxyModel::lessThan(left, right);
}

bool SweepOrder::filterAcceptsRow(int row, const QModelIndex& /*parent*/) const
{
    return !m_isKept || m_isKept(row);
}

} // namespace mantissa
