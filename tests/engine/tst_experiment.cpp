// Experiment files: what is read from them, what is refused and in which words, and that writing one loses nothing.
#include "engine/core/error.h"
#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/core/philox.h"
#include "engine/train/experiment.h"
#include "engine/train/setting_table.h"

#include <QtTest>

#include <fmt/format.h>

#include <fstream>
#include <limits>

using mantissa::ClipOrder;
using mantissa::Error;
using mantissa::Experiment;
using mantissa::LaneConfig;
using mantissa::ScriptedEvent;
using nlohmann::json;

namespace {

/// The message of the Error that `call` throws; empty if it throws none.
template <typename Call> QString messageOf(Call call)
{
    try {
        call();
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

Experiment parse(const std::string& text)
{
    return mantissa::parseExperiment(text, "x.json");
}

/// The settings of a lane, table row by row: equal for equal lanes.
json settingsOf(const LaneConfig& lane)
{
    json all = {{"name", lane.name}};
    for (const mantissa::Setting& row : mantissa::settingTable()) {
        all[row.path] = row.write(lane);
    }
    return all;
}

LaneConfig lane(const std::string& text)
{
    return mantissa::parseLane(json::parse(text), "");
}

/// One for each lane.
json expectationsOf(const std::vector<std::string>& lanes)
{
    json expect = json::array();
    for (const std::string& lane : lanes) {
        expect.push_back(
            {{"that", "t"}, {"left", {{"lane", lane}, {"metric", "min_loss"}}}, {"op", "<"}, {"right", 1}});
    }
    return expect;
}

/// Random numbers for random experiments.
class Dice
{
public:
    explicit Dice(std::uint64_t seed)
        : m_random(seed, 0)
    {
    }

    std::uint32_t word() { return m_random(m_counter++)[0]; }

    std::int64_t below(std::uint32_t n) { return word() % n; }

    bool coin() { return (word() & 1U) != 0; }

    double unit() { return mantissa::toUnitFloat(word()); }

    std::string pick(const std::vector<std::string>& from)
    {
        return from.at(static_cast<std::size_t>(below(static_cast<std::uint32_t>(from.size()))));
    }

private:
    mantissa::Philox m_random;
    std::uint64_t m_counter = 0;
};

LaneConfig randomLane(Dice& dice, const std::string& name)
{
    LaneConfig c;
    c.name = name;
    c.color = dice.pick({"#12aBcd", ""});
    c.seed = dice.coin() ? std::numeric_limits<std::uint64_t>::max() - dice.word() : dice.word();
    c.steps = 1 + dice.below(1000);
    c.data.kind = dice.pick({"digits", "spirals", "moons"});
    c.data.batch = 1 + dice.below(512);
    c.data.noise = dice.unit();
    c.model = mantissa::defaultModel(dice.pick(mantissa::modelKinds()));
    if (c.model.kind == "gpt") {
        c.data.kind = "copy";
    }
    if (c.model.kind == "layers") {
        c.model.layers = dice.coin() ? json::parse(R"(["flatten", "linear"])")
                                     : json::parse(R"([{"residual": ["relu"]}, {"repeat": 2, "layers": ["tanh"]}])");
    }
    c.model.width = dice.coin() ? c.model.width : 4 * (1 + dice.below(20));
    c.model.tiedHead = dice.coin();
    c.model.pooling = dice.pick({"class_token", "mean_tokens"});
    c.model.hidden.assign(static_cast<std::size_t>(dice.below(4)), 1 + dice.below(99));
    c.model.activation = dice.pick({"relu", "gelu_tanh"});
    c.model.dropout = dice.coin() ? dice.unit() : 0;
    c.lossForm = dice.pick({"fused", "log_softmax", "log_of_softmax"});
    c.lossWeight = dice.coin() ? 1 : 1e-6;
    c.labelSmoothing = dice.coin() ? 0 : 0.1;
    c.optimizer.kind = dice.pick({"sgd", "adam", "adamw"});
    c.optimizer.lr = dice.unit();
    c.optimizer.weightDecay = dice.coin() ? dice.unit() : (c.optimizer.kind == "adamw" ? 0.01 : 0);
    c.schedule.kind = dice.pick({"constant", "cosine", "step"});
    c.schedule.countSkipped = dice.coin();
    c.precision.policy = dice.pick({"fp32", "fp16", "bf16", "pure-fp16", "O3"});
    c.precision.weights
        = c.precision.policy == "fp32" ? "master" : dice.pick({"master", "half", "half-stochastic", "half-kahan"});
    c.precision.tf32 = dice.coin();
    c.precision.reducedSums = dice.coin();
    c.device = dice.pick({"session", "cpu", "cuda"});
    c.optimizer.extraStep = dice.coin();
    c.optimizer.stateFormat = dice.pick({"weights", "fp32", "fp16", "bf16"});
    c.optimizer.epsilonFormat = dice.pick({"fp32", "fp16"});
    c.ema = {dice.coin() ? 0 : 0.9, dice.pick({"fp32", "bf16"}), dice.coin()};
    c.evaluation.weights = c.ema.decay == 0 ? "trained" : dice.pick({"trained", "ema"});
    if (dice.coin()) {
        c.precision.overrides = {{"relu", "fp32"}, {"fc1.dotted name", dice.pick({"fp16", "bf16"})}};
    }
    switch (dice.below(4)) {
    case 0:
        c.clip = {ClipOrder::UnscaleThenClip, dice.unit() + 0.1, {}};
        break;
    case 1:
        c.clip = {ClipOrder::ClipThenUnscale, {}, dice.unit() + 0.1};
        break;
    case 2:
        c.clip = {ClipOrder::Off, 1.0, 2.0};
        break;
    default:
        break;
    }
    for (std::size_t i = c.order.size(); i > 1; --i) {
        std::swap(c.order.at(i - 1), c.order.at(static_cast<std::size_t>(dice.below(static_cast<int>(i)))));
    }
    c.order = withClip(c.order, c.clip.order);
    c.accumulation = {1 + dice.below(4), dice.coin(), dice.coin(), dice.coin(), dice.coin()};
    if (dice.coin()) {
        c.scaler = mantissa::ScalerConfig {};
        c.scaler->family = dice.pick(mantissa::scalerFamilies());
        c.scaler->frozen = dice.coin();
        for (const mantissa::ScalerParameter& parameter : mantissa::findScalerFamily(c.scaler->family)->parameters) {
            if (dice.coin()) {
                c.scaler->parameters.emplace(parameter.key, parameter.byDefault.value_or(4));
            }
            if (parameter.key == "init_scale" && dice.coin()) {
                c.scaler->parameters["init_scale"] = 2;
            }
        }
    }
    return c;
}

} // namespace

class TestExperiment : public QObject
{
    Q_OBJECT

private slots:
    void readsEveryKeyOfTheDesign();
    void fillsInTheDefaults();
    void namesALaneAfterItsPolicyWhereNoneIsGiven();
    void mergesLanesAsPatches();
    void lanesMayDifferInTheirModels();
    void takesSeedsOfSixtyFourBits();
    void takesWholeNumbersInAnySpelling();
    void refuses_data();
    void refuses();
    void namesTheLineAndColumnOfSyntaxErrors();
    void survivesAnyDamageToAFile();
    void survivesHugeAndDeepFiles();
    void readsAndChecksEvents();
    void changesSettings();
    void aNewFamilyKeepsTheParametersThatItHas();
    void clipThresholdsCanBeSetOneByOne();
    void refusesChanges_data();
    void refusesChanges();
    void scalerStateLeavesTheDocumentAsItIs();
    void overridesMayChangeTheStructure();
    void composesWhatItParses();
    void leavesOutExpectationsOfLanesThatAreGone();
    void composesSharedSettingsOnce();
    void keepsTheOrderOfAnEventsChanges();
    void everyRowGivesBackWhatItRead();
    void findsTheNearestName();
    void loadsFilesAndSaysWhyNot();
    void theReferenceMentionsEveryKey();
};

void TestExperiment::readsEveryKeyOfTheDesign()
{
    const Experiment e = parse(R"({"mantissa": 1, "name": "n", "text": "**m**", "seed": 7, "steps": 50,
        "data": {"kind": "spirals", "batch": 32, "samples": 500, "classes": 4, "noise": 0.2, "validation_share": 0.25,
                 "features": 3, "path": "p"},
        "model": {"kind": "mlp", "hidden": [16, 8], "activation": "gelu_tanh", "dropout": 0.1, "init_gain": 0.5},
        "loss": "bce_with_logits", "loss_weight": 0.001,
        "optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": true, "weight_decay": 0.3, "beta1": 0.8,
                      "beta2": 0.99, "epsilon": 1e-6},
        "schedule": {"kind": "cosine", "warmup_steps": 5, "total_steps": 40, "minimum_factor": 0.1, "every": 7,
                     "gamma": 0.5, "count_skipped": false},
        "precision": {"policy": "bf16", "weights": "master", "overrides": {"relu": "fp32"}},
        "clip": {"order": "clip-then-unscale", "max_value": 2.5}, "accumulation": {"steps": 3, "guard": true},
        "scaler": {"family": "pytorch", "init_scale": 128, "growth_factor": 3, "backoff_factor": 0.25,
                   "growth_interval": 9, "frozen": true},
        "lanes": [{"name": "A", "color": "#00ff7F"}],
        "events": [{"step": 10, "lane": "A", "set": {"optimizer.lr": 0.01}}],
        "claim": {"id": "C1", "says": "s", "verdict": "partly"},
        "expect": [{"that": "x", "left": {"lane": "A", "metric": "flushed"}, "op": "<", "right": 1}]})");
    QCOMPARE(e.name, std::string("n"));
    QCOMPARE(e.text, std::string("**m**"));
    QCOMPARE(e.expect.size(), std::size_t {1});
    QVERIFY((e.claim == mantissa::Claim {"C1", "s", "partly"}));
    QCOMPARE(e.lanes.size(), std::size_t {1});
    const LaneConfig& c = e.lanes[0];
    QCOMPARE(c.name, std::string("A"));
    QCOMPARE(c.color, std::string("#00ff7F"));
    QCOMPARE(c.seed, std::uint64_t {7});
    QCOMPARE(c.steps, std::int64_t {50});
    mantissa::DataConfig data;
    data.kind = "spirals";
    data.batch = 32;
    data.path = "p";
    data.samples = 500;
    data.classes = 4;
    data.features = 3;
    data.noise = 0.2;
    data.validationShare = 0.25;
    QVERIFY(c.data == data);
    mantissa::ModelConfig model;
    model.hidden = {16, 8};
    model.activation = "gelu_tanh";
    model.dropout = 0.1;
    model.initGain = 0.5;
    QVERIFY(c.model == model);
    QCOMPARE(c.loss, std::string("bce_with_logits"));
    QCOMPARE(c.lossWeight, 0.001);
    QVERIFY((c.optimizer == mantissa::OptimizerConfig {"sgd", 0.1, 0.9, true, 0.8, 0.99, 1e-6, 0.3}));
    QVERIFY((c.schedule == mantissa::ScheduleConfig {"cosine", 5, 40, 0.1, 7, 0.5, false}));
    QCOMPARE(c.precision.policy, std::string("bf16"));
    QCOMPARE(c.precision.overrides.at("relu"), std::string("fp32"));
    QVERIFY((c.clip == mantissa::ClipConfig {ClipOrder::ClipThenUnscale, {}, 2.5}));
    QVERIFY((c.accumulation == mantissa::AccumulationConfig {3, true}));
    QVERIFY(c.scaler.has_value());
    QVERIFY((*c.scaler
        == mantissa::ScalerConfig {"pytorch", true,
            {{"init_scale", 128}, {"growth_factor", 3}, {"backoff_factor", 0.25}, {"growth_interval", 9}}}));
}

void TestExperiment::fillsInTheDefaults()
{
    const LaneConfig plain = parse(R"({"mantissa": 1, "lanes": [{"name": "A"}]})").lanes.at(0);
    LaneConfig expected;
    expected.name = std::string("A");
    QCOMPARE(settingsOf(plain).dump(), settingsOf(expected).dump());
    QVERIFY(!plain.scaler);
    QCOMPARE(plain.optimizer.weightDecay, 0.01);
    QCOMPARE(lane(R"({"optimizer": {"kind": "adam"}})").optimizer.weightDecay, 0.0);
    QCOMPARE(lane(R"({"optimizer": {"kind": "sgd"}})").optimizer.weightDecay, 0.0);
    QCOMPARE(lane(R"({"optimizer": {"kind": "sgd", "weight_decay": 0.01}})").optimizer.weightDecay, 0.01);
    for (const auto& [policy, weights] : {std::pair {"fp16", "master"}, std::pair {"O2", "master"},
             std::pair {"O3", "half"}, std::pair {"pure-fp16", "half"}, std::pair {"pure-bf16", "half"}}) {
        const json precision {{"precision", {{"policy", policy}}}};
        QCOMPARE(lane(precision.dump()).precision.weights, std::string(weights));
    }
    QCOMPARE(lane(R"({"precision": {"policy": "O3", "weights": "master"}})").precision.weights, std::string("master"));
    const LaneConfig scaled = lane(R"({"scaler": {}})");
    QVERIFY(scaled.scaler.has_value());
    QVERIFY((*scaled.scaler == mantissa::ScalerConfig {}));
    QCOMPARE(*mantissa::valueOf(*scaled.scaler, "growth_interval"), 2000.0);
    QCOMPARE(*mantissa::valueOf(*lane(R"({"scaler": {"family": "megatron"}})").scaler, "growth_interval"), 1000.0);
}

void TestExperiment::namesALaneAfterItsPolicyWhereNoneIsGiven()
{
    QCOMPARE(parse(R"({"mantissa": 1})").lanes.at(0).name, std::string("fp32"));
    const Experiment e = parse(R"({"mantissa": 1, "precision": {"policy": "bf16"}, "lanes": []})");
    QCOMPARE(e.lanes.size(), std::size_t {1});
    QCOMPARE(e.lanes[0].name, std::string("bf16"));
}

void TestExperiment::mergesLanesAsPatches()
{
    const Experiment e = parse(R"({"mantissa": 1, "scaler": {"init_scale": 4}, "optimizer": {"lr": 0.5},
        "clip": {"max_norm": 1, "order": "unscale-then-clip"}, "precision": {"overrides": {"relu": "fp16", "fc1": "bf16"}},
        "lanes": [{"name": "A", "scaler": null}, {"name": "B", "scaler": {"frozen": true}, "optimizer": {"kind": "sgd"}},
                  {"name": "C", "clip": {"max_norm": null, "max_value": 3}, "precision": {"overrides": {"relu": null}}},
                  {"name": "D", "optimizer": null}]})");
    QVERIFY(!e.lanes[0].scaler);
    QCOMPARE(e.lanes[1].scaler->parameters.at("init_scale"), 4.0);
    QVERIFY(e.lanes[1].scaler->frozen);
    QCOMPARE(e.lanes[1].optimizer.kind, std::string("sgd"));
    QCOMPARE(e.lanes[1].optimizer.lr, 0.5);
    QCOMPARE(e.lanes[1].optimizer.weightDecay, 0.0);
    QVERIFY((e.lanes[2].clip == mantissa::ClipConfig {ClipOrder::UnscaleThenClip, {}, 3.0}));
    QVERIFY((e.lanes[2].precision.overrides == std::map<std::string, std::string> {{"fc1", "bf16"}}));
    QVERIFY((e.lanes[3].optimizer == mantissa::OptimizerConfig {}));
}

void TestExperiment::lanesMayDifferInTheirModels()
{
    const Experiment e = parse(R"({"mantissa": 1, "model": {"kind": "vit", "width": 32, "activation": "silu"},
        "lanes": [{"name": "A"}, {"name": "B", "model": {"kind": "cnn", "width": null}},
                  {"name": "C", "model": {"kind": "layers", "layers": [{"kind": "flatten"}, "linear"]}},
                  {"name": "D", "model": {"activation": null, "patch": 4}}, {"name": "E", "model": null}]})");
    mantissa::ModelConfig vit = mantissa::defaultModel("vit");
    vit.width = 32;
    vit.patch = 4;
    QVERIFY(e.lanes[3].model == vit);
    vit.patch = 2;
    vit.activation = "silu";
    QVERIFY(e.lanes[0].model == vit);
    mantissa::ModelConfig cnn = mantissa::defaultModel("cnn");
    cnn.activation = "silu";
    QVERIFY(e.lanes[1].model == cnn);
    QCOMPARE(e.lanes[2].model.layers, json::parse(R"([{"kind": "flatten"}, "linear"])"));
    QVERIFY(e.lanes[4].model == mantissa::ModelConfig {});
    const json document = mantissa::composeExperiment(e);
    const Experiment again = parse(document.dump());
    for (std::size_t i = 0; i < e.lanes.size(); ++i) {
        QVERIFY(again.lanes[i].model == e.lanes[i].model);
    }
}

void TestExperiment::takesSeedsOfSixtyFourBits()
{
    QCOMPARE(lane(R"({"seed": 18446744073709551615})").seed, std::numeric_limits<std::uint64_t>::max());
    QCOMPARE(lane(R"({"seed": 0})").seed, std::uint64_t {0});
    const QString tooLarge = messageOf([] { lane(R"({"seed": 18446744073709551616})"); });
    QVERIFY2(tooLarge.contains("seed is 1.8446744073709552e+19; it must be an integer from 0 to 18446744073709551615"),
        qPrintable(tooLarge));
}

void TestExperiment::takesWholeNumbersInAnySpelling()
{
    QCOMPARE(lane(R"({"steps": 1e3})").steps, std::int64_t {1000});
    QCOMPARE(lane(R"({"steps": 20.0})").steps, std::int64_t {20});
    QVERIFY(!messageOf([] { lane(R"({"steps": 20.5})"); }).isEmpty());
}

void TestExperiment::refuses_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const char* text, const char* message) {
        QTest::newRow(name) << QString(text) << QString(message);
    };
    row("no version", R"({"name": "x"})", R"(x.json: mantissa is missing; an experiment begins with "mantissa": 1)");
    row("newer version", R"({"mantissa": 2})", "x.json: mantissa is 2: the file was written for a newer Mantissa");
    row("odd version", R"({"mantissa": "1"})", R"(x.json: mantissa is "1"; it must be 1)");
    row("not an object", "[1]", "x.json: the file holds [1]; an experiment is an object");
    row("unknown key in a lane",
        R"({"mantissa": 1, "lanes": [{"name": "A"}, {"name": "B", "precision": {"polcy": "fp16"}}]})",
        R"(x.json: lanes[1].precision.polcy is not a setting (its value: "fp16"); did you mean "policy"?)");
    row("unknown key at the top", R"({"mantissa": 1, "lnaes": []})",
        R"(x.json: lnaes is not a setting (its value: []); did you mean "lanes"?)");
    row("key of another section", R"({"mantissa": 1, "lr": 0.1})",
        R"(x.json: lr is not a setting (its value: 0.1); did you mean "optimizer.lr"?)");
    row("nothing near", R"({"mantissa": 1, "model": {"zzzzzz": 3}})",
        "x.json: model.zzzzzz is not a setting (its value: 3); valid are: kind, hidden, activation, dropout, "
        "init_gain");
    row("wrong layer of a lane",
        R"({"mantissa": 1, "lanes": [{"name": "A", "model": {"layers": ["flatten", {"kind": "linear", "width": 3}]}}]})",
        "x.json: lanes[0].model.layers[1].width is not a key of linear (its value: 3); valid are: kind, name, "
        "features");
    row("layers without their kind", R"({"mantissa": 1, "model": {"layers": ["flatten", "linear"]}})",
        R"(x.json: model.layers is given, but model.kind is "mlp"; set the kind to "layers")");
    row("a kind without its layers", R"({"mantissa": 1, "model": {"kind": "layers"}})",
        "x.json: model.layers is missing");
    row("heads that do not divide", R"({"mantissa": 1, "model": {"kind": "vit", "heads": 5}})",
        "x.json: model.heads is 5, which does not divide model.width (64)");
    row("a dotted key is no path", R"({"mantissa": 1, "optimizer.lr": 3})", "x.json: optimizer.lr is not a setting");
    row("unknown choice", R"({"mantissa": 1, "lanes": [{"name": "A", "precision": {"policy": "fp61"}}]})",
        R"(x.json: lanes[0].precision.policy is "fp61", which does not exist; did you mean "fp16"? it must be one of fp32, fp16, bf16)");
    row("unknown family", R"({"mantissa": 1, "scaler": {"family": "pytroch"}})",
        R"(x.json: scaler.family is "pytroch", which does not exist; did you mean "pytorch"?)");
    row("text for a number", R"({"mantissa": 1, "data": {"batch": "64"}})",
        R"(x.json: data.batch is "64"; it must be an integer from 1 to 65536)");
    row("number for a section", R"({"mantissa": 1, "data": 5})",
        "x.json: data is 5; it must be an object with some of the keys kind, batch");
    row("too small", R"({"mantissa": 1, "data": {"batch": 0}})",
        "x.json: data.batch is 0; it must be an integer from 1 to 65536");
    row("negative seed", R"({"mantissa": 1, "seed": -1})", "x.json: seed is -1; it must be an integer from 0");
    row("absurd width", R"({"mantissa": 1, "model": {"hidden": [1000000000]}})",
        "x.json: model.hidden is [1000000000]; it must be a list of integers each from 1 to 16384");
    row("too many weights", R"({"mantissa": 1, "model": {"hidden": [16384, 16384, 2]}})",
        "x.json: model.hidden makes 268468224 weights");
    row("too many activations", R"({"mantissa": 1, "data": {"batch": 65536}, "model": {"hidden": [16384]}})",
        "x.json: data.batch times the widest layer");
    row("too large a data set",
        R"({"mantissa": 1, "loss": "mse", "data": {"kind": "regression", "samples": 1000000, "features": 4096}})",
        "x.json: data.samples is 1000000, which makes 4096000000 numbers with the 4096 of each sample");
    row("number for true", R"({"mantissa": 1, "scaler": {"frozen": 1}})",
        "x.json: scaler.frozen is 1; it must be true or false");
    row("null at the top", R"({"mantissa": 1, "steps": null})", "x.json: steps is null; it must be an integer");
    row("backoff of one", R"({"mantissa": 1, "scaler": {"backoff_factor": 1}})",
        "x.json: scaler.backoff_factor is 1; it must be a number from 0 to below 1");
    row("scale outside float32", R"({"mantissa": 1, "scaler": {"init_scale": 1e-60}})",
        "x.json: scaler.init_scale is 1e-60, which float32 rounds to 0");
    row("another family's parameter", R"({"mantissa": 1, "scaler": {"hysteresis": 3}})",
        R"(x.json: scaler.hysteresis is 3, but the family "pytorch" has no such parameter; it has init_scale, growth_factor, backoff_factor, growth_interval (lane "fp32"))");
    row("another family's parameter in a lane",
        R"({"mantissa": 1, "scaler": {}, "lanes": [{"name": "A", "scaler": {"family": "flax", "tolerance": 0.5}}]})",
        R"(x.json: lanes[0].scaler.tolerance is 0.5, but the family "flax" has no such parameter)");
    row("another family's parameter beside lanes of that family",
        R"({"mantissa": 1, "scaler": {"family": "keras", "hysteresis": 3}, "lanes": [{"name": "A", "scaler": {"family": "megatron"}}]})",
        R"(x.json: scaler.hysteresis is 3, but the family "keras" has no such parameter; it has init_scale, growth_interval)");
    row("outside the family's range", R"({"mantissa": 1, "scaler": {"family": "apex", "growth_interval": 0}})",
        "x.json: scaler.growth_interval is 0; it must be an integer from 1 to 1000000000");
    row("override to no format", R"({"mantissa": 1, "precision": {"overrides": {"relu": "fp8"}}})",
        R"(x.json: precision.overrides gives "relu" a format that is "fp8", which does not exist)");
    row("clip without threshold",
        R"({"mantissa": 1, "lanes": [{"name": "A"}, {"name": "B", "clip": {"order": "unscale-then-clip"}}]})",
        "x.json: lanes[1].clip.order asks for clipping, but there is no threshold; add clip.max_norm");
    row("clip by both", R"({"mantissa": 1, "clip": {"order": "unscale-then-clip", "max_norm": 1, "max_value": 1}})",
        "x.json: clip.max_value is given beside clip.max_norm");
    row("clip order misspelt", R"({"mantissa": 1, "clip": {"order": "unscale_then_clip", "max_norm": 1}})",
        R"(did you mean "unscale-then-clip"?)");
    row("warm-up of no steps", R"({"mantissa": 1, "schedule": {"kind": "warmup"}})",
        "x.json: schedule.warmup_steps is 0, but a warm-up needs steps");
    row("Nesterov without momentum", R"({"mantissa": 1, "optimizer": {"kind": "sgd", "nesterov": true}})",
        "x.json: optimizer.nesterov is true, but");
    row("half weights without a format", R"({"mantissa": 1, "precision": {"weights": "half"}})",
        R"(x.json: precision.weights is "half", but the policy "fp32" has no 16-bit format)");
    row("parts of another loss", R"({"mantissa": 1, "loss": "mse", "loss_form": "log_softmax"})",
        R"(x.json: loss_form is "log_softmax", which takes cross_entropy apart, but the loss is "mse")");
    row("MNIST without folder", R"({"mantissa": 1, "data": {"kind": "mnist"}})",
        "x.json: data.path is missing; mnist is read from a folder");
    row("classes from regression", R"({"mantissa": 1, "data": {"kind": "regression"}})",
        "x.json: loss is \"cross_entropy\", which compares classes");
    row("brackets without partner",
        R"({"mantissa": 1, "data": {"kind": "brackets", "length": 5}, "model": {"kind": "gpt"}})",
        "x.json: data.length is 5; it must be even");
    row("numbers from tokens", R"({"mantissa": 1, "loss": "mse", "data": {"kind": "copy"}, "model": {"kind": "gpt"}})",
        "x.json: loss is \"mse\", which compares numbers, but copy data has a label for each token");
    row("an MLP for tokens", R"({"mantissa": 1, "data": {"kind": "sort"}})",
        "x.json: model.kind is \"mlp\", which reads numbers, but sort data is sequences of tokens; use \"gpt\"");
    row("a GPT for numbers", R"({"mantissa": 1, "model": {"kind": "gpt"}})",
        "x.json: model.kind is \"gpt\", which reads sequences of tokens, but digits data is numbers; use \"mlp\"");
    row("lane without name", R"({"mantissa": 1, "lanes": [{}]})", "x.json: lanes[0].name is missing");
    row("lane with an empty name", R"({"mantissa": 1, "lanes": [{"name": ""}]})", R"(x.json: lanes[0].name is "")");
    row("lane with line break", R"({"mantissa": 1, "lanes": [{"name": "a\nb"}]})",
        "it must be a text of 1 to 200 bytes in one line");
    row("lane twice", R"({"mantissa": 1, "lanes": [{"name": "A"}, {"name": "A"}]})",
        R"(x.json: lanes[1].name is "A", which another lane has already)");
    row("lane is text", R"({"mantissa": 1, "lanes": ["A"]})", R"(x.json: lanes[0] is "A"; it must be an object)");
    row("lanes is object", R"({"mantissa": 1, "lanes": {"A": {}}})", "x.json: lanes is {\"A\":{}}; it must be a list");
    row("text in a lane", R"({"mantissa": 1, "lanes": [{"name": "A", "text": "x"}]})",
        "x.json: lanes[0].text is not a setting");
    row("color at the top", R"({"mantissa": 1, "color": "#000000"})", "x.json: color belongs into a lane");
    row("no color", R"({"mantissa": 1, "lanes": [{"name": "A", "color": "red"}]})",
        R"(x.json: lanes[0].color is "red"; it must be a text like "#1f77b4")");
    row("name is number", R"({"mantissa": 1, "name": 3})", "x.json: name is 3; it must be a text");
    row("expect is object", R"({"mantissa": 1, "expect": {}})", "x.json: expect is {}; it must be a list");
    row("key twice", R"({"mantissa": 1, "steps": 1, "steps": 2})",
        R"(x.json: the key "steps" is given twice in one object)");
    row("event of no lane",
        R"({"mantissa": 1, "lanes": [{"name": "FP16 AMP"}], "events": [{"step": 1, "lane": "FP16", "set": {"optimizer.lr": 1}}]})",
        R"(x.json: events[0].lane is "FP16", but no lane has that name; did you mean "FP16 AMP"?)");
    row("event with a bad path", R"({"mantissa": 1, "events": [{"step": 1, "set": {"optimizer.lrr": 1}}]})",
        R"(x.json: events[0].set.optimizer.lrr is not a setting (its value: 1); did you mean "lr"?)");
    row("event with a bad value", R"({"mantissa": 1, "events": [{"step": 1, "set": {"optimizer.lr": -1}}]})",
        "x.json: events[0].set.optimizer.lr is -1; it must be a number from 0 to");
    row("event without scaler", R"({"mantissa": 1, "events": [{"step": 1, "set": {"scaler.scale": 2}}]})",
        R"(x.json: events[0].set.scaler.scale cannot be set: lane "fp32" has no scaler)");
    row("event on structure", R"({"mantissa": 1, "events": [{"step": 1, "set": {"data.batch": 2}}]})",
        "x.json: events[0].set.data.batch needs a new lane");
    row("event without step", R"({"mantissa": 1, "events": [{"set": {"optimizer.lr": 1}}]})",
        "x.json: events[0].step is missing");
    row("event at a negative step", R"({"mantissa": 1, "events": [{"step": -1, "set": {"optimizer.lr": 1}}]})",
        "x.json: events[0].step is -1; it must be an integer from 0");
    row("event without changes", R"({"mantissa": 1, "events": [{"step": 1}]})", "x.json: events[0].set is missing");
    row("event with another key", R"({"mantissa": 1, "events": [{"step": 1, "sett": {}}]})",
        R"(x.json: events[0].sett is not a key of an event (its value: {}); did you mean "set"?)");
}

void TestExperiment::refuses()
{
    QFETCH(QString, text);
    QFETCH(QString, message);
    const QString said = messageOf([&] { parse(text.toStdString()); });
    QVERIFY2(said.contains(message), qPrintable("said: " + said));
}

void TestExperiment::namesTheLineAndColumnOfSyntaxErrors()
{
    QVERIFY(messageOf([] {
        parse("{\"mantissa\": 1,\n  \"steps\": 5,\n}");
    }).startsWith("x.json:3:1: not valid JSON: syntax error"));
    QVERIFY(messageOf([] { parse("{\"mantissa\": 1,\n \"lr\" 5}"); }).startsWith("x.json:2:7: not valid JSON"));
    QVERIFY(messageOf([] { parse(""); }).startsWith("x.json:1:1: not valid JSON"));
    const QString overflow = messageOf([] { parse("{\"mantissa\": 1,\n \"loss_weight\": 1e999}"); });
    QVERIFY2(overflow.startsWith("x.json:2:17: not valid JSON: number overflow"), qPrintable(overflow));
    QVERIFY(messageOf([] { parse("{\"name\": \"\xff\"}"); }).startsWith("x.json:1:11: not valid JSON"));
}

void TestExperiment::survivesAnyDamageToAFile()
{
    const std::string whole
        = R"({"mantissa": 1, "data": {"batch": 8}, "clip": {"order": "off"}, "scaler": {"init_scale": 2},
        "lanes": [{"name": "A", "scaler": null}], "events": [{"step": 3, "set": {"optimizer.lr": 0.5}}]})";
    int refused = 0;
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        refused += messageOf([&] { parse(whole.substr(0, cut)); }).isEmpty() ? 0 : 1;
    }
    QCOMPARE(refused, static_cast<int>(whole.size()));
    // Any byte at any place: parsed or refused with a message, never anything else.
    Dice dice(3);
    for (int i = 0; i < 4000; ++i) {
        std::string damaged = whole;
        for (std::int64_t n = 1 + dice.below(3); n > 0; --n) {
            const auto at = static_cast<std::size_t>(dice.below(static_cast<std::uint32_t>(whole.size())));
            damaged[at] = dice.coin()
                ? static_cast<char>(dice.below(256))
                : whole[static_cast<std::size_t>(dice.below(static_cast<std::uint32_t>(whole.size())))];
        }
        const QString said = messageOf([&] { parse(damaged); });
        QVERIFY(said.isEmpty() || said.startsWith("x.json:"));
    }
}

void TestExperiment::survivesHugeAndDeepFiles()
{
    const std::string deep(1'000'000, '[');
    QVERIFY(messageOf([&] { parse(deep); }).contains("nested deeper than 64 levels"));
    const std::string huge(mantissa::maxJsonBytes + 1, ' ');
    QVERIFY(messageOf([&] { parse(huge); }).contains("too many"));
    std::string widths = "[1";
    for (int i = 0; i < 500000; ++i) {
        widths += ",1";
    }
    const QString wide
        = messageOf([&] { parse(fmt::format(R"({{"mantissa": 1, "model": {{"hidden": {}]}}}})", widths)); });
    QVERIFY(wide.contains("model.hidden is a list with 500001 entries"));
    const std::string longKey(100000, 'k');
    const QString key = messageOf([&] { parse(fmt::format(R"({{"mantissa": 1, "{}": 1}})", longKey)); });
    QVERIFY(key.contains("is not a setting") && key.size() < 1000);
    std::string lanes;
    for (int i = 0; i < 65; ++i) {
        lanes += fmt::format("{}{{\"name\": \"{}\"}}", i == 0 ? "" : ",", i);
    }
    QVERIFY(messageOf([&] {
        parse(fmt::format(R"({{"mantissa": 1, "lanes": [{}]}})", lanes));
    }).contains("at most 64 lanes"));
}

void TestExperiment::readsAndChecksEvents()
{
    const Experiment e = parse(R"({"mantissa": 1, "lanes": [{"name": "A", "scaler": {}}, {"name": "B"}], "events": [
        {"step": 9, "lane": "A", "set": {"scaler.scale": 1024, "optimizer.lr": 0.5}}, {"step": 2, "set": {"precision.policy": "fp16"}}]})");
    QCOMPARE(e.events.size(), std::size_t {2});
    QCOMPARE(e.events[0].step, std::int64_t {9});
    QCOMPARE(e.events[0].lane, std::string("A"));
    QCOMPARE(e.events[0].set.at(1).first, std::string("scaler.scale"));
    QCOMPARE(e.events[0].set.at(1).second, json(1024));
    QVERIFY(e.events[1].lane.empty());
    // Checked in the order of their steps: by step 5 the lane has a threshold.
    QVERIFY(messageOf([] {
        parse(
            R"({"mantissa": 1, "events": [{"step": 5, "set": {"clip.order": "unscale-then-clip"}}, {"step": 4, "set": {"clip.max_norm": 1}}]})");
    }).isEmpty());
    QVERIFY(messageOf([] {
        parse(
            R"({"mantissa": 1, "events": [{"step": 4, "set": {"clip.order": "unscale-then-clip"}}, {"step": 5, "set": {"clip.max_norm": 1}}]})");
    }).contains("events[0].set.clip.order asks for clipping"));
}

void TestExperiment::changesSettings()
{
    LaneConfig c = lane(R"({"name": "A", "optimizer": {"lr": 0.1}})");
    c = mantissa::withSetting(c, "optimizer.lr", 0.5);
    QCOMPARE(c.optimizer.lr, 0.5);
    QCOMPARE(c.document.at("optimizer").at("lr"), json(0.5));
    QCOMPARE(c.name, std::string("A"));
    c = mantissa::withSetting(c, "scaler", json {{"init_scale", 8}});
    QCOMPARE(c.scaler->parameters.at("init_scale"), 8.0);
    c = mantissa::withSetting(c, "scaler.frozen", true);
    QVERIFY(c.scaler->frozen);
    c = mantissa::withSetting(c, "scaler", nullptr);
    QVERIFY(!c.scaler);
    c = mantissa::withSetting(c, "precision.overrides.fc1.dot", "fp16");
    QCOMPARE(c.precision.overrides.at("fc1.dot"), std::string("fp16"));
    c = mantissa::withSetting(c, "precision.overrides.fc1.dot", nullptr);
    QVERIFY(c.precision.overrides.empty());
    c = mantissa::withSetting(c, "optimizer.weight_decay", 0.2);
    QCOMPARE(c.optimizer.weightDecay, 0.2);
    QCOMPARE(c.optimizer.lr, 0.5);
    // A field changed in place counts, whatever the document says.
    c.optimizer.beta1 = 0.5;
    QCOMPARE(mantissa::withSetting(c, "optimizer.lr", 0.25).optimizer.beta1, 0.5);
}

void TestExperiment::aNewFamilyKeepsTheParametersThatItHas()
{
    const Experiment e = parse(R"({"mantissa": 1,
        "scaler": {"family": "pytorch", "init_scale": 8, "backoff_factor": 0.25, "growth_interval": 0},
        "lanes": [{"name": "A"}, {"name": "B", "scaler": {"family": "flax"}}, {"name": "C", "scaler": {"family": "none"}},
                  {"name": "D", "scaler": {"family": "deepspeed", "hysteresis": 3, "growth_interval": 5}}]})");
    const auto given = [](const LaneConfig& c) { return c.scaler->parameters; };
    using Parameters = decltype(mantissa::ScalerConfig::parameters);
    QCOMPARE(given(e.lanes[0]), (Parameters {{"init_scale", 8}, {"backoff_factor", 0.25}, {"growth_interval", 0}}));
    // An interval of 0 is no interval of flax.
    QCOMPARE(given(e.lanes[1]), (Parameters {{"init_scale", 8}, {"backoff_factor", 0.25}}));
    QCOMPARE(given(e.lanes[2]), Parameters {});
    QCOMPARE(given(e.lanes[3]), (Parameters {{"init_scale", 8}, {"growth_interval", 5}, {"hysteresis", 3}}));
    // The same while a lane trains, and whatever the family before and after.
    for (const std::string& before : mantissa::scalerFamilies()) {
        LaneConfig c = lane(R"({"name": "A"})");
        c.scaler = mantissa::ScalerConfig {.family = before};
        for (const mantissa::ScalerParameter& parameter : mantissa::findScalerFamily(before)->parameters) {
            const mantissa::Range<double>& range = parameter.range;
            c.scaler->parameters.emplace(parameter.key, range.highIncluded ? range.high : (range.low + range.high) / 2);
        }
        c.scaler->parameters.erase("min_scale"); // as high as that, it would be above the first scale
        for (const std::string& after : mantissa::scalerFamilies()) {
            const LaneConfig changed = mantissa::withSetting(c, "scaler.family", after);
            QCOMPARE(changed.scaler->family, after);
            for (const auto& [key, value] : changed.scaler->parameters) {
                QCOMPARE(value, c.scaler->parameters.at(key));
            }
        }
    }
    const LaneConfig megatron
        = mantissa::withSetting(e.lanes[0], "scaler", json {{"family", "megatron"}, {"min_scale", 2}});
    QCOMPARE(given(megatron), (Parameters {{"init_scale", 8}, {"backoff_factor", 0.25}, {"min_scale", 2}}));
    QCOMPARE(given(mantissa::withSetting(megatron, "scaler.family", nullptr)),
        (Parameters {{"init_scale", 8}, {"backoff_factor", 0.25}}));
    // A scale below Megatron's minimum goes too.
    LaneConfig low = lane(R"({"name": "A", "scaler": {"init_scale": 0.5}})");
    QCOMPARE(given(mantissa::withSetting(low, "scaler.family", "megatron")), Parameters {});
    QVERIFY(messageOf([&] { mantissa::withSetting(low, "scaler.tolerance", 0.5); }).contains("no such parameter"));
    QVERIFY(
        messageOf([&] { mantissa::withSetting(megatron, "scaler.min_scale", 16); }).contains("above init_scale (8)"));
}

void TestExperiment::clipThresholdsCanBeSetOneByOne()
{
    LaneConfig c = lane("{}");
    c = mantissa::withSetting(c, "clip.max_norm", 1);
    QVERIFY(c.clip.order == ClipOrder::Off);
    c = mantissa::withSetting(c, "clip.order", "clip-then-unscale");
    QVERIFY((c.clip == mantissa::ClipConfig {ClipOrder::ClipThenUnscale, 1.0, {}}));
    c = mantissa::withSetting(c, "clip", json {{"max_norm", nullptr}, {"max_value", 2}});
    QVERIFY((c.clip == mantissa::ClipConfig {ClipOrder::ClipThenUnscale, {}, 2.0}));
    c = mantissa::withSetting(c, "clip.order", "off");
    QVERIFY((c.clip == mantissa::ClipConfig {ClipOrder::Off, {}, 2.0}));
}

void TestExperiment::refusesChanges_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* path, const char* value, const char* message) {
        QTest::newRow(qPrintable(QString("%1 = %2").arg(path, value)))
            << QString(path) << QString(value) << QString(message);
    };
    row("data.batch", "8", "data.batch needs a new lane");
    row("data", R"({"batch": 8})", "data.batch needs a new lane");
    row("model", "null", "model.kind needs a new lane");
    row("model.hidden", "[1]", "model.hidden needs a new lane");
    row("seed", "1", "seed needs a new lane");
    row("loss", R"("mse")", "loss needs a new lane");
    row("optimizer.kind", R"("sgd")", "optimizer.kind needs a new lane");
    row("steps", "0", "steps is 0");
    row("name", R"("B")", "name cannot change");
    row("optimizer.lrr", "1", "did you mean \"lr\"?");
    row("optimizer", "3", "optimizer is 3; it must be an object");
    row("optimizer.lr", "\"x\"", "optimizer.lr is \"x\"; it must be a number");
    row("clip.order", R"("unscale-then-clip")", "clip.order asks for clipping");
    row("scaler.frozen", "true", "scaler.frozen cannot be set: lane \"A\" has no scaler; set scaler.family first");
    row("scaler.scale", "2", "has no scaler");
    row("", "1", "is not a setting");
    row("optimizer.", "1", "is not a setting");
    row(".lr", "1", "is not a setting");
    row("optimizer.lr.x", "1", "optimizer.lr is {\"x\":1}; it must be a number");
    row("precision.overrides.relu", "7", "gives \"relu\" a format that is 7");
}

void TestExperiment::refusesChanges()
{
    QFETCH(QString, path);
    QFETCH(QString, value);
    QFETCH(QString, message);
    const LaneConfig before = lane(R"({"name": "A"})");
    const QString said
        = messageOf([&] { mantissa::withSetting(before, path.toStdString(), json::parse(value.toStdString())); });
    QVERIFY2(said.contains(message), qPrintable("said: " + said));
}

void TestExperiment::scalerStateLeavesTheDocumentAsItIs()
{
    const LaneConfig c = lane(R"({"name": "A", "scaler": {"init_scale": 4}})");
    const LaneConfig after = mantissa::withSetting(c, "scaler.scale", 1024);
    QCOMPARE(after.document, c.document);
    QCOMPARE(after.scaler->parameters.at("init_scale"), 4.0);
    QCOMPARE(mantissa::withSetting(c, "scaler.growth_tracker", 7).document, c.document);
    for (const json& bad : {json(0), json(-1), json(1e40), json("8"), json(std::numeric_limits<double>::infinity()),
             json(std::numeric_limits<double>::quiet_NaN())}) {
        QVERIFY(messageOf([&] { mantissa::withSetting(c, "scaler.scale", bad); }).contains("scaler.scale is"));
    }
    QVERIFY(messageOf([&] { mantissa::withSetting(c, "scaler.growth_tracker", 0.5); }).contains("an integer"));
}

void TestExperiment::overridesMayChangeTheStructure()
{
    const LaneConfig c = mantissa::withOverrides(lane(R"({"name": "A"})"), {{"model.hidden", json::array({3})}});
    QCOMPARE(c.model.hidden, std::vector<std::int64_t> {3});
    QCOMPARE(mantissa::withOverrides(c, {{"steps", 5}}).steps, std::int64_t {5});
    QCOMPARE(mantissa::withOverrides(c, {{"optimizer.kind", "sgd"}}).optimizer.weightDecay, 0.0);
    QVERIFY(messageOf([&] { mantissa::withOverrides(c, {{"name", "B"}}); }).contains("name cannot change"));
    // Neither of the two would do alone.
    const LaneConfig text
        = mantissa::withOverrides(c, {{"model.kind", "gpt"}, {"data.path", "a.txt"}, {"data.kind", "text"}});
    QCOMPARE(text.model.kind + text.data.kind, std::string("gpttext"));
    QVERIFY(messageOf([&] { mantissa::withOverrides(c, {{"model.kind", "gpt"}}); }).contains("reads sequences"));
    QVERIFY(messageOf([&] { mantissa::withOverrides(c, {{"scaler.scale", 2}}); }).contains("scaler.init_scale"));
}

void TestExperiment::composesWhatItParses()
{
    Dice dice(1);
    for (int round = 0; round < 300; ++round) {
        std::vector<LaneConfig> lanes;
        const LaneConfig shared = randomLane(dice, "lane 0");
        for (std::int64_t n = 1 + dice.below(4); n > 0; --n) {
            const std::string name = fmt::format("lane {} \"ü\"", n);
            lanes.push_back(dice.coin() ? shared : randomLane(dice, name));
            lanes.back().name = name;
        }
        const std::vector<ScriptedEvent> events {{dice.below(100), "", {{"optimizer.lr", 0.5}}},
            {3, lanes[0].name, {{"accumulation.steps", 2}, {"optimizer.beta1", 0.5}}}};
        Experiment experiment;
        experiment.name = "n";
        experiment.text = "t";
        experiment.claim = {"C1", "says", "holds"};
        experiment.lanes = lanes;
        experiment.events = events;
        experiment.expect = expectationsOf({lanes[0].name, lanes.back().name});
        const json document = mantissa::composeExperiment(experiment);
        const Experiment back = parse(document.dump());
        QCOMPARE(back.lanes.size(), lanes.size());
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            QCOMPARE(settingsOf(back.lanes[i]).dump(), settingsOf(lanes[i]).dump());
        }
        QCOMPARE(back.events.size(), events.size());
        QCOMPARE(back.events[1].set, events[1].set);
        QCOMPARE(back.events[1].lane, events[1].lane);
        QVERIFY(back.claim == experiment.claim);
        QCOMPARE(back.expect.dump(), experiment.expect.dump());
        QCOMPARE(mantissa::composeExperiment(back).dump(), document.dump());
    }
}

void TestExperiment::leavesOutExpectationsOfLanesThatAreGone()
{
    Experiment e = parse(R"({"mantissa": 1, "lanes": [{"name": "A"}, {"name": "B"}, {"name": "C"}], "expect": [
        {"that": "1", "left": {"lane": "A", "metric": "min_loss"}, "op": "<", "right": 1},
        {"that": "2", "left": {"lane": "B", "metric": "min_loss"}, "op": "<", "right": 1},
        {"that": "3", "left": {"lane": "A", "metric": "min_loss"}, "op": "<", "right": {"lane": "B", "metric": "min_loss"}},
        {"that": "4", "left": {"lane": "A", "metric": "min_loss"}, "op": "<", "right": {"lane": "C", "metric": "min_loss"}}]})");
    e.lanes.erase(e.lanes.begin() + 1);
    const Experiment back = parse(mantissa::composeExperiment(e).dump());
    QCOMPARE(back.expect.size(), std::size_t {2});
    QCOMPARE(back.expect[0]["that"].get<std::string>() + back.expect[1]["that"].get<std::string>(), std::string("14"));
}

void TestExperiment::composesSharedSettingsOnce()
{
    const Experiment e
        = parse(R"({"mantissa": 1, "name": "n", "text": "", "optimizer": {"kind": "sgd", "lr": 0.5}, "steps": 300,
        "lanes": [{"name": "A"}, {"name": "B", "optimizer": {"lr": 0.25}, "scaler": {}}]})");
    const json document = mantissa::composeExperiment(e);
    QCOMPARE(
        document, json::parse(R"({"mantissa": 1, "name": "n", "text": "", "optimizer": {"kind": "sgd"}, "steps": 300,
        "lanes": [{"name": "A", "optimizer": {"lr": 0.5}}, {"name": "B", "optimizer": {"lr": 0.25}, "scaler": {"family": "pytorch"}}],
        "events": [], "expect": []})"));
}

void TestExperiment::keepsTheOrderOfAnEventsChanges()
{
    const LaneConfig c = lane(R"({"name": "A"})");
    const ScriptedEvent event {4, "A", {{"optimizer.lr", 0.5}, {"accumulation.steps", 2}, {"optimizer.lr", 0.25}}};
    Experiment experiment;
    experiment.lanes = {c};
    experiment.events = {event};
    const Experiment back = parse(mantissa::composeExperiment(experiment).dump());
    std::vector<std::pair<std::string, json>> changes;
    for (const ScriptedEvent& part : back.events) {
        QCOMPARE(part.step, std::int64_t {4});
        changes.insert(changes.end(), part.set.begin(), part.set.end());
    }
    QCOMPARE(changes, event.set);
}

void TestExperiment::everyRowGivesBackWhatItRead()
{
    for (const mantissa::Setting& row : mantissa::settingTable()) {
        LaneConfig c;
        c.scaler.emplace();
        c.clip = {ClipOrder::UnscaleThenClip, 1.0, 2.0};
        c.model.layers = {"flatten", "linear"};
        const std::string key = row.path.substr(row.path.find('.') + 1);
        for (const mantissa::ScalerFamily* family : mantissa::scalerFamilyTable()) {
            if (const auto* parameter = mantissa::findParameter(*family, key)) {
                c.scaler = mantissa::ScalerConfig {
                    std::string(family->name), false, {{key, parameter->byDefault.value_or(4)}}};
            }
        }
        const json value = row.write(c);
        QVERIFY2(!value.is_null(), row.path.c_str());
        QVERIFY2(row.read(c, value).empty(), row.path.c_str());
        QCOMPARE(row.write(c), value);
        // No row takes a value of a type that it is not of.
        QVERIFY2(!row.read(c, json::array({json::object()})).empty(), row.path.c_str());
        QVERIFY2(!row.read(c, nullptr).empty(), row.path.c_str());
        QCOMPARE(row.write(c), value);
        const bool real = row.type == "a number";
        if (real || row.type == "an integer") {
            for (const double bad :
                {-1e300, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
                QVERIFY2(!row.read(c, bad).empty(), row.path.c_str());
            }
        }
    }
}

void TestExperiment::findsTheNearestName()
{
    QCOMPARE(mantissa::editDistance("kitten", "sitting"), std::size_t {3});
    QCOMPARE(mantissa::editDistance("ab", "ba"), std::size_t {1});
    QCOMPARE(mantissa::editDistance("", "abc"), std::size_t {3});
    QCOMPARE(mantissa::editDistance("FP16", "fp16"), std::size_t {0});
    const std::vector<std::string> names {"growth_factor", "growth_interval", "frozen"};
    QCOMPARE(mantissa::nearestName("growth_intervall", names), std::string("growth_interval"));
    QCOMPARE(mantissa::nearestName("growth", names), std::string("growth_factor"));
    QCOMPARE(mantissa::nearestName("lr", names), std::string());
    QCOMPARE(mantissa::nearestName("", names), std::string());
}

void TestExperiment::loadsFilesAndSaysWhyNot()
{
    const QTemporaryDir folder;
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "e.json";
    QVERIFY(messageOf([&] { mantissa::loadExperiment(path); }).contains("there is no such file"));
    QVERIFY(messageOf([&] { mantissa::loadExperiment(path.parent_path()); }).contains("is a folder"));
    std::ofstream(path) << "\xEF\xBB\xBF{\"mantissa\": 1, \"name\": \"n\"}";
    const Experiment e = mantissa::loadExperiment(path);
    QCOMPARE(e.name, std::string("n"));
    QCOMPARE(e.directory, path.parent_path());
    std::ofstream(path) << "{\"mantissa\": 1, \"nam\": \"n\"}";
    QVERIFY(messageOf([&] { mantissa::loadExperiment(path); }).contains("e.json: nam is not a setting"));
}

void TestExperiment::theReferenceMentionsEveryKey()
{
    QFile file(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments/README.md"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString reference = QString::fromUtf8(file.readAll());
    for (const mantissa::Setting& row : mantissa::settingTable()) {
        QVERIFY2(reference.contains(QString("`%1`").arg(row.path.c_str())), row.path.c_str());
    }
    for (const char* key : {"`mantissa`", "`name`", "`text`", "`lanes`", "`events`", "`expect`", "`claim`",
             "`scaler.scale`", "`scaler.growth_tracker`"}) {
        QVERIFY2(reference.contains(key), key);
    }
}

QTEST_GUILESS_MAIN(TestExperiment)
#include "tst_experiment.moc"
