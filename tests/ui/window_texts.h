/// Everything that a window says: the texts of its widgets, actions and items, each by where it is.
#pragma once

#include <QMap>
#include <QString>

class QWidget;

namespace mantissa::test {

/// Numbers are written as #, since times differ from run to run.
QMap<QString, QString> textsOf(const QWidget* window);

} // namespace mantissa::test
