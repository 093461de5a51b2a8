// Watchpoints in a session: they act behind the step that they name, once, are recorded, and replay without themselves.
#include "engine/core/error.h"
#include "engine/store/run_store.h"
#include "engine/train/session.h"
#include "engine/train/watchpoint.h"
#include "tests/support/run_recorder.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

using namespace mantissa;
using json = nlohmann::json;

namespace {

json document(const json& settings)
{
    json result = json::parse(R"({"mantissa": 1, "name": "w", "steps": 40,
        "data": {"kind": "spirals", "samples": 80, "batch": 16}, "model": {"hidden": [8]},
        "optimizer": {"kind": "sgd", "lr": 0.1},
        "lanes": [{"name": "a"}, {"name": "b", "precision": {"policy": "fp16"}, "scaler": {"init_scale": 1024}}]})");
    result.merge_patch(settings);
    return result;
}

struct Trained
{
    RunRecorder recorder;
    std::vector<Event> events; ///< all, those of the session too
    std::shared_ptr<const SessionStatus> status;

    [[nodiscard]] std::vector<Event> ofKind(EventKind kind) const
    {
        std::vector<Event> found;
        std::ranges::copy_if(events, std::back_inserter(found), [kind](const Event& e) { return e.kind == kind; });
        return found;
    }
};

void train(const json& settings, Trained& into, SessionOptions options = {})
{
    options.observers.push_back(&into.recorder);
    Session session(parseExperiment(document(settings).dump(), "w"), options);
    session.run();
    session.waitUntilIdle();
    into.status = session.status();
    session.takeEvents(into.events);
}

json watch(const json& list)
{
    return {{"watch", list}};
}

const json infAt(int step, const char* lane)
{
    return {{"step", step}, {"lane", lane}, {"set", {{"fault.gradient_inf", "fc1"}}}};
}

std::string problemOf(const json& settings)
{
    try {
        static_cast<void>(parseExperiment(document(settings).dump(), "file"));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

} // namespace

class TestWatchpoints : public QObject
{
    Q_OBJECT

private slots:

    void pauseStopsAllLanesBehindTheStep()
    {
        Trained run;
        train(watch({{{"when", "step == 7"}, {"lane", "b"}}}), run);
        QCOMPARE(run.status->state, SessionState::Paused);
        for (const LaneStatus& lane : run.status->lanes) {
            QCOMPARE(lane.nextStep, std::int64_t {8});
        }
        const auto events = run.ofKind(EventKind::Watch);
        QCOMPARE(events.size(), std::size_t {1});
        QCOMPARE(events[0].step, std::int64_t {7});
        QCOMPARE(events[0].lane, run.status->lanes[1].id);
        QCOMPARE(events[0].path, std::string("step == 7"));
        QCOMPARE(json::parse(events[0].after), (json {{"step", 7.0}}));
        QCOMPARE(run.ofKind(EventKind::Paused).size(), std::size_t {1});
        // Ended when the session went, it says why.
        QCOMPARE(run.recorder.summaries.size(), std::size_t {2});
        for (const auto& [lane, summary] : run.recorder.summaries) {
            QCOMPARE(summary.status, RunStatus::Stopped);
            QVERIFY2(summary.message.find("\"step == 7\" paused training behind step 7 of b") != std::string::npos,
                summary.message.c_str());
        }
    }

    void actsOnceUntilItWasFalseAgain()
    {
        Trained run;
        train(merged(watch({{{"when", "skips(3) > 0"}, {"do", "snapshot"}, {"lane", "b"}}}),
                  {{"events", {infAt(5, "b"), infAt(7, "b"), infAt(20, "b")}}}),
            run);
        QCOMPARE(run.status->state, SessionState::Finished);
        const auto events = run.ofKind(EventKind::Watch);
        QCOMPARE(events.size(), std::size_t {2});
        QCOMPARE(events[0].step, std::int64_t {5});
        QCOMPARE(events[1].step, std::int64_t {20});
    }

    void eachLaneIsWatchedByItself()
    {
        Trained run;
        train(watch({{{"when", "loss_finite == 1 and step >= 3"}, {"do", "snapshot"}}}), run);
        QCOMPARE(run.ofKind(EventKind::Watch).size(), std::size_t {2});
    }

    void whatIsOffDoesNothing()
    {
        Trained run;
        train(watch({{{"when", "step == 3"}, {"on", false}}}), run);
        QCOMPARE(run.status->state, SessionState::Finished);
        QVERIFY(run.ofKind(EventKind::Watch).empty());
    }

    void settingsChangeFromTheNextStepOn()
    {
        Trained run;
        train(watch({{{"when", "step == 9"}, {"do", {{"set", {{"optimizer.lr", 0.01}}}}}, {"lane", "a"}}}), run);
        const auto events = run.ofKind(EventKind::Set);
        QCOMPARE(events.size(), std::size_t {1});
        QCOMPARE(events[0].step, std::int64_t {10});
        QVERIFY(events[0].scripted);
        for (const StepRecord& record : run.recorder.records) {
            QCOMPARE(record.lr, record.lane == events[0].lane && record.step >= 10 ? 0.01 : 0.1);
        }
    }

    void forkIsTheLaneAsItWasBeforeTheStep()
    {
        Trained run;
        train(merged(watch({{{"when", "skipped == 1"}, {"do", "fork"}, {"lane", "b"}},
                         {{"when", "skipped == 1"}, {"do", "pause"}, {"lane", "b"}}}),
                  {{"events", {infAt(25, "b")}}}),
            run);
        QCOMPARE(run.status->lanes.size(), std::size_t {3});
        const LaneStatus& copy = run.status->lanes[2];
        QCOMPARE(copy.config->name, std::string("b before step 25"));
        QCOMPARE(copy.nextStep, std::int64_t {25});
        QCOMPARE(run.status->lanes[1].nextStep, std::int64_t {26});
        QCOMPARE(copy.scale, 1024.0);
        QCOMPARE(run.status->lanes[1].scale, 512.0);
    }

    /// A copy meets the same condition in its first step; it must not be copied in turn, without end.
    void aCopyIsNotCopiedAgain()
    {
        Trained run;
        train(watch({{{"when", "step >= 5"}, {"do", "fork"}}}), run);
        QCOMPARE(run.status->state, SessionState::Finished);
        QCOMPARE(run.status->lanes.size(), std::size_t {4});
        // The copy goes the way of its parent, to the bit.
        QCOMPARE(run.recorder.summaries.at(2).weightsHash, run.recorder.summaries.at(0).weightsHash);
        QCOMPARE(run.recorder.summaries.at(3).weightsHash, run.recorder.summaries.at(1).weightsHash);
    }

    void snapshotsAreCheckpointsWhereTheseAreWritten()
    {
        const QTemporaryDir folder;
        SessionOptions options;
        options.checkpoints.folder = folder.path().toStdString();
        Trained run;
        train(watch({{{"when", "step == 7"}, {"do", "snapshot"}, {"lane", "b"}}}), run, options);
        const auto written = run.ofKind(EventKind::Checkpoint);
        const auto found = std::ranges::find(written, std::int64_t {8}, &Event::step);
        QVERIFY(found != written.end());
        QVERIFY2(found->text.empty(), found->text.c_str());
        QCOMPARE(
            std::filesystem::path(found->path).filename(), std::filesystem::path("watch-step-00000008.safetensors"));
        QCOMPARE(readCheckpoint(found->path).state.nextStep, std::int64_t {8});
    }

    void layersOfGradientsCanBeWatched()
    {
        Trained run;
        train(merged(watch({{{"when", "flushed(\"fc1\") > 0"}, {"do", "snapshot"}, {"lane", "b"}},
                         {{"when", "flushed > 0"}, {"do", "snapshot"}, {"lane", "b"}},
                         {{"when", "flushed(\"fc1\") > 0"}, {"do", "snapshot"}, {"lane", "a"}}}),
                  {{"loss_weight", 1e-5},
                      {"lanes", {{{"name", "a"}}, {{"name", "b"}, {"precision", {{"policy", "fp16"}}}}}}}),
            run);
        const auto events = run.ofKind(EventKind::Watch);
        QVERIFY(std::ranges::any_of(events, [](const Event& e) { return e.path == "flushed(\"fc1\") > 0"; }));
        QVERIFY(std::ranges::none_of(events, [&run](const Event& e) { return e.lane == run.status->lanes[0].id; }));
    }

    /// Of all layers together and of each alone: the shares agree with each other.
    void sharesOfLayersAddUp()
    {
        Trained run;
        train(merged(watch({{{"when", "flushed > 0 and flushed(\"fc1\") >= 0 and flushed(\"fc2\") >= 0"},
                         {"do", "snapshot"}, {"lane", "b"}}}),
                  {{"loss_weight", 1e-5},
                      {"lanes", {{{"name", "a"}}, {{"name", "b"}, {"precision", {{"policy", "fp16"}}}}}}}),
            run);
        const auto events = run.ofKind(EventKind::Watch);
        QVERIFY(!events.empty());
        const json values = json::parse(events[0].after);
        // 2 inputs, 8 hidden, 3 classes; weights and biases.
        const double all = values["flushed"].get<double>() * (16 + 8 + 24 + 3);
        const double parts
            = values["flushed(\"fc1\")"].get<double>() * 24 + values["flushed(\"fc2\")"].get<double>() * 27;
        QVERIFY2(std::abs(all - parts) < 1e-9, events[0].after.c_str());
    }

    void anUnknownLayerIsNamedWithTheNearest()
    {
        Trained run;
        train(watch({{{"when", "flushed(\"fc9\") > 3 %"}}}), run);
        QCOMPARE(run.status->state, SessionState::Failed);
        QCOMPARE(run.status->error, ErrorCode::InvalidArgument);
        QVERIFY2(run.status->message.find("no layer \"fc9\"; did you mean \"fc1\"") != std::string::npos,
            run.status->message.c_str());
    }

    void listsCanBeReplacedWhileItTrains()
    {
        Session session(parseExperiment(document(watch({{{"when", "step >= 5"}}})).dump(), "w"), {});
        session.run();
        session.waitUntilIdle();
        QCOMPARE(session.status()->step, std::int64_t {6});
        // It has been true since: the same condition does not act again.
        session.setWatchpoints({{.when = "step >= 5"}, {.when = "step == 20"}});
        session.run();
        session.waitUntilIdle();
        QCOMPARE(session.status()->step, std::int64_t {21});
        std::vector<Event> events;
        session.takeEvents(events);
        session.setWatchpoints({{.when = "flushed(\"fc8\") > 0"}});
        session.setWatchpoints({{.when = "step == 30", .lane = "c"}});
        session.setWatchpoints({{.when = "step == 30", .action = WatchAction::Set, .set = {{"optimizer.lrr", 1}}}});
        session.setWatchpoints({{.when = "step =="}});
        session.waitUntilIdle();
        events.clear();
        session.takeEvents(events);
        QCOMPARE(events.size(), std::size_t {4});
        const std::vector<std::string> words {"no layer \"fc8\"", "no lane has that name", "optimizer.lr", "column 8"};
        for (std::size_t i = 0; i < events.size(); ++i) {
            QCOMPARE(events[i].kind, EventKind::Refused);
            QVERIFY2(events[i].text.find(words[i]) != std::string::npos, events[i].text.c_str());
        }
        session.run();
        session.waitUntilIdle();
        QCOMPARE(session.status()->state, SessionState::Finished);
    }

    /// What a watchpoint changed is in the stored run like any change, and a replay, which has no watchpoint, repeats
    /// it.
    void whatItChangedReplays()
    {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("runs.db").toStdString();
        const json settings
            = merged(watch({{{"when", "skips(10) >= 2"},
                                {"do", {{"set", {{"optimizer.lr", 0.01}, {"scaler.scale", 64}}}}}, {"lane", "b"}},
                         {{"when", "step >= 20"}, {"do", "fork"}, {"lane", "b"}}}),
                {{"events", {infAt(5, "b"), infAt(7, "b")}}});
        std::map<RunId, std::string> hashes;
        {
            RunWriter writer(file);
            SessionOptions options;
            options.observers = {&writer};
            Session session(parseExperiment(document(settings).dump(), "w"), options);
            session.run();
            session.waitUntilIdle();
            writer.flush();
        }
        const RunStore store(file);
        const auto runs = store.runs();
        QCOMPARE(runs.size(), std::size_t {3});
        for (const RunInfo& info : runs) {
            const json replay = store.replayExperiment(info.id);
            QVERIFY(!replay.contains("watch"));
            Trained again;
            SessionOptions options;
            options.threads = info.threads;
            options.observers = {&again.recorder};
            {
                Session session(parseExperiment(replay.dump(), "replay"), options);
                session.run();
                session.waitUntilIdle();
            }
            QCOMPARE(again.recorder.summaries.at(0).weightsHash, info.weightsHash);
        }
        const auto b = std::ranges::find(runs, std::string("b"), &RunInfo::lane);
        const auto events = store.events(b->id);
        QCOMPARE(std::ranges::count(events, EventKind::Watch, &Event::kind), std::ptrdiff_t {2});
        const auto fired = std::ranges::find(events, EventKind::Watch, &Event::kind);
        QCOMPARE(fired->path, std::string("skips(10) >= 2"));
        QCOMPARE(fired->step, std::int64_t {7});
        // The watchpoints themselves are kept with the run's experiment.
        QCOMPARE(store.experiment(b->id)["watch"].size(), std::size_t {2});
    }

    void copiesTakeSettingsWithThem()
    {
        RunRecorder recorder;
        SessionOptions options;
        options.observers = {&recorder};
        Session session(parseExperiment(document(json::object()).dump(), "w"), options);
        session.runSteps(5);
        session.waitUntilIdle();
        session.duplicateLane(0, "slow", std::nullopt, {{"optimizer.lr", 0.001}});
        session.duplicateLane(0, "wrong", std::nullopt, {{"optimizer.lrr", 0.001}});
        session.run();
        session.waitUntilIdle();
        QCOMPARE(session.status()->lanes.size(), std::size_t {3}); // the wrong one was refused as a whole
        for (const StepRecord& record : recorder.records) {
            QCOMPARE(record.lr, record.lane == 2 ? 0.001 : 0.1);
        }
    }

    // --- the file ---

    void filesComeBackAsTheyWere()
    {
        const json list = json::parse(R"([{"when": "scale < 1", "do": "pause"},
            {"when": "loss > 10", "do": {"set": {"optimizer.lr": 0.01, "clip": {"order": "unscale-then-clip", "max_norm": 1}}}},
            {"when": "flushed('fc2') > 3 %", "do": "fork", "lane": "b", "on": false}])");
        const Experiment experiment = parseExperiment(document(watch(list)).dump(), "w");
        QCOMPARE(experiment.watchpoints.size(), std::size_t {3});
        const json composed = composeExperiment(experiment);
        QCOMPARE(composed["watch"], list);
        QVERIFY(parseExperiment(composed.dump(), "w").watchpoints == experiment.watchpoints);
    }

    void filesAreRefusedWithThePlace_data()
    {
        QTest::addColumn<QString>("list");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* list, const char* words) { QTest::newRow(words) << list << words; };
        row(R"({"when": "scale < 1"})", "watch is ");
        row(R"([7])", "watch[0]. is 7");
        row(R"([{"do": "pause"}])", "watch[0].when is missing");
        row(R"([{"when": 5}])", "watch[0].when is 5; it must be a text");
        row(R"([{"when": "scale < 1"}, {"when": "scal < 1"}])",
            "watch[1].when is \"scal < 1\": column 1: \"scal\" is no metric; did you mean \"scale\"");
        row(R"([{"when": "scale < 1", "do": "stop"}])", "watch[0].do is \"stop\"; it must be \"pause\"");
        row(R"([{"when": "scale < 1", "do": "set"}])", "watch[0].do is \"set\"; it must be \"pause\"");
        row(R"([{"when": "scale < 1", "do": {"set": {}}}])", "watch[0].do is ");
        row(R"([{"when": "scale < 1", "do": {"set": {"optimizer.lrr": 1}}}])", "watch[0].do.set.optimizer.lrr");
        row(R"([{"when": "scale < 1", "do": {"set": {"model.width": 1}}}])",
            "watch[0].do.set.model.width needs a new lane");
        row(R"([{"when": "scale < 1", "lane": "c"}])", "watch[0].lane is \"c\", but no lane");
        row(R"([{"when": "scale < 1", "enabled": true}])", "watch[0].enabled is not a key");
        row(R"([{"when": "scale < 1", "on": "no"}])", "watch[0].on is \"no\"; it must be true or false");
    }

    void filesAreRefusedWithThePlace()
    {
        QFETCH(QString, list);
        QFETCH(QString, words);
        const std::string problem = problemOf(watch(json::parse(list.toStdString())));
        QVERIFY2(problem.find(words.toStdString()) != std::string::npos, problem.c_str());
    }

private:
    static json merged(json a, const json& b)
    {
        a.merge_patch(b);
        return a;
    }
};

QTEST_GUILESS_MAIN(TestWatchpoints)
#include "tst_watchpoints.moc"
