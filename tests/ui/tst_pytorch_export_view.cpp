// A lane exported from the window: written beside the window's own work, and told where it cannot be.
#include "open_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/pytorch_export.h"

#include <QAction>
#include <QDir>
#include <QtTest>

#include <optional>

using namespace mantissa;

namespace {

Experiment experiment()
{
    return parseExperiment(R"({"mantissa": 1, "name": "t", "steps": 5,
        "data": {"kind": "spirals", "samples": 80, "batch": 8}, "model": {"hidden": [4], "dropout": 0.1},
        "lanes": [{"name": "plain"}, {"name": "apex", "scaler": {"family": "apex"}}]})",
        "t");
}

/// Runs the event loop until the export is over.
PytorchExportResult exported(const std::string& lane, const QString& folder)
{
    QObject owner;
    std::optional<PytorchExportResult> result;
    startPytorchExport(
        experiment(), lane, folder, &owner, [&result](const PytorchExportResult& done) { result = done; });
    if (!QTest::qWaitFor([&result] { return result.has_value(); })) {
        return {.folder = {}, .problem = QStringLiteral("no answer"), .notes = {}};
    }
    return *result;
}

} // namespace

class TestPytorchExportView : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

private slots:

    void initTestCase() { test::useOwnHome(); }

    void theFolderIsWrittenAndWhatDiffersIsTold()
    {
        const PytorchExportResult result = exported("plain", m_folder.filePath("plain"));
        QCOMPARE(result.problem, QString());
        QVERIFY(QDir(result.folder).exists("train.py"));
        QCOMPARE(result.notes.size(), 1);
        QVERIFY(result.notes.front().contains("dropout"));
    }

    void refusalsAreTold()
    {
        const PytorchExportResult result = exported("apex", m_folder.filePath("apex"));
        QVERIFY2(result.problem.contains("scaler.family apex has no PyTorch equivalent"), qPrintable(result.problem));
        QVERIFY(!QDir(m_folder.filePath("apex")).exists());
    }

    void anOwnerThatIsGoneIsNotCalled()
    {
        auto owner = std::make_unique<QObject>();
        bool isCalled = false;
        const QString folder = m_folder.filePath("gone");
        startPytorchExport(
            experiment(), "plain", folder, owner.get(), [&isCalled](const PytorchExportResult&) { isCalled = true; });
        owner.reset();
        QTRY_VERIFY(QDir(folder).exists("README.md"));
        QTest::qWait(50);
        QVERIFY(!isCalled);
    }

    void theMenuHasIt()
    {
        const auto window = test::openWindow(m_folder);
        QAction* const action = window->actionNamed(QStringLiteral("exportPytorch"));
        QVERIFY(action != nullptr && action->isEnabled());
        QVERIFY(!action->toolTip().isEmpty());
    }
};

QTEST_MAIN(TestPytorchExportView)
#include "tst_pytorch_export_view.moc"
