#include "ui/layers/layer_table_model.h"

#include "ui/layers/layer_words.h"
#include "ui/style/number_format.h"

#include <QFont>

#include <algorithm>
#include <cmath>

namespace mantissa {

LayerTableModel::LayerTableModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void LayerTableModel::setSamples(const std::vector<SamplePtr>& samples, LayerGrouping grouping)
{
    LayerGrid next = m_grid;
    if (next.follow(samples, grouping)) {
        beginResetModel();
        m_grid = std::move(next);
        m_column = std::min(m_column, m_grid.columns() - (m_grid.columns() > 0 ? 1 : 0));
        m_scale = heatScale(m_grid, m_measure);
        endResetModel();
        return;
    }
    m_grid = std::move(next);
    m_column = std::min(m_column, m_grid.columns() - (m_grid.columns() > 0 ? 1 : 0));
    m_scale = heatScale(m_grid, m_measure);
    tellAll();
}

void LayerTableModel::setMeasure(LayerMeasure measure)
{
    m_measure = measure;
    m_scale = heatScale(m_grid, measure);
    tellAll();
    emit headerDataChanged(Qt::Horizontal, heatColumn, heatColumn);
}

void LayerTableModel::setColumn(std::size_t column)
{
    if (m_column != column) {
        m_column = column;
        tellAll();
    }
}

void LayerTableModel::tellAll()
{
    if (!m_grid.rows().empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    }
}

void LayerTableModel::setPinned(int row, bool isPinned)
{
    const std::string& name = m_grid.rows()[static_cast<std::size_t>(row)];
    if (isPinned) {
        m_pinned.insert(name);
    } else {
        m_pinned.erase(name);
    }
    emit dataChanged(index(row, 0), index(row, columnCount() - 1));
}

bool LayerTableModel::isPinned(int row) const
{
    return m_pinned.contains(m_grid.rows()[static_cast<std::size_t>(row)]);
}

int LayerTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_grid.rows().size());
}

int LayerTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : heatColumn + 1;
}

double LayerTableModel::sortValue(int row, int column) const
{
    const auto place = static_cast<std::size_t>(row);
    if (column == nameColumn) {
        return row;
    }
    if (m_grid.columns() == 0) {
        return TensorSample::none;
    }
    const std::size_t at
        = column == heatColumn ? strongestColumn(m_grid, m_scale, m_measure, place, 0, m_grid.columns()) : m_column;
    return m_grid.value(place, at, column == heatColumn ? m_measure : measureOf(column));
}

QVariant LayerTableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const auto row = static_cast<std::size_t>(index.row());
    const int column = index.column();
    const QString name = QString::fromStdString(m_grid.rows()[row]);
    switch (role) {
    case SortRole:
        return sortValue(index.row(), column);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(column == nameColumn ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter));
    case Qt::FontRole:
        if (column == nameColumn && isPinned(index.row())) {
            QFont font;
            font.setBold(true);
            return font;
        }
        return {};
    default:
        break;
    }
    if (column == nameColumn) {
        if (role == Qt::ToolTipRole) {
            return isPinned(index.row()) ? tr("%1, pinned: P lets it go").arg(name)
                                         : tr("%1; P pins it on top").arg(name);
        }
        return role == Qt::DisplayRole || role == CopyRole ? name : QVariant();
    }
    if (m_grid.columns() == 0) {
        return {};
    }
    const bool isHeat = column == heatColumn;
    const LayerMeasure measure = isHeat ? m_measure : measureOf(column);
    const double value = m_grid.value(row, m_column, measure);
    switch (role) {
    case Qt::DisplayRole:
        return isHeat ? QString() : valueText(measure, value);
    case Qt::AccessibleTextRole:
    case Qt::ToolTipRole:
        // What the pointer is on in the heat map is not known here.
        return isHeat && role == Qt::ToolTipRole ? QString() : cellSentence(m_grid, row, m_column, measure);
    case CopyRole:
        return formatExact(value);
    default:
        return {};
    }
}

QVariant LayerTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    const bool isText = role == Qt::DisplayRole;
    if (!isText && role != Qt::ToolTipRole) {
        return {};
    }
    if (section == nameColumn) {
        return isText ? tr("Layer") : tr("In the order of the forward pass");
    }
    if (section == heatColumn) {
        return isText ? tr("%1, step by step").arg(titleOf(m_measure))
                      : tr("A click chooses the step; sorted by the strongest value of all steps");
    }
    return isText ? titleOf(measureOf(section)) : explanationOf(measureOf(section));
}

// --- LayerOrder ---

LayerOrder::LayerOrder(LayerTableModel* layers, QObject* parent)
    : QSortFilterProxyModel(parent)
    , m_layers(layers)
{
    setSourceModel(layers);
    setSortRole(LayerTableModel::SortRole);
    setDynamicSortFilter(true);
}

void LayerOrder::setWords(const QString& text)
{
    m_words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void LayerOrder::measureChanged()
{
    invalidate();
}

bool LayerOrder::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    const bool isAscending = sortOrder() == Qt::AscendingOrder;
    const bool isLeftPinned = m_layers->isPinned(left.row());
    if (isLeftPinned != m_layers->isPinned(right.row())) {
        return isLeftPinned == isAscending; // on top in both orders
    }
    const double a = left.data(LayerTableModel::SortRole).toDouble();
    const double b = right.data(LayerTableModel::SortRole).toDouble();
    if (std::isnan(a) || std::isnan(b)) {
        return std::isnan(a) != std::isnan(b) && std::isnan(b) == isAscending;
    }
    return a < b;
}

bool LayerOrder::filterAcceptsRow(int row, const QModelIndex&) const
{
    const LayerGrid& grid = m_layers->grid();
    if (!grid.applies(static_cast<std::size_t>(row), m_layers->measure())) {
        return false;
    }
    const QString name = QString::fromStdString(grid.rows()[static_cast<std::size_t>(row)]);
    return std::ranges::all_of(
        m_words, [&name](const QString& word) { return name.contains(word, Qt::CaseInsensitive); });
}

} // namespace mantissa
