#include "ui/layers/survival_funnel.h"

#include "ui/language/language.h"
#include "ui/layers/layer_words.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mantissa {

namespace {

constexpr int margin = 8;
constexpr int spacing = 8;
constexpr int stageGap = 2;
constexpr double barShare = 0.25; // of the width
constexpr std::size_t mostStages = 6;

} // namespace

SurvivalFunnel::SurvivalFunnel(QWidget* parent)
    : QWidget(parent)
{
    setAccessibleName(tr("What is left of the gradient, stage by stage"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    whenLanguageChanges(this, [this] {
        const SamplePtr sample = std::exchange(m_sample, nullptr);
        setSample(sample);
    });
}

void SurvivalFunnel::setSample(const SamplePtr& sample)
{
    if (m_sample == sample) {
        return;
    }
    m_sample = sample;
    m_stages = sample ? survivalOf(*sample) : std::vector<SurvivalStage>();
    QStringList lines {headingText()};
    for (const SurvivalStage& stage : m_stages) {
        lines << QStringLiteral("%1: %2").arg(titleOf(stage.kind), sharesText(stage));
    }
    setAccessibleDescription(lines.join(QLatin1Char('\n')));
    update();
}

QString SurvivalFunnel::headingText() const
{
    if (!m_sample) {
        return {};
    }
    const QString step = formatCount(m_sample->step);
    return isHalf(m_sample->lower)
        ? tr("What is left of the gradient at step %1").arg(step)
        : tr("The gradient at step %1: in FP32 nothing is lost between backward and the weights").arg(step);
}

int SurvivalFunnel::lineHeight() const
{
    return fontMetrics().height() + 4;
}

bool SurvivalFunnel::hasTwoLines() const
{
    const int stages = static_cast<int>(m_stages.size());
    return height() >= margin + lineHeight() + 2 * stages * fontMetrics().height() + stages * stageGap;
}

int SurvivalFunnel::stageHeight() const
{
    return hasTwoLines() ? 2 * fontMetrics().height() + stageGap : lineHeight();
}

int SurvivalFunnel::titleWidth() const
{
    int width = 0;
    for (const SurvivalStage& stage : m_stages) {
        width = std::max(width, fontMetrics().horizontalAdvance(titleOf(stage.kind)));
    }
    return width;
}

QRect SurvivalFunnel::barOf(std::size_t stage) const
{
    const int left = margin + titleWidth() + spacing;
    const int width = std::max(60, static_cast<int>(barShare * this->width()));
    return {left, margin / 2 + lineHeight() + stageHeight() * static_cast<int>(stage) + 2, width, lineHeight() - 5};
}

QSize SurvivalFunnel::sizeHint() const
{
    return {400, margin + lineHeight() + static_cast<int>(mostStages) * (2 * fontMetrics().height() + stageGap)};
}

QSize SurvivalFunnel::minimumSizeHint() const
{
    return {200, margin + lineHeight() * 2};
}

void SurvivalFunnel::paintBar(QPainter& painter, const QRectF& bar, const SurvivalStage& stage) const
{
    const QColor text = palette().color(QPalette::WindowText);
    const QColor ground = palette().color(QPalette::Window);

    struct Part
    {
        double share;
        QBrush fill;
        QBrush pattern;
    };

    // From what arrives whole to what is lost; the gradient's own zeros, which have nothing to lose, at the end.
    const std::array<Part, 5> parts {
        Part {stage.normal, blend(text, ground, 0.62), Qt::NoBrush},
        Part {stage.subnormal, blend(text, ground, 0.3), Qt::NoBrush},
        Part {stage.flushed, ground, QBrush(blend(text, ground, 0.9), Qt::BDiagPattern)},
        Part {stage.overflowed, ground, QBrush(blend(text, ground, 0.9), Qt::DiagCrossPattern)},
        Part {stage.zero, ground, Qt::NoBrush},
    };
    double x = bar.left();
    for (const Part& part : parts) {
        const double width = part.share * bar.width();
        const QRectF place(x, bar.top(), width, bar.height());
        painter.fillRect(place, part.fill);
        if (part.pattern.style() != Qt::NoBrush) {
            painter.fillRect(place, part.pattern);
            painter.setPen(blend(text, ground, 0.62));
            painter.drawLine(place.topLeft(), place.bottomLeft());
        }
        x += width;
    }
    painter.setPen(blend(text, ground, 0.45));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar);
}

void SurvivalFunnel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const PlotColors colors = plotColors(palette());
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(colors.text);
    const QFontMetrics boldMetrics(bold);
    painter.drawText(QRect(margin, margin / 2, width() - 2 * margin, lineHeight()), Qt::AlignVCenter,
        boldMetrics.elidedText(headingText(), Qt::ElideRight, width() - 2 * margin));
    painter.setFont(font());
    for (std::size_t i = 0; i < m_stages.size(); ++i) {
        const SurvivalStage& stage = m_stages[i];
        const QRect bar = barOf(i);
        const QRect line(margin, bar.top() - 2, width() - 2 * margin, lineHeight());
        painter.setPen(colors.text);
        painter.drawText(line, Qt::AlignVCenter, titleOf(stage.kind));
        paintBar(painter, QRectF(bar).adjusted(0.5, 0.5, -0.5, -0.5), stage);
        const int from = bar.right() + spacing;
        const QString worst = worstText(stage);
        const auto say = [&](int top, const QColor& color, const QString& text) {
            const QRect place(from, top, width() - margin - from, lineHeight());
            painter.setPen(color);
            painter.drawText(place, Qt::AlignVCenter, fontMetrics().elidedText(text, Qt::ElideRight, place.width()));
        };
        const QString shares = sharesText(stage);
        if (hasTwoLines()) {
            say(line.top(), colors.text, shares);
            say(line.top() + fontMetrics().height(), colors.faintText, worst);
        } else {
            say(line.top(), colors.text, worst.isEmpty() ? shares : QStringLiteral("%1; %2").arg(shares, worst));
        }
    }
}

bool SurvivalFunnel::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        for (std::size_t i = 0; i < m_stages.size(); ++i) {
            const QRect bar = barOf(i);
            if (help->y() >= bar.top() - 2 && help->y() < bar.top() - 2 + stageHeight()) {
                const SurvivalStage& stage = m_stages[i];
                const QString worst = worstText(stage);
                QToolTip::showText(help->globalPos(),
                    explanationOf(stage.kind, *m_sample) + QLatin1Char('\n') + sharesText(stage)
                        + (worst.isEmpty() ? QString() : QLatin1Char('\n') + worst),
                    this);
                return true;
            }
        }
        QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

} // namespace mantissa
