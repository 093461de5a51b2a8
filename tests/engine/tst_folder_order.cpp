// Folders depend in one direction only, and the engine never on Qt (design.md, section 2).
#include <QDirIterator>
#include <QMap>
#include <QRegularExpression>
#include <QtTest>

namespace {

/// A folder may include those on the lines above its own.
const QList<QStringList> ranks {
    {"core"},
    {"formats"},
    {"tensor"},
    {"graph"},
    {"ops", "autocast", "autodiff", "backends", "scaling", "optim", "nn", "data"},
    {"probe"},
    {"train"},
    {"store", "verify"},
    {"diagnose"},
    {"ui"},
    {"app"},
};

int rankOf(const QString& folder)
{
    for (int rank = 0; rank < ranks.size(); ++rank) {
        if (ranks[rank].contains(folder)) {
            return rank;
        }
    }
    return -1;
}

/// "train" of "engine/train/lane.h", "ui" of "ui/plots/dashboard.h".
QString folderOf(const QString& path)
{
    const QStringList parts = path.split('/');
    return parts[0] == "engine" ? parts.value(1) : parts[0];
}

} // namespace

class TestFolderOrder : public QObject
{
    Q_OBJECT

private slots:

    void includesGoDownOnly()
    {
        const QDir root(QStringLiteral(MANTISSA_SOURCE_DIR));
        const QRegularExpression own(QStringLiteral("^#include \"((engine|ui|app)/[^\"]+)\""));
        const QRegularExpression qt(QStringLiteral("^#include <Q"));
        int seen = 0;
        QStringList wrong;
        for (const char* top : {"engine", "ui", "app"}) {
            QDirIterator files(root.filePath(top), {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
            while (files.hasNext()) {
                QFile file(files.next());
                QVERIFY(file.open(QIODevice::ReadOnly));
                const QString path = root.relativeFilePath(file.fileName());
                const QString folder = folderOf(path);
                QVERIFY2(rankOf(folder) >= 0, qPrintable(path + " lies in a folder without a place in the order"));
                for (const QString& line : QString::fromUtf8(file.readAll()).split('\n')) {
                    const QRegularExpressionMatch match = own.match(line);
                    const QString target = match.hasMatch() ? folderOf(match.captured(1)) : folder;
                    if (target != folder && rankOf(target) >= rankOf(folder)) {
                        wrong << path + " includes " + match.captured(1);
                    }
                    if (QString(top) == "engine" && qt.match(line).hasMatch()) {
                        wrong << path + " includes Qt: " + line;
                    }
                    seen += match.hasMatch() ? 1 : 0;
                }
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
        QVERIFY(seen > 500);
    }
};

QTEST_GUILESS_MAIN(TestFolderOrder)
#include "tst_folder_order.moc"
