// The folders depend on each other in one direction only. An include that breaks the order fails here, by name.
#include <QDirIterator>
#include <QRegularExpression>
#include <QtTest>

#include <vector>

namespace {

/// Lowest first. A folder may include itself, the folders of its own row and those of the rows above it in this list.
const std::vector<QStringList> rows {
    {"engine/core"},
    {"engine/formats"},
    {"engine/tensor", "engine/parallel"},
    {"engine/graph"},
    {"engine/ops", "engine/autocast", "engine/autodiff", "engine/optim", "engine/scaling", "engine/probe",
        "engine/backends"},
    {"engine/nn", "engine/data"},
    {"engine/train"},
    {"engine/diagnose", "engine/store", "engine/verify", "engine/pytorch"},
    {"engine/protocol", "engine/lesson", "engine/import", "engine/sweep"},
    {"ui/language"},
    {"ui/style"},
    {"ui/models", "ui/plots", "ui/session"},
    {"ui/compare", "ui/graph", "ui/gradients", "ui/layers", "ui/ranks", "ui/report", "ui/predict", "ui/start",
        "ui/time", "ui/import_log"},
    {"ui/lesson", "ui/protocol", "ui/sweep"},
    {"ui/views"},
    {"app"},
};

/// What the rows cannot say: files whose path matches `from` may not include what matches `to`.
struct Ban
{
    QRegularExpression from;
    QRegularExpression to;
    QString reason;
};

const std::vector<Ban> bans {
    {QRegularExpression("^engine/"), QRegularExpression("^(Q[A-Z]|Qt|qcustomplot)"), "the engine is free of Qt"},
    {QRegularExpression("^(app|ui/"
                        "(compare|graph|gradients|import_log|language|layers|lesson|models|predict|ranks|session|start|"
                        "style|sweep|time|views))/"),
        QRegularExpression("^qcustomplot"), "only ui/plots knows the plotting library"},
    {QRegularExpression("^ui/"), QRegularExpression("^engine/(ops|autodiff)/"),
        "the window does not look into the engine's ops"},
    {QRegularExpression("^ui/"), QRegularExpression("^engine/backends/\\w+/"),
        "the window knows backends by their interface only"},
    {QRegularExpression("^ui/models/"), QRegularExpression("^ui/plots/"), "models are free of widgets"},
    {QRegularExpression("^engine/backends/cpu/"), QRegularExpression("^engine/backends/(reference|cuda)/"),
        "one backend does not know another"},
    {QRegularExpression("^engine/backends/reference/"), QRegularExpression("^engine/backends/(cpu|cuda)/"),
        "one backend does not know another"},
    {QRegularExpression("^engine/backends/cuda/"), QRegularExpression("^engine/backends/(cpu|reference)/"),
        "one backend does not know another"},
};

/// The row of the folder that `path` lies in; -1 if it has none.
int rowOf(const QString& path)
{
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (const QString& folder : rows[row]) {
            if (path.startsWith(folder + '/')) {
                return static_cast<int>(row);
            }
        }
    }
    return -1;
}

QString breachOf(const QString& file, const QString& included)
{
    static const QRegularExpression oursBegins("^(engine|ui|app|tests)/");
    const bool ours = oursBegins.match(included).hasMatch();
    if (included.startsWith('.')) {
        return "write paths from the root";
    }
    if (ours && rowOf(included) < 0) {
        return "its folder has no place in the order (tests/engine/tst_folder_order.cpp)";
    }
    if (ours && rowOf(included) > rowOf(file)) {
        return "it is built on this folder";
    }
    for (const Ban& ban : bans) {
        if (ban.from.match(file).hasMatch() && ban.to.match(included).hasMatch()) {
            return ban.reason;
        }
    }
    return {};
}

/// One line for each include of `text`, the contents of `file`, that breaks the order.
QStringList breaches(const QString& file, const QString& text)
{
    if (rowOf(file) < 0) {
        return {file + ": its folder has no place in the order (tests/engine/tst_folder_order.cpp)"};
    }
    static const QRegularExpression include(
        "^[ \\t]*#[ \\t]*include[ \\t]*[<\"]([^>\"\\n]+)[>\"]", QRegularExpression::MultilineOption);
    QStringList found;
    for (auto match = include.globalMatch(text); match.hasNext();) {
        const QString included = match.next().captured(1);
        if (const QString breach = breachOf(file, included); !breach.isEmpty()) {
            found += QString("%1 includes %2: %3").arg(file, included, breach);
        }
    }
    return found;
}

} // namespace

class TestFolderOrder : public QObject
{
    Q_OBJECT

private slots:

    void everyIncludeKeepsTheOrder()
    {
        const QDir root(MANTISSA_SOURCE_DIR);
        QStringList found;
        int files = 0;
        for (const char* top : {"engine", "ui", "app"}) {
            QDirIterator entries(
                root.filePath(top), {"*.h", "*.cpp", "*.cu"}, QDir::Files, QDirIterator::Subdirectories);
            while (entries.hasNext()) {
                QFile file(entries.next());
                QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
                found += breaches(root.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()));
                ++files;
            }
        }
        QVERIFY(files > 50);
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    }

    void aPlantedBreachIsFound_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* file, const char* line, const char* reason) {
            QTest::addRow("%s: %s", file, line) << file << line << reason;
        };
        row("engine/core/a.h", "#include \"engine/formats/dtype.h\"", "built on this folder");
        row("engine/formats/a.cpp", "#include \"engine/tensor/shape.h\"", "built on this folder");
        row("engine/graph/a.h", "#include \"engine/ops/rules.h\"", "built on this folder");
        row("engine/scaling/a.cpp", "#include \"engine/train/session.h\"", "built on this folder");
        row("engine/optim/a.h", "  #  include <engine/train/experiment.h>", "built on this folder");
        row("engine/data/a.h", "#include \"engine/train/experiment.h\"", "built on this folder");
        row("engine/train/a.h", "#include \"engine/store/run_store.h\"", "built on this folder");
        row("engine/store/a.h", "#include \"ui/style/theme.h\"", "built on this folder");
        row("engine/store/a.cpp", "#include <QString>", "free of Qt");
        row("engine/backends/cpu/a.cpp", "#include <QtCore/qglobal.h>", "free of Qt");
        row("engine/backends/cpu/a.cpp", "#include \"engine/backends/reference/kernels.h\"", "one backend");
        row("engine/backends/reference/a.cpp", "#include \"engine/backends/cpu/operands.h\"", "one backend");
        row("engine/core/a.h", "#include \"../train/session.h\"", "from the root");
        row("engine/core/a.h", "#include \"engine/misc/a.h\"", "no place");
        row("engine/core/a.h", "#include \"tests/support/a.h\"", "no place");
        row("engine/misc/a.h", "", "no place");
        row("ui/views/a.cpp", "#include \"app/main.h\"", "built on this folder");
        row("ui/views/a.cpp", "#include <qcustomplot.h>", "plotting library");
        row("ui/plots/a.cpp", "#include \"engine/ops/rules.h\"", "engine's ops");
        row("ui/session/a.cpp", "#include \"engine/backends/cpu/cpu_backend.h\"", "interface only");
        row("ui/models/a.cpp", "#include \"ui/plots/plot_widget.h\"", "free of widgets");
        row("ui/models/a.cpp", "#include \"ui/views/main_window.h\"", "built on this folder");
    }

    void aPlantedBreachIsFound()
    {
        QFETCH(const QString, file);
        QFETCH(const QString, line);
        QFETCH(const QString, reason);
        const QStringList found = breaches(file, "/// A header.\n" + line + "\n#include <vector>\n");
        QCOMPARE(found.size(), 1);
        QVERIFY2(found[0].contains(reason), qPrintable(found[0]));
    }

    void whatIsAllowedIsNotFound()
    {
        QCOMPARE(breaches("engine/train/a.cpp",
                     "#include \"engine/train/b.h\"\n#include \"engine/data/dataset.h\"\n#include <zlib.h>\n"
                     "#include \"engine/backends/cpu/cpu_backend.h\"\n// #include <QString>\n"),
            QStringList());
        QCOMPARE(breaches("ui/plots/a.cpp",
                     "#include <qcustomplot.h>\n#include <QWidget>\n#include \"a.moc\"\n"
                     "#include \"engine/train/step_record.h\"\n"),
            QStringList());
        QCOMPARE(
            breaches("app/main.cpp", "#include \"ui/views/main_window.h\"\n#include <QApplication>\n"), QStringList());
    }
};

QTEST_APPLESS_MAIN(TestFolderOrder)
#include "tst_folder_order.moc"
