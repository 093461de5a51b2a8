/// Legend and readout in one table: a row per lane with its numbers at the crosshair, or its newest ones.
#pragma once

#include <QAbstractTableModel>
#include <QIcon>
#include <QTableView>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace mantissa {

/// What one row shows. Unset: there is no value.
struct LaneRow
{
    quint64 key = 0;
    QString name;
    QColor color;
    Qt::PenStyle style = Qt::SolidLine;
    bool isVisible = true;
    bool isBaseline = false;
    bool isNearest = false; ///< its curve is the closest to the pointer
    double pointerDistance = std::numeric_limits<double>::infinity(); ///< pixels
    std::optional<std::int64_t> step;
    std::optional<double> loss;
    std::optional<double> smoothedLoss;
    std::optional<double> heldOutLoss; ///< newest
    std::optional<double> accuracy; ///< on held-out data, newest
    std::optional<double> gradNorm;
    std::optional<double> gradNormClipped;
    std::optional<double> scale;
    std::optional<double> gap;
    std::optional<double> distance;
    std::optional<std::int64_t> skipped; ///< none: not known
    QString ending; ///< why its curve ends, if it does
};

class LaneTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column {
        Lane,
        Step,
        SmoothedLoss,
        Loss,
        HeldOutLoss,
        Accuracy,
        GradNorm,
        Clipped,
        Scale,
        Gap,
        Distance,
        Skipped,
        ColumnCount
    };
    enum class Order { AsAdded, ByColumn, Nearest };

    using QAbstractTableModel::QAbstractTableModel;

    void setRows(std::vector<LaneRow> rows);
    void setFont(const QFont& font); ///< of the numbers
    void setOrder(Order order, int column = Lane, Qt::SortOrder direction = Qt::AscendingOrder);
    [[nodiscard]] const LaneRow& row(int index) const;
    [[nodiscard]] QIcon swatch(const LaneRow& row) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder direction) override;

private:
    [[nodiscard]] std::vector<int> ordered() const;
    [[nodiscard]] static std::optional<double> value(const LaneRow& row, int column);
    [[nodiscard]] static QString text(const LaneRow& row, int column);
    [[nodiscard]] static QString toolTip(const LaneRow& row, int column);

    QFont m_font;
    std::vector<LaneRow> m_rows;
    std::vector<int> m_order;
    Order m_orderBy = Order::AsAdded;
    int m_column = Lane;
    Qt::SortOrder m_direction = Qt::AscendingOrder;
};

class LaneTable : public QTableView
{
    Q_OBJECT

public:
    explicit LaneTable(QWidget* parent = nullptr);

    void setRows(std::vector<LaneRow> rows);

    [[nodiscard]] LaneTableModel* laneModel() const { return m_model; }

    void setColumnShown(LaneTableModel::Column column, bool shown);
    /// The shown columns of all rows, tab-separated, with full digits.
    [[nodiscard]] QString asText() const;
    void sortBy(
        LaneTableModel::Order order, int column = LaneTableModel::Lane, Qt::SortOrder direction = Qt::AscendingOrder);

signals:
    void visibilityRequested(quint64 key, bool visible);
    void isolateRequested(quint64 key);
    void baselineRequested(quint64 key);
    void hovered(std::optional<quint64> key);
    void activated(quint64 key);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    void applyFont();
    void fitHeight();
    void toggle(const QModelIndex& index);

    LaneTableModel* m_model;
};

} // namespace mantissa
