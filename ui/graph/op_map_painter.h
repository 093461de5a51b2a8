/// Draws the op map, on screen and into files. Colour means a lane (ui.md), so formats differ by shade, hatching and
/// their name: FP32 is blank, FP16 dark, BF16 grey and hatched.
#pragma once

#include "ui/graph/op_map_layout.h"

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QString>

#include <map>
#include <optional>
#include <set>

class QPainter;

namespace mantissa {

/// What is drawn onto the map besides the graph.
struct MapMarks
{
    std::optional<std::size_t> selected {}; ///< box
    bool hasFocus = false;
    std::optional<std::set<NodeIndex>> matches {}; ///< of a search; the rest steps back
    std::map<NodeIndex, QString> pending {}; ///< what an op will be from the next step on: "FP16"
};

/// The font in pixels, so that text has the size that the layout allows for on every device.
QFont inPixels(QFont font);

class OpMapPainter
{
public:
    OpMapPainter(const QFont& font, const QPalette& palette);

    [[nodiscard]] MapMetrics metrics() const;

    /// What lies in `visible`, in layout coordinates.
    void paint(QPainter& painter, const OpMap& map, const OpMapLayout& layout, const MapMarks& marks,
        const QRectF& visible) const;

    /// "FP16" on the format's ground; also the legend's sample.
    void paintTag(QPainter& painter, const QRectF& rect, DType format, const QString& text) const;

private:
    void paintHeadings(QPainter& painter, const OpMapLayout& layout) const;
    void paintEdge(QPainter& painter, const MapEdge& edge) const;
    void paintOp(QPainter& painter, const OpMap& map, const MapBox& box, const MapMarks& marks) const;
    void paintCast(QPainter& painter, const OpMap& map, const MapBox& box) const;
    void paintBlock(QPainter& painter, const MapBlock& block, const MapBox& box) const;
    void paintTitle(QPainter& painter, const MapBlock& block, const QRectF& rect) const;
    void paintText(QPainter& painter, const QRectF& rect, const QString& text, const QColor& color,
        Qt::TextElideMode elision = Qt::ElideRight) const;
    [[nodiscard]] static bool isAside(const OpMap& map, const MapBox& box, const MapMarks& marks);
    [[nodiscard]] double tagWidth() const;
    [[nodiscard]] QColor ground(DType format) const;
    [[nodiscard]] QColor inkOn(const QColor& ground) const;

    QFont m_font;
    QFont m_bold;
    QPalette m_palette;
    QColor m_text;
    QColor m_faint;
    QColor m_base;
    QColor m_line;
};

} // namespace mantissa
