/// The scaler lab: what is ticked, clicked and entered decides what is played, and the results say what came of it.
#include "engine/store/run_store.h"
#include "ui/plots/scale_path_plot.h"
#include "ui/views/number_field.h"
#include "ui/views/scaler_lab.h"
#include "ui/views/trace_strip.h"

#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QListWidget>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QtTest>

using namespace mantissa;

namespace {

constexpr int patienceMs = 60'000;

int rowOf(const QListWidget* families, const QString& title)
{
    for (int row = 0; row < families->count(); ++row) {
        if (families->item(row)->text() == title) {
            return row;
        }
    }
    return -1;
}

template <typename Widget> Widget* named(QWidget* parent, const char* accessibleName)
{
    for (auto* widget : parent->findChildren<Widget*>()) {
        if (widget->accessibleName() == QLatin1String(accessibleName)) {
            return widget;
        }
    }
    return nullptr;
}

/// The numbers of a path as "x:y x:y", for comparing.
QString textOf(const std::vector<QPointF>& points)
{
    QStringList parts;
    for (const QPointF& point : points) {
        parts << QStringLiteral("%1:%2").arg(point.x()).arg(point.y());
    }
    return parts.join(QLatin1Char(' '));
}

} // namespace

class TestScalerLab : public QObject
{
    Q_OBJECT

private slots:

    void init()
    {
        m_lab = std::make_unique<ScalerLab>(std::filesystem::path());
        m_lab->show();
    }

    void cleanup() { m_lab.reset(); }

    void pathsHaveACornerWhereTheScaleChanges()
    {
        Play play;
        play.firstScale = 8;
        play.steps = {{.foundInf = true, .skipped = true, .scale = 4}, {.scale = 4}, {.scale = 8}, {.scale = 8}};
        const ScalePath path = pathOf(play);
        QCOMPARE(textOf(path.corners), QStringLiteral("0:8 1:4 3:8 4:8"));
        QCOMPARE(textOf(path.skips), QStringLiteral("0:8"));
    }

    void clicksAndKeysTurnStepsOver()
    {
        TraceStrip strip;
        strip.setSteps({false, false, false, false});
        strip.resize(strip.sizeHint());
        QSignalSpy changed(&strip, &TraceStrip::changed);
        QTest::mouseClick(&strip, Qt::LeftButton, {}, strip.cell(2).center());
        QCOMPARE(strip.steps(), (std::vector<bool> {false, false, true, false}));
        QTest::keyClick(&strip, Qt::Key_Right);
        QTest::keyClick(&strip, Qt::Key_Space);
        QTest::keyClick(&strip, Qt::Key_Home);
        QTest::keyClick(&strip, Qt::Key_Space);
        QTest::keyClick(&strip, Qt::Key_Space);
        QCOMPARE(strip.steps(), (std::vector<bool> {false, false, true, true}));
        QCOMPARE(changed.count(), 4);
        strip.setLength(5);
        QCOMPARE(strip.steps().size(), std::size_t {5});
        // As many rows as it takes.
        strip.setSteps(std::vector<bool>(100, false));
        const int wide = strip.heightForWidth(2000);
        QVERIFY(strip.heightForWidth(200) > wide);
    }

    void tickedFamiliesArePlayed()
    {
        auto* families = m_lab->findChild<QListWidget*>();
        auto* results = m_lab->findChild<QTableWidget*>();
        QCOMPARE(families->count(), static_cast<int>(scalerFamilies().size()));
        QCOMPARE(results->rowCount(), 3);
        for (int row = 0; row < families->count(); ++row) {
            families->item(row)->setCheckState(Qt::Checked);
        }
        QCOMPARE(results->rowCount(), families->count());
        QCOMPARE(m_lab->findChild<ScalePathPlot*>()->paths().size(), static_cast<std::size_t>(families->count()));
        // The first example: four overflows at the start. PyTorch skips each and halves its scale.
        const int pytorch = rowOf(families, QStringLiteral("PyTorch"));
        QCOMPARE(results->item(pytorch, 0)->text(), QStringLiteral("PyTorch"));
        QCOMPARE(results->item(pytorch, 1)->text(), QStringLiteral("4"));
        QCOMPARE(results->item(pytorch, 3)->text(), QStringLiteral("2^12"));
        // DeepSpeed absorbs the first.
        QCOMPARE(results->item(rowOf(families, QStringLiteral("DeepSpeed")), 3)->text(), QStringLiteral("2^13"));
        families->item(pytorch)->setCheckState(Qt::Unchecked);
        QCOMPARE(results->rowCount(), families->count() - 1);
    }

    void clickedStepsAndExamplesArePlayed()
    {
        auto* results = m_lab->findChild<QTableWidget*>();
        auto* strip = m_lab->findChild<TraceStrip*>();
        QTest::mouseClick(strip, Qt::LeftButton, {}, strip->cell(0).center());
        QCOMPARE(results->item(0, 1)->text(), QStringLiteral("3"));
        auto* examples = named<QComboBox>(m_lab.get(), "Example");
        for (int i = 0; i < examples->count(); ++i) {
            examples->setCurrentIndex(i);
            emit examples->activated(i);
            QCOMPARE(strip->steps().size(), std::size_t {40});
        }
        QCOMPARE(results->item(0, 1)->text(), QStringLiteral("0")); // "No overflow" is the last one
        m_lab->findChild<QSpinBox*>()->setValue(10);
        QCOMPARE(strip->steps().size(), std::size_t {10});
    }

    void aFamilysParametersCanBeChanged()
    {
        auto* families = m_lab->findChild<QListWidget*>();
        auto* results = m_lab->findChild<QTableWidget*>();
        const auto field = [&](const char* name) { return named<NumberField>(m_lab.get(), name); };
        const auto type = [](NumberField* into, const QString& text) {
            into->setFocus();
            into->selectAll();
            QTest::keyClicks(into, text);
            QTest::keyClick(into, Qt::Key_Return);
        };
        type(field("growth_interval"), QStringLiteral("6"));
        QCOMPARE(results->item(0, 2)->text(), QStringLiteral("6")); // 36 finite steps
        const int megatron = rowOf(families, QStringLiteral("Megatron-LM"));
        families->setCurrentRow(megatron);
        families->item(megatron)->setCheckState(Qt::Checked);
        QVERIFY(!field("growth_interval"));
        QCOMPARE(field("loss_scale_window")->value(), 1000.0);
        // What contradicts another parameter is refused in words, and the old value comes back.
        type(field("initial_loss_scale"), QStringLiteral("0.5"));
        QCOMPARE(field("initial_loss_scale")->value(), 0x1p32);
        bool isSaid = false;
        for (const auto* label : m_lab->findChildren<QLabel*>()) {
            isSaid = isSaid || (label->isVisible() && label->text().contains(QStringLiteral("below min_scale")));
        }
        QVERIFY(isSaid);
        type(field("initial_loss_scale"), QStringLiteral("2^10"));
        QCOMPARE(results->item(3, 3)->text(), QStringLiteral("2^7"));
    }

    void aScalerThatEndsTheTrainingSaysSo()
    {
        auto* families = m_lab->findChild<QListWidget*>();
        auto* results = m_lab->findChild<QTableWidget*>();
        auto* strip = m_lab->findChild<TraceStrip*>();
        strip->setSteps(std::vector<bool>(30, true));
        const int deepspeed = 2;
        QCOMPARE(results->item(deepspeed, 0)->text(), QStringLiteral("DeepSpeed"));
        QCOMPARE(results->item(deepspeed, 4)->text(), QStringLiteral("ended the training at step 17"));
        QVERIFY(results->item(deepspeed, 4)->toolTip().contains(QStringLiteral("minimum")));
        QVERIFY(families->currentItem());
    }

    void thePlotIsExported()
    {
        const QTemporaryDir folder;
        auto* plot = m_lab->findChild<ScalePathPlot*>();
        for (const char* suffix : {"png", "pdf", "svg", "csv"}) {
            const QString file = folder.filePath(QStringLiteral("scales.%1").arg(QLatin1String(suffix)));
            plot->exportTo(file);
            QVERIFY(QFileInfo(file).size() > 100);
        }
        QFile csv(folder.filePath(QStringLiteral("scales.csv")));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QStringList lines = QString::fromUtf8(csv.readAll()).split(QLatin1Char('\n'));
        QCOMPARE(lines[0], QStringLiteral("scaler,step,scale,skipped"));
        QCOMPARE(lines[1], QStringLiteral("\"PyTorch\",0,65536,0"));
    }

    void theGradientsOfAStoredRunArePlayed()
    {
        const QTemporaryDir folder;
        const std::filesystem::path file(folder.filePath(QStringLiteral("runs.db")).toStdString());
        RunWriter writer(file);
        RunStart start;
        start.lane = 0;
        start.config.name = std::string("A");
        start.experimentName = std::string("recorded");
        writer.runStarted(start);
        std::vector<StepRecord> records(20);
        for (std::size_t i = 0; i < records.size(); ++i) {
            records[i].step = static_cast<std::int64_t>(i);
            records[i].gradMax = 8; // fits at 2^12, overflows at 2^13 and above
            records[i].loss = 1;
        }
        writer.stepsRecorded(records);
        writer.runEnded(0, {});
        writer.flush();

        ScalerLab lab(file);
        lab.show();
        auto* source = named<QComboBox>(&lab, "Where the steps come from");
        source->setCurrentIndex(1);
        auto* results = lab.findChild<QTableWidget*>();
        // PyTorch halves 2^16 four times.
        QTRY_COMPARE_WITH_TIMEOUT(results->item(0, 1)->text(), QStringLiteral("4"), patienceMs);
        QCOMPARE(results->item(0, 3)->text(), QStringLiteral("2^12"));
        source->setCurrentIndex(0);
        QCOMPARE(lab.findChild<ScalePathPlot*>()->paths().front().corners.back().x(), 40.0);
    }

private:
    std::unique_ptr<ScalerLab> m_lab;
};

QTEST_MAIN(TestScalerLab)
#include "tst_scaler_lab.moc"
