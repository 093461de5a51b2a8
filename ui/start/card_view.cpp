#include "ui/start/card_view.h"

#include "ui/start/gallery_model.h"
#include "ui/style/reference_picture.h"
#include "ui/style/theme.h"
#include "ui/style/verdict_words.h"

#include <QEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTextLayout>

namespace mantissa {

namespace {

constexpr int gap = 8; ///< between cards
constexpr int padding = 8; ///< within one
constexpr int narrowestLetters = 32;
constexpr int titleLines = 2;
constexpr double pictureLines = 6.5; ///< its height, in lines of text

/// As many lines of the text as fit, the last one elided.
void drawLines(QPainter& painter, const QRectF& area, const QString& text, int most)
{
    QTextLayout layout(text, painter.font());
    const QFontMetricsF metrics(painter.font());
    layout.beginLayout();
    double y = area.top();
    for (int number = 0; number < most; ++number) {
        QTextLine line = layout.createLine();
        if (!line.isValid()) {
            break;
        }
        line.setLineWidth(area.width());
        const bool isLast = number == most - 1;
        const QString words = isLast ? metrics.elidedText(text.mid(line.textStart()), Qt::ElideRight, area.width())
                                     : text.mid(line.textStart(), line.textLength());
        painter.drawText(QRectF(area.left(), y, area.width(), metrics.height()),
            Qt::AlignLeft | Qt::AlignTop | Qt::TextDontClip, words);
        y += metrics.height();
    }
    layout.endLayout();
}

QRectF cardRect(const QRect& cell)
{
    return QRectF(cell).adjusted(gap / 2.0, gap / 2.0, -gap / 2.0, -gap / 2.0);
}

class CardDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const auto* filter = static_cast<const QAbstractProxyModel*>(index.model());
        const GalleryEntry& entry
            = static_cast<const GalleryModel*>(filter->sourceModel())->entry(filter->mapToSource(index).row());
        const QRectF card = cardRect(option.rect);
        const bool isCurrent = (option.state & QStyle::State_Selected) != 0;
        const bool isUnderPointer = (option.state & QStyle::State_MouseOver) != 0;
        const PlotColors colors = plotColors(option.palette);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const QColor highlight = option.palette.color(QPalette::Highlight);
        const double share = isCurrent ? 0.14 : isUnderPointer ? 0.06 : 0;
        painter->setBrush(blend(highlight, colors.background, share));
        painter->setPen(isCurrent ? QPen(highlight, 2) : QPen(colors.grid, 1));
        painter->drawRoundedRect(card, 4, 4);

        const QRectF inner = card.adjusted(padding, padding, -padding, -padding);
        const double line = QFontMetricsF(option.font).height();
        const QRectF picture(inner.left(), inner.top(), inner.width(), line * pictureLines);
        if (entry.reference) {
            paintReference(*painter, picture, *entry.reference, option.palette, option.font);
        } else {
            painter->setPen(colors.faintText);
            painter->drawText(picture, Qt::AlignCenter, GalleryModel::tr("not trained yet"));
        }
        QRectF text(inner.left(), picture.bottom() + padding / 2.0, inner.width(), line);
        QFont bold = option.font;
        bold.setBold(true);
        painter->setFont(bold);
        painter->setPen(colors.text);
        painter->drawText(
            text, Qt::AlignLeft | Qt::AlignVCenter, entry.id.isEmpty() ? GalleryModel::tr("Example") : entry.id);
        painter->setFont(option.font);
        painter->drawText(text, Qt::AlignRight | Qt::AlignVCenter, verdictWords(entry.verdict));
        text.moveTop(text.bottom());
        drawLines(*painter, text, entry.title, titleLines);
        painter->restore();
    }

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override
    {
        return static_cast<const CardView*>(option.widget)->gridSize();
    }
};

} // namespace

CardView::CardView(QWidget* parent)
    : QListView(parent)
{
    setViewMode(IconMode);
    setMovement(Static);
    setResizeMode(Adjust);
    setUniformItemSizes(true);
    setSelectionMode(SingleSelection);
    setVerticalScrollMode(ScrollPerPixel);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn); // so that cards do not change their width with their number
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_Hover);
    setItemDelegate(new CardDelegate(this));
    fitCards();
}

void CardView::setEmptyText(const QString& text)
{
    m_emptyText = text;
    viewport()->update();
}

int CardView::columns() const
{
    const int narrowest = fontMetrics().averageCharWidth() * narrowestLetters + 2 * padding + gap;
    return std::max(1, viewport()->width() / narrowest);
}

void CardView::fitCards()
{
    const int line = fontMetrics().height();
    const int height = static_cast<int>(line * (pictureLines + 1 + titleLines)) + gap + 2 * padding + padding / 2 + 2;
    setGridSize(QSize(std::max(1, (viewport()->width() - 1) / columns()), height));
    verticalScrollBar()->setSingleStep(line);
}

void CardView::resizeEvent(QResizeEvent* event)
{
    fitCards();
    QListView::resizeEvent(event);
}

void CardView::changeEvent(QEvent* event)
{
    QListView::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fitCards();
    }
}

void CardView::paintEvent(QPaintEvent* event)
{
    QListView::paintEvent(event);
    if (model() != nullptr && model()->rowCount() == 0) {
        QPainter painter(viewport());
        painter.setPen(plotColors(palette()).faintText);
        painter.drawText(viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
    }
}

} // namespace mantissa
