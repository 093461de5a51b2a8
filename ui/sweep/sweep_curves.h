/// The losses of a sweep's runs over their steps, in the colours of the parallel coordinates.
#pragma once

#include "ui/sweep/sweep_loader.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

class QPainter;

namespace mantissa {

class SweepCurves : public QWidget
{
    Q_OBJECT
public:
    struct Curve
    {
        int row = 0; ///< in the sweep's table
        QColor color;
        QString name; ///< its settings
        ThinCurve points;
    };

    explicit SweepCurves(QWidget* parent = nullptr);

    void show(std::vector<Curve> curves);
    void select(std::optional<int> row);
    void setLog(bool isLog);
    void setSmoothing(double weight); ///< of the moving average, 0 to below 1

    [[nodiscard]] const std::vector<Curve>& curves() const { return m_curves; }

    /// As on the screen, into any device; for exports.
    void paint(QPainter& painter, const QSize& size) const;
    /// The curve nearest to a place, in words; empty where there is none.
    [[nodiscard]] QString textAt(const QPoint& position) const;

    [[nodiscard]] QSize sizeHint() const override { return {360, 260}; }

    [[nodiscard]] QSize minimumSizeHint() const override { return {220, 170}; }

signals:
    void rowSelected(int row); ///< by a person; -1: none

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override; ///< tooltips
    void changeEvent(QEvent* event) override;

private:
    struct Scene;

    [[nodiscard]] Scene sceneFor(const QSize& size) const;
    [[nodiscard]] std::optional<std::size_t> curveAt(const QPointF& position) const;
    void smooth();

    std::vector<Curve> m_curves;
    std::vector<std::vector<double>> m_losses; ///< smoothed, by curve
    std::optional<int> m_selected;
    double m_smoothing = 0.6;
    bool m_isLog = true;
};

} // namespace mantissa
