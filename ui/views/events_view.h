/// The event log: a table that sorts, filters, and copies as tab-separated text.
#pragma once

#include "ui/models/event_model.h"

#include <QWidget>

class QLineEdit;
class QSortFilterProxyModel;
class QTableView;

namespace mantissa {

class EventsView : public QWidget
{
    Q_OBJECT
public:
    explicit EventsView(QWidget* parent = nullptr);

    [[nodiscard]] EventModel* model() const { return m_model; }

    void add(const EventModel::Row& row);
    [[nodiscard]] QString selectionAsText() const; ///< tab-separated, with a header line

private:
    void copy() const;

    EventModel* m_model;
    QSortFilterProxyModel* m_shown;
    QLineEdit* m_filter;
    QTableView* m_table;
};

} // namespace mantissa
