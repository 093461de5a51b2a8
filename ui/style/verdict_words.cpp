#include "ui/style/verdict_words.h"

#include <QCoreApplication>

namespace mantissa {

QString verdictWords(const QString& verdict)
{
    if (verdict == QLatin1String("holds")) {
        return QStringLiteral("\u2713 ") + QCoreApplication::translate("Verdict", "holds");
    }
    if (verdict == QLatin1String("partly")) {
        return QStringLiteral("\u25D0 ") + QCoreApplication::translate("Verdict", "holds partly");
    }
    if (verdict == QLatin1String("does not hold")) {
        return QStringLiteral("\u2716 ") + QCoreApplication::translate("Verdict", "does not hold");
    }
    if (verdict == QLatin1String("depends")) {
        return QStringLiteral("? ") + QCoreApplication::translate("Verdict", "depends on the device");
    }
    return {};
}

} // namespace mantissa
