/// The window's own line icons, drawn in the palette's text colour so that they follow light and dark.
#pragma once

#include <QIcon>
#include <QString>

namespace mantissa {

/// An icon of resources/icons by its file name without ".svg".
QIcon lineIcon(const QString& name);

/// The program's icon.
QIcon applicationIcon();

} // namespace mantissa
