#include "ui/views/log_slider.h"

#include "ui/views/number_field.h"

#include <QHBoxLayout>
#include <QSlider>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace mantissa {

namespace {

constexpr int largestExponent = 32;
constexpr int stopsPerDecade = 10;
constexpr int smallestDecade = -6;

} // namespace

LogSlider::LogSlider(Kind kind, const QString& name, QWidget* parent)
    : QWidget(parent)
    , m_kind(kind)
    , m_slider(new QSlider(Qt::Horizontal))
    , m_field(new NumberField)
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    row->addWidget(m_slider, 1);
    row->addWidget(m_field);
    setFocusProxy(m_field);

    m_slider->setRange(0, kind == Kind::PowersOfTwo ? largestExponent : -smallestDecade * stopsPerDecade);
    m_slider->setPageStep(kind == Kind::PowersOfTwo ? 4 : stopsPerDecade);
    m_slider->setMinimumWidth(56);
    m_slider->setAccessibleName(tr("%1, slider").arg(name));
    m_field->setAccessibleName(name);
    m_field->setFixedWidth(m_field->fontMetrics().horizontalAdvance(QStringLiteral("0000000000")) + 8);
    m_field->setRange(std::numeric_limits<double>::denorm_min(), std::numeric_limits<float>::max(),
        tr("a number above 0, as in 2^16 or 1e-3"));

    connect(m_slider, &QSlider::valueChanged, this, [this](int position) {
        if (m_isFollowing) {
            return;
        }
        m_isMoved = true;
        m_field->setValue(valueAt(position));
        if (!m_slider->isSliderDown()) {
            commitSlider();
        }
    });
    connect(m_slider, &QSlider::sliderReleased, this, &LogSlider::commitSlider);
    connect(m_field, &NumberField::committed, this, [this](double typed) {
        setValue(typed);
        emit committed(typed);
    });
}

double LogSlider::valueAt(int position) const
{
    if (m_kind == Kind::PowersOfTwo) {
        return std::ldexp(1.0, position);
    }
    const double exact = std::pow(10.0, smallestDecade + position / static_cast<double>(stopsPerDecade));
    const double unit = std::pow(10.0, std::floor(std::log10(exact) + 1e-9) - 1);
    // Text and back, so that a stop is the double a person would have typed.
    return QString::number(std::round(exact / unit) * unit, 'g', 2).toDouble();
}

int LogSlider::positionOf(double value) const
{
    if (!(value > 0) || !std::isfinite(value)) {
        return 0;
    }
    const double position
        = m_kind == Kind::PowersOfTwo ? std::log2(value) : (std::log10(value) - smallestDecade) * stopsPerDecade;
    return static_cast<int>(std::lround(std::clamp(position, 0.0, static_cast<double>(m_slider->maximum()))));
}

void LogSlider::commitSlider()
{
    // A handle that was only touched must not round an exact value to the nearest stop.
    if (std::exchange(m_isMoved, false)) {
        emit committed(valueAt(m_slider->value()));
    }
}

void LogSlider::setValue(double value)
{
    if (m_slider->isSliderDown()) {
        return;
    }
    m_field->setValue(value);
    m_isFollowing = true;
    m_slider->setValue(positionOf(value));
    m_isFollowing = false;
}

double LogSlider::value() const
{
    return m_field->value();
}

void LogSlider::setPending(bool isPending)
{
    m_field->setPending(isPending);
}

void LogSlider::setHint(const QString& hint)
{
    m_slider->setToolTip(hint);
    m_field->setHint(hint);
}

} // namespace mantissa
