#include "ui/views/runs_view.h"

#include "ui/models/run_list_model.h"
#include "ui/style/theme.h"
#include "ui/views/run_commands.h"

#include <QAction>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QStackedLayout>
#include <QTableView>
#include <QTimer>
#include <QToolButton>
#include <QUndoStack>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace mantissa {

namespace {

constexpr int gap = 4;
constexpr int followInterval = 1000; // ms; the writer's transactions come every 250

/// Texts as wide as the columns usually need, so that the table does not jump when it fills.
constexpr std::array<const char*, RunListModel::ColumnCount> widthSamples {"00000 00", "Interrupted",
    "FP16 no scaler 00", "Digits: underflow", "Policy 0", "pytorch 0", "1,000,000", "1.234e-05", "Accuracy", "Skipped",
    "Final scale", "00/00/0000 00:00 AM", "Duration", "workshop, demo", "what I saw in it"};

} // namespace

RunsView::RunsView(std::filesystem::path database, QWidget* parent)
    : QWidget(parent)
    , m_archive(new RunArchive(std::move(database), this))
    , m_model(new RunListModel(this))
    , m_order(new RunListOrder(m_model, this))
    , m_undoStack(new QUndoStack(this))
    , m_search(new QLineEdit)
    , m_table(new QTableView)
    , m_placeholder(new QLabel)
    , m_messageRow(new QWidget)
    , m_message(new QLabel)
    , m_undoButton(new QToolButton)
    , m_follow(new QTimer(this))
{
    buildTable();
    buildActions();
    buildLayout();
    connectArchive();
    m_follow->setInterval(followInterval);
    // A dock behind another one's tab counts as visible, though nothing of it can be seen.
    connect(m_follow, &QTimer::timeout, this, [this] {
        if (!visibleRegion().isEmpty()) {
            m_archive->reloadIfChanged();
        }
    });
    m_follow->start();
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_order->setWords(text);
        updateState();
    });
    setUndoStack(m_undoStack);
    updateState();
}

RunsView::~RunsView()
{
    // A stack of its own dies after this part of the view, and says once more that its index has changed.
    disconnect(m_undoWatch);
}

void RunsView::buildTable()
{
    m_table->setModel(m_order);
    m_table->setFont(tabularFont(m_table->font()));
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(RunListModel::RunColumn, Qt::DescendingOrder);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setAccessibleName(tr("Stored runs"));
    m_table->setAccessibleDescription(tr("One row per run. F2 edits tags and note, Delete removes the selected runs."));
    m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + gap);

    QHeaderView* header = m_table->horizontalHeader();
    header->setStretchLastSection(true);
    header->setHighlightSections(false);
    header->setSectionsMovable(true);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(header, &QHeaderView::customContextMenuRequested, this, &RunsView::chooseColumns);
    for (int column = 0; column < RunListModel::ColumnCount; ++column) {
        m_table->setColumnWidth(column,
            m_table->fontMetrics().horizontalAdvance(QLatin1String(widthSamples[static_cast<std::size_t>(column)]))
                + 3 * gap);
    }
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsView::updateActions);
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
        if ((index.flags() & Qt::ItemIsEditable) == 0) {
            toggleShown();
        }
    });
}

QAction* RunsView::addAction(const char* name, const QString& text, const QString& explanation)
{
    auto* action = new QAction(text, this);
    action->setObjectName(QLatin1String(name));
    action->setToolTip(explanation);
    action->setShortcutContext(Qt::WidgetShortcut);
    m_table->addAction(action);
    return action;
}

void RunsView::buildActions()
{
    m_showCurves
        = addAction("showCurves", tr("Show curves"), tr("Draw the selected runs beside the live lanes (Enter)"));
    m_showCurves->setCheckable(true);
    m_rerun = addAction("rerun", tr("Re-run exactly"),
        tr("Train the selected run again: same settings, seed and changes at the same steps"));
    m_resume = addAction("resume", tr("Resume…"), tr("Train on from one of the selected run's checkpoints"));
    m_look = addAction("look", tr("Look inside"), tr("The selected run's gradients and layers, as they were sampled"));
    m_findings = addAction("findings", tr("Findings"), tr("What is wrong with the selected run, with its numbers"));
    m_compare
        = addAction("compare", tr("Compare"), tr("The two selected runs, side by side: settings, results, curves"));
    m_copy = addAction("copy", tr("Copy"), tr("Copy the selected rows as tab-separated text"));
    m_copy->setShortcuts(QKeySequence::Copy);
    m_exportCsv = addAction("exportCsv", tr("Export CSV…"), tr("Every step of the selected runs, with all digits"));
    m_exportJson
        = addAction("exportJson", tr("Export JSON…"), tr("Settings, events and every step of the selected runs"));
    m_delete = addAction("delete", tr("Delete"), tr("Remove the selected runs; can be undone"));
    m_delete->setShortcuts(QKeySequence::Delete);

    connect(m_showCurves, &QAction::triggered, this, &RunsView::toggleShown);
    connect(m_rerun, &QAction::triggered, this, [this] {
        if (const auto runs = selectedRuns(); runs.size() == 1) {
            emit rerunRequested(runs.first());
        }
    });
    connect(m_resume, &QAction::triggered, this, [this] {
        if (const auto runs = selectedRuns(); runs.size() == 1) {
            emit resumeRequested(runs.first());
        }
    });
    connect(m_look, &QAction::triggered, this, [this] {
        if (const auto runs = selectedRuns(); runs.size() == 1) {
            emit lookRequested(runs.first());
        }
    });
    connect(m_findings, &QAction::triggered, this, [this] {
        if (const auto runs = selectedRuns(); runs.size() == 1) {
            emit findingsRequested(runs.first());
        }
    });
    connect(m_compare, &QAction::triggered, this, [this] {
        if (const auto runs = selectedRuns(); runs.size() == 2) {
            emit compareRequested(std::min(runs.first(), runs.last()), std::max(runs.first(), runs.last()));
        }
    });
    connect(m_copy, &QAction::triggered, this, [this] { QGuiApplication::clipboard()->setText(selectionAsText()); });
    connect(m_exportCsv, &QAction::triggered, this, [this] { askForExport(RunArchive::Format::Csv); });
    connect(m_exportJson, &QAction::triggered, this, [this] { askForExport(RunArchive::Format::Json); });
    connect(m_delete, &QAction::triggered, this, &RunsView::deleteSelected);
}

void RunsView::buildLayout()
{
    auto* bar = new QHBoxLayout;
    bar->setSpacing(gap);
    m_search->setPlaceholderText(tr("Search runs, tags and notes"));
    m_search->setAccessibleName(tr("Search runs"));
    m_search->setToolTip(tr("Shows the runs that contain every word, in any column"));
    m_search->setClearButtonEnabled(true);
    bar->addWidget(m_search, 1);
    for (QAction* action :
        {m_showCurves, m_look, m_findings, m_compare, m_rerun, m_resume, m_exportCsv, m_exportJson, m_delete}) {
        auto* button = new QToolButton;
        button->setDefaultAction(action);
        button->setAutoRaise(true);
        button->setAccessibleName(action->text());
        button->setAccessibleDescription(action->toolTip());
        button->setFocusPolicy(Qt::TabFocus);
        bar->addWidget(button);
    }

    auto* messages = new QHBoxLayout(m_messageRow);
    messages->setContentsMargins(0, 0, 0, 0);
    messages->setSpacing(2 * gap);
    m_message->setWordWrap(true);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_undoButton->setText(tr("Undo"));
    m_undoButton->setToolTip(tr("Bring the deleted runs back"));
    m_undoButton->setFocusPolicy(Qt::TabFocus);
    auto* close = new QToolButton;
    close->setText(QStringLiteral("×"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close this message"));
    close->setAccessibleName(tr("Close this message"));
    messages->addWidget(m_message, 1);
    messages->addWidget(m_undoButton);
    messages->addWidget(close);
    m_messageRow->hide();
    connect(m_undoButton, &QToolButton::clicked, this, [this] { m_undoStack->undo(); });
    connect(close, &QToolButton::clicked, m_messageRow, &QWidget::hide);

    m_placeholder->setAlignment(Qt::AlignCenter);
    m_placeholder->setWordWrap(true);
    m_placeholder->setMargin(4 * gap);
    m_placeholder->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(gap);
    column->addLayout(bar);
    column->addWidget(m_messageRow);
    auto* pages = new QWidget;
    m_pages = new QStackedLayout(pages);
    m_pages->addWidget(m_placeholder);
    m_pages->addWidget(m_table);
    column->addWidget(pages, 1);
    setFocusProxy(m_table);
    setTabOrder(m_search, m_table);
}

void RunsView::connectArchive()
{
    connect(m_archive, &RunArchive::loaded, this, &RunsView::showList);
    connect(m_archive, &RunArchive::loadFailed, this, [this](const QString& why) {
        m_loadTrouble = why;
        m_isLoaded = true;
        updateState();
    });
    connect(m_archive, &RunArchive::failed, this, &RunsView::say);
    connect(
        m_archive, &RunArchive::exported, this, [this](const QString& file) { say(tr("Exported to %1.").arg(file)); });
    connect(m_model, &RunListModel::showRequested, this, &RunsView::requestShown);
    connect(m_model, &RunListModel::tagsEdited, this,
        [this](RunId run, const QStringList& before, const QStringList& after) {
            push(new EditTags(m_archive, run, before, after));
        });
    connect(m_model, &RunListModel::noteEdited, this, [this](RunId run, const QString& before, const QString& after) {
        push(new EditNote(m_archive, run, before, after));
    });
}

void RunsView::refresh()
{
    m_archive->reload();
}

void RunsView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    refresh();
}

void RunsView::showList(const RunArchive::Runs& runs)
{
    m_loadTrouble.clear();
    m_isLoaded = true;
    m_model->setRuns(*runs);
    updateState();
}

void RunsView::updateState()
{
    QString text;
    if (!m_loadTrouble.isEmpty()) {
        text = m_loadTrouble;
    } else if (!m_isLoaded) {
        text = tr("Reading the stored runs…");
    } else if (m_model->rowCount() == 0) {
        text = tr("No runs yet. Train an experiment and it appears here.");
    } else if (m_order->rowCount() == 0) {
        text = tr("No run matches “%1”.").arg(m_search->text());
    }
    m_placeholder->setText(text);
    if (text.isEmpty()) {
        m_pages->setCurrentWidget(m_table);
    } else {
        m_pages->setCurrentWidget(m_placeholder);
    }
    updateActions();
}

void RunsView::updateActions()
{
    const auto runs = selectedRuns();
    const bool any = !runs.isEmpty();
    for (QAction* action : {m_showCurves, m_copy, m_exportCsv, m_exportJson, m_delete}) {
        action->setEnabled(any);
    }
    const bool isTrained = runs.size() == 1 && !isImported(runs.first());
    m_rerun->setEnabled(isTrained);
    m_resume->setEnabled(isTrained);
    m_look->setEnabled(isTrained);
    m_findings->setEnabled(runs.size() == 1);
    m_compare->setEnabled(runs.size() == 2);
    m_showCurves->setChecked(
        any && std::all_of(runs.begin(), runs.end(), [this](RunId run) { return m_model->isShown(run); }));
}

/// Of such a run there is nothing to train again or to look into.
bool RunsView::isImported(RunId run) const
{
    const int row = m_model->rowOf(run);
    return row >= 0 && m_model->at(row).imported.has_value();
}

void RunsView::say(const QString& text)
{
    m_message->setText(text);
    m_undoButton->setVisible(m_offeredUndo != nullptr);
    m_messageRow->show();
}

void RunsView::chooseColumns(const QPoint& position)
{
    QHeaderView* header = m_table->horizontalHeader();
    QMenu menu;
    for (int column = 0; column < RunListModel::ColumnCount; ++column) {
        QAction* action = menu.addAction(m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
        action->setCheckable(true);
        action->setChecked(!header->isSectionHidden(column));
        // A table without columns would have no header to bring them back from.
        action->setEnabled(header->isSectionHidden(column) || header->count() - header->hiddenSectionCount() > 1);
        connect(action, &QAction::toggled, header,
            [header, column](bool isWanted) { header->setSectionHidden(column, !isWanted); });
    }
    menu.exec(header->mapToGlobal(position));
}

QList<RunId> RunsView::selectedRuns() const
{
    QList<RunId> runs;
    QModelIndexList rows = m_table->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    for (const QModelIndex& index : rows) {
        runs << m_model->at(m_order->mapToSource(index).row()).id;
    }
    return runs;
}

QString RunsView::selectionAsText() const
{
    const QHeaderView* header = m_table->horizontalHeader();
    QList<int> columns;
    for (int position = 0; position < header->count(); ++position) {
        if (const int column = header->logicalIndex(position); !header->isSectionHidden(column)) {
            columns << column;
        }
    }
    const auto line = [&](const auto& cell) {
        QStringList cells;
        for (const int column : columns) {
            cells << cell(column).toString().simplified();
        }
        return cells.join(QLatin1Char('\t'));
    };
    QStringList lines {line([&](int column) { return m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole); })};
    QModelIndexList rows = m_table->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    for (const QModelIndex& row : rows) {
        lines << line([&](int column) { return row.siblingAtColumn(column).data(RunListModel::CopyRole); });
    }
    return lines.join(QLatin1Char('\n'));
}

void RunsView::toggleShown()
{
    const auto runs = selectedRuns();
    const bool allShown = std::all_of(runs.begin(), runs.end(), [this](RunId run) { return m_model->isShown(run); });
    for (const RunId run : runs) {
        requestShown(run, !allShown);
    }
}

void RunsView::requestShown(RunId run, bool isWanted)
{
    if (m_model->isShown(run) != isWanted) {
        setShown(run, isWanted);
        emit showRunRequested(run, isWanted);
    }
}

void RunsView::setShown(RunId run, bool isShown)
{
    m_model->setShown(run, isShown);
    updateActions();
}

void RunsView::deleteSelected()
{
    const auto runs = selectedRuns();
    if (runs.isEmpty()) {
        return;
    }
    for (const RunId run : runs) {
        requestShown(run, false);
    }
    auto* command = new DeleteRuns(m_archive, runs);
    m_model->removeRuns(runs);
    push(command);
    m_offeredUndo = command;
    say(runs.size() == 1 ? tr("Run %1 deleted.").arg(runs.first()) : tr("%1 runs deleted.").arg(runs.size()));
    updateState();
}

void RunsView::setUndoStack(QUndoStack* stack)
{
    disconnect(m_undoWatch);
    m_undoStack = stack;
    // The button takes back the deletion it speaks of and nothing else.
    m_undoWatch = connect(stack, &QUndoStack::indexChanged, this, [this](int index) {
        if (m_offeredUndo != nullptr && (index == 0 || m_undoStack->command(index - 1) != m_offeredUndo)) {
            m_offeredUndo = nullptr;
            m_messageRow->hide();
        }
    });
}

void RunsView::push(QUndoCommand* command)
{
    m_undoStack->push(command);
}

void RunsView::askForExport(RunArchive::Format format)
{
    const bool csv = format == RunArchive::Format::Csv;
    const auto runs = selectedRuns();
    const QString name = runs.size() == 1 ? QStringLiteral("run-%1").arg(runs.first()) : QStringLiteral("runs");
    const QString file = QFileDialog::getSaveFileName(this, tr("Export runs"),
        name + (csv ? QStringLiteral(".csv") : QStringLiteral(".json")), csv ? tr("CSV (*.csv)") : tr("JSON (*.json)"));
    if (!file.isEmpty()) {
        exportSelected(file, format);
    }
}

void RunsView::exportSelected(const QString& file, RunArchive::Format format)
{
    m_archive->exportRuns(selectedRuns(), file, format);
}

QByteArray RunsView::saveState() const
{
    return m_table->horizontalHeader()->saveState();
}

bool RunsView::restoreState(const QByteArray& state)
{
    return m_table->horizontalHeader()->restoreState(state);
}

} // namespace mantissa
