/// The start page in the real window: what it lists, how it is used from the keyboard, and that it is in nobody's way.
#include "engine/verify/shipped_experiments.h"
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/lesson/lesson_panel.h"
#include "ui/start/card_view.h"
#include "ui/start/gallery_model.h"
#include "ui/start/start_page.h"
#include "ui/style/theme.h"
#include "ui/views/experiments_view.h"
#include "ui/views/lane_list.h"
#include "ui/views/run_bar.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTest>

#include <cstdlib>

using namespace mantissa;

namespace {

constexpr int patienceMs = 120'000;

/// But for the edges of a line, which are blended with the background.
bool isNearly(const QColor& a, const QColor& b)
{
    constexpr int most = 24;
    return std::abs(a.red() - b.red()) < most && std::abs(a.green() - b.green()) < most
        && std::abs(a.blue() - b.blue()) < most;
}

QStringList titles(const CardView* cards)
{
    QStringList list;
    for (int row = 0; row < cards->model()->rowCount(); ++row) {
        list.append(cards->model()->index(row, 0).data().toString());
    }
    return list;
}

} // namespace

class TestStartPage : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { test::useOwnHome(); }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_window = test::openWindow(*m_folder);
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        m_window->openFirst();
        QTRY_VERIFY_WITH_TIMEOUT(isIn(SessionState::Ready), patienceMs);
        m_window->showStart();
        QVERIFY(page()->isVisible());
    }

    void cleanup()
    {
        m_window.reset();
        QApplication::setPalette(QPalette());
    }

    void listsEveryExperimentWithItsClaimAndVerdict()
    {
        const CardView* cards = page()->cards();
        QCOMPARE(static_cast<std::size_t>(cards->model()->rowCount()), shippedExperiments().size());
        const QAbstractItemModelTester tester(cards->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(titles(cards).contains(QStringLiteral("C18: Clipping before unscaling")));
        const QModelIndex first = cards->model()->index(0, 0);
        QCOMPARE(first.data(GalleryModel::VerdictRole).toString(), QStringLiteral("holds"));
        const QString spoken = first.data(Qt::AccessibleTextRole).toString();
        QVERIFY(spoken.contains(QStringLiteral("C01")) && spoken.contains(QStringLiteral("holds")));
        QVERIFY(first.data(Qt::AccessibleDescriptionRole).toString().contains(QStringLiteral("BF16: loss ")));
    }

    void picturesAreOfTheLanesColours()
    {
        const CardView* cards = page()->cards();
        for (const MainWindow::Theme theme : {MainWindow::Theme::Light, MainWindow::Theme::Dark}) {
            m_window->setTheme(theme);
            const QImage card = cards->viewport()->grab(cards->visualRect(cards->model()->index(1, 0))).toImage();
            for (const int lane : {1, 2}) { // of C02, whose first lies under its third
                const QColor color = laneColor(lane, theme == MainWindow::Theme::Dark);
                int pixels = 0;
                for (int y = 0; y < card.height(); ++y) {
                    for (int x = 0; x < card.width(); ++x) {
                        pixels += isNearly(card.pixelColor(x, y), color) ? 1 : 0;
                    }
                }
                QVERIFY2(pixels > 50, qPrintable(QStringLiteral("lane %1: %2").arg(lane).arg(pixels)));
            }
        }
    }

    void wordsAndVerdictsFilter()
    {
        const CardView* cards = page()->cards();
        QTest::keyClicks(page()->search(), QStringLiteral("c18"));
        QCOMPARE(titles(cards).first(), QStringLiteral("C18: Clipping before unscaling"));
        page()->search()->setText(QStringLiteral("batch norm cast"));
        QVERIFY(titles(cards).contains(QStringLiteral("C24: Batch norm in FP16")));
        page()->search()->setText(QStringLiteral("clip xyzzy"));
        QCOMPARE(cards->model()->rowCount(), 0);
        QVERIFY(!page()->grab().isNull()); // says so
        page()->search()->clear();
        page()->verdicts()->setCurrentIndex(page()->verdicts()->findData(QStringLiteral("depends")));
        QCOMPARE(cards->model()->rowCount(), 2);
        QVERIFY(titles(cards).first().startsWith(QStringLiteral("C06")));
        // Escape takes the filters away before it leaves.
        QTest::keyClick(page()->cards(), Qt::Key_Escape);
        QCOMPARE(static_cast<std::size_t>(cards->model()->rowCount()), shippedExperiments().size());
        QVERIFY(m_window->showsStart());
    }

    void arrowsAndEnterOpenACard()
    {
        CardView* cards = page()->cards();
        QVERIFY(cards->hasFocus());
        QCOMPARE(cards->currentIndex().row(), 0);
        QTest::keyClick(cards, Qt::Key_Right);
        QCOMPARE(cards->currentIndex().row(), 1);
        QTest::keyClick(cards, Qt::Key_Down);
        QCOMPARE(cards->currentIndex().row(), 1 + cards->columns());
        const QString file = cards->currentIndex().data(GalleryModel::FileRole).toString();
        QTest::keyClick(cards, Qt::Key_Return);
        QVERIFY(!m_window->showsStart());
        QCOMPARE(m_window->controller()->document().file(), std::filesystem::path(file.toStdString()));
    }

    void typedWordsThenEnterTwiceOpen()
    {
        page()->search()->setFocus();
        QTest::keyClicks(page()->search(), QStringLiteral("c12"));
        QTest::keyClick(page()->search(), Qt::Key_Return);
        QTest::keyClick(page()->cards(), Qt::Key_Return);
        QVERIFY(m_window->controller()->document().file().string().ends_with("c12_scale_without_end.json"));
    }

    void escapeShowsTheWorkbenchAsItWas()
    {
        QVERIFY(!m_window->experimentsView()->isVisible());
        auto* events = m_window->findChild<QDockWidget*>(QStringLiteral("events"));
        QVERIFY(!m_window->laneList()->isVisible());
        QVERIFY(events->isHidden());
        QTest::keyClick(page()->cards(), Qt::Key_Escape);
        QVERIFY(!page()->isVisible());
        QVERIFY(m_window->laneList()->isVisible());
        QVERIFY(!events->isHidden());
        QTRY_VERIFY(m_window->experimentsView()->isVisible()); // in front of Setup
        QTest::keyClick(m_window.get(), Qt::Key_G);
        QVERIFY(page()->isVisible());
    }

    void theDefaultExperimentIsOpenBehindItAndOneKeyTrainsIt()
    {
        QVERIFY(m_window->controller()->document().file().string().ends_with("/default.json"));
        QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->showsStart(), patienceMs);
        QVERIFY(m_window->controller()->isRunning() || m_window->controller()->status()->step > 0);
        QVERIFY(m_window->laneList()->isVisible());
    }

    void oneClickTrainsTheDefaultExperiment()
    {
        QVERIFY(m_window->openFile(
            test::writeFileIn(*m_folder, QStringLiteral("small.json"), test::smallExperimentText())));
        m_window->showStart();
        QTest::mouseClick(page()->trainButton(), Qt::LeftButton);
        QVERIFY(!m_window->showsStart());
        QVERIFY(m_window->controller()->document().file().string().ends_with("/default.json"));
        QTRY_VERIFY_WITH_TIMEOUT(m_window->controller()->status()->step > 0, patienceMs);
    }

    void trainingGoesOnBehindIt()
    {
        m_window->leaveStart();
        m_window->controller()->run();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->controller()->isRunning(), patienceMs);
        const std::int64_t step = m_window->controller()->status()->step;
        QTest::keyClick(m_window.get(), Qt::Key_G);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->controller()->status()->step > step + 2, patienceMs);
        QVERIFY(m_window->showsStart());
        QTest::keyClick(page()->cards(), Qt::Key_Escape);
        QVERIFY(!m_window->showsStart());
    }

    void aStepLeavesItToo()
    {
        QTest::keyClick(m_window.get(), Qt::Key_S);
        QTRY_VERIFY_WITH_TIMEOUT(!m_window->showsStart(), patienceMs);
    }

    void lessonsBeginFromIt()
    {
        QListWidget* places = page()->places();
        QListWidgetItem* first = places->item(1);
        QVERIFY(first->text().contains(QStringLiteral("30")));
        places->setCurrentItem(first);
        QTest::keyClick(places, Qt::Key_Return);
        QVERIFY(!m_window->showsStart());
        QVERIFY(m_window->lessonPanel()->lesson().has_value());
    }

    void presenterEnlargesItAndNothingClips_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::newRow("1280x800") << QSize(1280, 800);
        QTest::newRow("1920x1080") << QSize(1920, 1080);
    }

    void presenterEnlargesItAndNothingClips()
    {
        QFETCH(const QSize, size);
        m_window->resize(size);
        const int before = page()->cards()->cardSize().height();
        m_window->setPresenting(true);
        QVERIFY(m_window->showsStart());
        QTRY_VERIFY(page()->cards()->cardSize().height() > before * 14 / 10);
        QVERIFY(page()->minimumSizeHint().width() <= m_window->width());
        for (const QPushButton* button : page()->findChildren<QPushButton*>()) {
            QVERIFY2(button->width() >= button->sizeHint().width(), qPrintable(button->text()));
        }
        m_window->setPresenting(false);
        QVERIFY(m_window->showsStart());
        QTRY_COMPARE(page()->cards()->cardSize().height(), before);
        m_window->leaveStart();
        QVERIFY(m_window->laneList()->isVisible());
    }

private:
    [[nodiscard]] StartPage* page() const { return m_window->startPage(); }

    [[nodiscard]] bool isIn(SessionState state) const
    {
        const auto status = m_window->controller()->status();
        return status && status->state == state;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(TestStartPage)
#include "tst_start_page.moc"
