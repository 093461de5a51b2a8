#include "ui/import_log/log_file.h"

#include <QFile>
#include <QFileInfo>

namespace mantissa {

bool looksLikeLog(const QString& file)
{
    const QFileInfo info(file);
    const QString name = info.fileName().toLower();
    if (info.isDir() || name.contains(QStringLiteral("tfevents")) || name.endsWith(QStringLiteral(".csv"))
        || name.endsWith(QStringLiteral(".tsv")) || name.endsWith(QStringLiteral(".jsonl"))) {
        return true;
    }
    QFile opened(file);
    if (!name.endsWith(QStringLiteral(".json")) || !opened.open(QIODevice::ReadOnly)) {
        return false;
    }
    constexpr qint64 headBytes = 65536;
    const QByteArray head = opened.read(headBytes);
    return !head.contains("\"mantissa\"")
        && (head.trimmed().startsWith('[') || head.contains("\"log_history\"") || head.contains("\"records\"")
            || head.contains("\"step\""));
}

} // namespace mantissa
