#include "ui/views/code_view.h"

#include "engine/pytorch/training_loop.h"
#include "ui/views/icon.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace mantissa {

CodeView::CodeView(QWidget* parent)
    : QWidget(parent)
    , m_title(new QLabel)
    , m_text(new QPlainTextEdit)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 4, 8, 4);
    column->setSpacing(4);
    auto* row = new QHBoxLayout;
    row->addWidget(m_title, 1);
    auto* copy = new QToolButton;
    copy->setText(tr("Copy"));
    copy->setIcon(lineIcon(QStringLiteral("copy")));
    copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    copy->setAutoRaise(true);
    copy->setToolTip(tr("Copies the whole loop"));
    row->addWidget(copy);
    column->addLayout(row);
    m_title->setTextFormat(Qt::PlainText);
    m_text->setReadOnly(true);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setAccessibleName(tr("Training loop in PyTorch"));
    m_text->setTabChangesFocus(true);
    m_text->setFrameShape(QFrame::NoFrame);
    column->addWidget(m_text, 1);
    connect(copy, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(code()); });
}

void CodeView::show(const std::shared_ptr<const LaneConfig>& lane)
{
    if (lane == m_lane) {
        return;
    }
    m_lane = lane;
    m_title->setText(
        lane ? tr("The loop of \u201C%1\u201D in PyTorch").arg(QString::fromStdString(lane->name)) : QString());
    const QString text = lane ? QString::fromStdString(pytorchLoop(*lane)) : QString();
    if (text != code()) {
        const int position = m_text->verticalScrollBar()->value();
        m_text->setPlainText(text);
        m_text->verticalScrollBar()->setValue(position);
    }
}

QString CodeView::code() const
{
    return m_text->toPlainText();
}

} // namespace mantissa
