/// Every change that a person makes while lanes train can be taken back; that is an event of its own.
#include "engine/train/setting_table.h"
#include "tests/ui/small_experiment.h"
#include "ui/session/session_controller.h"
#include "ui/views/live_change.h"

#include <QTest>
#include <QUndoStack>

#include <random>

using namespace mantissa;
using mantissa::test::smallExperiment;

namespace {

using json = nlohmann::json;

constexpr int patienceMs = 60'000;

} // namespace

class TestLiveChange : public QObject
{
    Q_OBJECT

private slots:

    void init()
    {
        m_controller = std::make_unique<SessionController>(std::filesystem::path());
        m_stack = std::make_unique<QUndoStack>();
        m_changes = std::make_unique<LiveChanges>(m_controller.get(), m_stack.get());
        m_events.clear();
        connect(m_controller.get(), &SessionController::eventTaken, m_changes.get(), [this](const Event& event) {
            m_events.push_back(event);
            m_changes->note(event, QString::fromStdString(event.path));
        });
        m_controller->open(ExperimentDocument(smallExperiment(1000000)));
        QTRY_VERIFY_WITH_TIMEOUT(
            m_controller->status() && m_controller->status()->state == SessionState::Ready, patienceMs);
    }

    void cleanup()
    {
        m_changes.reset();
        m_stack.reset();
        m_controller.reset();
    }

    void patchesAreInverted_data()
    {
        QTest::addColumn<QString>("before");
        QTest::addColumn<QString>("after");
        QTest::addColumn<QString>("back");
        QTest::newRow("number") << "0.1"
                                << "0.2"
                                << "0.1";
        QTest::newRow("list") << R"(["a"])"
                              << R"(["b"])"
                              << R"(["a"])";
        QTest::newRow("new section") << "null"
                                     << R"({"order": "x"})"
                                     << "null";
        QTest::newRow("removed section") << R"({"order": "x"})"
                                         << "null"
                                         << R"({"order": "x"})";
        QTest::newRow("patch") << R"({"order": "off", "max_norm": 1})"
                               << R"({"order": "x", "max_norm": null, "max_value": 2})"
                               << R"({"order": "off", "max_norm": 1, "max_value": null})";
        QTest::newRow("text that is none") << ""
                                           << "1"
                                           << "null";
    }

    void patchesAreInverted()
    {
        QFETCH(QString, before);
        QFETCH(QString, after);
        QFETCH(QString, back);
        const Event event {.path = "x", .before = before.toStdString(), .after = after.toStdString()};
        QVERIFY2(valueBefore(event) == json::parse(back.toStdString()), valueBefore(event).dump().c_str());
    }

    void aChangeIsTakenBackAndRedone()
    {
        m_controller->set(id(0), "optimizer.lr", 0.5);
        QTRY_COMPARE_WITH_TIMEOUT(m_stack->count(), 1, patienceMs);
        QTRY_COMPARE(config(0).optimizer.lr, 0.5);
        m_stack->undo();
        QTRY_COMPARE_WITH_TIMEOUT(config(0).optimizer.lr, 0.002, patienceMs);
        m_stack->redo();
        QTRY_COMPARE_WITH_TIMEOUT(config(0).optimizer.lr, 0.5, patienceMs);
        QTRY_COMPARE(m_events.size(), std::size_t {3}); // each of the three is an event
        QCOMPARE(m_stack->count(), 1); // and only the first is the stack's
    }

    void sectionsAreTakenBackWhole()
    {
        m_controller->set(id(1), "clip", {{"order", "clip-then-unscale"}, {"max_norm", 1}});
        QTRY_COMPARE_WITH_TIMEOUT(m_stack->count(), 1, patienceMs);
        m_controller->set(id(1), "scaler", nullptr);
        QTRY_COMPARE_WITH_TIMEOUT(m_stack->count(), 2, patienceMs);
        QTRY_VERIFY(!config(1).scaler);
        m_stack->undo();
        QTRY_VERIFY_WITH_TIMEOUT(config(1).scaler && config(1).scaler->parameters.at("init_scale") == 1024, patienceMs);
        m_stack->undo();
        QTRY_VERIFY_WITH_TIMEOUT(!config(1).clip.maxNorm && config(1).clip.order == ClipOrder::Off, patienceMs);
    }

    void faultsAndScriptsAreNotTakenBack()
    {
        m_controller->set(id(0), "fault.loss_spike", 2);
        m_controller->set(id(0), "optimizer.beta1", 0.5);
        QTRY_COMPARE_WITH_TIMEOUT(m_events.size(), std::size_t {2}, patienceMs);
        QCOMPARE(m_stack->count(), 1);
        QCOMPARE(m_stack->text(0), QStringLiteral("optimizer.beta1"));
    }

    /// Two hundred random changes while it trains, all taken back: the settings are those of the beginning. (Orders are
    /// left out: taking back a clip.order moves the clipping, but not to the very place that it had in a shuffled one.)
    void everythingIsTakenBack()
    {
        const json before = settingsOf(0);
        std::mt19937_64 random(std::random_device {}());
        m_controller->run();
        for (int i = 0; i < 200; ++i) {
            const std::array<std::pair<const char*, json>, 8> choices {{
                {"optimizer.lr", 1e-4 * static_cast<double>(1 + random() % 9)},
                {"clip", {{"order", random() % 2 == 0 ? "unscale-then-clip" : "clip-then-unscale"}, {"max_norm", 1.5}}},
                {"clip.order", "off"},
                {"accumulation.steps", 1 + random() % 3},
                {"optimizer.state_format", random() % 2 == 0 ? "bf16" : "weights"},
                {"ema", {{"decay", 0.5}, {"format", "bf16"}}},
                {"precision.overrides.relu", random() % 2 == 0 ? json("fp32") : json()},
                {"schedule", {{"kind", random() % 2 == 0 ? "cosine" : "constant"}}},
            }};
            const auto& [path, value] = choices.at(random() % choices.size());
            m_controller->set(id(0), path, value);
            QTest::qWait(1);
        }
        QTRY_VERIFY_WITH_TIMEOUT(m_events.size() >= 201, patienceMs);
        while (m_stack->canUndo()) {
            m_stack->undo();
        }
        QTRY_VERIFY_WITH_TIMEOUT(settingsOf(0) == before, patienceMs);
    }

private:
    [[nodiscard]] std::uint32_t id(std::size_t index) const { return m_controller->status()->lanes.at(index).id; }

    [[nodiscard]] const LaneConfig& config(std::size_t index) const
    {
        return *m_controller->status()->lanes.at(index).config;
    }

    /// Every setting by value, whether the document names it or not.
    [[nodiscard]] json settingsOf(std::size_t index) const
    {
        json values = json::object();
        for (const Setting& row : settingTable()) {
            values[row.path] = row.write(config(index));
        }
        return values;
    }

    std::unique_ptr<SessionController> m_controller;
    std::unique_ptr<QUndoStack> m_stack;
    std::unique_ptr<LiveChanges> m_changes;
    std::vector<Event> m_events;
};

QTEST_MAIN(TestLiveChange)
#include "tst_live_change.moc"
