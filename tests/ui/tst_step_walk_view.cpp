/// Going through a step by key shows every stage in words, and leaves the lanes where training them would.
#include "tests/ui/small_experiment.h"
#include "ui/session/session_controller.h"
#include "ui/style/number_format.h"
#include "ui/views/step_walk_view.h"

#include <QLabel>
#include <QPointer>
#include <QTableWidget>
#include <QTest>

using namespace mantissa;
using mantissa::test::smallExperiment;

namespace {

constexpr int patienceMs = 60'000;

} // namespace

class TestStepWalkView : public QObject
{
    Q_OBJECT

private slots:

    void init()
    {
        m_controller = std::make_unique<SessionController>(std::filesystem::path());
        m_controller->open(ExperimentDocument(smallExperiment()));
        QTRY_VERIFY_WITH_TIMEOUT(
            m_controller->status() && m_controller->status()->state == SessionState::Ready, patienceMs);
    }

    void cleanup() { m_controller.reset(); }

    void everyStageIsShownInOrder()
    {
        auto* view = new StepWalkView(m_controller.get(), id(1));
        view->resize(1280, 800);
        view->show();
        QTRY_VERIFY_WITH_TIMEOUT(!view->pages().empty(), patienceMs);
        QStringList titles;
        for (const WalkPage& page : view->pages()) {
            titles << page.title;
            QVERIFY(!page.sentence.isEmpty() && !page.sentence.contains(QLatin1Char('%') + QString::number(1)));
            for (const QStringList& row : page.rows) {
                QCOMPARE(row.size(), page.columns.size());
            }
        }
        QCOMPARE(titles.join(QLatin1Char(' ')),
            QStringLiteral("data forward loss scale backward unscale check clip step update schedule"));
        for (std::size_t i = 0; i < view->pages().size(); ++i) {
            QCOMPARE(view->page(), i);
            const QString stages = labelNamed(view, QStringLiteral("Stages"))->text();
            QVERIFY(stages.contains(QStringLiteral("<b>%1</b>").arg(view->pages()[i].title)));
            QCOMPARE(labelNamed(view, QStringLiteral("What happens"))->text(), view->pages()[i].sentence);
            QCOMPARE(view->findChild<QTableWidget*>()->rowCount(), static_cast<int>(view->pages()[i].rows.size()));
            if (i + 1 < view->pages().size()) {
                QTest::keyClick(view, i % 2 == 0 ? Qt::Key_Space : Qt::Key_Right);
            }
        }
        QTest::keyClick(view, Qt::Key_Left);
        QCOMPARE(view->page(), view->pages().size() - 2);
        QCOMPARE(m_controller->laneStatus(id(1))->nextStep, std::int64_t {0});
        QVERIFY(view->pages()[3].sentence.contains(QStringLiteral("2^10 (1,024)")));
        const QPointer<StepWalkView> watched(view);
        QTest::keyClick(view, Qt::Key_Escape);
        QTRY_VERIFY(watched.isNull());
    }

    /// From the last stage the lanes do the step, and the next one is taken apart.
    void theLastStageLeadsToTheNextStep()
    {
        auto* view = new StepWalkView(m_controller.get(), id(1));
        view->show();
        std::vector<double> losses;
        connect(
            m_controller.get(), &SessionController::recordsTaken, view, [&](const std::vector<StepRecord>& records) {
                for (const StepRecord& record : records) {
                    if (record.lane == id(1)) {
                        losses.push_back(record.loss);
                    }
                }
            });
        for (std::int64_t step = 0; step < 3; ++step) {
            QTRY_VERIFY_WITH_TIMEOUT(!view->pages().empty(), patienceMs);
            const QString sentence = view->pages()[2].sentence;
            for (std::size_t i = 0; i + 1 < view->pages().size(); ++i) {
                QTest::keyClick(view, Qt::Key_Space);
            }
            QTest::keyClick(view, Qt::Key_Space);
            QTRY_COMPARE_WITH_TIMEOUT(losses.size(), static_cast<std::size_t>(step + 1), patienceMs);
            QTRY_COMPARE_WITH_TIMEOUT(view->page(), std::size_t {0}, patienceMs);
            // What was shown is what the lane then did, to the digits shown.
            QVERIFY2(sentence.contains(formatValue(losses.back())), qPrintable(sentence));
            QCOMPARE(m_controller->laneStatus(id(0))->nextStep, step + 1);
        }
        view->close();
    }

    void aLaneThatHasEndedSaysSo()
    {
        m_controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(m_controller->status()->state == SessionState::Finished, patienceMs);
        auto* view = new StepWalkView(m_controller.get(), id(0));
        view->show();
        QTRY_VERIFY_WITH_TIMEOUT(
            labelNamed(view, QStringLiteral("What happens"))->text().contains(QStringLiteral("no step left")),
            patienceMs);
        view->close();
    }

    void anotherExperimentClosesIt()
    {
        const QPointer<StepWalkView> view(new StepWalkView(m_controller.get(), id(0)));
        view->show();
        m_controller->open(ExperimentDocument(smallExperiment()));
        QTRY_VERIFY_WITH_TIMEOUT(view.isNull(), patienceMs);
    }

private:
    [[nodiscard]] std::uint32_t id(std::size_t index) const { return m_controller->status()->lanes.at(index).id; }

    static QLabel* labelNamed(QWidget* parent, const QString& name)
    {
        for (auto* label : parent->findChildren<QLabel*>()) {
            if (label->accessibleName() == name) {
                return label;
            }
        }
        return nullptr;
    }

    std::unique_ptr<SessionController> m_controller;
};

QTEST_MAIN(TestStepWalkView)
#include "tst_step_walk_view.moc"
