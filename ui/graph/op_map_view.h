/// Shows an op map: zoom, pan, selection, folding of blocks, marks of a search. Knows no session.
#pragma once

#include "ui/graph/op_map_painter.h"

#include <QAbstractScrollArea>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mantissa {

class OpMapView : public QAbstractScrollArea
{
    Q_OBJECT
public:
    explicit OpMapView(QWidget* parent = nullptr);

    /// Selection, folding and place stay where the new map has the same blocks. Null: shows the empty text.
    void setMap(std::shared_ptr<const OpMap> map);

    [[nodiscard]] const std::shared_ptr<const OpMap>& map() const { return m_map; }

    [[nodiscard]] const OpMapLayout& layoutOfMap() const { return m_layout; }

    void setLaneColor(const QColor& color);
    void setEmptyText(const QString& text);
    void setPending(std::map<NodeIndex, QString> pending);

    /// Marks the ops whose name or kind contains the text; an empty text ends the search. Casts and backward ops go
    /// with their op.
    void search(const QString& text);

    [[nodiscard]] const std::vector<NodeIndex>& matches() const { return m_matches; }

    /// The next match (1) or the one before (-1), unfolding what hides it.
    void selectMatch(int step);

    void select(NodeIndex node); ///< unfolds its block if need be, and scrolls there
    [[nodiscard]] std::optional<NodeIndex> selectedNode() const;

    void setFolded(const std::string& block, bool isFolded);
    void setAllFolded(bool areFolded);

    [[nodiscard]] bool isFolded(const std::string& block) const { return m_folded.contains(block); }

    [[nodiscard]] double zoom() const { return m_zoom; }

    /// In the viewport; of the node's block where that is folded.
    [[nodiscard]] QRect rectOf(NodeIndex node) const;

public slots:
    void fit(); ///< the whole width, in readable type
    void zoomIn();
    void zoomOut();

signals:
    void menuWanted(mantissa::NodeIndex node, const QPoint& globalPosition);
    void mapMenuWanted(const QPoint& globalPosition); ///< beside all nodes
    void copyWanted();
    void selectionChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void arrange();
    void updateScrollBars();
    void setZoom(double zoom, const QPointF& fixedPoint);
    [[nodiscard]] double zoomThatFits() const;
    [[nodiscard]] QPointF origin() const; ///< of the layout, in the viewport
    [[nodiscard]] QPointF toLayout(const QPointF& viewportPoint) const;
    [[nodiscard]] QRectF toViewport(const QRectF& rect) const;
    void selectBox(std::optional<std::size_t> box);
    void showBox(std::size_t box);
    void activate(std::size_t box, const QPoint& globalPosition);
    void move(OpMapLayout::Direction direction);
    [[nodiscard]] QString textOf(std::size_t box) const;

    std::shared_ptr<const OpMap> m_map;
    OpMapPainter m_painter;
    OpMapLayout m_layout;
    MapMarks m_marks;
    std::set<std::string> m_folded;
    std::vector<NodeIndex> m_matches;
    QString m_searched;
    QString m_emptyText;
    QColor m_laneColor;
    double m_zoom = 1;
    bool m_wantsFit = true; ///< nobody has zoomed yet
    std::optional<QPoint> m_panFrom;
};

} // namespace mantissa
