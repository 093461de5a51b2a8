#include "ui/style/place_tip.h"

#include <QHelpEvent>
#include <QToolTip>

namespace mantissa {

bool showTipAtPlace(QWidget* widget, QEvent* event, const std::function<QString(const QPoint&)>& textAt)
{
    if (event->type() != QEvent::ToolTip) {
        return false;
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), textAt(help->pos()), widget);
    return true;
}

} // namespace mantissa
