#include "ui/views/range_line.h"

#include "engine/formats/float_format.h"
#include "ui/style/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr double lowest = -150; // powers of two
constexpr double highest = 130;
constexpr double tickEvery = 25;

QString text(std::string_view name)
{
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

} // namespace

RangeLine::RangeLine(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Ranges of the formats"));
    setToolTip(tr("Dark: normal numbers, light: subnormal ones. Click or drag to choose a power of two"));
}

QSize RangeLine::sizeHint() const
{
    const int line = fontMetrics().height() + 4;
    return {labelWidth() + 320, line * (static_cast<int>(floatFormats().size()) + 1) + 4};
}

int RangeLine::labelWidth() const
{
    int widest = 0;
    for (const FloatFormat& format : floatFormats()) {
        widest = std::max(widest, fontMetrics().horizontalAdvance(text(format.title)));
    }
    return widest + 10;
}

double RangeLine::positionOf(double exponent) const
{
    return labelWidth() + (exponent - lowest) / (highest - lowest) * (width() - labelWidth() - 8);
}

void RangeLine::setValue(double value)
{
    m_value = value;
    update();
}

void RangeLine::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor ink = palette().color(QPalette::WindowText);
    const QColor ground = palette().color(QPalette::Window);
    const QColor bar = laneColor(0, ground.lightness() < 128);
    const int line = fontMetrics().height() + 4;
    int y = 2;
    for (const FloatFormat& format : floatFormats()) {
        const double first = std::log2(format.smallest());
        const double normal = std::log2(format.smallestNormal());
        const double last = std::log2(format.largest());
        painter.setPen(ink);
        painter.drawText(QRect(0, y, labelWidth() - 6, line), Qt::AlignRight | Qt::AlignVCenter, text(format.title));
        const auto draw = [&](double from, double to, const QColor& color) {
            painter.fillRect(QRectF(positionOf(from), y + 4, positionOf(to) - positionOf(from), line - 8), color);
        };
        draw(first, normal, blend(bar, ground, 0.35));
        draw(normal, last, blend(bar, ground, 0.8));
        y += line;
    }
    painter.setPen(blend(ink, ground, 0.7));
    for (double tick = lowest; tick <= highest; tick += tickEvery) {
        const QString label = QStringLiteral("2^%1").arg(static_cast<int>(tick));
        const double x = positionOf(tick);
        const int width = fontMetrics().horizontalAdvance(label);
        const double left = std::clamp(x - width / 2.0, static_cast<double>(labelWidth()), this->width() - width - 2.0);
        painter.drawText(QPointF(left, y + fontMetrics().ascent() + 2), label);
    }
    const double magnitude = std::abs(m_value);
    if (magnitude > 0 && std::isfinite(magnitude)) {
        const double x = positionOf(std::clamp(std::log2(magnitude), lowest, highest));
        painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
        painter.drawLine(QPointF(x, 0), QPointF(x, y));
    }
}

void RangeLine::pick(double x)
{
    const double exponent = lowest + (x - labelWidth()) / (width() - labelWidth() - 8) * (highest - lowest);
    emit picked(std::ldexp(1.0, static_cast<int>(std::round(std::clamp(exponent, lowest, highest)))));
}

void RangeLine::mousePressEvent(QMouseEvent* event)
{
    pick(event->position().x());
}

void RangeLine::mouseMoveEvent(QMouseEvent* event)
{
    if ((event->buttons() & Qt::LeftButton) != 0) {
        pick(event->position().x());
    }
}

} // namespace mantissa
