/// Tool tips that say what lies under the pointer.
#pragma once

#include <QString>

#include <functional>

class QEvent;
class QPoint;
class QWidget;

namespace mantissa {

/// Answers a request for a tool tip with the text at its place; an empty text hides it. False for any other event.
bool showTipAtPlace(QWidget* widget, QEvent* event, const std::function<QString(const QPoint&)>& textAt);

} // namespace mantissa
