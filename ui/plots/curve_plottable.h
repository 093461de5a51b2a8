/// Draws the curves of one plot in a bounded number of strokes, however many steps there are.
#pragma once

#include "ui/plots/band_image.h"
#include "ui/plots/series_pyramid.h"
#include "ui/plots/step_runs.h"
#include "ui/plots/view_cache.h"

#include <qcustomplot.h>

#include <map>
#include <vector>

namespace mantissa {

/// One curve; what it points to is not owned and must outlive its use.
struct Curve
{
    const SeriesPyramid* series = nullptr;
    QColor color;
    Qt::PenStyle style = Qt::SolidLine;
    bool stepped = false; ///< a value holds until the next step (scale)
    bool bridgesGaps = true; ///< connects values across steps that have none
    bool hasBand = true; ///< shows the extent of each column as a pale bar
    bool highlighted = false;
    bool dimmed = false; ///< another curve is highlighted
    double smoothing = 0; ///< see smoothing.h; 0: off
    const StepRuns* skips = nullptr; ///< steps to be crossed on the curve
    std::int64_t endStep = -1; ///< the curve ends there in a marked point; -1: it does not
};

/// Key axis: steps, linear. Value axis: linear or logarithmic; on a log axis values at or below 0 lie on the lower
/// edge. Where steps are narrower than a pixel: one pale, opaque bar from minimum to maximum per column of 2^k steps,
/// and a line through the means; otherwise the values themselves. Values that are not finite break the line and are
/// marked by a triangle at the last finite height: pointing up for infinity, down for -infinity, hollow for NaN. Pens
/// are one device pixel wide and nothing is translucent: both cost tenfold and more otherwise.
class CurvePlottable : public QCPAbstractPlottable
{
    Q_OBJECT

public:
    CurvePlottable(QCPAxis* keyAxis, QCPAxis* valueAxis);

    void setCurves(std::vector<Curve> curves) { m_curves = std::move(curves); }

    [[nodiscard]] const std::vector<Curve>& curves() const { return m_curves; }

    void setBackground(const QColor& color) { m_background = color; }

    /// Columns are 2^k steps wide in the present view; 0: every step is drawn.
    [[nodiscard]] int log2ColumnWidth() const;
    /// The height at which `value` is drawn, in pixels; values at or below 0 on a log axis lie on the lower edge.
    [[nodiscard]] double valueToPixel(double value) const;

    double selectTest(const QPointF& pos, bool onlySelectable, QVariant* details = nullptr) const override;
    QCPRange getKeyRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth) const override;
    QCPRange getValueRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth,
        const QCPRange& inKeyRange = QCPRange()) const override;

protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override;

private:
    /// The mapping from steps and values to pixels, kept simple because it runs for every point.
    struct View
    {
        double left = 0;
        double firstKey = 0;
        double pixelsPerStep = 1;
        double top = 0;
        double bottom = 0;
        double lower = 0;
        double pixelsPerUnit = 1;
        bool logarithmic = false;
        StepWindow steps; ///< that can be seen

        [[nodiscard]] double x(double step) const { return left + (step - firstKey) * pixelsPerStep; }

        [[nodiscard]] double y(double value) const;
    };

    [[nodiscard]] View view() const;
    void drawBands(QCPPainter* painter, const std::vector<const Curve*>& curves, const View& view);
    template <typename Fill> void forEachBandColumn(const Curve& curve, const View& view, double scale, Fill fill);
    void drawLine(QCPPainter* painter, const Curve& curve, const View& view);
    void collect(const Curve& curve, const View& view, bool smooth);
    void breakPieces(const Curve& curve, const View& view);
    void strokePieces(QCPPainter* painter, const Curve& curve, const QColor& color);
    void drawNonFinite(QCPPainter* painter, const Curve& curve, const View& view) const;
    void drawSkips(QCPPainter* painter, const Curve& curve, const View& view) const;
    void drawEnd(QCPPainter* painter, const Curve& curve, const View& view) const;
    [[nodiscard]] QColor lineColor(const Curve& curve) const;
    [[nodiscard]] QColor bandColor(const Curve& curve) const;

    std::vector<Curve> m_curves;
    QColor m_background = Qt::white;
    std::map<const SeriesPyramid*, ViewCache> m_cache;
    BandImage m_bands;
    // Scratch, kept to spare a hundred allocations per frame.
    std::vector<SeriesSample> m_samples;
    std::vector<QPolygonF> m_pieces;
    std::vector<QLineF> m_lines;
};

} // namespace mantissa
