#include "ui/views/name_field.h"

#include <QKeyEvent>

#include <utility>

namespace mantissa {

NameField::NameField(QWidget* parent)
    : QLineEdit(parent)
{
    setFrame(false);
}

void NameField::setName(const QString& name)
{
    m_name = name;
    setToolTip(tr("%1 (click to rename)").arg(name));
    if (!isModified()) {
        shorten();
    }
}

void NameField::shorten()
{
    // A line edit keeps two pixels for itself on each side, and one for its cursor.
    constexpr int insetPixels = 6;
    setText(hasFocus() ? m_name : fontMetrics().elidedText(m_name, Qt::ElideRight, width() - insetPixels));
    setModified(false);
    setCursorPosition(0);
}

void NameField::finish()
{
    if (isModified()) {
        setModified(false);
        emit renamed(text());
    }
    shorten();
}

void NameField::focusInEvent(QFocusEvent* event)
{
    shorten();
    QLineEdit::focusInEvent(event);
}

void NameField::focusOutEvent(QFocusEvent* event)
{
    QLineEdit::focusOutEvent(event);
    finish();
}

void NameField::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        setModified(false);
        clearFocus();
    } else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        finish();
        clearFocus();
    } else {
        QLineEdit::keyPressEvent(event);
    }
}

void NameField::resizeEvent(QResizeEvent* event)
{
    QLineEdit::resizeEvent(event);
    if (!hasFocus() && !isModified()) {
        shorten();
    }
}

} // namespace mantissa
