// Checkpoints: a lane resumed from one trains to the same bits as one that was never interrupted, at every step tried
// and with everything that has state; bad ones are refused and nothing is lost.
#include "engine/core/error.h"
#include "engine/train/resume_changes.h"
#include "engine/train/session.h"
#include "tests/support/run_recorder.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace mantissa;

namespace {

using json = nlohmann::json;

Experiment experimentOf(const json& settings)
{
    json document {{"mantissa", 1}, {"name", "t"}, {"steps", 30}, {"data", {{"kind", "digits"}, {"batch", 16}}},
        {"lanes", {{{"name", "a"}}}}};
    document.merge_patch(settings);
    return parseExperiment(document.dump(), "test");
}

RunRecorder train(Experiment experiment, const CheckpointPlan& plan = {}, std::vector<ResumedLane> resumed = {},
    std::int64_t stopAt = 0)
{
    RunRecorder listener;
    SessionOptions options;
    options.threads = 1;
    options.observers = {&listener};
    options.checkpoints = plan;
    options.resumed = std::move(resumed);
    Session session(std::move(experiment), options);
    if (stopAt > 0) {
        session.runSteps(stopAt);
        session.waitUntilIdle();
        session.stop();
    } else {
        session.run();
    }
    session.waitUntilIdle();
    return listener;
}

ResumedLane readBack(const std::filesystem::path& file)
{
    return {std::make_shared<const Checkpoint>(readCheckpoint(file)), file};
}

Experiment experimentOf(const ResumedLane& lane)
{
    Experiment experiment;
    experiment.name = lane.checkpoint->experimentName;
    experiment.lanes = {lane.checkpoint->initial};
    experiment.watchpoints = lane.checkpoint->watchpoints;
    return experiment;
}

std::vector<std::string> writtenFiles(const RunRecorder& listener)
{
    std::vector<std::string> files;
    for (const Event& event : listener.events) {
        if (event.kind == EventKind::Checkpoint && event.text.empty()) {
            files.push_back(event.path);
        }
    }
    return files;
}

QString complaint(const std::filesystem::path& file)
{
    try {
        readCheckpoint(file);
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

} // namespace

class TestCheckpoint : public QObject
{
    Q_OBJECT

private slots:

    void resumedLanesTrainToTheSameBits_data()
    {
        QTest::addColumn<QString>("settings");
        const auto row = [](const char* name, const json& settings) {
            QTest::newRow(name) << QString::fromStdString(settings.dump());
        };
        const json mlp {{"kind", "mlp"}, {"hidden", {16}}, {"dropout", 0.3}};
        row("fp32, adamw, dropout", {{"model", mlp}});
        row("fp16, scaler that grows and backs off",
            {{"model", mlp}, {"precision", {{"policy", "fp16"}}},
                {"scaler", {{"init_scale", 1e9}, {"growth_interval", 3}}},
                {"schedule", {{"kind", "cosine"}, {"warmup_steps", 5}, {"count_skipped", false}}}});
        row("sgd with momentum, accumulation, clipping",
            {{"model", mlp}, {"optimizer", {{"kind", "sgd"}, {"lr", 0.1}, {"momentum", 0.9}, {"nesterov", true}}},
                {"accumulation", {{"steps", 3}}}, {"clip", {{"order", "unscale-then-clip"}, {"max_norm", 0.5}}},
                {"evaluation", {{"every", 7}, {"samples", 40}}}});
        row("batch norm, bf16",
            {{"model", {{"kind", "cnn"}, {"width", 4}, {"stages", 1}, {"batch_norm", true}}},
                {"precision", {{"policy", "bf16"}}}});
        row("weights of 16 bits",
            {{"model", mlp}, {"precision", {{"policy", "pure-fp16"}}}, {"optimizer", {{"epsilon", 1e-4}}}});
        row("tokens",
            {{"data", {{"kind", "copy"}, {"length", 4}, {"symbols", 4}, {"batch", 8}, {"samples", 64}}},
                {"model", {{"kind", "gpt"}, {"width", 16}, {"heads", 2}, {"depth", 1}, {"dropout", 0.1}}}});
        row("scripted changes, past and to come",
            {{"model", mlp},
                {"events",
                    {{{"step", 4}, {"set", {{"optimizer.lr", 0.02}}}},
                        {{"step", 9}, {"set", {{"precision.policy", "fp16"}, {"scaler.family", "megatron"}}}},
                        {{"step", 21}, {"set", {{"scaler.scale", 4096.0}}}}}}});
        for (const std::string& family : scalerFamilies()) {
            row(("scaler " + family).c_str(),
                {{"model", mlp}, {"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", family}}}});
        }
    }

    void resumedLanesTrainToTheSameBits()
    {
        QFETCH(const QString, settings);
        const json document = json::parse(settings.toStdString());
        const RunRecorder whole = train(experimentOf(document));
        QCOMPARE(whole.records.size(), std::size_t {30});
        for (const std::int64_t at : {1, 9, 10, 22}) {
            QTemporaryDir folder;
            const RunRecorder first = train(experimentOf(document), {.folder = folder.path().toStdString()}, {}, at);
            const std::vector<std::string> files = writtenFiles(first);
            QCOMPARE(files.size(), std::size_t {1});
            const ResumedLane lane = readBack(files.back());
            QCOMPARE(lane.checkpoint->state.nextStep, at);
            const RunRecorder rest = train(experimentOf(lane), {}, {lane});
            QCOMPARE(rest.records.size(), static_cast<std::size_t>(30 - at));
            for (const StepRecord& record : rest.records) {
                QVERIFY2(isSameStep(record, whole.records.at(static_cast<std::size_t>(record.step))),
                    qPrintable(QString("resumed at %1, differs at %2").arg(at).arg(record.step)));
            }
            QCOMPARE(rest.summaries.at(0).weightsHash, whole.summaries.at(0).weightsHash);
            QCOMPARE(rest.starts.at(0).initialWeightsHash, whole.starts.at(0).initialWeightsHash);
            QVERIFY(
                std::ranges::any_of(rest.events, [](const Event& event) { return event.kind == EventKind::Resumed; }));
        }
    }

    void theNewestTwoAreKept()
    {
        QTemporaryDir folder;
        const RunRecorder run = train(
            experimentOf(json::object()), {.folder = folder.path().toStdString(), .everySteps = 5, .everySeconds = 0});
        const std::vector<std::string> files = writtenFiles(run);
        QVERIFY(files.size() >= 2); // some were replaced before they were written
        QVERIFY(files.back().ends_with("step-00000030.safetensors"));
        const QStringList left = QDir(folder.filePath("a")).entryList(QDir::Files, QDir::Name);
        QCOMPARE(left.size(), 2);
        QCOMPARE(left.last(), QString("step-00000030.safetensors"));
        for (const QString& name : left) {
            QCOMPARE(complaint(folder.filePath("a/" + name).toStdString()), QString());
        }
    }

    void whatAnotherSessionWroteStays()
    {
        QTemporaryDir folder;
        const auto trained = [&folder](double rate) {
            return writtenFiles(train(
                experimentOf({{"optimizer", {{"lr", rate}}}}), {.folder = folder.path().toStdString(), .kept = 1}));
        };
        const std::string first = trained(0.01).back();
        const std::string second = trained(0.02).back();
        QVERIFY(first.ends_with("step-00000030.safetensors"));
        QVERIFY(second.ends_with("step-00000030-2.safetensors"));
        QCOMPARE(readCheckpoint(first).initial.optimizer.lr, 0.01);
        QCOMPARE(readCheckpoint(second).initial.optimizer.lr, 0.02);
    }

    void aFileKnowsThePlanThatItWasWrittenBy()
    {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const RunRecorder run = train(
            experimentOf(json::object()), {.folder = root, .everySteps = 20, .everySeconds = 1.5, .kept = 3}, {}, 3);
        const std::filesystem::path file = writtenFiles(run).back();
        const CheckpointPlan plan = readCheckpoint(file).plan;
        QCOMPARE(plan.folder, root);
        QCOMPARE(plan.everySteps, std::int64_t {20});
        QCOMPARE(plan.everySeconds, 1.5);
        QCOMPARE(plan.kept, std::int64_t {3});
        // Taken elsewhere, it says nothing about where the next ones belong.
        std::filesystem::rename(file, root / "mine.safetensors");
        QCOMPARE(readCheckpoint(root / "mine.safetensors").plan.folder, std::filesystem::path());
    }

    void aLaneIsSavedWhereAPersonWants()
    {
        QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("mine.safetensors").toStdString();
        RunRecorder listener;
        SessionOptions options;
        options.threads = 1;
        options.observers = {&listener};
        Session session(experimentOf(json::object()), options);
        session.runSteps(7);
        session.waitUntilIdle();
        session.saveCheckpoint(0, file);
        session.saveCheckpoint(0, folder.filePath("none/mine.safetensors").toStdString());
        session.waitUntilIdle();
        QCOMPARE(readCheckpoint(file).state.nextStep, std::int64_t {7});
        std::vector<Event> events;
        session.takeEvents(events);
        std::erase_if(events, [](const Event& event) { return event.kind != EventKind::Checkpoint; });
        QCOMPARE(events.size(), std::size_t {2});
        QCOMPARE(events[0].text, std::string());
        QVERIFY(events[1].text.find("could not be written") != std::string::npos);
        session.run();
        session.waitUntilIdle();
        QVERIFY(std::filesystem::exists(file)); // no rotation touches it
    }

    void watchpointsGoOnWithTheLane()
    {
        // The first has acted before the file is written, and a later change would show if it did so again.
        const Experiment experiment = experimentOf({{"lanes", {{{"name", "a"}}, {{"name", "b"}}}},
            {"events", {{{"step", 8}, {"lane", "a"}, {"set", {{"optimizer.lr", 0.05}}}}}},
            {"watch",
                {{{"when", "step >= 5"}, {"do", {{"set", {{"optimizer.lr", 0.02}}}}}},
                    {{"when", "step >= 20"}, {"do", {{"set", {{"optimizer.lr", 0.03}}}}}, {"lane", "a"}},
                    {{"when", "step >= 25"}, {"do", "pause"}, {"lane", "b"}}}}});
        QTemporaryDir folder;
        Experiment alone = experiment;
        alone.watchpoints.pop_back();
        const RunRecorder whole = train(alone);
        const RunRecorder half = train(experiment, {.folder = folder.path().toStdString()}, {}, 10);
        const std::filesystem::path file = folder.filePath("a/step-00000010.safetensors").toStdString();
        QCOMPARE(readCheckpoint(file).watchpoints, alone.watchpoints);
        const ResumedLane lane = readBack(file);
        const RunRecorder rest = train(experimentOf(lane), {}, {lane});
        QCOMPARE(rest.records.back().lr, 0.03);
        QCOMPARE(rest.summaries.at(0).weightsHash, whole.summaries.at(0).weightsHash);
    }

    void aLowerRateForAWhileReplays()
    {
        QTemporaryDir folder;
        const RunRecorder first = train(experimentOf({{"optimizer", {{"lr", 0.01}}},
                                            {"events", {{{"step", 12}, {"set", {{"optimizer.lr", 0.02}}}}}}}),
            {.folder = folder.path().toStdString()}, {}, 10);
        ResumedLane lane = readBack(writtenFiles(first).back());
        lane.checkpoint = std::make_shared<const Checkpoint>(
            withChanges(*lane.checkpoint, {.steps = 40, .lrFactor = 0.1, .lrSteps = 5}));
        const RunRecorder rest = train(experimentOf(lane), {}, {lane});
        QCOMPARE(rest.records.size(), std::size_t {30});
        for (const StepRecord& record : rest.records) {
            const double whole = record.step < 12 ? 0.01 : 0.02;
            QCOMPARE(record.lr, record.step < 15 ? whole * 0.1 : whole);
        }
        const RunRecorder replay = train(parseExperiment(rest.starts.at(0).experiment.dump(), "replay"));
        QCOMPARE(replay.records.size(), std::size_t {40});
        QCOMPARE(replay.summaries.at(0).weightsHash, rest.summaries.at(0).weightsHash);
    }

    void changesThatCannotBeAreRefused()
    {
        QTemporaryDir folder;
        const RunRecorder first = train(experimentOf(json::object()), {.folder = folder.path().toStdString()});
        const Checkpoint checkpoint = readCheckpoint(writtenFiles(first).back());
        const auto refusal = [&checkpoint](const ResumeChanges& changes) {
            try {
                withChanges(checkpoint, changes);
            } catch (const Error& error) {
                return QString::fromUtf8(error.what());
            }
            return QString();
        };
        QVERIFY(refusal({}).contains("has trained its 30 steps"));
        QCOMPARE(refusal({.steps = 31}), QString());
        QVERIFY(refusal({.steps = 31, .lrFactor = -1}).contains("optimizer.lr"));
        QVERIFY(refusal({.steps = 31, .set = {{"data.batch", 4}}}).contains("data.batch"));
    }

    void aFolderThatCannotBeWrittenIsToldAndTrainingGoesOn()
    {
        const RunRecorder run = train(experimentOf(json::object()), {.folder = "/proc/none", .everySteps = 10});
        QCOMPARE(run.summaries.at(0).status, RunStatus::Finished);
        QVERIFY(std::ranges::any_of(run.events, [](const Event& event) {
            return event.kind == EventKind::Checkpoint && event.text.find("could not be written") != std::string::npos;
        }));
    }

    void badCheckpointsAreRefused()
    {
        QTemporaryDir folder;
        const RunRecorder run = train(experimentOf(json::object()), {.folder = folder.path().toStdString()}, {}, 3);
        const std::filesystem::path good = writtenFiles(run).back();
        const std::filesystem::path bad = folder.filePath("bad.safetensors").toStdString();
        const auto damaged = [&](const auto& change) {
            Safetensors contents = readSafetensors(good);
            change(contents);
            writeSafetensors(bad, contents);
            return complaint(bad);
        };
        const auto withKey = [&](const char* key, const json& value) {
            return damaged([&](Safetensors& contents) {
                json about = json::parse(contents.metadata.at("mantissa"));
                about[key] = value;
                contents.metadata["mantissa"] = about.dump();
            });
        };
        QCOMPARE(damaged([](Safetensors&) {}), QString());
        QVERIFY(damaged([](Safetensors& c) { c.metadata.clear(); }).contains("no checkpoint of Mantissa"));
        QVERIFY(withKey("version", 2).contains("another version"));
        QVERIFY(withKey("step", -1).contains("\"step\" is -1"));
        QVERIFY(withKey("batch_hash", "zz").contains("hexadecimal"));
        QVERIFY(withKey("applied_events", 5).contains("\"applied_events\" is 5"));
        QVERIFY(withKey("kept", "x").contains("\"kept\""));
        QVERIFY(withKey("every_seconds", -1).contains("\"every_seconds\" is -1"));
        QVERIFY(withKey("watch", 1).contains("\"watch\" is 1"));
        QVERIFY(withKey("watch", {{{"when", "los > 1"}}}).contains("watch[0].when"));
        QVERIFY(withKey("watch_true", {1}).contains("\"watch_true\" holds 1"));
        QVERIFY(withKey("events", 1).contains("\"events\""));
        QVERIFY(withKey("events", {{{"step", 1}, {"set", {{"optimizer.rl", 1}}}}}).contains("bad.safetensors"));
        QVERIFY(withKey("lane", {{"name", "a"}, {"optimizer", {{"lr", -1}}}}).contains("optimizer.lr"));
        QVERIFY(damaged([](Safetensors& c) {
            c.tensors.front().bytes.assign(c.tensors.front().bytes.size(), std::byte {0xFF});
        }).contains("not finite"));

        // What only the model tells: the lane is refused with the names, and says so before it trains.
        const auto refusal = [&](const auto& change) {
            Safetensors contents = readSafetensors(good);
            change(contents);
            writeSafetensors(bad, contents);
            const ResumedLane lane = readBack(bad);
            SessionOptions options;
            options.resumed = {lane};
            Session session(experimentOf(lane), options);
            session.waitUntilIdle();
            return QString::fromStdString(session.status()->message);
        };
        QVERIFY(refusal([](Safetensors& c) {
            c.tensors.front().name = "other.weight";
        }).contains("this model has no other.weight"));
        QVERIFY(refusal([](Safetensors& c) { c.tensors.pop_back(); }).contains("the state has no"));
        // One bit of any tensor, the optimizer's too, and the file is damaged.
        for (std::size_t i = 0; i < readSafetensors(good).tensors.size(); ++i) {
            const QString words = damaged([i](Safetensors& c) { c.tensors.at(i).bytes.front() ^= std::byte {1}; });
            QVERIFY2(words.contains("is not as it was saved; the file is damaged"), qPrintable(words));
        }
    }
};

QTEST_APPLESS_MAIN(TestCheckpoint)
#include "tst_checkpoint.moc"
