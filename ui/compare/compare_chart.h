/// Two runs over their common steps, one plot below the other: the difference of their losses with the band of noise,
/// the distance of their weights where it is known, and both scales with the steps that were skipped.
#pragma once

#include "engine/store/run_comparison.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <memory>

class QPainter;

namespace mantissa {

using ComparisonPtr = std::shared_ptr<const RunComparison>;

class CompareChart : public QWidget
{
    Q_OBJECT
public:
    explicit CompareChart(QWidget* parent = nullptr);

    void show(ComparisonPtr comparison, const QColor& a, const QColor& b);
    void showText(const QString& why); ///< instead of plots

    [[nodiscard]] const ComparisonPtr& comparison() const { return m_comparison; }

    /// As on the screen, into any device; for exports.
    void paint(QPainter& painter, const QSize& size) const;
    /// What the runs have at a place, in words; empty outside the plots.
    [[nodiscard]] QString textAt(const QPoint& position) const;
    [[nodiscard]] double xOf(std::size_t window) const; ///< the middle of it, in the widget's pixels

    [[nodiscard]] QSize sizeHint() const override { return {640, 360}; }

    [[nodiscard]] QSize minimumSizeHint() const override { return {320, 220}; }

signals:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override; ///< tooltips

private:
    struct Scene;

    [[nodiscard]] Scene sceneFor(const QSize& size) const;
    void paintGap(QPainter& painter, const Scene& scene, const QRectF& area) const;
    void paintDistance(QPainter& painter, const Scene& scene, const QRectF& area) const;
    void paintScales(QPainter& painter, const Scene& scene, const QRectF& area) const;

    ComparisonPtr m_comparison;
    QColor m_colorA;
    QColor m_colorB;
    QString m_text;
};

} // namespace mantissa
