/// How phases of a step are told apart: shades of the lane's colour, and hatching where nothing is computed for the
/// training itself.
#pragma once

#include "ui/time/time_history.h"

#include <QColor>
#include <QPalette>
#include <QRectF>

class QPainter;

namespace mantissa {

class PhasePainter
{
public:
    /// `color` is the lane's.
    PhasePainter(const QColor& color, const QPalette& palette);

    void fill(QPainter& painter, const QRectF& area, StepPhase phase) const;
    /// The phases side by side from the left; the whole width stands for `fullMs`.
    void bar(QPainter& painter, const QRectF& area, const PhaseMs& ms, double fullMs) const;

private:
    QColor m_color;
    QColor m_background;
};

} // namespace mantissa
