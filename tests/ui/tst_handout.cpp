/// Hand-outs: what is on the pages, and the dialog that writes many without holding up the window.
#include "engine/lesson/lesson.h"
#include "engine/verify/shipped_experiments.h"
#include "tests/ui/small_experiment.h"
#include "ui/lesson/handout_dialog.h"
#include "ui/report/handout_pdf.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProgressBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

using namespace mantissa;

namespace {

constexpr int patienceMs = 120'000;

QByteArray contentsOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

qsizetype pagesOf(const QByteArray& pdf)
{
    return pdf.count("/Type /Page\n");
}

HandoutItem shipped(const char* name)
{
    const std::filesystem::path file = shippedExperimentsFolder() / "gallery" / (std::string(name) + ".json");
    return handoutOf(loadExperiment(file), file);
}

HandoutChoice choiceOf(std::vector<HandoutItem> items)
{
    return {QStringLiteral("some"), [items = std::move(items)] { return items; }};
}

} // namespace

class TestHandout : public QObject
{
    Q_OBJECT

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void everyGalleryExperimentFitsOnThreePages()
    {
        const QString file = m_folder->filePath(QStringLiteral("one.pdf"));
        for (const std::filesystem::path& path : shippedExperiments()) {
            if (!isInGallery(path)) {
                continue;
            }
            const HandoutItem item = handoutOf(loadExperiment(path), path);
            QVERIFY(item.reference.has_value());
            QCOMPARE(item.fileName, QString::fromStdString(path.stem().string()));
            writeHandout(item.experiment, *item.reference, file);
            const QByteArray pdf = contentsOf(file);
            QVERIFY(pdf.startsWith("%PDF-"));
            QVERIFY2(pagesOf(pdf) >= 1 && pagesOf(pdf) <= 3, path.c_str());
        }
    }

    void onesThatShipAreWrittenFromWhatShips()
    {
        HandoutDialog dialog({choiceOf({shipped("c18_clip_before_unscale"), shipped("c09_grow_and_back_off")})}, "cpu");
        write(dialog);
        QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files),
            (QStringList {QStringLiteral("c09_grow_and_back_off.pdf"), QStringLiteral("c18_clip_before_unscale.pdf")}));
        QVERIFY2(dialog.outcome().contains(QStringLiteral("2 files are in")), qPrintable(dialog.outcome()));
        QVERIFY(!dialog.progress()->isVisible());
    }

    void onesOfYourOwnAreTrained()
    {
        HandoutDialog dialog({choiceOf({handoutOf(test::smallExperiment(), {})})}, "cpu");
        write(dialog);
        QVERIFY(contentsOf(m_folder->filePath(QStringLiteral("small.pdf"))).size() > 5000);
        QVERIFY(dialog.outcome().contains(QStringLiteral("One file is in")));
    }

    void cancelStopsTrainingAndKeepsWhatIsWritten()
    {
        HandoutDialog dialog(
            {choiceOf({shipped("c09_grow_and_back_off"), handoutOf(test::smallExperiment(100'000'000), {})})}, "cpu");
        dialog.show();
        QSignalSpy ended(&dialog, &HandoutDialog::ended);
        dialog.start(m_folder->path());
        QTRY_VERIFY_WITH_TIMEOUT(dialog.progress()->format().startsWith(QStringLiteral("small")), patienceMs);
        dialog.cancel();
        QVERIFY(ended.wait(patienceMs));
        QVERIFY2(dialog.outcome().startsWith(QStringLiteral("Cancelled")), qPrintable(dialog.outcome()));
        QCOMPARE(
            QDir(m_folder->path()).entryList(QDir::Files), QStringList {QStringLiteral("c09_grow_and_back_off.pdf")});
    }

    void closingWhileItWritesEndsIt()
    {
        auto dialog = std::make_unique<HandoutDialog>(
            std::vector {choiceOf({handoutOf(test::smallExperiment(100'000'000), {})})}, "cpu");
        dialog->start(m_folder->path());
        dialog.reset();
        QVERIFY(QDir(m_folder->path()).entryList(QDir::Files).isEmpty());
    }

    void aFolderThatIsNotThereIsNamed()
    {
        HandoutDialog dialog({choiceOf({shipped("c09_grow_and_back_off")})}, "cpu");
        QSignalSpy ended(&dialog, &HandoutDialog::ended);
        dialog.start(QStringLiteral("/nowhere/at/all"));
        QVERIFY(ended.wait(patienceMs));
        QVERIFY2(dialog.outcome().contains(QStringLiteral("/nowhere/at/all")), qPrintable(dialog.outcome()));
    }

    void oneThatCannotBeTrainedLeavesTheOthers()
    {
        Experiment broken = parseExperiment(
            R"({"mantissa": 1, "name": "broken", "data": {"kind": "mnist", "path": "/nowhere"}})", "broken");
        HandoutDialog dialog({choiceOf({handoutOf(broken, {}), shipped("c09_grow_and_back_off")})}, "cpu");
        write(dialog);
        QVERIFY(dialog.outcome().contains(QStringLiteral("broken is missing")));
        QVERIFY(QFile::exists(m_folder->filePath(QStringLiteral("c09_grow_and_back_off.pdf"))));
    }

    void theWindowGoesOnMeanwhile()
    {
        std::vector<HandoutItem> items;
        for (const char* name : {"c18_clip_before_unscale", "c09_grow_and_back_off", "c24_batch_norm_fp16"}) {
            items.push_back(shipped(name));
        }
        HandoutDialog dialog({choiceOf(items)}, "cpu");
        dialog.show();
        QSignalSpy ended(&dialog, &HandoutDialog::ended);
        int beats = 0;
        QTimer timer;
        connect(&timer, &QTimer::timeout, this, [&beats] { ++beats; });
        timer.start(0);
        dialog.start(m_folder->path());
        QVERIFY(beats == 0); // nothing of it is done before start() returns
        QVERIFY(ended.wait(patienceMs));
        QVERIFY(beats > 3);
    }

    void namesBecomeFileNames_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("file");
        QTest::newRow("words") << "Does FP16 need a scaler?"
                               << "does_fp16_need_a_scaler_";
        QTest::newRow("path") << "../../etc/passwd"
                              << "_etc_passwd";
        QTest::newRow("none") << ""
                              << "experiment";
        QTest::newRow("Chinese") << QString::fromUtf8("损失 缩放") << QString::fromUtf8("损失_缩放");
    }

    void namesBecomeFileNames()
    {
        QFETCH(const QString, name);
        QFETCH(const QString, file);
        Experiment experiment = test::smallExperiment();
        experiment.name = name.toStdString();
        QCOMPARE(handoutOf(experiment, {}).fileName, file);
    }

private:
    void write(HandoutDialog& dialog)
    {
        QSignalSpy ended(&dialog, &HandoutDialog::ended);
        dialog.start(m_folder->path());
        QVERIFY(ended.wait(patienceMs));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_MAIN(TestHandout)
#include "tst_handout.moc"
