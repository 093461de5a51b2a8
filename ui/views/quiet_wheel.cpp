#include "ui/views/quiet_wheel.h"

#include <QEvent>
#include <QWidget>

namespace mantissa {

namespace {

class WheelFilter : public QObject
{
public:
    explicit WheelFilter(QWidget* control)
        : QObject(control)
    {
    }

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        auto* control = qobject_cast<QWidget*>(watched);
        if (event->type() == QEvent::Wheel && control && !control->hasFocus()) {
            event->ignore();
            return true;
        }
        return false;
    }
};

} // namespace

void keepWheelForScrolling(QWidget* control)
{
    control->setFocusPolicy(Qt::StrongFocus);
    control->installEventFilter(new WheelFilter(control));
}

} // namespace mantissa
