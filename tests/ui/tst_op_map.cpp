// The op map in its window, driven by keys and clicks. What it shows and changes is compared with the session's graph
// and settings and with the stored run.
#include "engine/core/error.h"
#include "engine/store/run_store.h"
#include "tests/support/graph_lookup.h"
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/graph/op_map_panel.h"
#include "ui/graph/op_map_words.h"
#include "ui/plots/dashboard.h"
#include "ui/views/lane_list.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QImage>
#include <QLineEdit>
#include <QMenu>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include <algorithm>
#include <map>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr int patienceMs = 30'000;

NodeIndex indexOf(const OpMap& map, std::string_view name)
{
    return static_cast<NodeIndex>(&nodeNamed(map.graph(), name) - map.graph().nodes().data());
}

QMenu* openMenu()
{
    return qobject_cast<QMenu*>(QApplication::activePopupWidget());
}

QAction* entryOf(const QMenu* menu, const QString& beginning)
{
    const QList<QAction*> actions = menu->actions();
    const auto found = std::ranges::find_if(
        actions, [&](const QAction* action) { return action->isEnabled() && action->text().startsWith(beginning); });
    return found == actions.end() ? nullptr : *found;
}

/// Clicks the entry of the menu that is open; in a submenu, goes there by keys.
void choose(const QString& text, const QString& submenu = {})
{
    QTRY_VERIFY_WITH_TIMEOUT(openMenu() != nullptr, patienceMs);
    QMenu* menu = openMenu();
    if (submenu.isEmpty()) {
        QAction* entry = entryOf(menu, text);
        QVERIFY2(entry, qPrintable(text));
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(entry).center());
        return;
    }
    QAction* way = entryOf(menu, submenu);
    QVERIFY2(way && way->menu(), qPrintable(submenu));
    menu->setActiveAction(way);
    QTest::keyClick(menu, Qt::Key_Right);
    QTRY_VERIFY_WITH_TIMEOUT(way->menu()->isVisible(), patienceMs);
    QAction* entry = entryOf(way->menu(), text);
    QVERIFY2(entry, qPrintable(text));
    way->menu()->setActiveAction(entry);
    QTest::keyClick(way->menu(), Qt::Key_Return);
}

} // namespace

class TestOpMap : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();

    void showsWhatTheLaneRuns();
    void enterChangesAFormatWhileItTrains();
    void aKindChangesWithAllItsOps();
    void sumsHaveAFormatOfTheirOwn();
    void theBackwardOpAsksForItsForwardOp();
    void aLaneThatHasEndedSaysWhyNot();
    void aChangeWaitsVisiblyAndIsTakenBack();
    void arrowsFollowTheEdges();
    void searchFindsByNameAndKind();
    void blocksFoldAndUnfold();
    void followsTheSelectedLane();
    void zoomsFitsAndKeepsThePlaceUnderThePointer();
    void exportsPictures();
    void saysWhyThereIsNoGraph();
    void tabsAreReachedByKeys();

private:
    void open(const std::string& text);
    [[nodiscard]] const LaneStatus& lane(std::size_t index) const;

    [[nodiscard]] OpMapPanel* panel() const { return m_window->opMap(); }

    [[nodiscard]] OpMapView* view() const { return panel()->view(); }

    void click(const std::string& node);
    void press(Qt::Key key); ///< with Ctrl

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
};

void TestOpMap::initTestCase()
{
    test::useOwnHome();
}

void TestOpMap::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::openWindow(*m_folder);
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void TestOpMap::cleanup()
{
    m_window.reset();
    m_folder.reset();
}

void TestOpMap::open(const std::string& text)
{
    const QString file = test::writeFileIn(*m_folder, QStringLiteral("experiment.json"), text);
    QVERIFY2(m_window->openFile(file), qPrintable(m_window->messageBar()->text()));
    QTest::keyClick(m_window.get(), Qt::Key_2, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(view()->map() != nullptr, patienceMs);
}

const LaneStatus& TestOpMap::lane(std::size_t index) const
{
    return m_window->controller()->status()->lanes.at(index);
}

void TestOpMap::click(const std::string& node)
{
    view()->select(indexOf(*view()->map(), node));
    QTest::mouseClick(view()->viewport(), Qt::LeftButton, {}, view()->rectOf(indexOf(*view()->map(), node)).center());
}

void TestOpMap::press(Qt::Key key)
{
    // Without a window manager nobody activates the window again after a menu.
    m_window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    QTest::keyClick(m_window.get(), key, Qt::ControlModifier);
}

void TestOpMap::showsWhatTheLaneRuns()
{
    open(smallExperimentText());
    m_window->laneList()->select(m_window->laneList()->lanes().at(1));
    QCOMPARE(&view()->map()->graph(), lane(1).graph.get());
    const FormatCount& count = view()->map()->count();
    QVERIFY(count.ops.at(DType::Float16) > 0);
    QVERIFY(panel()->summaryText().startsWith(QStringLiteral("%1 ops, %2 casts per step; %3 in FP16, %4 in FP32")
                                                  .arg(count.total())
                                                  .arg(lane(1).castsPerStep)
                                                  .arg(count.ops.at(DType::Float16))
                                                  .arg(count.ops.at(DType::Float32))));
    QVERIFY(view()->accessibleName().contains(panel()->summaryText()));
}

void TestOpMap::enterChangesAFormatWhileItTrains()
{
    open(smallExperimentText(100'000));
    const std::uint32_t id = m_window->laneList()->lanes().at(1);
    m_window->laneList()->select(id);
    QTest::keyClick(m_window.get(), Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(lane(1).nextStep > 3, patienceMs);
    const int castsBefore = lane(1).castsPerStep;
    click("act1");
    QTest::keyClick(view(), Qt::Key_Return);
    choose(QStringLiteral("FP32"));
    QTRY_COMPARE_WITH_TIMEOUT(formatOf(*lane(1).graph, "act1"), DType::Float32, patienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(&view()->map()->graph(), lane(1).graph.get(), patienceMs);
    QVERIFY(m_window->controller()->isRunning());
    QCOMPARE(lane(1).config->precision.overrides, (std::map<std::string, std::string> {{"act1", "fp32"}}));
    QVERIFY(lane(0).config->precision.overrides.empty());
    QVERIFY(view()->map()->isOverridden(indexOf(*view()->map(), "act1")));
    QVERIFY(!view()->map()->isOverridden(indexOf(*view()->map(), "fc1")));
    QCOMPARE(view()->selectedNode().value(), indexOf(*view()->map(), "act1"));
    QVERIFY(panel()->summaryText().contains(QStringLiteral("1 overridden")));
    QVERIFY2(panel()->summaryText().contains(
                 QStringLiteral("last change: +%1 casts").arg(lane(1).castsPerStep - castsBefore)),
        qPrintable(panel()->summaryText()));
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->controller()->document().lanes().at(1).precision.overrides.contains("act1"), patienceMs);

    m_window->controller()->stop();
    QTRY_VERIFY_WITH_TIMEOUT(lane(1).status == RunStatus::Stopped, patienceMs);
    m_window->controller()->writer()->flush();
    const RunStore store(m_window->controller()->database(), StoreAccess::ReadOnly);
    const std::vector<Event> events = store.events(m_window->controller()->writer()->runOf(id));
    const auto changed = std::ranges::find(events, "precision.overrides", &Event::path);
    QVERIFY(changed != events.end());
    QVERIFY(changed->kind == EventKind::Set);
    QVERIFY(changed->step > 0);
    QCOMPARE(changed->after, std::string(R"({"act1":"fp32"})"));
}

void TestOpMap::aKindChangesWithAllItsOps()
{
    open(smallExperimentText());
    click("fc1");
    QTest::keyClick(view(), Qt::Key_Return);
    choose(QStringLiteral("BF16"));
    QTRY_COMPARE_WITH_TIMEOUT(formatOf(*lane(0).graph, "fc1"), DType::BFloat16, patienceMs);
    QCOMPARE(formatOf(*lane(0).graph, "fc2"), DType::Float32);
    QTRY_COMPARE_WITH_TIMEOUT(&view()->map()->graph(), lane(0).graph.get(), patienceMs);
    QTest::mouseDClick(view()->viewport(), Qt::LeftButton, {}, view()->rectOf(indexOf(*view()->map(), "fc2")).center());
    choose(QStringLiteral("FP16"), QStringLiteral("All 2 ops of kind linear"));
    QTRY_COMPARE_WITH_TIMEOUT(formatOf(*lane(0).graph, "fc2"), DType::Float16, patienceMs);
    QCOMPARE(formatOf(*lane(0).graph, "fc1"), DType::Float16);
    QCOMPARE(lane(0).config->precision.overrides, (std::map<std::string, std::string> {{"linear", "fp16"}}));

    press(Qt::Key_Z);
    QTRY_COMPARE_WITH_TIMEOUT(formatOf(*lane(0).graph, "fc1"), DType::BFloat16, patienceMs);
    QCOMPARE(formatOf(*lane(0).graph, "fc2"), DType::Float32);
    QCOMPARE(lane(0).config->precision.overrides, (std::map<std::string, std::string> {{"fc1", "bf16"}}));
}

void TestOpMap::sumsHaveAFormatOfTheirOwn()
{
    std::string text = smallExperimentText();
    const std::string mlp = R"({"kind": "mlp", "hidden": [24], "activation": "relu"})";
    text.replace(
        text.find(mlp), mlp.size(), R"({"kind": "vit", "depth": 1, "width": 8, "heads": 2, "fused_attention": false})");
    open(text);
    for (const char* op : {"norm", "blocks.0.attn.softmax"}) {
        click(op);
        QTest::keyClick(view(), Qt::Key_Return);
        choose(QStringLiteral("FP16"), QStringLiteral("Sums and statistics"));
        QTRY_COMPARE_WITH_TIMEOUT(
            lane(0).config->precision.overrides.count(std::string(op) + ".accumulate"), std::size_t {1}, patienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(&view()->map()->graph(), lane(0).graph.get(), patienceMs);
        const NodeIndex node = indexOf(*view()->map(), op);
        QCOMPARE(view()->map()->chosenSumFormat(node).value(), DType::Float16);
        QCOMPARE(formatLabel(*view()->map(), node), QStringLiteral("FP32, sums FP16"));
    }
}

void TestOpMap::theBackwardOpAsksForItsForwardOp()
{
    open(smallExperimentText());
    click("fc2.backward.weight");
    QTest::keyClick(view(), Qt::Key_Return);
    choose(QStringLiteral("FP16"));
    QTRY_COMPARE_WITH_TIMEOUT(
        lane(0).config->precision.overrides, (std::map<std::string, std::string> {{"fc2", "fp16"}}), patienceMs);
    QCOMPARE(formatOf(*lane(0).graph, "fc2.backward.weight"), DType::Float16);

    QTRY_COMPARE_WITH_TIMEOUT(&view()->map()->graph(), lane(0).graph.get(), patienceMs);
    click("adamw");
    QTest::keyClick(view(), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(openMenu() != nullptr, patienceMs);
    for (const QAction* action : openMenu()->actions()) {
        QVERIFY(action->isSeparator() || !action->isEnabled());
    }
    openMenu()->close();
}

void TestOpMap::aLaneThatHasEndedSaysWhyNot()
{
    open(smallExperimentText(2));
    m_window->controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(lane(0).status == RunStatus::Finished, patienceMs);
    click("fc1");
    QTest::keyClick(view(), Qt::Key_Return);
    choose(QStringLiteral("FP16"));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->messageBar()->text().contains(QStringLiteral("FP32 has ended")), patienceMs);
    QCOMPARE(m_window->dashboard()->undoStack()->count(), 0);
    QVERIFY(lane(0).config->precision.overrides.empty());
}

void TestOpMap::aChangeWaitsVisiblyAndIsTakenBack()
{
    open(smallExperimentText());
    const std::uint32_t id = m_window->laneList()->lanes().at(0);
    click("fc1");
    const QImage before = view()->grab().toImage();
    QTest::keyClick(view(), Qt::Key_Return);
    choose(QStringLiteral("BF16"));
    // Nothing was polled since: the lane has not said yet that it took the change.
    QCOMPARE(m_window->controller()->pendingValue(id, "precision.overrides").value().dump(),
        std::string(R"({"fc1":"bf16"})"));
    QVERIFY(view()->grab().toImage() != before);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->controller()->pendingValue(id, "precision.overrides"), patienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(&view()->map()->graph(), lane(0).graph.get(), patienceMs);
    QCOMPARE(formatOf(*lane(0).graph, "fc1"), DType::BFloat16);

    click("fc1");
    QTest::keyClick(view(), Qt::Key_Return);
    choose(QStringLiteral("As the policy says"));
    QTRY_VERIFY_WITH_TIMEOUT(lane(0).config->precision.overrides.empty(), patienceMs);
    QCOMPARE(formatOf(*lane(0).graph, "fc1"), DType::Float32);
    press(Qt::Key_Z);
    QTRY_COMPARE_WITH_TIMEOUT(lane(0).config->precision.overrides.size(), std::size_t {1}, patienceMs);
    press(Qt::Key_Z);
    QTRY_VERIFY_WITH_TIMEOUT(lane(0).config->precision.overrides.empty(), patienceMs);
    press(Qt::Key_Y);
    QTRY_COMPARE_WITH_TIMEOUT(formatOf(*lane(0).graph, "fc1"), DType::BFloat16, patienceMs);
}

void TestOpMap::arrowsFollowTheEdges()
{
    open(smallExperimentText());
    m_window->laneList()->select(m_window->laneList()->lanes().at(1));
    const OpMap& map = *view()->map();
    click("fc1");
    const auto press = [&](Qt::Key key) {
        QTest::keyClick(view(), key);
        return map.node(view()->selectedNode().value()).name;
    };
    QCOMPARE(press(Qt::Key_Down), std::string("act1"));
    QCOMPARE(press(Qt::Key_Down), std::string("fc2"));
    QCOMPARE(press(Qt::Key_Up), std::string("act1"));
    QCOMPARE(press(Qt::Key_Right), std::string("act1.backward.input"));
    QCOMPARE(press(Qt::Key_Down), std::string("fc2.backward.input"));
    QCOMPARE(press(Qt::Key_Left), std::string("fc2"));
    QVERIFY(press(Qt::Key_Left).starts_with("fc2."));
    QVERIFY(view()->accessibleDescription().startsWith(QStringLiteral("cast fc2.")));
}

void TestOpMap::searchFindsByNameAndKind()
{
    open(smallExperimentText());
    QTest::keyClick(m_window.get(), Qt::Key_1, Qt::ControlModifier);
    QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
    QLineEdit* field = panel()->searchField();
    QVERIFY(field->hasFocus());
    QTest::keyClicks(field, QStringLiteral("LINEAR"));
    QCOMPARE(view()->matches().size(), std::size_t {2});
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(view()->map()->node(view()->selectedNode().value()).name, std::string("fc1"));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(view()->map()->node(view()->selectedNode().value()).name, std::string("fc2"));
    QVERIFY(view()->viewport()->rect().contains(view()->rectOf(view()->selectedNode().value()).center()));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(view()->map()->node(view()->selectedNode().value()).name, std::string("fc1"));
    field->setText(QStringLiteral("no such op"));
    QVERIFY(view()->matches().empty());
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(field->text().isEmpty());
    QVERIFY(view()->hasFocus());
}

void TestOpMap::blocksFoldAndUnfold()
{
    std::string text = smallExperimentText();
    const std::string mlp = R"({"kind": "mlp", "hidden": [24], "activation": "relu"})";
    text.replace(text.find(mlp), mlp.size(), R"({"kind": "vit", "depth": 4, "width": 8, "heads": 2})");
    open(text);
    QVERIFY(view()->isFolded("blocks.0"));
    QVERIFY(view()->isFolded("blocks.3"));
    const std::size_t folded = view()->layoutOfMap().boxes.size();
    const NodeIndex hidden = indexOf(*view()->map(), "blocks.2.mlp.act");
    QTest::mouseDClick(
        view()->viewport(), Qt::LeftButton, {}, view()->rectOf(indexOf(*view()->map(), "blocks.0.norm1")).center());
    QVERIFY(!view()->isFolded("blocks.0"));
    QVERIFY(view()->layoutOfMap().boxes.size() > folded);
    QTest::keyClick(view(), Qt::Key_Return);
    QVERIFY(view()->isFolded("blocks.0"));
    QCOMPARE(view()->layoutOfMap().boxes.size(), folded);
    panel()->searchField()->setText(QStringLiteral("blocks.2.mlp.act"));
    QTest::keyClick(panel()->searchField(), Qt::Key_Return);
    QVERIFY(!view()->isFolded("blocks.2"));
    QCOMPARE(view()->selectedNode().value(), hidden);

    // A change keeps what is unfolded.
    view()->setFocus();
    QTest::keyClick(view(), Qt::Key_Return);
    choose(QStringLiteral("BF16"));
    QTRY_COMPARE_WITH_TIMEOUT(formatOf(*lane(0).graph, "blocks.2.mlp.act"), DType::BFloat16, patienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(&view()->map()->graph(), lane(0).graph.get(), patienceMs);
    QVERIFY(!view()->isFolded("blocks.2"));
    QVERIFY(view()->isFolded("blocks.1"));
    view()->setAllFolded(false);
    QCOMPARE(view()->layoutOfMap().frames.size(), std::size_t {4});
}

void TestOpMap::followsTheSelectedLane()
{
    open(smallExperimentText());
    QCOMPARE(&view()->map()->graph(), lane(0).graph.get());
    QTest::keyClick(m_window.get(), Qt::Key_2);
    QCOMPARE(&view()->map()->graph(), lane(1).graph.get());
    QCOMPARE(panel()->laneCombo()->currentText(), QStringLiteral("FP16 AMP"));
    panel()->laneCombo()->setFocus();
    QTest::keyClick(panel()->laneCombo(), Qt::Key_Up);
    QCOMPARE(m_window->laneList()->selected().value(), m_window->laneList()->lanes().at(0));
    QCOMPARE(&view()->map()->graph(), lane(0).graph.get());
    m_window->controller()->reset();
    QVERIFY(view()->map()); // the old graph stays until the new one is there
    const auto status = [this] { return m_window->controller()->status(); };
    QTRY_VERIFY_WITH_TIMEOUT(status() && !status()->lanes.empty(), patienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(&view()->map()->graph(), lane(0).graph.get(), patienceMs);
}

void TestOpMap::zoomsFitsAndKeepsThePlaceUnderThePointer()
{
    open(smallExperimentText());
    m_window->laneList()->select(m_window->laneList()->lanes().at(1));
    const NodeIndex node = indexOf(*view()->map(), "fc2");
    const double fitted = view()->zoom();
    for (int i = 0; i < 4; ++i) {
        view()->zoomIn();
    }
    view()->select(node);
    const double before = view()->zoom();
    const QPoint centre = view()->rectOf(node).center();
    QWheelEvent wheel(centre, view()->viewport()->mapToGlobal(centre), {}, {0, 240}, Qt::NoButton, Qt::ControlModifier,
        Qt::NoScrollPhase, false);
    QApplication::sendEvent(view()->viewport(), &wheel);
    QCOMPARE(view()->zoom(), before * 1.2 * 1.2);
    QVERIFY((view()->rectOf(node).center() - centre).manhattanLength() <= 4);
    QTest::keyClick(view(), Qt::Key_Minus);
    QCOMPARE(view()->zoom(), before * 1.2);
    QTest::keyClick(m_window.get(), Qt::Key_F);
    QCOMPARE(view()->zoom(), fitted);
}

void TestOpMap::exportsPictures()
{
    open(smallExperimentText());
    QTest::keyClick(view(), Qt::Key_C, Qt::ControlModifier);
    const QImage copied = QApplication::clipboard()->image();
    QVERIFY(copied.width() > 2 * view()->layoutOfMap().bounds.width() - 4);
    for (const char* suffix : {"png", "pdf", "svg"}) {
        const QString file = m_folder->filePath(QStringLiteral("graph.") + QString::fromLatin1(suffix));
        panel()->exportPicture(file);
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const QByteArray bytes = written.readAll();
        QVERIFY(bytes.size() > 2000);
        QVERIFY(bytes.startsWith(suffix[0] == 's' ? "<?xml" : suffix[1] == 'd' ? "%PDF" : "\x89PNG"));
    }
    QCOMPARE(QImage(m_folder->filePath(QStringLiteral("graph.png"))).size(), copied.size());
    QVERIFY_THROWS_EXCEPTION(Error, panel()->exportPicture(QStringLiteral("/no/such/folder/graph.png")));
}

void TestOpMap::saysWhyThereIsNoGraph()
{
    QTest::keyClick(m_window.get(), Qt::Key_2, Qt::ControlModifier);
    QVERIFY(!view()->map());
    QVERIFY(!panel()->searchField()->isEnabled());
    std::string text = smallExperimentText();
    text.replace(text.find("\"policy\": \"fp16\""), 16, "\"policy\": \"fp16\", \"overrides\": {\"fc7\": \"fp32\"}");
    const QString file = m_folder->filePath(QStringLiteral("bad.json"));
    QFile target(file);
    QVERIFY(target.open(QIODevice::WriteOnly));
    target.write(QByteArray::fromStdString(text));
    target.close();
    QVERIFY(m_window->openFile(file));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->messageBar()->text().contains(QStringLiteral("fc7")), patienceMs);
    QVERIFY(!view()->map());
    QVERIFY(panel()->summaryText().isEmpty());
}

void TestOpMap::tabsAreReachedByKeys()
{
    open(smallExperimentText());
    auto* tabs = m_window->findChild<QTabWidget*>();
    QVERIFY(panel()->isVisible());
    QVERIFY(view()->hasFocus());
    QTest::keyClick(m_window.get(), Qt::Key_1, Qt::ControlModifier);
    QCOMPARE(tabs->currentIndex(), 0);
    QTest::keyClick(m_window.get(), Qt::Key_2, Qt::ControlModifier);
    QTest::keyClick(m_window.get(), Qt::Key_F11);
    QVERIFY(m_window->isPresenting());
    QVERIFY(panel()->isVisible());
    QTest::keyClick(m_window.get(), Qt::Key_F11);
    QVERIFY(panel()->isVisible());
}

QTEST_MAIN(TestOpMap)
#include "tst_op_map.moc"
