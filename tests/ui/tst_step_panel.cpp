/// The panel of a lane's step: blocks that a person drags, switches, faults and going back become what the session
/// does, and what a wrong order does is spelled out in the right numbers.
#include "tests/ui/small_experiment.h"
#include "ui/session/session_controller.h"
#include "ui/views/number_field.h"
#include "ui/views/order_strip.h"
#include "ui/views/order_words.h"
#include "ui/views/step_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace mantissa;
using mantissa::test::smallExperiment;

namespace {

constexpr int patienceMs = 60'000;

template <typename Widget> Widget* named(QWidget* parent, const QString& name)
{
    for (auto* widget : parent->findChildren<Widget*>()) {
        if (widget->accessibleName() == name) {
            return widget;
        }
    }
    return nullptr;
}

QCheckBox* boxWith(QWidget* parent, const QString& text)
{
    for (auto* box : parent->findChildren<QCheckBox*>()) {
        if (box->text() == text) {
            return box;
        }
    }
    return nullptr;
}

LaneConfig laneWith(nlohmann::json settings)
{
    nlohmann::json document {{"name", "a"}};
    document.merge_patch(settings);
    return parseLane(document, "");
}

QString textOf(const std::vector<OrderNote>& notes)
{
    QStringList lines;
    for (const OrderNote& note : notes) {
        lines << note.text;
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace

class TestStepPanel : public QObject
{
    Q_OBJECT

private slots:

    void init()
    {
        m_controller = std::make_unique<SessionController>(std::filesystem::path());
        m_panel = std::make_unique<StepPanel>(m_controller.get());
        m_panel->resize(1000, 420);
        m_panel->show();
        m_controller->open(ExperimentDocument(smallExperiment()));
        QTRY_VERIFY_WITH_TIMEOUT(
            m_controller->status() && m_controller->status()->state == SessionState::Ready, patienceMs);
        connect(m_controller.get(), &SessionController::statusChanged, m_panel.get(), &StepPanel::follow);
        m_panel->setLane(id(1));
    }

    void cleanup()
    {
        m_panel.reset();
        m_controller.reset();
    }

    void aBlockIsDragged()
    {
        OrderStrip* strip = m_panel->strip();
        QSignalSpy moved(strip, &OrderStrip::reordered);
        const QPoint from = strip->blockRect(StepBlock::Step).center();
        const QPoint to = strip->blockRect(StepBlock::Unscale).center();
        QTest::mousePress(strip, Qt::LeftButton, {}, from);
        for (int i = 1; i <= 10; ++i) {
            QTest::mouseMove(strip, from + (to - from) * i / 10);
        }
        QCOMPARE(moved.count(), 0); // not before it is let go
        QTest::mouseRelease(strip, Qt::LeftButton, {}, to);
        QCOMPARE(moved.count(), 1);
        const std::vector<std::string> wanted {"step", "unscale", "check", "clip", "update", "schedule"};
        QTRY_COMPARE_WITH_TIMEOUT(namesOf(config(1).order), wanted, patienceMs);
        QTRY_VERIFY(notes().contains(QStringLiteral("1,024")));
        auto* right = m_panel->findChild<QToolButton*>();
        QTRY_VERIFY(right->isEnabled());
        right->click();
        QTRY_VERIFY_WITH_TIMEOUT(config(1).order == rightOrder, patienceMs);
        QTRY_COMPARE(notes(), QStringLiteral("The right order."));
        QVERIFY(config(0).order == rightOrder);
    }

    void escapeTakesADragBack()
    {
        OrderStrip* strip = m_panel->strip();
        QSignalSpy moved(strip, &OrderStrip::reordered);
        QTest::mousePress(strip, Qt::LeftButton, {}, strip->blockRect(StepBlock::Unscale).center());
        QTest::mouseMove(strip, strip->blockRect(StepBlock::Update).center());
        QVERIFY(strip->order() != rightOrder);
        QTest::keyClick(strip, Qt::Key_Escape);
        QTest::mouseRelease(strip, Qt::LeftButton, {}, strip->blockRect(StepBlock::Update).center());
        QVERIFY(strip->order() == rightOrder);
        QCOMPARE(moved.count(), 0);
    }

    void backwardStaysWhereItIs()
    {
        OrderStrip* strip = m_panel->strip();
        const QPoint first(4, strip->height() / 2);
        QTest::mousePress(strip, Qt::LeftButton, {}, first);
        QTest::mouseMove(strip, strip->blockRect(StepBlock::Update).center());
        QTest::mouseRelease(strip, Qt::LeftButton, {}, strip->blockRect(StepBlock::Update).center());
        QVERIFY(strip->order() == rightOrder);
    }

    void blocksMoveByKey()
    {
        OrderStrip* strip = m_panel->strip();
        strip->setFocus();
        QTest::keyClick(strip, Qt::Key_Right); // from unscale to check
        QTest::keyClick(strip, Qt::Key_Right, Qt::ControlModifier);
        QTest::keyClick(strip, Qt::Key_Right, Qt::ControlModifier);
        const std::vector<std::string> wanted {"unscale", "clip", "step", "check", "update", "schedule"};
        QTRY_COMPARE_WITH_TIMEOUT(namesOf(config(1).order), wanted, patienceMs);
        QTRY_VERIFY(notes().contains(QStringLiteral("the first overflow reaches the weights")));
        QVERIFY(strip->accessibleDescription().startsWith(QStringLiteral("backward, unscale, clip, step, check")));
    }

    void switchesBecomeSettings()
    {
        const auto click = [this](const char* text) {
            QCheckBox* box = boxWith(m_panel.get(), QString::fromUtf8(text));
            QVERIFY2(box != nullptr, text);
            box->click();
        };
        click("stray second step");
        click("divide the loss by their number");
        click("zero the gradients before a step");
        click("update the scaler after each");
        auto* parts = named<NumberField>(m_panel.get(), QStringLiteral("Micro-batches"));
        parts->setFocus();
        parts->selectAll();
        QTest::keyClicks(parts, QStringLiteral("4"));
        QTest::keyClick(parts, Qt::Key_Return);
        auto* state = named<QComboBox>(m_panel.get(), QStringLiteral("State"));
        state->setCurrentIndex(state->findData(QStringLiteral("bf16")));
        emit state->activated(state->currentIndex());
        QTRY_VERIFY_WITH_TIMEOUT(config(1).optimizer.stateFormat == "bf16", patienceMs);
        QVERIFY(config(1).optimizer.extraStep);
        QCOMPARE(config(1).accumulation.steps, std::int64_t {4});
        QVERIFY(!config(1).accumulation.divide && !config(1).accumulation.zeroGradients);
        QVERIFY(config(1).accumulation.scalerPerMicroBatch);
        QTRY_VERIFY(notes().contains(QStringLiteral("A stray second step")));
        QVERIFY(notes().contains(QStringLiteral("sum of 4 micro-batches")));
        m_panel->setLane(id(0));
        QVERIFY(!boxWith(m_panel.get(), QStringLiteral("stray second step"))->isChecked());
        QCOMPARE(notes(), QStringLiteral("The right order."));
    }

    void faultsHappenInTheNextStep()
    {
        auto* fault = named<QComboBox>(m_panel.get(), QStringLiteral("Fault"));
        auto* layer = named<QComboBox>(m_panel.get(), QStringLiteral("Layer"));
        fault->setCurrentIndex(fault->findText(QStringLiteral("infinity in a gradient")));
        QVERIFY(layer->isVisible() && layer->count() >= 2);
        layer->setCurrentIndex(1);
        std::vector<StepRecord> records;
        std::vector<Event> events;
        connect(m_controller.get(), &SessionController::recordsTaken, this,
            [&records](
                const std::vector<StepRecord>& taken) { records.insert(records.end(), taken.begin(), taken.end()); });
        connect(m_controller.get(), &SessionController::eventTaken, this,
            [&events](const Event& event) { events.push_back(event); });
        m_panel->findChild<QPushButton*>()->click();
        m_controller->runSteps(2);
        QTRY_VERIFY_WITH_TIMEOUT(records.size() >= 4, patienceMs);
        for (const StepRecord& record : records) {
            QCOMPARE(record.foundInf, record.lane == id(1) && record.step == 0);
        }
        QVERIFY(std::ranges::any_of(events, [&](const Event& event) {
            return event.path == "fault.gradient_inf"
                && event.after == nlohmann::json(layer->currentText().toStdString()).dump();
        }));
    }

    void aLaneGoesBack()
    {
        m_controller->runSteps(30);
        QTRY_VERIFY_WITH_TIMEOUT(m_controller->laneStatus(id(1))->nextStep == 30, patienceMs);
        m_controller->goBack(id(1), 24);
        QTRY_COMPARE_WITH_TIMEOUT(m_controller->status()->lanes.size(), std::size_t {3}, patienceMs);
        QCOMPARE(m_controller->status()->lanes[2].nextStep, std::int64_t {24});
        QTRY_VERIFY(m_controller->laneName(id(2)).endsWith(QStringLiteral("from step 24")));
    }

    // --- words ---

    void numbersAreSpelledOut_data()
    {
        QTest::addColumn<QString>("settings");
        QTest::addColumn<double>("scale");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const char* settings, double scale, const char* words) {
            QTest::newRow(name) << settings << scale << QString::fromUtf8(words);
        };
        row("clip by norm", R"({"clip": {"order": "clip-then-unscale", "max_norm": 1}, "scaler": {}})", 65536,
            "the threshold acts as 1 / 2^16 (65,536) = 1.526e-05");
        row("clip, scale 1", R"({"clip": {"order": "clip-then-unscale", "max_norm": 1}})", 1,
            "harmless while the scale is 1");
        row("clip late",
            R"({"clip": {"order": "unscale-then-clip", "max_norm": 1}, "order": ["unscale", "check", "step", "clip", "update", "schedule"]})",
            1, "Clips after the step");
        row("rate",
            R"({"optimizer": {"kind": "sgd", "lr": 0.5}, "scaler": {}, "order": ["step", "unscale", "check", "clip", "update", "schedule"]})",
            1024, "the rate acts as 0.5 × 2^10 (1,024) = 512");
        row("adam",
            R"({"optimizer": {"kind": "adam", "epsilon": 1e-8}, "scaler": {}, "order": ["step", "unscale", "check", "clip", "update", "schedule"]})",
            1024, "epsilon acts as 1e-08 / 2^10 (1,024) = 9.766e-12");
        row("hidden infinity", R"({"clip": {"order": "clip-then-unscale", "max_value": 2}, "scaler": {}})", 4,
            "an infinite gradient has become 0.5");
        row("stray", R"({"optimizer": {"kind": "sgd", "lr": 0.25, "extra_step": true}})", 1,
            "the rate acts as 2 × 0.25 = 0.5");
        row("sum", R"({"optimizer": {"kind": "sgd", "lr": 0.25}, "accumulation": {"steps": 8, "divide": false}})", 1,
            "the rate acts as 8 × 0.25 = 2");
        row("epsilon", R"({"optimizer": {"kind": "adam", "epsilon_format": "fp16"}})", 1, "epsilon 1e-08 is 0 in FP16");
        row("average", R"({"ema": {"decay": 0.999, "format": "bf16"}})", 1, "An average in BF16 moves only");
        row("constant", R"({"order": ["unscale", "check", "clip", "schedule", "step", "update"]})", 1,
            "harmless, the rate is constant");
        row("schedule",
            R"({"schedule": {"kind": "cosine"}, "order": ["unscale", "check", "clip", "schedule", "step", "update"]})",
            1, "used one step early");
    }

    void numbersAreSpelledOut()
    {
        QFETCH(QString, settings);
        QFETCH(double, scale);
        QFETCH(QString, words);
        const QString text = textOf(orderNotes(laneWith(nlohmann::json::parse(settings.toStdString())), scale));
        QVERIFY2(text.contains(words), qPrintable(text));
    }

    /// Of all 720 orders, none but those without any effect on the numbers go without a mark.
    void everyWrongOrderIsMarked()
    {
        std::vector<std::string> blocks = namesOf(rightOrder);
        std::ranges::sort(blocks);
        int plain = 0;
        do {
            const bool clipsFirst = std::ranges::find(blocks, "clip") < std::ranges::find(blocks, "unscale");
            const LaneConfig lane
                = laneWith({{"order", blocks}, {"scaler", {{"family", "pytorch"}}}, {"schedule", {{"kind", "cosine"}}},
                    {"clip", {{"order", clipsFirst ? "clip-then-unscale" : "unscale-then-clip"}, {"max_norm", 1}}}});
            const std::vector<OrderNote> notes = orderNotes(lane, 1024);
            const bool isWrong
                = std::ranges::any_of(notes, [](const OrderNote& note) { return note.tone == Tone::Problem; });
            const auto before = [&lane](StepBlock a, StepBlock b) { return comesBefore(lane.order, a, b); };
            const bool isRight = before(StepBlock::Unscale, StepBlock::Clip) && before(StepBlock::Clip, StepBlock::Step)
                && before(StepBlock::Check, StepBlock::Step) && before(StepBlock::Unscale, StepBlock::Update)
                && before(StepBlock::Check, StepBlock::Update) && before(StepBlock::Step, StepBlock::Schedule);
            QCOMPARE(isWrong, !isRight);
            plain += isRight ? 1 : 0;
        } while (std::ranges::next_permutation(blocks).found);
        QVERIFY(plain > 1);
    }

private:
    [[nodiscard]] std::uint32_t id(std::size_t index) const { return m_controller->status()->lanes.at(index).id; }

    [[nodiscard]] const LaneConfig& config(std::size_t index) const
    {
        return *m_controller->status()->lanes.at(index).config;
    }

    [[nodiscard]] QString notes() const
    {
        return named<QLabel>(m_panel.get(), QStringLiteral("What the order does"))->text();
    }

    std::unique_ptr<SessionController> m_controller;
    std::unique_ptr<StepPanel> m_panel;
};

QTEST_MAIN(TestStepPanel)
#include "tst_step_panel.moc"
