/// Colours and fonts of the window. Everything follows the system's palette and font; only lanes bring own colours.
/// Colour means a lane, nothing else (ui.md).
#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QPalette>
#include <QSize>

namespace mantissa {

/// True if text is lighter than its background.
bool isDark(const QPalette& palette);

/// Complete palettes for people who do not want the system's; also what screenshots are made with.
QPalette lightPalette();
QPalette darkPalette();

/// Default colour of the lane with this position: Okabe-Ito's six hues, tuned so that each has a contrast of at least
/// 3:1 to the plot's background. From the seventh lane on hues repeat and laneStyle() tells lanes apart.
QColor laneColor(int index, bool dark);

/// Solid for the first six lanes, then dashed, then dotted.
Qt::PenStyle laneStyle(int index);

/// `color`, made lighter or darker (same hue) until its contrast to `background` is at least `contrast` (WCAG 2.1
/// ratio).
QColor readableOn(const QColor& color, const QColor& background, double contrast = 3.0);

/// WCAG 2.1 contrast ratio, 1 to 21.
double contrastRatio(const QColor& a, const QColor& b);

/// `share` of `color` on `background`, opaque: translucent fills cost 10-30 times as much to draw.
QColor blend(const QColor& color, const QColor& background, double share);

/// Colours of a plot's surroundings.
struct PlotColors
{
    QColor background; ///< of the plotting area
    QColor surround; ///< around it: the window's
    QColor axis;
    QColor grid;
    QColor text;
    QColor faintText;
    QColor cursor;
    QColor mark; ///< of a mark that belongs to no lane
    bool dark = false;
};

PlotColors plotColors(const QPalette& palette);

/// `base` if its digits all have one width, otherwise the system's fixed-width font at the same size: numbers that
/// change must not shake.
QFont tabularFont(const QFont& base);

/// A swatch of a lane: a line of its colour and style on a transparent ground, or hollow when the lane is hidden.
QIcon laneSwatch(const QColor& color, Qt::PenStyle style, bool shown, const QSize& size, double devicePixelRatio);

} // namespace mantissa
