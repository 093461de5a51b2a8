#include "ui/time/phase_painter.h"

#include "ui/style/theme.h"

#include <QPainter>

namespace mantissa {

namespace {

struct Look
{
    double strength; ///< of the lane's colour on the background
    Qt::BrushStyle hatch;
};

Look lookOf(StepPhase phase)
{
    switch (phase) {
    case StepPhase::Forward:
        return {1.0, Qt::NoBrush};
    case StepPhase::Backward:
        return {0.7, Qt::NoBrush};
    case StepPhase::Unscale:
        return {0.25, Qt::NoBrush};
    case StepPhase::Clip:
        return {0.85, Qt::NoBrush};
    case StepPhase::Optimizer:
        return {0.45, Qt::NoBrush};
    case StepPhase::Load:
        return {0.15, Qt::NoBrush};
    case StepPhase::Wait:
        return {0.15, Qt::BDiagPattern};
    case StepPhase::Instruments:
        return {0.0, Qt::Dense6Pattern};
    case StepPhase::Evaluation:
        return {0.0, Qt::FDiagPattern};
    }
    return {0, Qt::NoBrush};
}

} // namespace

PhasePainter::PhasePainter(const QColor& color, const QPalette& palette)
    : m_color(readableOn(color, plotColors(palette).background))
    , m_background(plotColors(palette).background)
{
}

void PhasePainter::fill(QPainter& painter, const QRectF& area, StepPhase phase) const
{
    const Look look = lookOf(phase);
    painter.fillRect(area, blend(m_color, m_background, look.strength));
    if (look.hatch != Qt::NoBrush) {
        painter.fillRect(area, QBrush(m_color, look.hatch));
    }
}

void PhasePainter::bar(QPainter& painter, const QRectF& area, const PhaseMs& ms, double fullMs) const
{
    double left = area.left();
    for (const StepPhase phase : allStepPhases) {
        const double width = fullMs == 0 ? 0 : ms[phase] / fullMs * area.width();
        fill(painter, QRectF(left, area.top(), width, area.height()), phase);
        left += width;
    }
}

} // namespace mantissa
