// Faults that people reported in public, rebuilt in miniature: the right cause comes first or among the problems, and
// the theories that led their threads astray are not found. Numbered as in the list of reports (R01 ... R51).
//
// Not rebuilt, because a lane has no such thing:
//   R11 (unscaling twice), R15 (gradients that change between the check and the step): the step has each block once and
//     nothing between them; R13: a parameter without a gradient: all of a model's parameters have one.
//   R21: other mask values than -inf; R24: sparse gradients; R26: a loss of clamped probabilities; R36: norms are FP32.
//   R39, R40: one lane is one worker. R44: one network and one loss. R45: gradients of gradients.
//   R51: recomputation runs in the formats of the first pass.
// Not rebuilt, because a run alone does not show it:
//   R42: a checkpoint always holds FP32 masters; tst_checkpoint holds that. R47, R50: differences between devices.
//   R48: times of this machine say nothing about others; slower_than_fp32 says so. R49: weights judged in other
//   formats.
#include "tests/support/trained_lanes.h"

#include <QtTest>

#include <algorithm>
#include <map>

using namespace mantissa;
using json = nlohmann::json;

namespace {

/// On the lane "a", beside its FP32 twin if there is a lane "fp32".
std::vector<Finding> findingsOn(const json& settings)
{
    json document {{"mantissa", 1}, {"name", "t"}, {"steps", 120}, {"data", {{"kind", "digits"}, {"batch", 16}}},
        {"model", {{"hidden", {32, 32}}}}, {"optimizer", {{"kind", "adamw"}, {"lr", 0.003}}}};
    document.merge_patch(settings);
    const auto lanes = trainLanes(document);
    RunView view = lanes.at("a").view();
    if (const auto fp32 = lanes.find("fp32"); fp32 != lanes.end()) {
        view.siblings.push_back(fp32->second.asSibling());
    }
    return diagnose(view);
}

json alone(json lane)
{
    lane["name"] = "a";
    return {{"lanes", json::array({lane})}};
}

json besideFp32(json lane)
{
    lane["name"] = "a";
    return {{"lanes", json::array({json {{"name", "fp32"}}, lane})}};
}

json everyStep(const char* path, const json& value, int from, int to, int every = 1)
{
    json events = json::array();
    for (int step = from; step < to; step += every) {
        events.push_back({{"step", step}, {"set", {{path, value}}}});
    }
    return {{"events", events}};
}

const json amp {{"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "pytorch"}, {"init_scale", 65536}}}};

} // namespace

class TestFieldReports : public QObject
{
    Q_OBJECT

private slots:

    void theRightCauseIsFound_data()
    {
        QTest::addColumn<QString>("settings");
        QTest::addColumn<QString>("rule");
        QTest::addColumn<QString>("words"); // in the title or the advice
        QTest::addColumn<QStringList>("wrong"); // rules of the theories that were wrong
        const auto row = [](const char* name, const json& settings, const char* rule, const char* words,
                             const QStringList& wrong) {
            QTest::newRow(name) << QString::fromStdString(settings.dump()) << rule << words << wrong;
        };
        row("R01: the scale halves for ever", merged(besideFp32(amp), everyStep("fault.nan_sample", 1, 10, 120)),
            "scale_collapse", "the scale is not the cause",
            {"underflow", "skips_often", "scale_oscillates", "diverges", "scale_at_floor"});
        row("R02, R22: weights need more than FP16's range", merged(besideFp32(amp), {{"model", {{"init_gain", 100}}}}),
            "scale_collapse", "BF16", {"underflow", "diverges", "skips_often", "scale_oscillates", "bad_batch"});
        row("R03: at the floor, every step skipped",
            merged(alone({{"precision", {{"policy", "fp16"}}},
                       {"scaler", {{"family", "megatron"}, {"init_scale", 1024}, {"min_scale", 1}}}}),
                {{"loss_weight", 1e12}}),
            "scale_at_floor", "floor of 1", {"diverges", "underflow"});
        row("R07: the training diverges, not FP16",
            merged(besideFp32(amp), {{"optimizer", {{"kind", "sgd"}, {"lr", 1e4}}}}), "scale_collapse", "FP32 lane",
            {"underflow", "scale_oscillates"});
        row("R14: a scaler over FP16 weights",
            alone({{"precision", {{"policy", "pure-fp16"}}}, {"scaler", {{"family", "pytorch"}, {"init_scale", 1024}}},
                {"optimizer", {{"epsilon", 1e-4}, {"state_format", "fp32"}}}}),
            "half_gradients_with_scaler", "3e-8", {"underflow_without_scaler", "scale_collapse"});
        row("R16: a term in every 16th step",
            merged(alone(merged(amp, {{"scaler", {{"init_scale", 1024}, {"growth_interval", 8}}}})),
                everyStep("fault.gradient_inf", "fc1", 15, 120, 16)),
            "skips_in_a_rhythm", "Every 16th step", {"scale_oscillates", "skips_often", "scale_collapse"});
        row("R23: a sum in half precision",
            merged(alone(merged(amp, {{"precision", {{"overrides", {{"batch_norm.accumulate", "fp16"}}}}}})),
                {{"model", {{"kind", "cnn"}, {"hidden", {32}}, {"width", 8}, {"stages", 2}}}, {"steps", 40}}),
            "statistics_in_16_bits", "squares overflow above 256", {"underflow", "scale_collapse"});
        row("R27: a logarithm of probabilities in FP16",
            merged(alone(merged(amp, {{"precision", {{"overrides", {{"softmax", "fp16"}, {"log", "fp16"}}}}}})),
                {{"loss_form", "log_of_softmax"}, {"label_smoothing", 0.1}, {"model", {{"init_gain", 8}}}}),
            "log_of_softmax", "probability that is rounded to 0", {"scale_oscillates", "underflow", "diverges"});
        row("R28: an epsilon that is 0", alone(merged(amp, {{"optimizer", {{"epsilon_format", "fp16"}}}})),
            "epsilon_is_zero", "0 in FP16", {"underflow", "scale_oscillates"});
        row("R30: LayerNorm's statistics in FP16",
            merged(alone(merged(amp, {{"precision", {{"overrides", {{"layer_norm.accumulate", "fp16"}}}}}})),
                {{"model",
                     {{"kind", "vit"}, {"hidden", nullptr}, {"width", 16}, {"heads", 2}, {"depth", 1}, {"patch", 2}}},
                    {"steps", 40}}),
            "statistics_in_16_bits", "squares overflow above 256", {"underflow", "scale_collapse"});
        row("R33: weight decay that never decays",
            merged(alone({{"precision", {{"policy", "pure-bf16"}}}}),
                {{"loss_weight", 1e-30}, {"optimizer", {{"lr", 0.001}, {"weight_decay", 0.1}}}}),
            "decay_is_lost", "0.0001 of a weight", {"diverges", "underflow_without_scaler"});
        row("R34: beta2 beyond BF16",
            alone({{"precision", {{"policy", "bf16"}}}, {"optimizer", {{"state_format", "bf16"}}}}),
            "second_moment_sticks", "can only grow", {"updates_below_half_ulp", "underflow_without_scaler"});
        row("R35: micro-batches that no longer count",
            merged(alone({{"precision", {{"policy", "pure-bf16"}}}}),
                {{"accumulation", {{"steps", 128}}}, {"data", {{"batch", 2}}}, {"steps", 10}}),
            "accumulates_in_16_bits", "128 micro-batches", {"accumulation_not_divided", "scaler_per_micro_batch"});
        row("R37: an average that never moves",
            alone({{"precision", {{"policy", "bf16"}}}, {"ema", {{"decay", 0.99}, {"format", "bf16"}}}}),
            "average_sticks", "hardly moves", {"updates_below_half_ulp", "learns_nothing"});
        row("C13: a scale that follows the loss",
            merged(alone({{"precision", {{"policy", "fp16"}}},
                       {"scaler", {{"family", "loss-driven"}, {"init_scale", 1}}}}),
                {{"loss_weight", 1e-6}}),
            "scaler_follows_the_loss", "no overflow is skipped", {"scale_oscillates", "diverges"});
    }

    void theRightCauseIsFound()
    {
        QFETCH(QString, settings);
        QFETCH(QString, rule);
        QFETCH(QString, words);
        QFETCH(QStringList, wrong);
        const auto findings = findingsOn(json::parse(settings.toStdString()));
        const auto found = std::ranges::find(findings, rule.toStdString(), &Finding::rule);
        QVERIFY2(found != findings.end(), textOf(findings).constData());
        QVERIFY2(found == findings.begin() || found->severity == Severity::Problem, textOf(findings).constData());
        QVERIFY2((found->title + found->advice).find(words.toStdString()) != std::string::npos,
            textOf(findings).constData());
        for (const QString& theory : wrong) {
            QVERIFY2(std::ranges::find(findings, theory.toStdString(), &Finding::rule) == findings.end(),
                textOf(findings).constData());
        }
    }

    /// R07: what FP32 does too is mended by no format.
    void sharedDivergenceIsNotSentToAnotherFormat()
    {
        const auto findings = findingsOn(merged(besideFp32(amp), {{"optimizer", {{"kind", "sgd"}, {"lr", 1e4}}}}));
        for (const Finding& finding : findings) {
            QVERIFY2(finding.severity != Severity::Problem || finding.advice.find("BF16") == std::string::npos,
                textOf(findings).constData());
            QVERIFY(!finding.fix.contains("precision.policy"));
        }
        QCOMPARE(findings.front().fix, (json {{"optimizer.lr", 1e3}}));
    }

    /// R02, R22: the same weights train in BF16.
    void whatFp16CannotHoldBf16Can()
    {
        const auto findings
            = findingsOn(merged(besideFp32({{"precision", {{"policy", "bf16"}}}}), {{"model", {{"init_gain", 100}}}}));
        for (const Finding& finding : findings) {
            QVERIFY2(finding.rule != "non_finite" && finding.rule != "scale_collapse", textOf(findings).constData());
        }
    }

    /// R04, R08, R09, R18: nothing is wrong, and what people took for a fault is explained.
    void whatIsNormalIsNoProblem_data()
    {
        QTest::addColumn<QString>("settings");
        QTest::addColumn<QString>("rule");
        const auto row = [](const char* name, const json& settings, const char* rule) {
            QTest::newRow(name) << QString::fromStdString(settings.dump()) << rule;
        };
        row("R04: 65536, reducing to 65536",
            merged(alone({{"precision", {{"policy", "fp16"}}},
                       {"scaler", {{"family", "deepspeed"}, {"init_scale", 1024}, {"hysteresis", 2}}}}),
                everyStep("fault.gradient_inf", "fc1", 60, 61)),
            "hysteresis_absorbs");
        row("R08: a scale of 1000",
            alone({{"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "fixed"}, {"init_scale", 1000}}}}),
            "scale_not_a_power_of_two");
        row("R09: a scaler in BF16", alone({{"precision", {{"policy", "bf16"}}}, {"scaler", {{"family", "pytorch"}}}}),
            "scaler_without_fp16");
        row("R18: skips while the scale is found", alone(merged(amp, {{"scaler", {{"init_scale", 0x1p30}}}})),
            "found_its_scale");
    }

    void whatIsNormalIsNoProblem()
    {
        QFETCH(QString, settings);
        QFETCH(QString, rule);
        const auto findings = findingsOn(json::parse(settings.toStdString()));
        const auto found = std::ranges::find(findings, rule.toStdString(), &Finding::rule);
        QVERIFY2(found != findings.end() && found->severity == Severity::Info, textOf(findings).constData());
        for (const Finding& finding : findings) {
            QVERIFY2(finding.severity != Severity::Problem, textOf(findings).constData());
        }
    }
};

QTEST_GUILESS_MAIN(TestFieldReports)
#include "tst_field_reports.moc"
