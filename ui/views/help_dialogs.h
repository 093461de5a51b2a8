/// About, and the list of keyboard shortcuts.
#pragma once

#include "ui/views/command_palette.h"

class QDialog;
class QWidget;

namespace mantissa {

/// Both are not modal and delete themselves when closed.
QDialog* showAbout(QWidget* parent);
QDialog* showShortcuts(const QList<Command>& commands, QWidget* parent);

} // namespace mantissa
