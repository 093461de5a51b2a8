// Planted faults are named, with the right severity; healthy runs of every model get no problem at all.
#include "tests/support/trained_lanes.h"

#include <QtTest>

#include <algorithm>
#include <map>

using namespace mantissa;

namespace {

using json = nlohmann::json;

/// With a fix in every lane.
std::map<std::string, TrainedLane> train(const json& settings, const json& fix = json::object())
{
    json document {{"mantissa", 1}, {"name", "t"}, {"steps", 120}, {"data", {{"kind", "digits"}, {"batch", 32}}},
        {"model", {{"hidden", {32, 32}}}}, {"optimizer", {{"kind", "adamw"}, {"lr", 0.003}}}};
    document.merge_patch(settings);
    return trainLanes(document, fix);
}

std::vector<Finding> findingsOf(const std::map<std::string, TrainedLane>& runs, const std::string& name)
{
    RunView view = runs.at(name).view();
    for (const auto& [other, lane] : runs) {
        if (other != name && factsOf(lane.view()).lower == DType::Float32) {
            view.siblings.push_back(lane.asSibling());
        }
    }
    return diagnose(view);
}

const Finding* find(const std::vector<Finding>& findings, const std::string& rule)
{
    const auto found = std::ranges::find(findings, rule, &Finding::rule);
    return found == findings.end() ? nullptr : &*found;
}

json oneLane(json settings)
{
    settings["lanes"] = {{{"name", "a"}}};
    return settings;
}

const json fp16 {{"precision", {{"policy", "fp16"}}}};
const json amp {{"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "pytorch"}, {"init_scale", 1024}}}};

} // namespace

class TestDiagnose : public QObject
{
    Q_OBJECT

private slots:

    void plantedFaultsAreNamed_data()
    {
        QTest::addColumn<QString>("settings");
        QTest::addColumn<QString>("rule");
        QTest::addColumn<QString>("severity");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* rule, const json& settings, const char* severity, const char* words) {
            QTest::newRow(qPrintable(QString("%1: %2").arg(rule, words).left(60)))
                << QString::fromStdString(settings.dump()) << rule << severity << words;
        };
        const auto order = [](std::initializer_list<const char*> blocks) { return json {{"order", blocks}}; };
        const auto every = [](const json& set, int from, int to) {
            json events = json::array();
            for (int step = from; step < to; ++step) {
                events.push_back({{"step", step}, {"set", set}});
            }
            return json {{"events", events}};
        };
        row("clip_before_unscale", merged(amp, {{"clip", {{"order", "clip-then-unscale"}, {"max_norm", 1}}}}),
            "problem", "acts as 1 / 1024");
        row("clip_after_step",
            merged(order({"unscale", "check", "step", "clip", "update", "schedule"}),
                {{"clip", {{"order", "unscale-then-clip"}, {"max_norm", 1}}}}),
            "problem", "no effect");
        row("step_before_unscale",
            merged(merged(amp, {{"optimizer", {{"kind", "sgd"}, {"lr", 1e-6}, {"weight_decay", nullptr}}}}),
                order({"step", "unscale", "check", "clip", "update", "schedule"})),
            "problem", "the rate 1e-06 acts as 0.001024");
        row("check_after_step", merged(amp, order({"unscale", "clip", "step", "check", "update", "schedule"})),
            "problem", "reaches the weights");
        row("scaler_updated_early", merged(amp, order({"update", "unscale", "check", "clip", "step", "schedule"})),
            "problem", "before unscaling");
        row("schedule_before_step",
            merged(json {{"schedule", {{"kind", "cosine"}}}},
                order({"unscale", "check", "clip", "schedule", "step", "update"})),
            "warning", "one step early");
        row("double_step", merged(amp, {{"optimizer", {{"extra_step", true}}}}), "problem", "twice");
        row("accumulation_not_divided", {{"accumulation", {{"steps", 4}, {"divide", false}}}}, "problem", "4 times");
        row("scaler_per_micro_batch", merged(amp, {{"accumulation", {{"steps", 2}, {"scaler_per_micro_batch", true}}}}),
            "problem", "every micro-batch");
        row("gradients_not_zeroed", {{"accumulation", {{"zero_gradients", false}}}}, "problem", "every step adds");
        row("epsilon_is_zero", {{"optimizer", {{"epsilon_format", "fp16"}}}}, "problem", "0 in FP16");
        row("second_moment_sticks", {{"precision", {{"policy", "bf16"}}}, {"optimizer", {{"state_format", "bf16"}}}},
            "warning", "can only grow");
        row("average_sticks", {{"ema", {{"decay", 0.9999}, {"format", "bf16"}}}}, "warning", "hardly moves");
        row("scaler_without_fp16", {{"precision", {{"policy", "bf16"}}}, {"scaler", {{"family", "pytorch"}}}}, "info",
            "BF16");
        row("scale_not_a_power_of_two", merged(fp16, {{"scaler", {{"family", "fixed"}, {"init_scale", 1000}}}}), "info",
            "not a power of two");
        row("found_its_scale", merged(fp16, {{"scaler", {{"family", "pytorch"}, {"init_scale", 0x1p30}}}}), "info",
            "normal");
        row("scale_oscillates",
            merged(fp16, {{"scaler", {{"family", "pytorch"}, {"growth_interval", 4}, {"init_scale", 65536}}}}),
            "warning", "again and again");
        row("scale_collapse", merged(amp, every({{"fault.nan_sample", 1}}, 40, 120)), "problem",
            "the scale is not the cause");
        row("scale_collapse", merged(amp, every({{"fault.gradient_inf", "fc1"}}, 40, 120)), "problem",
            "overflows at every scale tried");
        row("bad_batch", merged(amp, every({{"fault.nan_sample", 1}}, 60, 61)), "warning", "step 60");
        row("bad_batch",
            merged(merged(amp, {{"accumulation", {{"steps", 2}}}}), every({{"fault.nan_sample", 1}}, 60, 61)),
            "warning", "step 60");
        row("non_finite", every({{"fault.nan_sample", 1}}, 60, 61), "problem", "stopped being finite");
        row("loss_spike", every({{"fault.loss_spike", 50}}, 60, 61), "warning", "step 60");
        row("skips_often",
            merged(merged(amp, {{"scaler", {{"init_scale", 16}, {"growth_interval", 1000}}}}),
                {{"events",
                    {{{"step", 30}, {"set", {{"fault.gradient_inf", "fc1"}}}},
                        {{"step", 41}, {"set", {{"fault.gradient_inf", "fc1"}}}},
                        {{"step", 50}, {"set", {{"fault.gradient_inf", "fc1"}}}},
                        {{"step", 63}, {"set", {{"fault.gradient_inf", "fc1"}}}},
                        {{"step", 70}, {"set", {{"fault.gradient_inf", "fc1"}}}},
                        {{"step", 82}, {"set", {{"fault.gradient_inf", "fc1"}}}},
                        {{"step", 90}, {"set", {{"fault.gradient_inf", "fc1"}}}}}}}),
            "warning", "of the steps are skipped");
        row("underflow_without_scaler", merged(fp16, {{"loss_weight", 1e-6}}), "problem", "FP16");
        row("underflow",
            merged(merged(fp16, {{"loss_weight", 1e-7}}), {{"scaler", {{"family", "fixed"}, {"init_scale", 1}}}}),
            "problem", "FP16");
        row("updates_below_half_ulp",
            {{"precision", {{"policy", "bf16"}, {"weights", "half"}}},
                {"optimizer", {{"kind", "sgd"}, {"lr", 1e-5}, {"weight_decay", nullptr}}}},
            "problem", "rounded away");
        row("half_gradients_with_scaler",
            {{"precision", {{"policy", "pure-fp16"}}}, {"scaler", {{"family", "pytorch"}, {"init_scale", 1024}}},
                {"optimizer", {{"epsilon", 1e-4}}}},
            "warning", "lost again");
        row("clip_always", {{"clip", {{"order", "unscale-then-clip"}, {"max_norm", 1e-4}}}}, "info", "Every step");
        row("clip_never", {{"clip", {{"order", "unscale-then-clip"}, {"max_norm", 1e4}}}}, "info", "never reached");
        row("waits_for_data", {{"data", {{"throttle_ms", 5}, {"prefetch", 0}}}, {"steps", 40}}, "warning",
            "waiting for the batch");
        row("log_of_softmax", merged(amp, {{"loss_form", "log_of_softmax"}}), "warning", "logarithm of a softmax");
        row("second_moment_vanishes", {{"optimizer", {{"state_format", "fp16"}, {"epsilon", 1e-4}}}}, "warning",
            "is 0 there");
        row("learns_nothing", {{"optimizer", {{"kind", "sgd"}, {"lr", 1e-7}, {"weight_decay", nullptr}}}}, "warning",
            "stands where it began");
        row("scale_collapse", merged(fp16, {{"scaler", {{"family", "fixed"}, {"init_scale", 0x1p40}}}}), "problem",
            "which never moves");
        row("diverges", {{"optimizer", {{"kind", "sgd"}, {"lr", 30}, {"weight_decay", nullptr}}}}, "problem", "risen");
    }

    void plantedFaultsAreNamed()
    {
        QFETCH(QString, settings);
        QFETCH(QString, rule);
        QFETCH(QString, severity);
        QFETCH(QString, words);
        const auto findings = findingsOf(train(oneLane(json::parse(settings.toStdString()))), "a");
        const Finding* finding = find(findings, rule.toStdString());
        QVERIFY2(finding != nullptr, textOf(findings).constData());
        QVERIFY2(nameOf(finding->severity) == severity.toStdString(), textOf(findings).constData());
        QVERIFY2(finding->title.find(words.toStdString()) != std::string::npos, textOf(findings).constData());
        QVERIFY2(!finding->advice.empty(), rule.toLatin1().constData());
        // A fix is one: the lane accepts it, and trained with it is not found guilty of the same again.
        // (A guard drops the bad micro-batch alone; the batch stays bad.)
        if (!finding->fix.empty() && rule != "bad_batch") {
            const auto mendedFindings
                = findingsOf(train(oneLane(json::parse(settings.toStdString())), finding->fix), "a");
            QVERIFY2(find(mendedFindings, rule.toStdString()) == nullptr,
                ("after " + finding->fix.dump() + ": " + textOf(mendedFindings).toStdString()).c_str());
        }
        // What needs no setting to be wrong points at nothing else.
        QVERIFY2(std::ranges::is_sorted(findings, std::ranges::greater {}, &Finding::severity),
            textOf(findings).constData());
    }

    /// What only sampled steps tell, and the layer that it is about.
    void layersAreNamed_data()
    {
        QTest::addColumn<QString>("settings");
        QTest::addColumn<QString>("rule");
        QTest::addColumn<QString>("severity");
        QTest::addColumn<QString>("layer");
        QTest::addColumn<QString>("words");
        const auto row
            = [](const char* rule, const json& settings, const char* severity, const char* layer, const char* words) {
                  QTest::newRow(qPrintable(QString("%1, %2: %3").arg(rule, severity, layer)))
                      << QString::fromStdString(settings.dump()) << rule << severity << layer << words;
              };
        const json sgd {{"optimizer", {{"kind", "sgd"}, {"lr", 0.05}, {"weight_decay", nullptr}}}};
        row("dead_layer", {{"optimizer", {{"kind", "sgd"}, {"lr", 30}, {"weight_decay", nullptr}}}}, "problem", "act",
            "are dead");
        row("saturated_activation", merged(sgd, {{"model", {{"activation", "sigmoid"}, {"init_gain", 300}}}}),
            "warning", "act", "saturated");
        row("tiny_init", merged(sgd, {{"model", {{"init_gain", 0.001}}}}), "problem", "fc", "lets a signal through");
        row("activation_near_overflow",
            merged(merged(amp, sgd), {{"model", {{"init_gain", 60}}}, {"optimizer", {{"lr", 1e-9}}}}), "warning", "",
            "FP16 ends at 65504");
    }

    void layersAreNamed()
    {
        QFETCH(QString, settings);
        QFETCH(QString, rule);
        QFETCH(QString, severity);
        QFETCH(QString, layer);
        QFETCH(QString, words);
        const auto runs = train(oneLane(json::parse(settings.toStdString())));
        const auto findings = findingsOf(runs, "a");
        const Finding* finding = find(findings, rule.toStdString());
        QVERIFY2(finding != nullptr, textOf(findings).constData());
        QVERIFY2(nameOf(finding->severity) == severity.toStdString(), textOf(findings).constData());
        QVERIFY2(finding->layer.find(layer.toStdString()) != std::string::npos, finding->layer.c_str());
        QVERIFY2(finding->title.find(words.toStdString()) != std::string::npos, textOf(findings).constData());
        // Without what was seen of single layers, nothing is said of them.
        RunView blind = runs.at("a").view();
        blind.samples = {};
        QVERIFY(find(diagnose(blind), rule.toStdString()) == nullptr);
    }

    /// C03: the loss falls, and the layers whose gradients are flushed on their way back do not move at all.
    void aLayerThatDoesNotLearnIsNamedAlthoughTheLossFalls()
    {
        const json settings {{"steps", 200}, {"data", {{"batch", 64}}}, {"loss_weight", 1e-4},
            {"model", {{"hidden", {32, 32, 32}}, {"activation", "sigmoid"}}},
            {"optimizer", {{"kind", "adam"}, {"lr", 0.01}}}};
        const auto runs = train(oneLane(merged(settings, fp16)));
        const auto findings = findingsOf(runs, "a");
        const Finding* finding = find(findings, "layer_gradient_lost");
        QVERIFY2(finding != nullptr, textOf(findings).constData());
        QCOMPARE(finding->layer, std::string("fc1"));
        QCOMPARE(finding->severity, Severity::Problem);
        QVERIFY(!finding->fix.empty());
        const auto mended = train(oneLane(merged(settings, fp16)), finding->fix);
        QVERIFY2(find(findingsOf(mended, "a"), "layer_gradient_lost") == nullptr,
            textOf(findingsOf(mended, "a")).constData());
    }

    /// An FP32 policy with an op in FP16 flushes as an FP16 one does.
    void overriddenOpsAreLookedAt()
    {
        const json settings {{"loss_weight", 1e-6}, {"precision", {{"overrides", {{"linear", "fp16"}}}}}};
        const auto findings = findingsOf(train(oneLane(settings)), "a");
        const Finding* finding = find(findings, "underflow_without_scaler");
        QVERIFY2(finding != nullptr && finding->severity == Severity::Problem, textOf(findings).constData());
        const json sums {{"precision", {{"overrides", {{"layer_norm.accumulate", "fp16"}}}}}};
        QVERIFY(factsOf(train(oneLane(sums)).at("a").view()).lower == DType::Float32);
    }

    /// R07: both lanes diverge; the FP16 one only turns it into a falling scale. Not a fault of the precision.
    void divergenceThatFp32ShowsTooIsNotFp16sFault()
    {
        const auto runs = train({{"optimizer", {{"kind", "sgd"}, {"lr", 1e4}, {"weight_decay", nullptr}}},
            {"lanes", {{{"name", "fp32"}}, merged(amp, {{"name", "amp"}})}}});
        const auto findings = findingsOf(runs, "amp");
        QVERIFY2(!findings.empty() && findings.front().severity == Severity::Problem, textOf(findings).constData());
        QVERIFY2(findings.front().advice.find("FP32 lane") != std::string::npos, textOf(findings).constData());
        QVERIFY2(findings.front().advice.find("BF16") == std::string::npos, textOf(findings).constData());
    }

    /// The overflow of one layer is named where it arose.
    void theOriginIsNamed()
    {
        const auto runs
            = train(oneLane(merged(amp, {{"events", {{{"step", 30}, {"set", {{"fault.saturation", 1e7}}}}}}})));
        const auto findings = findingsOf(runs, "a");
        QVERIFY2(!findings.empty() && findings.front().severity == Severity::Problem, textOf(findings).constData());
        QVERIFY2(findings.front().op.find("fp16") != std::string::npos, textOf(findings).constData());
    }

    /// Settings are judged for the steps in which they held.
    void whatWasPutRightIsSaidWithItsSteps()
    {
        const auto runs = train(oneLane(merged(amp, {{"clip", {{"order", "clip-then-unscale"}, {"max_norm", 1}}}})));
        const TrainedLane& run = runs.at("a");
        RunView view {run.config, run.records, run.events, run.status};
        view.config = withSetting(run.config, "clip.order", "unscale-then-clip");
        view.history = {{0, run.config}, {50, view.config}, {80, run.config}, {81, view.config}};
        const auto findings = diagnose(view);
        const Finding* finding = find(findings, "clip_before_unscale");
        QVERIFY2(finding != nullptr, textOf(findings).constData());
        QCOMPARE(finding->firstStep, std::int64_t {0});
        QCOMPARE(finding->lastStep, std::int64_t {80});
    }

    /// A run that begins near zero and jumps about there has not diverged, nor does it spike.
    void aResumedRunNearZeroIsHealthy()
    {
        TrainedLane run;
        run.config = parseExperiment(R"({"mantissa": 1, "lanes": [{"name": "a"}]})", "t").lanes[0];
        for (int i = 0; i < 300; ++i) {
            StepRecord record;
            record.step = 1000 + i;
            record.loss = i % 37 == 5 ? 0.2 : 0.005;
            record.gradNorm = 0.1;
            record.gradNormClipped = 0.1;
            record.updateRatio = 1e-3;
            record.lr = 1e-3;
            run.records.push_back(record);
        }
        QVERIFY2(diagnose({run.config, run.records, {}, {}}).empty(),
            textOf(diagnose({run.config, run.records, {}, {}})).constData());
    }

    // --- healthy runs ---

    void healthyRunsHaveNoProblem_data()
    {
        QTest::addColumn<QString>("settings");
        const std::map<std::string, json> models {{"mlp", json::object()},
            {"cnn", {{"model", {{"kind", "cnn"}, {"hidden", {32}}, {"width", 8}, {"stages", 2}}}, {"steps", 60}}},
            {"vit",
                {{"model",
                     {{"kind", "vit"}, {"hidden", nullptr}, {"width", 16}, {"heads", 2}, {"depth", 1}, {"patch", 2}}},
                    {"steps", 60}}},
            {"regression", {{"data", {{"kind", "regression"}}}, {"loss", "mse"}}},
            {"spirals", {{"data", {{"kind", "spirals"}}}}}, {"moons", {{"data", {{"kind", "moons"}}}}},
            {"gpt",
                {{"data", {{"kind", "modular_addition"}}},
                    {"model", {{"kind", "gpt"}, {"hidden", nullptr}, {"width", 16}, {"heads", 2}, {"depth", 1}}},
                    {"steps", 60}}}};
        const std::map<std::string, json> precisions {{"fp32", json::object()}, {"amp", amp},
            {"amp 65536", merged(fp16, {{"scaler", {{"family", "pytorch"}}}})},
            {"bf16", {{"precision", {{"policy", "bf16"}}}}},
            {"kahan", {{"precision", {{"policy", "bf16"}, {"weights", "half-kahan"}}}}}};
        const std::map<std::string, json> optimizers {
            {"sgd", {{"optimizer", {{"kind", "sgd"}, {"lr", 0.02}, {"momentum", 0.9}, {"weight_decay", nullptr}}}}},
            {"adam", {{"optimizer", {{"kind", "adam"}}}}}};
        for (const auto& [model, settings] : models) {
            for (const auto& [precision, more] : precisions) {
                QTest::newRow((model + ", " + precision).c_str())
                    << QString::fromStdString(merged(settings, more).dump());
            }
            for (const auto& [optimizer, more] : optimizers) {
                QTest::newRow((model + ", amp, " + optimizer).c_str())
                    << QString::fromStdString(merged(merged(settings, amp), more).dump());
            }
        }
    }

    void healthyRunsHaveNoProblem()
    {
        QFETCH(QString, settings);
        const auto findings = findingsOf(train(oneLane(json::parse(settings.toStdString()))), "a");
        for (const Finding& finding : findings) {
            QVERIFY2(finding.severity != Severity::Problem, textOf(findings).constData());
        }
    }

    void anEmptyRunHasNothingToSay()
    {
        const LaneConfig config = parseExperiment(R"({"mantissa": 1})", "t").lanes[0];
        QVERIFY(diagnose({config, {}, {}, std::nullopt}).empty());
    }
};

QTEST_GUILESS_MAIN(TestDiagnose)
#include "tst_diagnose.moc"
