/// Elements of a tensor by magnitude, one bar an octave, with the zones of the format that they are rounded to; and,
/// where it is known, the gradient as FP32 has it, which can be dragged along the axis to see what another scale does.
#pragma once

#include "engine/probe/tensor_sample.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <optional>

class QPainter;

namespace mantissa {

struct HistogramContent
{
    TensorSample held; ///< as the lane has it
    QString heldName;
    std::optional<TensorSample> reference; ///< not scaled
    QString referenceName;
    std::optional<DType> format; ///< whose zones are shown; nothing: FP32, whose ends lie far outside
    int exponent = 0; ///< the reference is drawn times 2^exponent
    bool isDraggable = false;
    QColor color; ///< the lane's
    QString axisTitle;
};

class HistogramPlot : public QWidget
{
    Q_OBJECT
public:
    explicit HistogramPlot(QWidget* parent = nullptr);

    void show(HistogramContent content);
    void showText(const QString& why); ///< instead of a histogram

    [[nodiscard]] const std::optional<HistogramContent>& content() const { return m_content; }

    /// As on the screen, into any device; for exports.
    void paint(QPainter& painter, const QSize& size) const;

    /// The middle of the bar of magnitudes [2^exponent, 2^(exponent + 1)), in the widget's pixels.
    [[nodiscard]] double positionOf(int exponent) const;

    [[nodiscard]] QSize sizeHint() const override { return {640, 320}; }

    [[nodiscard]] QSize minimumSizeHint() const override { return {320, 180}; }

signals:
    void exponentDragged(int exponent);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override; ///< tooltips

private:
    struct Scene;

    [[nodiscard]] Scene sceneFor(const QSize& size) const;
    void paintZones(QPainter& painter, const Scene& scene) const;
    void paintAxes(QPainter& painter, const Scene& scene) const;
    void paintBars(QPainter& painter, const Scene& scene) const;
    void paintReference(QPainter& painter, const Scene& scene) const;
    void paintLegend(QPainter& painter, const Scene& scene) const;
    [[nodiscard]] QString tipAt(const QPoint& position) const;

    std::optional<HistogramContent> m_content;
    QString m_text;
    double m_dragFrom = 0;
    int m_dragStart = 0;
    bool m_isDragging = false;
};

} // namespace mantissa
