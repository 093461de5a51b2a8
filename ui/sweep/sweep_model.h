/// The table of a sweep's points: a column for each setting that is swept, then what the runs came to.
#pragma once

#include "engine/sweep/sweep_table.h"
#include "ui/sweep/sweep_results.h"

#include <QAbstractTableModel>
#include <QColor>
#include <QSet>
#include <QSortFilterProxyModel>

#include <functional>
#include <vector>

namespace mantissa {

/// Texts have four significant digits, tooltips and CopyRole every one.
class SweepModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Role { SortRole = Qt::UserRole, CopyRole };

    explicit SweepModel(QObject* parent = nullptr);

    void show(SweepTable table);
    /// By row; of the swatch beside the point's number.
    void setColors(std::vector<QColor> colors);

    [[nodiscard]] const SweepTable& table() const { return m_table; }

    /// Which runs the dashboard draws; asking for it is showRequested()'s receiver's job.
    void setShown(RunId run, bool isShown);

    [[nodiscard]] bool isShown(RunId run) const { return m_shown.contains(run); }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void languageChanged();

signals:
    void showRequested(mantissa::RunId run, bool isWanted);

private:
    [[nodiscard]] int settings() const { return static_cast<int>(m_table.columns.size()); }

    [[nodiscard]] int statusColumn() const { return settings() + 1; }

    [[nodiscard]] static SweepResult resultAt(int column);

    [[nodiscard]] QVariant settingData(const SweepRow& row, const std::string& column, int role) const;
    [[nodiscard]] QVariant resultData(const SweepRow& row, SweepResult result, int role) const;

    SweepTable m_table;
    std::vector<QColor> m_colors;
    QSet<RunId> m_shown;
};

/// Sorts by values, what has none last; shows the rows that are kept.
class SweepOrder : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit SweepOrder(SweepModel* model, QObject* parent = nullptr);

    void setKept(std::function<bool(int row)> isKept);

protected:
    [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    std::function<bool(int row)> m_isKept;
};

} // namespace mantissa
