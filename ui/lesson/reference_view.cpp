#include "ui/lesson/reference_view.h"

#include "ui/style/number_format.h"
#include "ui/style/reference_picture.h"

#include <QEvent>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

namespace mantissa {

namespace {

constexpr int pictureLines = 6;

} // namespace

class ReferenceView::Picture : public QWidget
{
public:
    explicit Picture(const std::optional<ReferenceRun>& reference)
        : m_reference(reference)
    {
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }

    [[nodiscard]] QSize sizeHint() const override
    {
        return {fontMetrics().averageCharWidth() * 30, fontMetrics().height() * pictureLines};
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        if (m_reference) {
            paintReference(painter, rect(), *m_reference, palette(), font());
        }
    }

private:
    const std::optional<ReferenceRun>& m_reference;
};

ReferenceView::ReferenceView(QWidget* parent)
    : QWidget(parent)
    , m_picture(new Picture(m_reference))
    , m_legend(new QLabel)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_picture);
    column->addWidget(m_legend);
    m_legend->setTextFormat(Qt::RichText);
    m_legend->setWordWrap(true);
    m_legend->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_legend->setAccessibleName(tr("Lanes of the reference run"));
    m_picture->setAccessibleName(tr("Loss of the reference run"));
    hide();
}

void ReferenceView::show(std::optional<ReferenceRun> reference)
{
    m_reference = std::move(reference);
    if (m_reference) {
        m_picture->setAccessibleDescription(referenceSummary(*m_reference));
        m_picture->setToolTip(tr("What came out with seed %1 on %2")
                                  .arg(m_reference->seed)
                                  .arg(QString::fromStdString(m_reference->device)));
    }
    fillLegend();
    m_picture->update();
    setVisible(m_reference.has_value());
}

void ReferenceView::fillLegend()
{
    QString text;
    for (std::size_t lane = 0; m_reference && lane < m_reference->lanes.size(); ++lane) {
        const ReferenceLane& each = m_reference->lanes[lane];
        const QString outcome = each.status == RunStatus::Diverged
            ? tr("diverged after %1 steps").arg(formatCount(each.steps))
            : tr("loss %1").arg(formatValue(each.finalLoss));
        text += QStringLiteral("%1<font color=\"%2\">\u25A0</font> %3: %4")
                    .arg(text.isEmpty() ? QString() : QStringLiteral("<br>"),
                        referenceColor(*m_reference, lane, palette()).name(),
                        QString::fromStdString(each.name).toHtmlEscaped(), outcome);
    }
    m_legend->setText(text);
}

QString ReferenceView::legend() const
{
    return m_legend->text();
}

void ReferenceView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_legend != nullptr) {
        fillLegend();
    }
    if (event->type() == QEvent::FontChange && m_picture != nullptr) {
        m_picture->updateGeometry();
    }
}

} // namespace mantissa
