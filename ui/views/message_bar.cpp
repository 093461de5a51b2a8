#include "ui/views/message_bar.h"

#include "ui/language/language.h"
#include "ui/views/icon.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace mantissa {

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent)
    , m_sign(new QLabel)
    , m_text(new QLabel)
    , m_close(new QToolButton)
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    setForegroundRole(QPalette::ToolTipText);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 8, 8, 8);
    row->setSpacing(8);
    QFont bold = m_sign->font();
    bold.setBold(true);
    m_sign->setFont(bold);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::PlainText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setAccessibleName(tr("Message"));
    m_close->setIcon(lineIcon(QStringLiteral("close")));
    m_close->setAutoRaise(true);
    m_close->setAccessibleName(tr("Close message"));
    m_close->setToolTip(tr("Close"));
    for (QWidget* part : {static_cast<QWidget*>(m_sign), static_cast<QWidget*>(m_text)}) {
        part->setForegroundRole(QPalette::ToolTipText);
    }
    row->addWidget(m_sign, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    row->addWidget(m_close, 0, Qt::AlignTop);
    connect(m_close, &QToolButton::clicked, this, [this] {
        if (!m_messages.isEmpty()) {
            m_messages.removeFirst();
        }
        showFirst();
    });
    hide();
}

void MessageBar::post(const QString& topic, Tone tone, const QString& text)
{
    if (!m_messages.isEmpty() && m_messages.first().topic == topic && m_messages.first().text == text) {
        return;
    }
    m_messages.removeIf([&topic](const Message& message) { return message.topic == topic; });
    m_messages.prepend({topic, tone, text});
    showFirst();
}

void MessageBar::retract(const QString& topic)
{
    if (m_messages.removeIf([&topic](const Message& message) { return message.topic == topic; }) > 0) {
        showFirst();
    }
}

QString MessageBar::text() const
{
    return m_messages.isEmpty() ? QString() : m_messages.first().text;
}

void MessageBar::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::LanguageChange) {
        for (Message& message : m_messages) {
            message.text = inPresentLanguage(message.text);
        }
        showFirst();
    }
    QFrame::changeEvent(event);
}

void MessageBar::showFirst()
{
    setVisible(!m_messages.isEmpty());
    if (m_messages.isEmpty()) {
        return;
    }
    const Message& message = m_messages.first();
    const QString word = message.tone == Tone::Problem ? tr("Problem")
        : message.tone == Tone::Notice                 ? tr("Note")
                                                       : tr("Done");
    const QString sign = signOf(message.tone);
    m_sign->setText(sign.isEmpty() ? word : sign + QLatin1Char(' ') + word);
    m_text->setText(message.text);
}

} // namespace mantissa
