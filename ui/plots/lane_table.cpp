#include "ui/plots/lane_table.h"

#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mantissa {

namespace {

constexpr int mostRowsShown = 8;

/// NaN and missing values sort last in either direction.
bool sortsBefore(std::optional<double> a, std::optional<double> b, bool ascending)
{
    const bool hasA = a && !std::isnan(*a);
    const bool hasB = b && !std::isnan(*b);
    if (!hasA || !hasB) {
        return hasA && !hasB;
    }
    return ascending ? *a < *b : *a > *b;
}

} // namespace

void LaneTableModel::setRows(std::vector<LaneRow> rows)
{
    if (rows.size() != m_rows.size()) {
        beginResetModel();
        m_rows = std::move(rows);
        m_order = ordered();
        endResetModel();
        return;
    }
    m_rows = std::move(rows);
    std::vector<int> order = ordered();
    if (order != m_order) {
        emit layoutAboutToBeChanged();
        m_order = std::move(order);
        emit layoutChanged();
    }
    if (!m_rows.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

void LaneTableModel::setFont(const QFont& font)
{
    m_font = font;
    if (!m_rows.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1), {Qt::FontRole, Qt::DecorationRole});
    }
}

void LaneTableModel::setOrder(Order order, int column, Qt::SortOrder direction)
{
    m_orderBy = order;
    m_column = column;
    m_direction = direction;
    emit layoutAboutToBeChanged();
    m_order = ordered();
    emit layoutChanged();
}

std::vector<int> LaneTableModel::ordered() const
{
    std::vector<int> order(m_rows.size());
    std::iota(order.begin(), order.end(), 0);
    const bool ascending = m_direction == Qt::AscendingOrder;
    const auto at = [this](int i) -> const LaneRow& { return m_rows[static_cast<std::size_t>(i)]; };
    if (m_orderBy == Order::Nearest) {
        std::stable_sort(
            order.begin(), order.end(), [&](int a, int b) { return at(a).pointerDistance < at(b).pointerDistance; });
    } else if (m_orderBy == Order::ByColumn && m_column == Lane) {
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            const int compared = QString::localeAwareCompare(at(a).name, at(b).name);
            return ascending ? compared < 0 : compared > 0;
        });
    } else if (m_orderBy == Order::ByColumn) {
        std::stable_sort(order.begin(), order.end(),
            [&](int a, int b) { return sortsBefore(value(at(a), m_column), value(at(b), m_column), ascending); });
    }
    return order;
}

const LaneRow& LaneTableModel::row(int index) const
{
    return m_rows[static_cast<std::size_t>(m_order[static_cast<std::size_t>(index)])];
}

int LaneTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LaneTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

std::optional<double> LaneTableModel::value(const LaneRow& row, int column)
{
    switch (column) {
    case Step:
        return row.step ? std::optional<double>(static_cast<double>(*row.step)) : std::nullopt;
    case SmoothedLoss:
        return row.smoothedLoss;
    case Loss:
        return row.loss;
    case HeldOutLoss:
        return row.heldOutLoss;
    case Accuracy:
        return row.accuracy;
    case GradNorm:
        return row.gradNorm;
    case Clipped:
        return row.gradNormClipped;
    case Scale:
        return row.scale;
    case Gap:
        return row.gap;
    case Distance:
        return row.distance;
    case Skipped:
        return row.skipped ? std::optional<double>(static_cast<double>(*row.skipped)) : std::nullopt;
    default:
        return std::nullopt;
    }
}

QString LaneTableModel::text(const LaneRow& row, int column)
{
    if (column == Lane) {
        return row.isBaseline ? tr("%1 (base)").arg(row.name) : row.name;
    }
    const auto number = value(row, column);
    if (!number) {
        return QStringLiteral("\u2013");
    }
    if (column == Step || column == Skipped) {
        return formatCount(std::llround(*number));
    }
    return column == Scale ? formatScale(*number) : formatColumn(*number);
}

QString LaneTableModel::toolTip(const LaneRow& row, int column)
{
    if (column == Lane) {
        const QString use = row.isVisible ? tr("Click hides the lane, double-click shows it alone.")
                                          : tr("Click shows the lane, double-click shows it alone.");
        return row.ending.isEmpty() ? use : row.ending + QLatin1Char('\n') + use;
    }
    const auto number = value(row, column);
    return number ? formatExact(*number) : QString();
}

QIcon LaneTableModel::swatch(const LaneRow& row) const
{
    const int side = QFontMetrics(m_font).height();
    return laneSwatch(row.color, row.style, row.isVisible, QSize(side * 3 / 2, side), qApp->devicePixelRatio());
}

QVariant LaneTableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const LaneRow& shown = row(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return text(shown, index.column());
    case Qt::ToolTipRole:
        return toolTip(shown, index.column());
    case Qt::DecorationRole:
        return index.column() == Lane ? QVariant(swatch(shown)) : QVariant();
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(index.column() == Lane ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::FontRole: {
        QFont font = m_font;
        font.setBold(shown.isNearest);
        return font;
    }
    case Qt::ForegroundRole:
        return shown.isVisible ? QVariant()
                               : QVariant(QApplication::palette().brush(QPalette::Disabled, QPalette::Text));
    default:
        return {};
    }
}

QVariant LaneTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(section == Lane ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Lane:
        return tr("Lane");
    case Step:
        return tr("Step");
    case SmoothedLoss:
        return tr("Smoothed");
    case Loss:
        return tr("Loss");
    case HeldOutLoss:
        return tr("Held out");
    case Accuracy:
        return tr("Accuracy");
    case GradNorm:
        return tr("Grad norm");
    case Clipped:
        return tr("Clipped");
    case Scale:
        return tr("Scale");
    case Gap:
        return tr("Loss gap");
    case Distance:
        return tr("Distance");
    case Skipped:
        return tr("Skipped");
    default:
        return {};
    }
}

void LaneTableModel::sort(int column, Qt::SortOrder direction)
{
    setOrder(column < 0 ? Order::AsAdded : Order::ByColumn, column, direction);
}

LaneTable::LaneTable(QWidget* parent)
    : QTableView(parent)
    , m_model(new LaneTableModel(this))
{
    setModel(m_model);
    setAccessibleName(tr("Lanes and their numbers at the crosshair"));
    setMouseTracking(true);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionMode(QAbstractItemView::NoSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setWordWrap(false);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setSortIndicatorClearable(true);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setSectionResizeMode(LaneTableModel::Lane, QHeaderView::Stretch);
    horizontalHeader()->setMinimumSectionSize(30);
    horizontalHeader()->setHighlightSections(false);
    setSortingEnabled(true);
    sortBy(LaneTableModel::Order::AsAdded);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    applyFont();
    connect(this, &QTableView::clicked, this, [this](const QModelIndex& index) {
        if (index.column() == LaneTableModel::Lane) {
            toggle(index);
        } else {
            emit activated(m_model->row(index.row()).key);
        }
    });
    connect(this, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
        if (index.column() == LaneTableModel::Lane) {
            toggle(index); // takes back what the first click did
        }
        emit isolateRequested(m_model->row(index.row()).key);
    });
    connect(this, &QTableView::entered, this,
        [this](const QModelIndex& index) { emit hovered(m_model->row(index.row()).key); });
}

void LaneTable::toggle(const QModelIndex& index)
{
    const LaneRow& row = m_model->row(index.row());
    emit visibilityRequested(row.key, !row.isVisible);
}

void LaneTable::setRows(std::vector<LaneRow> rows)
{
    const int before = m_model->rowCount();
    m_model->setRows(std::move(rows));
    if (before != m_model->rowCount()) {
        fitHeight();
    }
}

void LaneTable::setColumnShown(LaneTableModel::Column column, bool shown)
{
    if (isColumnHidden(column) == shown) {
        setColumnHidden(column, !shown);
    }
}

void LaneTable::sortBy(LaneTableModel::Order order, int column, Qt::SortOrder direction)
{
    horizontalHeader()->setSortIndicator(order == LaneTableModel::Order::ByColumn ? column : -1, direction);
    m_model->setOrder(order, column, direction);
}

QString LaneTable::asText() const
{
    QString text;
    for (int row = -1; row < m_model->rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < LaneTableModel::ColumnCount; ++column) {
            if (isColumnHidden(column)) {
                continue;
            }
            const QModelIndex index = m_model->index(row, column);
            const bool exact = column != LaneTableModel::Lane;
            cells.append(row < 0 ? m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()
                                 : m_model->data(index, exact ? Qt::ToolTipRole : Qt::DisplayRole).toString());
        }
        text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    }
    return text;
}

void LaneTable::keyPressEvent(QKeyEvent* event)
{
    const QModelIndex current = currentIndex();
    if (event->matches(QKeySequence::Copy)) {
        QApplication::clipboard()->setText(asText());
    } else if (current.isValid() && event->key() == Qt::Key_Return) {
        if (event->modifiers().testFlag(Qt::ShiftModifier)) {
            emit isolateRequested(m_model->row(current.row()).key);
        } else {
            toggle(current);
        }
    } else {
        QTableView::keyPressEvent(event);
    }
}

void LaneTable::leaveEvent(QEvent* event)
{
    QTableView::leaveEvent(event);
    emit hovered(std::nullopt);
}

void LaneTable::changeEvent(QEvent* event)
{
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        applyFont();
    }
}

void LaneTable::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    const QModelIndex index = event->reason() == QContextMenuEvent::Keyboard ? currentIndex() : indexAt(event->pos());
    if (index.isValid()) {
        const LaneRow row = m_model->row(index.row());
        menu.addAction(row.isVisible ? tr("Hide lane") : tr("Show lane"), this,
            [this, row] { emit visibilityRequested(row.key, !row.isVisible); });
        menu.addAction(tr("Show this lane alone"), this, [this, row] { emit isolateRequested(row.key); });
        QAction* baseline
            = menu.addAction(tr("Use as baseline"), this, [this, row] { emit baselineRequested(row.key); });
        baseline->setEnabled(!row.isBaseline);
        menu.addSeparator();
    }
    QMenu* sorting = menu.addMenu(tr("Sort by"));
    sorting->addAction(tr("Order of lanes"), this, [this] { sortBy(LaneTableModel::Order::AsAdded); });
    sorting->addAction(tr("Name"), this, [this] { sortBy(LaneTableModel::Order::ByColumn, LaneTableModel::Lane); });
    sorting->addAction(tr("Loss"), this, [this] { sortBy(LaneTableModel::Order::ByColumn, LaneTableModel::Loss); });
    sorting->addAction(tr("Nearest to the pointer"), this, [this] { sortBy(LaneTableModel::Order::Nearest); });
    menu.addSeparator();
    menu.addAction(tr("Copy table"), this, [this] { QApplication::clipboard()->setText(asText()); });
    menu.exec(event->globalPos());
}

void LaneTable::applyFont()
{
    const QFont numbers = tabularFont(font());
    m_model->setFont(numbers);
    const QFontMetrics metrics(numbers);
    const int line = metrics.height() + 6;
    verticalHeader()->setMinimumSectionSize(line);
    verticalHeader()->setDefaultSectionSize(line);
    setIconSize(QSize(metrics.height() * 3 / 2, metrics.height()));
    QFont bold = numbers;
    bold.setBold(true);
    const QFontMetrics boldMetrics(bold);
    const auto widthOf = [&](const char16_t* widest, int column) {
        const int text = boldMetrics.horizontalAdvance(QString::fromUtf16(widest));
        const QString title = m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        setColumnWidth(column, std::max(text, fontMetrics().horizontalAdvance(title) + 14) + 8);
    };
    for (int column = LaneTableModel::SmoothedLoss; column <= LaneTableModel::Distance; ++column) {
        widthOf(column == LaneTableModel::Scale ? u"2^16 (65,536)" : u"1.250e-07", column);
    }
    widthOf(u"1,000,000", LaneTableModel::Step);
    widthOf(u"100,000", LaneTableModel::Skipped);
    fitHeight();
}

void LaneTable::fitHeight()
{
    updateGeometry();
}

QSize LaneTable::sizeHint() const
{
    const int rows = std::clamp(m_model->rowCount(), 1, mostRowsShown);
    return {400, horizontalHeader()->sizeHint().height() + rows * verticalHeader()->defaultSectionSize() + 2};
}

QSize LaneTable::minimumSizeHint() const
{
    return {200, horizontalHeader()->sizeHint().height() + 2 * verticalHeader()->defaultSectionSize()};
}

} // namespace mantissa
