// Lesson files: what they may say, what is wrong with those that may not, and those that ship. Reference runs too.
#include "engine/core/error.h"
#include "engine/lesson/lesson.h"
#include "engine/train/session.h"
#include "engine/verify/shipped_experiments.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>
#include <limits>

using namespace mantissa;
using nlohmann::json;

namespace {

const char* const tiny = R"({"mantissa": 1, "name": "tiny", "seed": 3, "steps": 12,
    "data": {"kind": "spirals", "samples": 80, "batch": 16}, "model": {"hidden": [8]},
    "optimizer": {"kind": "sgd", "lr": 0.1}, "precision": {"policy": "fp16"}, "scaler": {},
    "lanes": [{"name": "A"}, {"name": "B", "color": "#102030"}],
    "events": [{"step": 5, "lane": "B", "set": {"fault.nan_sample": 1}}],
    "expect": [{"that": "B skips", "left": {"lane": "B", "metric": "skipped_steps"}, "op": "==", "right": 1}]})";

std::vector<LaneOutcome> train(const Experiment& experiment)
{
    OutcomeCollector collector;
    SessionOptions options;
    options.observers = {&collector};
    Session session(experiment, options);
    session.run();
    session.waitUntilIdle();
    return collector.outcomes();
}

/// A lesson with every key.
json lesson()
{
    json step {{"title", "One"}, {"minutes", 2.5}, {"experiment", json::parse(tiny)}, {"predict", "p"}, {"do", "d"},
        {"see", "s"}, {"ask", "a"}, {"lock", {"setup"}}, {"hide", json::array()}};
    return {{"mantissa_lesson", 1}, {"name", "L"}, {"text", "t"}, {"lock", {"tools", "lanes"}}, {"hide", {"graph"}},
        {"steps", {step, {{"title", "Two"}, {"minutes", 4}}}}};
}

QString messageOf(const json& document)
{
    try {
        parseLesson(document.dump(), "f");
    } catch (const Error& error) {
        return error.code() == ErrorCode::InvalidArgument ? QString::fromUtf8(error.what()) : "another code";
    }
    return "no error";
}

/// An outcome with so many steps; the loss of step 700 is not finite, the scale halves at step 500.
LaneOutcome longOutcome(const std::string& name, int steps)
{
    LaneOutcome outcome {.lane = name};
    for (int step = 0; step < steps; ++step) {
        StepRecord record;
        record.step = step;
        record.loss = step == 700 ? std::numeric_limits<double>::quiet_NaN() : 2.0 - step * 1e-4;
        record.gradNorm = step == 333 ? 50 : 1;
        record.scale = step < 500 ? 65536 : 32768;
        record.skipped = step == 499;
        outcome.records.push_back(record);
    }
    outcome.summary.steps = steps;
    outcome.summary.skippedSteps = 1;
    outcome.summary.validationAccuracy = 0.123456;
    return outcome;
}

} // namespace

class TestLesson : public QObject
{
    Q_OBJECT

private slots:

    void readsEveryKey()
    {
        const Lesson read = parseLesson(lesson().dump(), "f");
        QCOMPARE(read.name, std::string("L"));
        QCOMPARE(read.text, std::string("t"));
        QVERIFY((read.locks == ControlGroups {ControlGroup::Tools, ControlGroup::Lanes}));
        QVERIFY((read.hides == ControlGroups {ControlGroup::Graph}));
        QCOMPARE(read.minutes(), 6.5);
        QCOMPARE(read.steps.size(), std::size_t {2});
        const LessonStep& one = read.steps[0];
        QCOMPARE(one.title, std::string("One"));
        QCOMPARE(experimentOf(one).name, std::string("tiny"));
        QCOMPARE(one.predict + one.todo + one.see + one.ask, std::string("pdsa"));
        QVERIFY((one.locks == ControlGroups {ControlGroup::Setup}));
        QVERIFY(one.hides->empty());
        QVERIFY(!read.steps[1].hasExperiment());
        QVERIFY(!read.steps[1].locks.has_value());
    }

    void everyGroupHasAName()
    {
        QCOMPARE(controlGroups().size(), std::size_t {17});
        for (const ControlGroupInfo& info : controlGroups()) {
            QCOMPARE(nameOf(info.group), info.name);
        }
    }

    void namesWhatIsWrong_data()
    {
        QTest::addColumn<QString>("pointer"); // of what is replaced
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* pointer, const char* value, const char* message) {
            QTest::addRow("%s = %s", pointer, value) << QString(pointer) << QString(value) << QString(message);
        };
        row("/mantissa_lesson", "2", "f: mantissa_lesson is 2: the file was written for a newer Mantissa");
        row("/mantissa_lesson", "\"1\"", "f: mantissa_lesson is \"1\"; it must be 1");
        row("/nmae", "1", "f: nmae is not a key of a lesson (its value: 1); did you mean \"name\"?");
        row("/name", "\"\"", "f: name is \"\"; it must be a text of 1 to 200 bytes in one line");
        row("/name", "\"a\\nb\"", "in one line");
        row("/text", "7", "f: text is 7; it must be a text");
        row("/lock", "\"setup\"", "f: lock is \"setup\"; it must be a list of groups of controls");
        row("/hide/0", "\"grahp\"", "f: hide[0] is \"grahp\", which is no group of controls; did you mean \"graph\"?");
        row("/steps/0/lock/0", "3", "f: steps[0].lock[0] is 3, which is no group");
        row("/steps", "[]", "f: steps is []; it must be a list of 1 to 100 steps");
        row("/steps/1", "5", "f: steps[1]. is 5; a step is an object");
        row("/steps/1/minuts", "5",
            "f: steps[1].minuts is not a key of a step of a lesson (its value: 5); did you mean \"minutes\"?");
        row("/steps/1/minutes", "0", "f: steps[1].minutes is 0; it must be a number above 0 to 600");
        row("/steps/1/minutes", "1e300", "steps[1].minutes is 1e+300");
        row("/steps/1/title", "null", "f: steps[1].title is null");
        row("/steps/1/experiment", "\"c18_clip_befor_unscale\"", "did you mean \"c18_clip_before_unscale\"?");
        row("/steps/1/experiment", "[]", "f: steps[1].experiment is []; it must be the name of an experiment");
        row("/steps/0/experiment/optimizer/kind", "\"sdg\"", "f: steps[0].experiment: optimizer.kind is \"sdg\"");
        row("/steps/1/reference", "{}", "f: steps[1].reference.mantissa_reference is missing");
    }

    void namesWhatIsWrong()
    {
        QFETCH(const QString, pointer);
        QFETCH(const QString, value);
        QFETCH(const QString, message);
        json document = lesson();
        document[json::json_pointer(pointer.toStdString())] = json::parse(value.toStdString());
        const QString text = messageOf(document);
        QVERIFY2(text.contains(message), qPrintable(text));
    }

    void saysWhatIsMissing()
    {
        for (const char* key : {"mantissa_lesson", "name", "steps"}) {
            json document = lesson();
            document.erase(key);
            QVERIFY2(messageOf(document).startsWith(QString("f: %1 is missing").arg(key)), key);
        }
        QVERIFY(messageOf(json::parse(tiny)).contains("the file is an experiment, not a lesson"));
        QVERIFY(messageOf(7).contains("a lesson is an object"));
    }

    void anExperimentReaderSaysThatItIsALesson()
    {
        try {
            parseExperiment(lesson().dump(), "f");
            QFAIL("was taken");
        } catch (const Error& error) {
            QVERIFY2(QString(error.what()).contains("is a lesson"), error.what());
        }
    }

    void comesBackAsItWasWritten()
    {
        Lesson before = parseLesson(lesson().dump(), "f");
        before.steps[0].reference = makeReference(*before.steps[0].own, train(*before.steps[0].own), "a device");
        const Lesson after = parseLesson(lessonText(before), "f");
        QCOMPARE(lessonText(after), lessonText(before));
        QCOMPARE(after.steps[0].reference->lanes.size(), std::size_t {2});
        QVERIFY(after.steps[0].reference->lanes[1] == before.steps[0].reference->lanes[1]);
        QCOMPARE(after.steps[0].reference->lanes[1].skips, (std::vector<std::int64_t> {5}));
        QCOMPARE(after.steps[0].reference->lanes[1].color, std::string("#102030"));
        QVERIFY(after.steps[0].reference->judgements.at(0).isMet);
    }

    void aReferenceOfAnotherExperimentIsRefused()
    {
        Lesson changed = parseLesson(lesson().dump(), "f");
        changed.steps[0].reference = makeReference(*changed.steps[0].own, train(*changed.steps[0].own), "a device");
        json document = json::parse(lessonText(changed));
        document["steps"][0]["experiment"]["seed"] = 4;
        QVERIFY2(messageOf(document).contains("f: steps[0].reference.of is "), qPrintable(messageOf(document)));
        // Words may change.
        document["steps"][0]["experiment"]["seed"] = 3;
        document["steps"][0]["experiment"]["text"] = "another";
        QCOMPARE(messageOf(document), QString("no error"));
    }

    void aReferenceKeepsWhatMatters()
    {
        const Experiment experiment = parseExperiment(tiny, "tiny");
        const std::vector<LaneOutcome> outcomes {longOutcome("A", 1000), longOutcome("B", 1000)};
        const ReferenceRun run = makeReference(experiment, outcomes, "d");
        const ReferenceLane& lane = run.lanes.at(0);
        QVERIFY(lane.loss.size() <= 101);
        QVERIFY(
            std::ranges::any_of(lane.loss, [](const auto& point) { return std::isnan(point[1]) && point[0] == 700; }));
        QVERIFY(
            std::ranges::any_of(lane.gradNorm, [](const auto& point) { return point[1] == 50 && point[0] == 333; }));
        QCOMPARE(lane.loss.front()[0], 0.0);
        QCOMPARE(lane.scale, (ReferenceCurve {{0, 65536}, {500, 32768}, {999, 32768}}));
        QCOMPARE(lane.skips, (std::vector<std::int64_t> {499}));
        QCOMPARE(lane.accuracy, 0.1235);
        const ReferenceRun read = readReference(json::parse(referenceText(run)), "r");
        QVERIFY(read.lanes.at(0) == lane);
        QCOMPARE(read.fingerprint, run.fingerprint);
    }

    void aSpoiltReferenceIsExplained_data()
    {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* pointer, const char* value, const char* message) {
            QTest::addRow("%s = %s", pointer, value) << QString(pointer) << QString(value) << QString(message);
        };
        row("/lanes/0/loss/1", "\"x\"", "r: lanes[0].loss[0] and the next are 0, \"x\"");
        row("/lanes/0/loss/2", "0", "they must be a step, larger than the one before");
        row("/lanes/0/loss/2", "1e300", "they must be a step, larger than the one before");
        row("/lanes/0/loss/2", "\"nan\"", "they must be a step, larger than the one before");
        row("/lanes/0/loss/2", "1.5", "they must be a step, larger than the one before");
        row("/lanes/0/los", "[]", "r: lanes[0].los is not a key of a lane of a reference run");
        row("/lanes/1/status", "\"ok\"", "r: lanes[1].status is \"ok\"");
        row("/lanes/0/steps", "-1", "r: lanes[0].steps is -1");
        row("/lanes", "{}", "r: lanes is {}");
        row("/seed", "0.5", "r: seed is 0.5");
        row("/expectations/0/op", "\"~\"", "r: expectations[0].op is \"~\"");
        row("/expectations/0/pass", "1", "r: expectations[0].pass is 1");
        row("/mantissa_reference", "9", "r: mantissa_reference is 9; it must be 1");
    }

    void aSpoiltReferenceIsExplained()
    {
        QFETCH(const QString, pointer);
        QFETCH(const QString, value);
        QFETCH(const QString, message);
        const Experiment experiment = parseExperiment(tiny, "tiny");
        json document = json::parse(
            referenceText(makeReference(experiment, std::vector {longOutcome("A", 20), longOutcome("B", 20)}, "d")));
        document[json::json_pointer(pointer.toStdString())] = json::parse(value.toStdString());
        try {
            readReference(document, "r");
            QFAIL("was taken");
        } catch (const Error& error) {
            QVERIFY2(QString::fromUtf8(error.what()).contains(message), error.what());
        }
    }

    void filesAreToldApart()
    {
        const QTemporaryDir folder;
        const auto write = [&folder](const char* name, const std::string& text) {
            const std::string path = folder.filePath(QString::fromLatin1(name)).toStdString();
            std::ofstream(path) << text;
            return path;
        };
        QVERIFY(isLessonFile(write("a.json", lesson().dump())));
        QVERIFY(!isLessonFile(write("b.json", tiny)));
        QVERIFY(!isLessonFile(write("c.json", "{")));
        QVERIFY(isLessonFile(write("d.mantissa-lesson", "{")));
        QVERIFY(!isLessonFile(write("e.safetensors", lesson().dump())));
        QVERIFY(!isLessonFile(folder.path().toStdString()));
        QVERIFY(!isLessonFile(folder.filePath("none.json").toStdString()));
        QVERIFY_EXCEPTION_THROWN(loadLesson(folder.filePath("none.json").toStdString()), Error);
        QCOMPARE(loadLesson(folder.filePath("a.json").toStdString()).steps[0].own->directory,
            std::filesystem::path(folder.path().toStdString()));
    }

    // --- what ships ---

    void lessonsThatShipAreWhole()
    {
        const std::vector<std::filesystem::path> files = shippedLessons();
        QCOMPARE(files.size(), std::size_t {3});
        const double minutes[] {30, 60, 90};
        for (std::size_t i = 0; i < files.size(); ++i) {
            const Lesson read = loadLesson(files[i]);
            QCOMPARE(read.minutes(), minutes[i]);
            QVERIFY(QString::fromStdString(read.name).contains(QString::number(minutes[i])));
            for (const LessonStep& step : read.steps) {
                QVERIFY2(!step.predict.empty() && !step.todo.empty() && !step.see.empty() && !step.ask.empty(),
                    step.title.c_str());
                QVERIFY2(referenceOf(step).has_value(), step.title.c_str());
            }
        }
    }

    void oneFileCanHoldAllOfALesson()
    {
        for (const std::filesystem::path& file : shippedLessons()) {
            const Lesson before = loadLesson(file);
            const Lesson after = parseLesson(lessonText(selfContained(before)), "f");
            QCOMPARE(after.steps.size(), before.steps.size());
            for (std::size_t i = 0; i < after.steps.size(); ++i) {
                QVERIFY(after.steps[i].own.has_value() && after.steps[i].shipped.empty());
                QCOMPARE(fingerprintOf(*after.steps[i].own), fingerprintOf(experimentOf(before.steps[i])));
                QVERIFY(after.steps[i].own->claim == experimentOf(before.steps[i]).claim);
                QCOMPARE(after.steps[i].reference->lanes.size(), after.steps[i].own->lanes.size());
            }
        }
    }

    /// `mantissa-cli verify --references experiments/reference` makes them anew.
    void everyGalleryExperimentHasItsReferenceRun()
    {
        for (const std::filesystem::path& file : shippedExperiments()) {
            const Experiment experiment = loadExperiment(file);
            if (experiment.expect.empty()) {
                continue;
            }
            const auto reference = shippedReference(file, experiment);
            QVERIFY2(reference.has_value(), file.c_str());
            QCOMPARE(reference->lanes.size(), experiment.lanes.size());
            QCOMPARE(reference->judgements.size(), experiment.expect.size());
            QVERIFY2(std::ranges::all_of(reference->judgements, &Judgement::isMet), file.c_str());
        }
    }
};

QTEST_APPLESS_MAIN(TestLesson)
#include "tst_lesson.moc"
