#include "ui/models/run_list_model.h"

#include "ui/models/run_cells.h"
#include "ui/style/theme.h"

#include <QGuiApplication>
#include <QIcon>
#include <QPalette>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr int swatchSize = 12;

/// Whether anything but tags and note differs; a run that is over does not change any more.
bool differs(const RunInfo& a, const RunInfo& b)
{
    return a.status != b.status || a.status == RunStatus::Running || a.steps != b.steps || a.message != b.message;
}

QString searchText(const RunInfo& run)
{
    QStringList texts {QString::fromStdString(run.device), QString::fromStdString(run.message),
        QString::fromStdString(run.note), QString::fromStdString(run.weightsHash),
        run.imported ? QString::fromStdString(run.imported->file) : QString()};
    for (int column = 0; column < RunListModel::ColumnCount; ++column) {
        texts << runCellText(run, static_cast<RunListModel::Column>(column));
    }
    return texts.join(QLatin1Char('\n')).toLower();
}

QVariant swatchOf(const RunInfo& run)
{
    const QColor color(QString::fromStdString(run.color));
    if (!color.isValid()) {
        return {};
    }
    const QColor visible = readableOn(color, QGuiApplication::palette().color(QPalette::Base));
    return laneSwatch(visible, Qt::SolidLine, true, {swatchSize, swatchSize}, qGuiApp->devicePixelRatio());
}

} // namespace

RunListModel::RunListModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void RunListModel::setRuns(const std::vector<RunInfo>& runs)
{
    // Both lists descend by id, so one pass finds what went, what came and what stayed.
    int row = 0;
    for (const RunInfo& run : runs) {
        while (row < rowCount() && at(row).id > run.id) {
            beginRemoveRows({}, row, row);
            m_runs.erase(m_runs.begin() + row);
            endRemoveRows();
        }
        if (row < rowCount() && at(row).id == run.id) {
            update(row, run);
        } else {
            beginInsertRows({}, row, row);
            m_runs.insert(m_runs.begin() + row, run);
            endInsertRows();
        }
        ++row;
    }
    if (row < rowCount()) {
        beginRemoveRows({}, row, rowCount() - 1);
        m_runs.erase(m_runs.begin() + row, m_runs.end());
        endRemoveRows();
    }
}

/// Tags and note are announced only when they differ: a view would reset an editor that is open on them.
void RunListModel::update(int row, const RunInfo& run)
{
    RunInfo& mine = m_runs[static_cast<std::size_t>(row)];
    const bool changed = differs(mine, run);
    const bool tagsChanged = mine.tags != run.tags;
    const bool noteChanged = mine.note != run.note;
    mine = run;
    if (changed) {
        emit dataChanged(index(row, 0), index(row, TagsColumn - 1));
    }
    if (tagsChanged) {
        emit dataChanged(index(row, TagsColumn), index(row, TagsColumn));
    }
    if (noteChanged) {
        emit dataChanged(index(row, NoteColumn), index(row, NoteColumn));
    }
}

void RunListModel::removeRuns(const QList<RunId>& runs)
{
    for (const RunId run : runs) {
        if (const int row = rowOf(run); row >= 0) {
            beginRemoveRows({}, row, row);
            m_runs.erase(m_runs.begin() + row);
            endRemoveRows();
        }
    }
}

int RunListModel::rowOf(RunId run) const
{
    const auto found
        = std::find_if(m_runs.begin(), m_runs.end(), [run](const RunInfo& info) { return info.id == run; });
    return found == m_runs.end() ? -1 : static_cast<int>(found - m_runs.begin());
}

void RunListModel::setShown(RunId run, bool isShown)
{
    if (isShown) {
        m_shown.insert(run);
    } else {
        m_shown.remove(run);
    }
    if (const int row = rowOf(run); row >= 0) {
        emit dataChanged(index(row, RunColumn), index(row, RunColumn), {Qt::CheckStateRole});
    }
}

int RunListModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

int RunListModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunListModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const RunInfo& run = at(index.row());
    const auto column = static_cast<Column>(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return runCellText(run, column);
    case Qt::EditRole:
        return column == TagsColumn || column == NoteColumn ? runCellText(run, column) : runCellValue(run, column);
    case Qt::ToolTipRole:
        return runCellDetail(run, column);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(isNumberColumn(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::DecorationRole:
        return column == LaneColumn ? swatchOf(run) : QVariant();
    case Qt::CheckStateRole:
        return column == RunColumn ? QVariant(isShown(run.id) ? Qt::Checked : Qt::Unchecked) : QVariant();
    case SortRole:
        return runCellValue(run, column);
    case CopyRole:
        return runCellCopy(run, column);
    case SearchRole:
        return searchText(run);
    default:
        return {};
    }
}

bool RunListModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return false;
    }
    RunInfo& run = m_runs[static_cast<std::size_t>(index.row())];
    if (role == Qt::CheckStateRole && index.column() == RunColumn) {
        emit showRequested(run.id, value.toInt() == Qt::Checked);
        return true;
    }
    // What an editor shows of a note is one line; leaving it as it was must not flatten the note.
    if (role != Qt::EditRole || value.toString() == data(index, Qt::EditRole).toString()) {
        return false;
    }
    if (index.column() == TagsColumn) {
        const QStringList before = runTags(run);
        const QStringList after = tagsFromText(value.toString());
        if (after == before) {
            return false;
        }
        run.tags.clear();
        for (const QString& tag : after) {
            run.tags.push_back(tag.toStdString());
        }
        emit dataChanged(index, index);
        emit tagsEdited(run.id, before, after);
        return true;
    }
    if (index.column() == NoteColumn) {
        const QString before = QString::fromStdString(run.note);
        run.note = value.toString().trimmed().toStdString();
        emit dataChanged(index, index);
        emit noteEdited(run.id, before, QString::fromStdString(run.note));
        return true;
    }
    return false;
}

Qt::ItemFlags RunListModel::flags(const QModelIndex& index) const
{
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.column() == RunColumn) {
        flags |= Qt::ItemIsUserCheckable;
    }
    if (index.column() == TagsColumn || index.column() == NoteColumn) {
        flags |= Qt::ItemIsEditable;
    }
    return flags;
}

QVariant RunListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
        return {};
    }
    const auto column = static_cast<Column>(section);
    switch (role) {
    case Qt::DisplayRole:
        return runColumnTitle(column);
    case Qt::ToolTipRole:
        return runColumnExplanation(column);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(isNumberColumn(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    default:
        return {};
    }
}

QStringList RunListModel::tagsFromText(const QString& text)
{
    QStringList tags;
    for (const QString& part : text.split(QLatin1Char(','))) {
        const QString tag = part.simplified();
        if (!tag.isEmpty() && !tags.contains(tag)) {
            tags << tag;
        }
    }
    return tags;
}

RunListOrder::RunListOrder(RunListModel* runs, QObject* parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(RunListModel::SortRole);
    setSourceModel(runs);
}

void RunListOrder::setWords(const QString& text)
{
    m_words = text.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool RunListOrder::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    const QVariant a = left.data(RunListModel::SortRole);
    const QVariant b = right.data(RunListModel::SortRole);
    if (a.userType() == QMetaType::Double && b.userType() == QMetaType::Double) {
        const double x = a.toDouble();
        const double y = b.toDouble();
        if (std::isnan(x) || std::isnan(y)) {
            // Descending order asks the question the other way round; NaN stays last in both.
            const bool lastIsGreater = sortOrder() == Qt::AscendingOrder;
            return std::isnan(x) != std::isnan(y) && (std::isnan(y) == lastIsGreater);
        }
        return x < y;
    }
    if (a.userType() == QMetaType::QString) {
        return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
    }
    return QSortFilterProxyModel::lessThan(left, right);
}

bool RunListOrder::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    const QString text = sourceModel()->index(row, 0, parent).data(RunListModel::SearchRole).toString();
    return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) { return text.contains(word); });
}

} // namespace mantissa
