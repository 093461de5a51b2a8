/// Keeps the mouse wheel for scrolling: a control that is not focused lets it pass, so that scrolling a list of lanes
/// never turns a knob.
#pragma once

class QWidget;

namespace mantissa {

void keepWheelForScrolling(QWidget* control);

} // namespace mantissa
