#include "ui/views/events_view.h"

#include "ui/style/theme.h"
#include "ui/views/icon.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace mantissa {

EventsView::EventsView(QWidget* parent)
    : QWidget(parent)
    , m_model(new EventModel(this))
    , m_shown(new QSortFilterProxyModel(this))
    , m_filter(new QLineEdit)
    , m_table(new QTableView)
{
    m_shown->setSourceModel(m_model);
    m_shown->setSortRole(Qt::UserRole);
    m_shown->setFilterKeyColumn(-1);
    m_shown->setFilterCaseSensitivity(Qt::CaseInsensitive);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    m_filter->setPlaceholderText(tr("Filter events"));
    m_filter->setAccessibleName(tr("Filter events"));
    m_filter->setClearButtonEnabled(true);
    m_filter->addAction(lineIcon(QStringLiteral("search")), QLineEdit::LeadingPosition);
    column->addWidget(m_filter);

    m_table->setModel(m_shown);
    m_table->setFont(tabularFont(m_table->font()));
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(-1, Qt::AscendingOrder);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setAccessibleName(tr("Events"));
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 4);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setHighlightSections(false);
    const QFontMetrics metrics = m_table->fontMetrics();
    m_table->setColumnWidth(EventModel::TimeColumn, metrics.horizontalAdvance(QStringLiteral("00:00:00.000")) + 16);
    m_table->setColumnWidth(EventModel::StepColumn, metrics.horizontalAdvance(QStringLiteral("0,000,000")) + 16);
    m_table->setColumnWidth(EventModel::LaneColumn, metrics.averageCharWidth() * 28);
    column->addWidget(m_table, 1);

    auto* copyAction = new QAction(lineIcon(QStringLiteral("copy")), tr("Copy"), m_table);
    copyAction->setShortcut(QKeySequence::Copy);
    copyAction->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    m_table->addAction(copyAction);
    m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(copyAction, &QAction::triggered, this, &EventsView::copy);
    connect(m_filter, &QLineEdit::textChanged, m_shown, &QSortFilterProxyModel::setFilterFixedString);
}

void EventsView::add(const EventModel::Row& row)
{
    const QScrollBar* bar = m_table->verticalScrollBar();
    const bool isAtEnd = bar->value() >= bar->maximum() - 1;
    m_model->add(row);
    if (isAtEnd) {
        m_table->scrollToBottom();
    }
}

QString EventsView::selectionAsText() const
{
    std::set<int> rows;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) {
        rows.insert(index.row());
    }
    QString text;
    for (int column = 0; column < EventModel::ColumnCount; ++column) {
        text += m_shown->headerData(column, Qt::Horizontal).toString()
            + QLatin1Char(column + 1 < EventModel::ColumnCount ? '\t' : '\n');
    }
    for (int row = 0; row < m_shown->rowCount(); ++row) {
        if (!rows.empty() && rows.count(row) == 0) {
            continue;
        }
        for (int column = 0; column < EventModel::ColumnCount; ++column) {
            text += m_shown->index(row, column).data().toString().simplified()
                + QLatin1Char(column + 1 < EventModel::ColumnCount ? '\t' : '\n');
        }
    }
    return text;
}

void EventsView::copy() const
{
    QGuiApplication::clipboard()->setText(selectionAsText());
}

} // namespace mantissa
