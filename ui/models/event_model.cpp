#include "ui/models/event_model.h"

#include <QDateTime>
#include <QLocale>

namespace mantissa {

namespace {

/// A session turned at random for days must not fill the memory.
constexpr std::size_t mostRows = 20000;

QDateTime timeOf(const Event& event)
{
    return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(event.unixSeconds * 1000));
}

} // namespace

EventModel::EventModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void EventModel::add(const Row& row)
{
    if (m_rows.size() >= mostRows) {
        const int surplus = static_cast<int>(mostRows / 10);
        beginRemoveRows({}, 0, surplus - 1);
        m_rows.erase(m_rows.begin(), m_rows.begin() + surplus);
        endRemoveRows();
    }
    const int position = static_cast<int>(m_rows.size());
    beginInsertRows({}, position, position);
    m_rows.push_back(row);
    endInsertRows();
}

void EventModel::clear()
{
    beginResetModel();
    m_rows.clear();
    endResetModel();
}

void EventModel::retell(const std::function<void(Row& row)>& words)
{
    for (Row& row : m_rows) {
        words(row);
    }
    if (!m_rows.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

int EventModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int EventModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant EventModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const Row& row = at(index.row());
    if (role == Qt::TextAlignmentRole && index.column() == StepColumn) {
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole) {
        return index.column() == TimeColumn ? QLocale().toString(timeOf(row.event), QLocale::LongFormat)
                                            : QVariant(row.what);
    }
    const bool isSorting = role == Qt::UserRole;
    if (role != Qt::DisplayRole && !isSorting) {
        return {};
    }
    switch (index.column()) {
    case TimeColumn:
        return isSorting ? QVariant(row.event.unixSeconds)
                         : QVariant(timeOf(row.event).toString(QStringLiteral("HH:mm:ss.zzz")));
    case StepColumn:
        return isSorting ? QVariant(static_cast<qlonglong>(row.event.step))
                         : QVariant(QLocale().toString(static_cast<qlonglong>(row.event.step)));
    case LaneColumn:
        return row.lane;
    case WhatColumn:
        return row.what;
    default:
        return {};
    }
}

QVariant EventModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case TimeColumn:
        return tr("Time");
    case StepColumn:
        return tr("Step");
    case LaneColumn:
        return tr("Lane");
    case WhatColumn:
        return tr("What");
    default:
        return {};
    }
}

} // namespace mantissa
