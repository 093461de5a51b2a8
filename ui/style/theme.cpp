#include "ui/style/theme.h"

#include <QFontDatabase>
#include <QFontMetricsF>
#include <QPainter>
#include <QPixmap>

#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa {

namespace {

// Okabe and Ito, "Color Universal Design", 2008: blue, vermilion, green, purple, orange, sky blue.
constexpr std::array<QRgb, 6> okabeIto {0xFF0072B2, 0xFFD55E00, 0xFF009E73, 0xFFCC79A7, 0xFFE69F00, 0xFF56B4E9};
// The same hues, lifted to equal weight on near-black; on white the lighter three are deepened.
constexpr std::array<QRgb, 6> onDark {0xFF4DA3E0, 0xFFF07D33, 0xFF22B98A, 0xFFDB93BC, 0xFFE8B030, 0xFF86CBF2};
constexpr std::array<QRgb, 6> onLight {0xFF0072B2, 0xFFD55E00, 0xFF00906A, 0xFFBC5F91, 0xFFB87F00, 0xFF2D92CC};
static_assert(okabeIto.size() == onDark.size() && okabeIto.size() == onLight.size());

double linear(double channel)
{
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

/// Relative luminance of WCAG 2.1.
double luminance(const QColor& color)
{
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

struct Ink
{
    QRgb window;
    QRgb base;
    QRgb alternate;
    QRgb button;
    QRgb text;
    QRgb disabled;
    QRgb highlight;
    QRgb highlightedText;
    QRgb link;
    QRgb light;
    QRgb mid;
    QRgb dark;
};

QPalette paletteFrom(const Ink& ink)
{
    QPalette palette;
    palette.setColor(QPalette::Window, ink.window);
    palette.setColor(QPalette::Base, ink.base);
    palette.setColor(QPalette::AlternateBase, ink.alternate);
    palette.setColor(QPalette::Button, ink.button);
    palette.setColor(QPalette::ToolTipBase, ink.base);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText}) {
        palette.setColor(role, ink.text);
        palette.setColor(QPalette::Disabled, role, ink.disabled);
    }
    palette.setColor(QPalette::PlaceholderText, ink.disabled);
    palette.setColor(QPalette::BrightText, ink.text);
    palette.setColor(QPalette::Highlight, ink.highlight);
    palette.setColor(QPalette::HighlightedText, ink.highlightedText);
    palette.setColor(QPalette::Link, ink.link);
    palette.setColor(QPalette::LinkVisited, ink.link);
    palette.setColor(QPalette::Light, ink.light);
    palette.setColor(QPalette::Midlight, ink.light);
    palette.setColor(QPalette::Mid, ink.mid);
    palette.setColor(QPalette::Dark, ink.dark);
    palette.setColor(QPalette::Shadow, ink.dark);
    return palette;
}

} // namespace

bool isDark(const QPalette& palette)
{
    return luminance(palette.color(QPalette::WindowText)) > luminance(palette.color(QPalette::Window));
}

QPalette lightPalette()
{
    return paletteFrom({0xFFF3F4F5, 0xFFFFFFFF, 0xFFF7F8F9, 0xFFECEEF0, 0xFF1E2226, 0xFF8A9097, 0xFF3B6EA5, 0xFFFFFFFF,
        0xFF1F5F9E, 0xFFFFFFFF, 0xFFC3C8CD, 0xFF9AA1A8});
}

QPalette darkPalette()
{
    return paletteFrom({0xFF1F2326, 0xFF16191B, 0xFF1B1F21, 0xFF2A2F33, 0xFFE3E6E8, 0xFF7C858C, 0xFF3B6EA5, 0xFFFFFFFF,
        0xFF7FB7EA, 0xFF343A3F, 0xFF3D444A, 0xFF0E1011});
}

QColor laneColor(int index, bool dark)
{
    const auto& colors = dark ? onDark : onLight;
    return QColor::fromRgb(colors[static_cast<std::size_t>(std::max(0, index)) % colors.size()]);
}

Qt::PenStyle laneStyle(int index)
{
    const auto round = static_cast<std::size_t>(std::max(0, index)) / okabeIto.size();
    return round == 0 ? Qt::SolidLine : round % 2 == 1 ? Qt::DashLine : Qt::DotLine;
}

double contrastRatio(const QColor& a, const QColor& b)
{
    const double first = luminance(a);
    const double second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

QColor readableOn(const QColor& color, const QColor& background, double contrast)
{
    const QColor target = luminance(background) > 0.18 ? QColor(Qt::black) : QColor(Qt::white);
    QColor result = color;
    for (int percent = 4; contrastRatio(result, background) < contrast && percent <= 100; percent += 4) {
        result = blend(target, color, percent / 100.0);
    }
    return result;
}

QColor blend(const QColor& color, const QColor& background, double share)
{
    const auto mix
        = [share](float a, float b) { return static_cast<float>(share) * a + static_cast<float>(1 - share) * b; };
    return QColor::fromRgbF(mix(color.redF(), background.redF()), mix(color.greenF(), background.greenF()),
        mix(color.blueF(), background.blueF()));
}

PlotColors plotColors(const QPalette& palette)
{
    PlotColors colors;
    colors.dark = isDark(palette);
    colors.background = palette.color(QPalette::Active, QPalette::Base);
    colors.surround = palette.color(QPalette::Active, QPalette::Window);
    colors.text = palette.color(QPalette::Active, QPalette::WindowText);
    colors.faintText = blend(colors.text, colors.surround, 0.68);
    colors.axis = blend(colors.text, colors.surround, 0.45);
    colors.grid = blend(colors.text, colors.background, colors.dark ? 0.11 : 0.10);
    colors.cursor = blend(colors.text, colors.background, 0.62);
    colors.mark = blend(colors.text, colors.background, 0.5);
    return colors;
}

QFont tabularFont(const QFont& base)
{
    const QFontMetricsF metrics(base);
    const double width = metrics.horizontalAdvance(QLatin1Char('0'));
    for (char16_t digit = u'1'; digit <= u'9'; ++digit) {
        if (std::abs(metrics.horizontalAdvance(QChar(digit)) - width) > 0.01) {
            QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
            fixed.setPointSizeF(base.pointSizeF());
            return fixed;
        }
    }
    return base;
}

QIcon laneSwatch(const QColor& color, Qt::PenStyle style, bool shown, const QSize& size, double devicePixelRatio)
{
    QPixmap pixmap(size * devicePixelRatio);
    pixmap.setDevicePixelRatio(devicePixelRatio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area(1.5, 1.5, size.width() - 3.0, size.height() - 3.0);
    if (!shown) {
        painter.setPen(QPen(color, 1));
        painter.drawRoundedRect(area.adjusted(area.width() / 4, 0, -area.width() / 4, 0), 2, 2);
    } else if (style == Qt::SolidLine) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawRoundedRect(area.adjusted(area.width() / 4, 0, -area.width() / 4, 0), 2, 2);
    } else {
        QPen pen(color, 3);
        pen.setCapStyle(Qt::FlatCap);
        pen.setDashPattern(style == Qt::DashLine ? QList<qreal> {1.6, 0.8} : QList<qreal> {0.7, 0.7});
        painter.setPen(pen);
        painter.drawLine(QPointF(0.5, size.height() / 2.0), QPointF(size.width() - 0.5, size.height() / 2.0));
    }
    return QIcon(pixmap);
}

} // namespace mantissa
