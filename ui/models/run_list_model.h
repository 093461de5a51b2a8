/// The table of stored runs, newest first, and the order and filter in which a view shows it.
#pragma once

#include "engine/store/run_store.h"

#include <QAbstractTableModel>
#include <QSet>
#include <QSortFilterProxyModel>
#include <QStringList>

#include <vector>

namespace mantissa {

/// Display texts have four significant digits and the language's number format; tooltips, and what CopyRole gives, the
/// full value. Tags and notes are edited in place: the row changes at once and a signal asks for it to be stored.
class RunListModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column {
        RunColumn, ///< its number; a check mark shows its curves
        StatusColumn,
        LaneColumn,
        ExperimentColumn,
        PolicyColumn,
        ScalerColumn,
        StepsColumn,
        LossColumn,
        AccuracyColumn,
        SkippedColumn,
        ScaleColumn,
        StartedColumn,
        DurationColumn,
        TagsColumn,
        NoteColumn,
        ColumnCount
    };

    enum Role {
        SortRole = Qt::UserRole, ///< the raw value
        CopyRole, ///< text with every digit, C locale
        SearchRole ///< of a row: all its texts, also those that no column shows
    };

    explicit RunListModel(QObject* parent = nullptr);

    /// Takes over a newest-first list; rows that stay keep their place, selection and editor.
    void setRuns(const std::vector<RunInfo>& runs);
    void removeRuns(const QList<RunId>& runs);

    [[nodiscard]] const RunInfo& at(int row) const { return m_runs.at(static_cast<std::size_t>(row)); }

    [[nodiscard]] int rowOf(RunId run) const; ///< -1: not here

    /// Which runs the plots show; asking for it is showRequested()'s receiver's job.
    void setShown(RunId run, bool isShown);

    [[nodiscard]] bool isShown(RunId run) const { return m_shown.contains(run); }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// "talk, a b" -> {"talk", "a b"}: trimmed, without empty ones and repetitions.
    static QStringList tagsFromText(const QString& text);

signals:
    void showRequested(mantissa::RunId run, bool isWanted);
    void tagsEdited(mantissa::RunId run, const QStringList& before, const QStringList& after);
    void noteEdited(mantissa::RunId run, const QString& before, const QString& after);

private:
    void update(int row, const RunInfo& run);

    std::vector<RunInfo> m_runs;
    QSet<RunId> m_shown;
};

/// Sorts by raw values, NaN always last; shows the rows that contain every word of the filter.
class RunListOrder : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit RunListOrder(RunListModel* runs, QObject* parent = nullptr);

    void setWords(const QString& text);

protected:
    [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
};

} // namespace mantissa
