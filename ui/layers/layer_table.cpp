#include "ui/layers/layer_table.h"

#include "ui/layers/layer_words.h"
#include "ui/style/theme.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolTip>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int gap = 4;
constexpr int leastHeatWidth = 120;

class HeatDelegate : public QStyledItemDelegate
{
public:
    explicit HeatDelegate(LayerTable* table)
        : QStyledItemDelegate(table)
        , m_table(table)
    {
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const auto row = static_cast<std::size_t>(m_table->order()->mapToSource(index).row());
        painter->save();
        painter->setClipRect(option.rect);
        HeatPainter(m_table->font(), m_table->palette())
            .paintRow(*painter, QRectF(option.rect).adjusted(0, 0, 0, -1), m_table->content(), row);
        painter->restore();
    }

private:
    LayerTable* m_table;
};

} // namespace

LayerTable::LayerTable(LayerTableModel* layers, QWidget* parent)
    : QTableView(parent)
    , m_layers(layers)
    , m_order(new LayerOrder(layers, this))
{
    setModel(m_order);
    setFont(tabularFont(font()));
    setItemDelegateForColumn(LayerTableModel::heatColumn, new HeatDelegate(this));
    setSortingEnabled(true);
    sortByColumn(LayerTableModel::nameColumn, Qt::AscendingOrder);
    setSelectionBehavior(SelectRows);
    setShowGrid(false);
    setFrameShape(NoFrame);
    setWordWrap(false);
    setTabKeyNavigation(false);
    setMouseTracking(true);
    setEditTriggers(NoEditTriggers);
    setHorizontalScrollMode(ScrollPerPixel);
    setAccessibleName(tr("Layers of the lane"));
    setAccessibleDescription(
        tr("One row per layer at the chosen step. Left and Right choose the step, Home and End the "
           "first and the newest, P pins a layer on top, Enter shows a measure step by step."));
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + gap);
    verticalHeader()->setMinimumSectionSize(fontMetrics().height() + gap);

    QHeaderView* header = horizontalHeader();
    header->setHighlightSections(false);
    header->setStretchLastSection(true);
    header->setMinimumSectionSize(leastHeatWidth / 3);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(header, &QHeaderView::customContextMenuRequested, this, &LayerTable::chooseColumns);
    setColumnWidth(
        LayerTableModel::nameColumn, fontMetrics().horizontalAdvance(QStringLiteral("blocks.0.attn.qkv")) + 3 * gap);
    for (const LayerMeasure measure : allLayerMeasures) {
        const int column = LayerTableModel::columnOf(measure);
        // Room for the sorting arrow beside the title.
        setColumnWidth(column,
            std::max(fontMetrics().horizontalAdvance(QStringLiteral("0.0001234")),
                header->fontMetrics().horizontalAdvance(titleOf(measure)) + 4 * gap)
                + 3 * gap);
        setColumnHidden(column, measure != LayerMeasure::GradientNorm && measure != LayerMeasure::Flushed);
    }
    connect(this, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (index.column() > LayerTableModel::nameColumn && index.column() < LayerTableModel::heatColumn) {
            emit measureWanted(LayerTableModel::measureOf(index.column()));
        }
    });
}

HeatContent LayerTable::content() const
{
    HeatContent content {&m_layers->grid(), m_layers->measure(), m_layers->scale()};
    if (m_layers->grid().columns() > 0) {
        content.column = m_layers->column();
    }
    return content;
}

QRect LayerTable::cellsOf(std::size_t row) const
{
    return visualRect(m_order->mapFromSource(m_layers->index(static_cast<int>(row), LayerTableModel::heatColumn)));
}

std::optional<std::size_t> LayerTable::currentRow() const
{
    const QModelIndex source = m_order->mapToSource(currentIndex());
    return source.isValid() ? std::optional(static_cast<std::size_t>(source.row())) : std::nullopt;
}

std::vector<std::size_t> LayerTable::shownRows() const
{
    std::vector<std::size_t> rows;
    for (int row = 0; row < m_order->rowCount(); ++row) {
        rows.push_back(static_cast<std::size_t>(m_order->mapToSource(m_order->index(row, 0)).row()));
    }
    return rows;
}

void LayerTable::showMeasure(LayerMeasure measure)
{
    setColumnHidden(LayerTableModel::columnOf(measure), false);
}

std::optional<HeatCell> LayerTable::heatCellAt(const QPoint& position) const
{
    const QModelIndex index = indexAt(position);
    if (!index.isValid() || index.column() != LayerTableModel::heatColumn || m_layers->grid().columns() == 0) {
        return std::nullopt;
    }
    const QRect cells = visualRect(index);
    const auto row = static_cast<std::size_t>(m_order->mapToSource(index).row());
    const std::size_t columns = m_layers->grid().columns();
    const double x = position.x() - cells.left();
    if (x >= HeatPainter::left(columns, columns, cells.width())) {
        return std::nullopt;
    }
    std::size_t column = HeatPainter::columnAt(x, columns, cells.width());
    if (static_cast<double>(columns) > cells.width()) {
        // Several steps lie on this pixel: the one that it shows.
        const std::size_t begin = HeatPainter::columnAt(x - 1, columns, cells.width()) + (x >= 1 ? 1 : 0);
        column = strongestColumn(
            m_layers->grid(), m_layers->scale(), m_layers->measure(), row, std::min(begin, column), column + 1);
    }
    return HeatCell {row, column};
}

void LayerTable::mousePressEvent(QMouseEvent* event)
{
    QTableView::mousePressEvent(event);
    if (event->button() == Qt::LeftButton) {
        if (const auto cell = heatCellAt(event->position().toPoint())) {
            emit columnChosen(cell->column);
        }
    }
}

void LayerTable::mouseMoveEvent(QMouseEvent* event)
{
    const auto cell = heatCellAt(event->position().toPoint());
    emit hovered(cell);
    if (cell && event->buttons().testFlag(Qt::LeftButton)) {
        emit columnChosen(cell->column);
        return;
    }
    QTableView::mouseMoveEvent(event);
}

void LayerTable::leaveEvent(QEvent* event)
{
    emit hovered(std::nullopt);
    QTableView::leaveEvent(event);
}

bool LayerTable::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const auto cell = heatCellAt(help->pos())) {
            QToolTip::showText(help->globalPos(),
                cellSentence(m_layers->grid(), cell->row, cell->column, m_layers->measure()), viewport());
            return true;
        }
    }
    return QTableView::viewportEvent(event);
}

void LayerTable::keyPressEvent(QKeyEvent* event)
{
    const std::size_t columns = m_layers->grid().columns();
    const std::size_t column = m_layers->column();
    if (event->matches(QKeySequence::Copy)) {
        copyText();
        return;
    }
    if (columns > 0 && event->modifiers() == Qt::NoModifier) {
        switch (event->key()) {
        case Qt::Key_Left:
            emit columnChosen(column > 0 ? column - 1 : 0);
            return;
        case Qt::Key_Right:
            emit columnChosen(std::min(column + 1, columns - 1));
            return;
        case Qt::Key_Home:
            emit columnChosen(0);
            return;
        case Qt::Key_End:
            emit columnChosen(columns - 1);
            return;
        case Qt::Key_P:
            togglePinned();
            return;
        default:
            break;
        }
    }
    QTableView::keyPressEvent(event);
}

void LayerTable::togglePinned()
{
    if (const auto row = currentRow()) {
        const int at = static_cast<int>(*row);
        m_layers->setPinned(at, !m_layers->isPinned(at));
    }
}

void LayerTable::contextMenuEvent(QContextMenuEvent* event)
{
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (const auto row = currentRow()) {
        menu->addAction(m_layers->isPinned(static_cast<int>(*row)) ? tr("Unpin\tP") : tr("Pin on top\tP"), this,
            &LayerTable::togglePinned);
    }
    menu->addAction(tr("Copy as text\tCtrl+C"), this, &LayerTable::copyText);
    menu->popup(event->globalPos());
}

void LayerTable::chooseColumns(const QPoint& position)
{
    QMenu menu;
    for (const LayerMeasure measure : allLayerMeasures) {
        QAction* action = menu.addAction(titleOf(measure));
        action->setToolTip(explanationOf(measure));
        action->setCheckable(true);
        action->setChecked(!isColumnHidden(LayerTableModel::columnOf(measure)));
        connect(action, &QAction::toggled, this,
            [this, measure](bool isWanted) { setColumnHidden(LayerTableModel::columnOf(measure), !isWanted); });
    }
    menu.setToolTipsVisible(true);
    menu.exec(horizontalHeader()->mapToGlobal(position));
}

void LayerTable::copyText() const
{
    QList<int> columns;
    for (int column = 0; column < LayerTableModel::heatColumn; ++column) {
        if (!isColumnHidden(column)) {
            columns << column;
        }
    }
    QStringList header {QStringLiteral("step")};
    for (const int column : columns) {
        header << m_order->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    }
    QStringList lines {header.join(QLatin1Char('\t'))};
    const bool isChosen = selectionModel()->selectedRows().size() > 1;
    for (int row = 0; row < m_order->rowCount(); ++row) {
        if (isChosen && !selectionModel()->isRowSelected(row)) {
            continue;
        }
        QStringList cells {QString::number(m_layers->grid().step(m_layers->column()))};
        for (const int column : columns) {
            cells << m_order->index(row, column).data(LayerTableModel::CopyRole).toString();
        }
        lines << cells.join(QLatin1Char('\t'));
    }
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')) + QLatin1Char('\n'));
}

// --- HeatFooter ---

HeatFooter::HeatFooter(LayerTable* table, QWidget* parent)
    : QWidget(parent)
    , m_table(table)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Steps and legend of the heat map"));
    const auto follow = QOverload<>::of(&QWidget::update);
    connect(table->horizontalHeader(), &QHeaderView::sectionResized, this, follow);
    connect(table->horizontalHeader(), &QHeaderView::geometriesChanged, this, follow);
    connect(table->order(), &QAbstractItemModel::dataChanged, this, follow);
    connect(table->order(), &QAbstractItemModel::modelReset, this, follow);
    connect(table->order(), &QAbstractItemModel::headerDataChanged, this, follow);
}

QSize HeatFooter::sizeHint() const
{
    return {200, 2 * (fontMetrics().height() + 2) + gap};
}

void HeatFooter::paintEvent(QPaintEvent*)
{
    const HeatContent content = m_table->content();
    if (!content.column) {
        return;
    }
    QPainter painter(this);
    const HeatPainter heat(font(), palette());
    const QHeaderView* header = m_table->horizontalHeader();
    const int left = header->sectionViewportPosition(LayerTableModel::heatColumn);
    const int width = header->sectionSize(LayerTableModel::heatColumn);
    const int line = fontMetrics().height() + 2;
    heat.paintSteps(painter, QRectF(left, 0, width, line), content);
    heat.paintLegend(painter, QRectF(2 * gap, line + gap / 2, this->width() - 4 * gap, line), content);
}

} // namespace mantissa
