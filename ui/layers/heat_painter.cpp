#include "ui/layers/heat_painter.h"

#include "ui/layers/layer_words.h"
#include "ui/plots/picture_file.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr double margin = 12;
constexpr double spacing = 6;
constexpr double widestCell = 40; // so that the first steps do not shrink with every one that comes
constexpr double gapFrom = 6; // cells at least so wide have a gap between them
constexpr double pictureCells = 640; // wide, at least

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa::HeatPainter", text);
}

/// The grey whose lightness in CIE L*a*b* is `lightness` (0 to 100): equal steps of it look equal.
QColor grey(double lightness)
{
    const double f = (lightness + 16) / 116;
    const double linear = lightness > 8 ? f * f * f : lightness / 903.3;
    const double channel = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
    const auto value = static_cast<float>(std::clamp(channel, 0.0, 1.0));
    return QColor::fromRgbF(value, value, value);
}

double cellsWidth(std::size_t columns, double width)
{
    return std::min(width, widestCell * static_cast<double>(columns));
}

QBrush hatching(const QPalette& palette)
{
    return {blend(palette.color(QPalette::Text), palette.color(QPalette::Base), 0.7), Qt::BDiagPattern};
}

} // namespace

HeatPainter::HeatPainter(const QFont& font, const QPalette& palette)
    : m_font(font)
    , m_palette(palette)
{
}

QColor HeatPainter::shade(double strength) const
{
    // Even the weakest is told from the ground.
    const bool dark = isDark(m_palette);
    const double weakest = dark ? 20 : 93;
    const double strongest = dark ? 97 : 8;
    return grey(weakest + strength * (strongest - weakest));
}

double HeatPainter::left(std::size_t column, std::size_t columns, double width)
{
    return std::floor(cellsWidth(columns, width) * static_cast<double>(column) / static_cast<double>(columns));
}

std::size_t HeatPainter::columnAt(double x, std::size_t columns, double width)
{
    const double share = std::clamp((x + 0.5) / std::max(cellsWidth(columns, width), 1.0), 0.0, 1.0);
    auto column = std::min(static_cast<std::size_t>(share * static_cast<double>(columns)), columns - 1);
    while (column + 1 < columns && left(column + 1, columns, width) <= x) {
        ++column;
    }
    return column;
}

void HeatPainter::paintCell(
    QPainter& painter, const QRectF& cell, const HeatContent& content, std::size_t row, std::size_t column) const
{
    const double value = content.grid->value(row, column, content.measure);
    if (!std::isnan(value)) {
        painter.fillRect(cell, shade(content.scale.strength(value)));
    } else if (content.grid->applies(row, content.measure)) {
        painter.fillRect(cell, hatching(m_palette));
    }
}

void HeatPainter::paintRow(QPainter& painter, const QRectF& rect, const HeatContent& content, std::size_t row) const
{
    const std::size_t columns = content.grid->columns();
    if (columns == 0 || rect.width() < 1) {
        return;
    }
    const double width = rect.width();
    if (static_cast<double>(columns) > width) {
        // Several steps share a pixel: the one to look at stands for them.
        std::size_t begin = 0;
        for (double x = 0; x < width && begin < columns; ++x) {
            std::size_t end = begin;
            while (end < columns && left(end, columns, width) <= x) {
                ++end;
            }
            if (end > begin) {
                const std::size_t column
                    = strongestColumn(*content.grid, content.scale, content.measure, row, begin, end);
                paintCell(painter, {rect.left() + x, rect.top(), 1, rect.height()}, content, row, column);
            }
            begin = end;
        }
    } else {
        for (std::size_t column = 0; column < columns; ++column) {
            const double from = left(column, columns, width);
            const double wide = left(column + 1, columns, width) - from;
            const double gap = wide >= gapFrom ? 1 : 0;
            paintCell(painter, {rect.left() + from, rect.top(), wide - gap, rect.height()}, content, row, column);
        }
    }
    if (content.column) {
        const double from = left(*content.column, columns, width);
        const double wide = std::max(left(*content.column + 1, columns, width) - from, 1.0);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(m_palette.color(QPalette::Base), 1));
        painter.drawLine(
            QPointF(rect.left() + from - 1.5, rect.top()), QPointF(rect.left() + from - 1.5, rect.bottom()));
        painter.drawLine(QPointF(rect.left() + from + wide + 0.5, rect.top()),
            QPointF(rect.left() + from + wide + 0.5, rect.bottom()));
        painter.setPen(QPen(m_palette.color(QPalette::Text), 1));
        painter.drawLine(
            QPointF(rect.left() + from - 0.5, rect.top()), QPointF(rect.left() + from - 0.5, rect.bottom()));
        painter.drawLine(QPointF(rect.left() + from + wide - 0.5, rect.top()),
            QPointF(rect.left() + from + wide - 0.5, rect.bottom()));
    }
}

void HeatPainter::paintSteps(QPainter& painter, const QRectF& rect, const HeatContent& content) const
{
    const std::size_t columns = content.grid->columns();
    if (columns == 0) {
        return;
    }
    QFont bold = m_font;
    bold.setBold(true);
    const PlotColors colors = plotColors(m_palette);
    const auto widthOf
        = [](const QFont& font, const QString& text) { return QFontMetricsF(font).horizontalAdvance(text); };
    const auto draw = [&](const QFont& font, const QColor& color, const QRectF& place, const QString& text) {
        painter.setFont(font);
        painter.setPen(color);
        painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, text);
    };
    QRectF taken;
    if (content.column) {
        const QString text = tr("step %1").arg(formatCount(content.grid->step(*content.column)));
        const double wide = widthOf(bold, text);
        const double centre = rect.left()
            + (left(*content.column, columns, rect.width()) + left(*content.column + 1, columns, rect.width())) / 2;
        const double from = std::clamp(centre - wide / 2, rect.left(), std::max(rect.left(), rect.right() - wide));
        taken = {from - spacing, rect.top(), wide + 2 * spacing, rect.height()};
        draw(bold, colors.text, {from, rect.top(), wide, rect.height()}, text);
    }
    const QString first = formatCount(content.grid->step(0));
    const QString last = formatCount(content.grid->step(columns - 1));
    const QRectF atLeft(rect.left(), rect.top(), widthOf(m_font, first), rect.height());
    const double wide = widthOf(m_font, last);
    const double end = rect.left() + left(columns, columns, rect.width());
    const QRectF atRight(end - wide, rect.top(), wide, rect.height());
    if (!atLeft.intersects(taken)) {
        draw(m_font, colors.faintText, atLeft, first);
    }
    if (columns > 1 && !atRight.intersects(taken) && !atRight.intersects(atLeft)) {
        draw(m_font, colors.faintText, atRight, last);
    }
}

void HeatPainter::paintLegend(QPainter& painter, const QRectF& rect, const HeatContent& content) const
{
    constexpr double barWidth = 110;
    const QFontMetricsF metrics(m_font);
    const PlotColors colors = plotColors(m_palette);
    painter.setFont(m_font);
    double x = rect.left();
    const auto say = [&](const QString& text) {
        const double wide = std::min(metrics.horizontalAdvance(text), rect.right() - x);
        if (wide > 0) {
            painter.setPen(colors.faintText);
            painter.drawText(QRectF(x, rect.top(), wide, rect.height()), Qt::AlignVCenter,
                metrics.elidedText(text, Qt::ElideRight, wide + 1));
        }
        x += wide + spacing;
    };
    const HeatScale& scale = content.scale;
    const double least = scale.isReversed ? scale.upper : scale.lower;
    const double worst = scale.isReversed ? scale.lower : scale.upper;
    say(titleOf(content.measure));
    say(valueText(content.measure, least));
    const double inset = std::max(0.0, (rect.height() - metrics.ascent()) / 2);
    for (int i = 0; i < static_cast<int>(barWidth); ++i) {
        painter.fillRect(QRectF(x + i, rect.top() + inset, 1, rect.height() - 2 * inset), shade(i / (barWidth - 1)));
    }
    x += barWidth + spacing;
    say(scale.isLog ? tr("%1 (logarithmic)").arg(valueText(content.measure, worst))
                    : valueText(content.measure, worst));
    if (x + rect.height() < rect.right()) {
        const QRectF sample(x, rect.top() + inset, rect.height() - 2 * inset, rect.height() - 2 * inset);
        painter.fillRect(sample, hatching(m_palette));
        x += sample.width() + spacing;
        say(tr("not a number"));
    }
}

// --- HeatPicture ---

HeatPicture::HeatPicture(
    const HeatContent& content, std::vector<std::size_t> rows, const QFont& font, const QPalette& palette)
    : m_content(content)
    , m_rows(std::move(rows))
    , m_font(font)
    , m_palette(palette)
    , m_painter(font, palette)
{
    m_content.column.reset();
}

void HeatPicture::setTitle(const QString& title, const QColor& laneColor)
{
    m_title = title;
    m_laneColor = laneColor;
}

double HeatPicture::lineHeight() const
{
    return QFontMetricsF(m_font).height() + 4;
}

double HeatPicture::namesWidth() const
{
    const QFontMetricsF metrics(m_font);
    double width = 0;
    for (const std::size_t row : m_rows) {
        width = std::max(width, metrics.horizontalAdvance(QString::fromStdString(m_content.grid->rows()[row])));
    }
    return width + spacing;
}

QSizeF HeatPicture::size() const
{
    const double cells = std::max(pictureCells, static_cast<double>(m_content.grid->columns()));
    return {2 * margin + namesWidth() + cells,
        2 * margin + lineHeight() * (static_cast<double>(m_rows.size()) + 3) + spacing};
}

void HeatPicture::paint(QPainter& painter) const
{
    painter.fillRect(QRectF(QPointF(), size()), m_palette.color(QPalette::Base));
    painter.fillRect(QRectF(0, 0, size().width(), 4), m_laneColor);
    QFont bold = m_font;
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(m_palette.color(QPalette::Text));
    const double width = size().width() - 2 * margin;
    painter.drawText(QRectF(margin, margin, width, lineHeight()), Qt::AlignVCenter, m_title);
    double y = margin + lineHeight() + spacing;
    const QRectF cells(margin + namesWidth(), 0, width - namesWidth(), 0);
    for (const std::size_t row : m_rows) {
        painter.setFont(m_font);
        painter.setPen(m_palette.color(QPalette::Text));
        painter.drawText(QRectF(margin, y, namesWidth(), lineHeight()), Qt::AlignVCenter,
            QString::fromStdString(m_content.grid->rows()[row]));
        m_painter.paintRow(painter, {cells.left(), y, cells.width(), lineHeight() - 1}, m_content, row);
        y += lineHeight();
    }
    m_painter.paintSteps(painter, {cells.left(), y, cells.width(), lineHeight()}, m_content);
    m_painter.paintLegend(painter, {margin, y + lineHeight(), width, lineHeight()}, m_content);
}

QImage HeatPicture::image(double scale) const
{
    return imageOf(size(), scale, [this](QPainter& painter) { paint(painter); });
}

void HeatPicture::write(const QString& file) const
{
    writePicture(file, size(), m_title, [this](QPainter& painter) { paint(painter); });
}

} // namespace mantissa
