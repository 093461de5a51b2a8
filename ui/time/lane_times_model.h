/// Lanes and the mean time of their steps, a row each; the last column is a bar of the phases.
#pragma once

#include "ui/time/phase_words.h"

#include <QAbstractTableModel>
#include <QColor>

#include <cstdint>
#include <vector>

namespace mantissa {

struct LaneTimes
{
    std::uint32_t lane = 0;
    QColor color;
    TimeSummary summary {};
};

class LaneTimesModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Name, Milliseconds, Ratio, Scaler, Wait, Casts, Bar, ColumnCount };

    enum Role { SortRole = Qt::UserRole };

    using QAbstractTableModel::QAbstractTableModel;

    void setRows(std::vector<LaneTimes> rows);

    [[nodiscard]] const std::vector<LaneTimes>& rows() const { return m_rows; }

    [[nodiscard]] double longest() const; ///< of all rows, in milliseconds

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] double number(const LaneTimes& row, int column) const;

    std::vector<LaneTimes> m_rows;
};

} // namespace mantissa
