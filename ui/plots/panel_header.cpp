#include "ui/plots/panel_header.h"

#include "ui/plots/smoothing.h"
#include "ui/style/theme.h"

#include <QDoubleSpinBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>

#include <cmath>

namespace mantissa {

namespace {

constexpr int sliderSteps = 300;

// The interesting weights crowd near 1, so the slider moves the time constant 1 / (1 - w) by equal factors: 1 to 1000.
double weightAt(int position)
{
    return position == 0 ? 0 : 1 - std::pow(10.0, -3.0 * position / sliderSteps);
}

int positionOf(double weight)
{
    return static_cast<int>(std::lround(-std::log10(1 - weight) / 3 * sliderSteps));
}

QToolButton* button(QWidget* parent, bool checkable)
{
    auto* result = new QToolButton(parent);
    result->setAutoRaise(true);
    result->setCheckable(checkable);
    result->setFocusPolicy(Qt::TabFocus);
    return result;
}

} // namespace

PanelHeader::PanelHeader(const QString& plotName, bool hasSmoothing, QWidget* parent)
    : QWidget(parent)
    , m_plotName(plotName)
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
    if (hasSmoothing) {
        buildSmoothing();
        m_difference = button(this, true);
        m_export = button(this, false);
        m_export->setPopupMode(QToolButton::InstantPopup);
        row->addWidget(m_difference);
        row->addWidget(m_export);
        connect(m_difference, &QToolButton::toggled, this, &PanelHeader::differenceToggled);
    }
    m_log = button(this, true);
    m_fit = button(this, false);
    row->addWidget(m_log);
    row->addWidget(m_fit);
    connect(m_log, &QToolButton::toggled, this, &PanelHeader::logToggled);
    connect(m_fit, &QToolButton::clicked, this, &PanelHeader::fitClicked);
    setCursor(Qt::ArrowCursor);
    retranslate();
}

void PanelHeader::buildSmoothing()
{
    m_slider = new QSlider(Qt::Horizontal, this);
    m_slider->setRange(0, sliderSteps);
    m_slider->setFixedWidth(fontMetrics().averageCharWidth() * 14);
    m_slider->setFocusPolicy(Qt::TabFocus);
    m_weight = new QDoubleSpinBox(this);
    m_weight->setRange(0, maximumSmoothing);
    m_weight->setDecimals(3);
    m_weight->setSingleStep(0.01);
    m_weight->setFrame(false);
    m_weight->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_weight->setKeyboardTracking(false);
    m_weight->setFont(tabularFont(font()));
    auto* row = static_cast<QHBoxLayout*>(layout());
    row->addWidget(m_slider);
    row->addWidget(m_weight);
    connect(m_slider, &QSlider::valueChanged, this,
        [this](int position) { emit smoothingEdited(std::min(maximumSmoothing, weightAt(position))); });
    connect(m_weight, &QDoubleSpinBox::valueChanged, this, &PanelHeader::smoothingEdited);
}

void PanelHeader::setPlotName(const QString& plotName)
{
    m_plotName = plotName;
    retranslate();
}

void PanelHeader::setLog(bool log)
{
    const QSignalBlocker blocker(m_log);
    m_log->setChecked(log);
}

void PanelHeader::setFollows(bool follows)
{
    m_fit->setEnabled(!follows);
    m_fit->setToolTip(follows ? tr("The axes already follow the data") : tr("Let the axes follow the data again (F)"));
}

void PanelHeader::setSmoothing(double weight)
{
    if (m_slider == nullptr) {
        return;
    }
    const QSignalBlocker slider(m_slider);
    const QSignalBlocker field(m_weight);
    m_slider->setValue(positionOf(weight));
    m_weight->setValue(weight);
}

void PanelHeader::setDifference(bool shown)
{
    if (m_difference != nullptr) {
        const QSignalBlocker blocker(m_difference);
        m_difference->setChecked(shown);
    }
}

void PanelHeader::setExportMenu(QMenu* menu)
{
    if (m_export != nullptr) {
        m_export->setMenu(menu);
    }
}

void PanelHeader::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        retranslate();
    } else if (event->type() == QEvent::FontChange && m_slider != nullptr) {
        m_slider->setFixedWidth(fontMetrics().averageCharWidth() * 14);
        m_weight->setFont(tabularFont(font()));
    }
}

void PanelHeader::retranslate()
{
    m_log->setText(tr("Log"));
    m_log->setToolTip(tr("Logarithmic or linear axis (L)"));
    m_log->setAccessibleName(tr("Logarithmic axis, %1").arg(m_plotName));
    m_fit->setText(tr("Fit"));
    m_fit->setAccessibleName(tr("Fit all axes, %1").arg(m_plotName));
    if (m_slider == nullptr) {
        return;
    }
    const QString smoothing
        = tr("Smoothing: weight of the past in a debiased moving average, 0 (off) to 0.999. The raw "
             "curve stays visible, pale.");
    m_slider->setToolTip(smoothing);
    m_slider->setAccessibleName(tr("Smoothing"));
    m_slider->setAccessibleDescription(smoothing);
    m_weight->setToolTip(smoothing);
    m_weight->setAccessibleName(tr("Smoothing weight"));
    m_difference->setText(tr("Difference"));
    m_difference->setToolTip(tr("Show how far lanes lie from the baseline lane (D)"));
    m_difference->setAccessibleName(tr("Show difference plot"));
    m_export->setText(tr("Export"));
    m_export->setToolTip(tr("Save or copy the picture or its numbers"));
    m_export->setAccessibleName(tr("Export"));
}

} // namespace mantissa
