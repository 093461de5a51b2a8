/// How a control shows that its value waits for the next step: in italics.
#pragma once

#include <QFont>
#include <QWidget>

namespace mantissa {

inline void markPending(QWidget* control, bool isPending)
{
    QFont font = control->font();
    if (font.italic() != isPending) {
        font.setItalic(isPending);
        control->setFont(font);
    }
}

} // namespace mantissa
