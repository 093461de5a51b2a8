/// The window's face of a session: what it sends takes effect, what it shows is what the session and the database hold.
#include "tests/ui/small_experiment.h"
#include "ui/session/session_controller.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace mantissa;
using mantissa::test::smallExperiment;

namespace {

constexpr int patienceMs = 60'000;

SessionState stateOf(const SessionController& controller)
{
    const auto status = controller.status();
    return status ? status->state : SessionState::Preparing;
}

StepRecord record(std::uint32_t lane, std::int64_t step, std::uint64_t hash)
{
    StepRecord result;
    result.lane = lane;
    result.step = step;
    result.batchHash = hash;
    return result;
}

SessionStatus twoLanes(const std::string& firstHash, const std::string& secondHash)
{
    SessionStatus status;
    for (const std::uint32_t id : {0U, 1U}) {
        LaneStatus lane;
        lane.id = id;
        lane.config = std::make_shared<LaneConfig>();
        lane.initialWeightsHash = id == 0 ? firstHash : secondHash;
        status.lanes.push_back(lane);
    }
    return status;
}

} // namespace

class TestSessionController : public QObject
{
    Q_OBJECT

private slots:
    void trainsToTheEndAndStoresEveryLane();
    void deliversEveryRecordInOrder();
    void valueIsPendingUntilApplied();
    void refusedValueComesBackWithAReason();
    void theStatusShowsNoLaneThatIsNotKnownYet();
    void savesWhatTheLanesBecame();
    void resetCanBeTakenBack();
    void addsDuplicatesAndRemovesLanes();
    void lockHoldsWhileHashesAgree();
    void lockBreaksAtTheFirstDifference();
    void lockBreaksForOtherInitialWeights();
    void monitorCountsSkips();
    void renamingALaneFollowsIntoEventsAndExpectations();
};

void TestSessionController::trainsToTheEndAndStoresEveryLane()
{
    QTemporaryDir folder;
    const std::filesystem::path database = folder.filePath(QStringLiteral("runs.db")).toStdString();
    std::vector<std::string> hashes;
    {
        SessionController controller(database);
        controller.open(ExperimentDocument(smallExperiment(30)));
        QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Ready, patienceMs);
        controller.run();
        QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Finished, patienceMs);
        for (const LaneStatus& lane : controller.status()->lanes) {
            QVERIFY(lane.summary.has_value());
            hashes.push_back(lane.summary->weightsHash);
        }
        QCOMPARE(controller.databaseProblem(), QString());
    }
    const RunStore store(database, StoreAccess::ReadOnly);
    const std::vector<RunInfo> runs = store.runs();
    QCOMPARE(runs.size(), std::size_t {2});
    for (const RunInfo& run : runs) {
        QVERIFY(run.status == RunStatus::Finished);
        QCOMPARE(run.steps, std::int64_t {30});
        QVERIFY(std::find(hashes.begin(), hashes.end(), run.weightsHash) != hashes.end());
        QCOMPARE(store.columns(run.id).step.size(), std::size_t {30});
    }
}

void TestSessionController::deliversEveryRecordInOrder()
{
    SessionController controller({});
    std::map<std::uint32_t, std::vector<std::int64_t>> steps;
    connect(&controller, &SessionController::recordsTaken, this, [&steps](const std::vector<StepRecord>& records) {
        for (const StepRecord& taken : records) {
            steps[taken.lane].push_back(taken.step);
        }
    });
    controller.open(ExperimentDocument(smallExperiment(40)));
    controller.run();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Finished, patienceMs);
    controller.poll();
    QCOMPARE(steps.size(), std::size_t {2});
    for (const auto& [lane, taken] : steps) {
        QCOMPARE(taken.size(), std::size_t {40});
        for (std::size_t index = 0; index < taken.size(); ++index) {
            QCOMPARE(taken[index], static_cast<std::int64_t>(index));
        }
    }
    QCOMPARE(controller.droppedRecords(), std::uint64_t {0});
}

void TestSessionController::valueIsPendingUntilApplied()
{
    SessionController controller({});
    controller.open(ExperimentDocument(smallExperiment()));
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Ready, patienceMs);
    const std::uint32_t lane = controller.status()->lanes.at(1).id;
    QSignalSpy pending(&controller, &SessionController::pendingChanged);
    controller.set(lane, "optimizer.lr", 0.0625);
    QCOMPARE(controller.pendingValue(lane, "optimizer.lr").value_or(0).get<double>(), 0.0625);
    QTRY_VERIFY_WITH_TIMEOUT(!controller.pendingValue(lane, "optimizer.lr").has_value(), patienceMs);
    QCOMPARE(pending.count(), 2);
    QCOMPARE(controller.status()->lanes.at(1).config->optimizer.lr, 0.0625);
    QCOMPARE(controller.status()->lanes.at(0).config->optimizer.lr, 0.002);
}

void TestSessionController::refusedValueComesBackWithAReason()
{
    SessionController controller({});
    controller.open(ExperimentDocument(smallExperiment()));
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Ready, patienceMs);
    const std::uint32_t lane = controller.status()->lanes.at(1).id;
    QSignalSpy refused(&controller, &SessionController::refused);
    controller.set(lane, "scaler.backoff_factor", 7.0);
    QTRY_VERIFY_WITH_TIMEOUT(refused.count() == 1, patienceMs);
    QVERIFY2(refused.first().first().toString().contains(QStringLiteral("backoff_factor")),
        qPrintable(refused.first().first().toString()));
    QVERIFY(!controller.pendingValue(lane, "scaler.backoff_factor").has_value());
    QCOMPARE(valueOf(*controller.status()->lanes.at(1).config->scaler, "backoff_factor"), std::optional(0.5));
    QCOMPARE(valueOf(*controller.document().lanes().at(1).scaler, "backoff_factor"), std::optional(0.5));
}

void TestSessionController::theStatusShowsNoLaneThatIsNotKnownYet()
{
    SessionController controller({});
    controller.open(ExperimentDocument(smallExperiment()));
    const auto everyLaneIsKnown = [&] {
        for (const LaneStatus& lane : controller.status()->lanes) {
            controller.recolorLane(lane.id, QStringLiteral("#123456"));
            if (controller.laneColor(lane.id) != QStringLiteral("#123456")) {
                return false;
            }
        }
        return true;
    };
    QTest::qSleep(100); // the session gets ready while no event reaches the controller
    QVERIFY(everyLaneIsKnown());
    QTRY_COMPARE_WITH_TIMEOUT(controller.status()->lanes.size(), std::size_t {2}, patienceMs);
    QVERIFY(everyLaneIsKnown());
}

void TestSessionController::savesWhatTheLanesBecame()
{
    QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath(QStringLiteral("changed.json")).toStdString();
    SessionController controller({});
    controller.open(ExperimentDocument(smallExperiment()));
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Ready, patienceMs);
    QVERIFY(!controller.document().isModified());
    const std::uint32_t lane = controller.status()->lanes.at(1).id;
    controller.set(lane, "scaler.growth_interval", 77);
    controller.recolorLane(lane, QStringLiteral("#123456"));
    QTRY_COMPARE_WITH_TIMEOUT(
        valueOf(*controller.document().lanes().at(1).scaler, "growth_interval"), std::optional(77.0), patienceMs);
    QVERIFY(controller.document().isModified());
    controller.save(file);
    QVERIFY(!controller.document().isModified());

    const Experiment read = loadExperiment(file);
    QCOMPARE(read.lanes.size(), std::size_t {2});
    QCOMPARE(valueOf(*read.lanes[1].scaler, "growth_interval"), std::optional(77.0));
    QCOMPARE(read.lanes[1].color, std::string("#123456"));
    QCOMPARE(read.lanes[0].optimizer.lr, 0.002);
}

void TestSessionController::resetCanBeTakenBack()
{
    SessionController straight({});
    straight.open(ExperimentDocument(smallExperiment(40)));
    straight.run();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(straight) == SessionState::Finished, patienceMs);

    SessionController controller({});
    controller.open(ExperimentDocument(smallExperiment(40)));
    controller.runSteps(15);
    QTRY_VERIFY_WITH_TIMEOUT(
        controller.status()->step == 15 && stateOf(controller) == SessionState::Paused, patienceMs);
    QVERIFY(!controller.canUndoReset());
    controller.reset();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Ready, patienceMs);
    QCOMPARE(controller.status()->step, std::int64_t {0});
    QVERIFY(controller.canUndoReset());

    controller.undoReset();
    QCOMPARE(controller.status()->step, std::int64_t {15});
    controller.run();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Finished, patienceMs);
    for (std::size_t lane = 0; lane < 2; ++lane) {
        QCOMPARE(
            controller.status()->lanes[lane].summary->weightsHash, straight.status()->lanes[lane].summary->weightsHash);
    }
}

void TestSessionController::addsDuplicatesAndRemovesLanes()
{
    SessionController controller({});
    controller.open(ExperimentDocument(smallExperiment(50)));
    controller.runSteps(10);
    QTRY_VERIFY_WITH_TIMEOUT(
        controller.status()->step == 10 && stateOf(controller) == SessionState::Paused, patienceMs);

    controller.duplicateLane(controller.status()->lanes.at(1).id);
    QTRY_COMPARE_WITH_TIMEOUT(controller.document().lanes().size(), std::size_t {3}, patienceMs);
    const LaneStatus copy = controller.status()->lanes.at(2);
    QCOMPARE(controller.laneName(copy.id), QStringLiteral("FP16 AMP 2"));
    QCOMPARE(copy.nextStep, std::int64_t {10});

    LaneConfig added = controller.document().lanes().front();
    added.precision.policy = "bf16";
    added.document["precision"]["policy"] = "bf16";
    controller.addLane(added);
    QTRY_COMPARE_WITH_TIMEOUT(controller.document().lanes().size(), std::size_t {4}, patienceMs);
    controller.run();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(controller) == SessionState::Finished, patienceMs);
    controller.poll();
    const std::vector<LaneStatus> lanes = controller.status()->lanes;
    QCOMPARE(lanes.at(2).summary->weightsHash, lanes.at(1).summary->weightsHash);
    QCOMPARE(lanes.at(3).nextStep, std::int64_t {50});
    QVERIFY(controller.facts(lanes.at(3).id).lock == LockState::Held);

    controller.removeLane(lanes.at(1).id);
    QTRY_COMPARE_WITH_TIMEOUT(controller.document().lanes().size(), std::size_t {3}, patienceMs);
    QCOMPARE(controller.laneName(lanes.at(2).id), QStringLiteral("FP16 AMP 2"));
}

void TestSessionController::lockHoldsWhileHashesAgree()
{
    LaneMonitor monitor;
    monitor.follow(twoLanes("a", "a"));
    QVERIFY(monitor.facts(1).lock == LockState::Held);
    monitor.add(std::vector {record(1, 0, 5), record(0, 0, 5), record(0, 1, 6), record(1, 1, 6)});
    QVERIFY(monitor.facts(1).lock == LockState::Held);
    QCOMPARE(monitor.facts(1).lockCheckedTo, std::int64_t {1});
}

void TestSessionController::lockBreaksAtTheFirstDifference()
{
    LaneMonitor monitor;
    monitor.follow(twoLanes("a", "a"));
    // The lane runs ahead of the baseline by two steps and parts from it at step 1.
    monitor.add(std::vector {record(1, 0, 5), record(1, 1, 9), record(1, 2, 10)});
    QCOMPARE(monitor.facts(1).lockBrokenAt, std::int64_t {-1});
    monitor.add(std::vector {record(0, 0, 5), record(0, 1, 6), record(0, 2, 7)});
    QVERIFY(monitor.facts(1).lock == LockState::DataDiffers);
    QCOMPARE(monitor.facts(1).lockBrokenAt, std::int64_t {1});
}

void TestSessionController::lockBreaksForOtherInitialWeights()
{
    LaneMonitor monitor;
    monitor.follow(twoLanes("a", "b"));
    QVERIFY(monitor.facts(1).lock == LockState::InitialWeightsDiffer);
    QCOMPARE(monitor.facts(1).lockBrokenAt, std::int64_t {0});
    QVERIFY(monitor.facts(0).lock == LockState::Held);
}

void TestSessionController::monitorCountsSkips()
{
    LaneMonitor monitor;
    monitor.follow(twoLanes("a", "a"));
    std::vector<StepRecord> records;
    for (std::int64_t step = 0; step < 6; ++step) {
        records.push_back(record(0, step, 1));
        records.back().skipped = step == 1 || step == 3;
        records.back().lossFinite = step < 4;
    }
    monitor.add(records);
    QCOMPARE(monitor.facts(0).skipped, std::int64_t {2});
    QCOMPARE(monitor.facts(0).firstSkip, std::int64_t {1});
    QCOMPARE(monitor.facts(0).lastSkip, std::int64_t {3});
    QCOMPARE(monitor.facts(0).lastApplied, std::int64_t {5});
    QCOMPARE(monitor.facts(0).nonFiniteSince, std::int64_t {4});
}

void TestSessionController::renamingALaneFollowsIntoEventsAndExpectations()
{
    Experiment experiment = smallExperiment();
    experiment.events.push_back({5, "FP16 AMP", {{"optimizer.lr", 0.5}}});
    experiment.expect = nlohmann::json::array(
        {{{"that", "x"}, {"left", {{"lane", "FP16 AMP"}, {"metric", "final_loss"}}}, {"op", "<"}, {"right", 9}}});
    ExperimentDocument document(experiment);
    document.renameLane(1, "Half");
    QCOMPARE(document.experiment().events.front().lane, std::string("Half"));
    QCOMPARE(document.experiment().expect[0]["left"]["lane"].get<std::string>(), std::string("Half"));
    const Experiment read = parseExperiment(document.text(), "renamed.json");
    QCOMPARE(read.lanes[1].name, std::string("Half"));

    document.removeLane(1);
    QVERIFY(document.experiment().events.empty());
    QVERIFY(document.experiment().expect.empty());
}

QTEST_GUILESS_MAIN(TestSessionController)
#include "tst_session_controller.moc"
