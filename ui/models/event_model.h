/// Everything that happened to the session, one row per event, newest last.
#pragma once

#include "engine/train/event.h"

#include <QAbstractTableModel>
#include <QString>

#include <functional>
#include <vector>

namespace mantissa {

class EventModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { TimeColumn, StepColumn, LaneColumn, WhatColumn, ColumnCount };

    struct Row
    {
        Event event;
        QString lane; ///< its name when the event happened
        QString what;
    };

    explicit EventModel(QObject* parent = nullptr);

    void add(const Row& row);
    void clear();
    /// Changes the words of every row.
    void retell(const std::function<void(Row& row)>& words);

    [[nodiscard]] const Row& at(int row) const { return m_rows.at(static_cast<std::size_t>(row)); }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Row> m_rows;
};

} // namespace mantissa
