// The protocol: its noise, its verdict on constructed records and on real runs, and its reports.
#include "engine/core/error.h"
#include "engine/protocol/protocol.h"
#include "engine/protocol/protocol_report.h"
#include "engine/protocol/svg_plot.h"

#include <QXmlStreamReader>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mantissa;
using nlohmann::json;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t steps = 300;

using Series = std::vector<double>;

/// A loss that falls from 2.5 to 0.5, with noise of its own for each seed, and an offset of a whole seed.
Series curve(unsigned seed, double jitter, double offset = 0)
{
    std::mt19937 random(seed);
    Series series;
    for (std::int64_t step = 0; step < steps; ++step) {
        const double uniform = static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 0.5;
        series.push_back(
            0.5 + 2 * std::exp(-static_cast<double>(step) / 50) + jitter * std::sqrt(12.0) * uniform + offset);
    }
    return series;
}

Series shifted(Series series, double by, std::int64_t from = 0)
{
    for (std::size_t i = static_cast<std::size_t>(from); i < series.size(); ++i) {
        series[i] += by;
    }
    return series;
}

CurveComparison compare(const std::vector<Series>& fp32, const std::vector<Series>& amp)
{
    return compareCurves(fp32, amp, steps);
}

/// A run with these losses, FP16 with a scaler unless `isFp32`.
ProtocolRun run(const Series& losses, bool isFp32)
{
    const json lane = isFp32
        ? json {{"name", "FP32"}, {"seed", 1}}
        : json {{"name", "AMP"}, {"seed", 1}, {"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "pytorch"}}}};
    ProtocolRun result;
    result.config = parseLane(lane, "t");
    result.initialWeightsHash = "00ff";
    std::int64_t step = 0;
    for (const double loss : losses) {
        StepRecord record;
        record.step = step++;
        record.loss = loss;
        record.lossFinite = std::isfinite(loss);
        record.gradNorm = 1;
        record.gradNormClipped = 1;
        record.scale = isFp32 ? 1 : 65536;
        record.lr = 0.1;
        record.updateRatio = 0.01;
        record.batchHash = static_cast<std::uint64_t>(step);
        record.timeMs.forwardMs = isFp32 ? 2 : 1;
        result.records.push_back(record);
    }
    result.summary.steps = step;
    result.summary.finalScale = isFp32 ? 1 : 65536;
    result.summary.validationLoss = 0.6;
    result.summary.validationAccuracy = 0.9;
    result.summary.bytes.weights = 100;
    result.summary.bytes.activations = isFp32 ? 300 : 150;
    return result;
}

ProtocolRuns runsOf(const std::vector<Series>& fp32, const std::vector<Series>& amp)
{
    ProtocolRuns runs {.experiment = "constructed <&>", .lane = "AMP", .steps = steps};
    runs.device.name = "CPU";
    for (std::size_t i = 0; i < fp32.size(); ++i) {
        runs.fp32.push_back(run(fp32[i], true));
        runs.amp.push_back(run(amp[i], false));
    }
    return runs;
}

const ProtocolCheck& checkOf(const ProtocolResult& result, const std::string& id)
{
    const auto found = std::ranges::find(result.checks, id, &ProtocolCheck::id);
    if (found == result.checks.end()) {
        qFatal("no check %s", id.c_str());
    }
    return *found;
}

QString levelOf(const ProtocolResult& result, const std::string& id)
{
    return QString::fromUtf8(nameOf(checkOf(result, id).level).data());
}

QString verdictOf(const ProtocolResult& result)
{
    return QString::fromUtf8(nameOf(result.verdict).data());
}

/// Skips these steps and halves the scale behind each.
void skip(ProtocolRun& run, std::int64_t first, std::int64_t last)
{
    for (StepRecord& record : run.records) {
        if (record.step >= first && record.step <= last) {
            record.skipped = true;
            record.foundInf = true;
            record.gradNorm = inf;
            ++run.summary.skippedSteps;
        }
        record.scale = std::ldexp(
            65536.0, -static_cast<int>(std::clamp<std::int64_t>(record.step - first, 0, last - first + 1)));
    }
    run.summary.finalScale = std::ldexp(65536.0, -static_cast<int>(last - first + 1));
}

Experiment digits(const json& settings = json::object())
{
    json document {{"mantissa", 1}, {"name", "digits"}, {"data", {{"kind", "digits"}, {"batch", 32}}},
        {"model", {{"hidden", {32}}}}, {"optimizer", {{"kind", "adam"}, {"lr", 0.003}}},
        {"lanes",
            {{{"name", "FP32"}},
                {{"name", "AMP"}, {"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "pytorch"}}}}}}};
    document.merge_patch(settings);
    return parseExperiment(document.dump(), "t");
}

ProtocolResult train(const Experiment& experiment, const ProtocolOptions& options = {})
{
    return runProtocol(experiment, options, [](const ProtocolProgress&) { return true; });
}

QString messageOf(const std::function<void()>& call)
{
    try {
        call();
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return "no error";
}

bool hasFinding(const ProtocolResult& result, const std::string& rule)
{
    return std::ranges::any_of(
        result.findings, [&rule](const ProtocolFinding& found) { return found.finding.rule == rule && found.isInAmp; });
}

/// Text, without tags, of well-formed XML; empty if it is not.
QString textOfXml(const std::string& xml)
{
    QXmlStreamReader reader(QByteArray::fromStdString(xml));
    QString text;
    while (!reader.atEnd()) {
        if (reader.readNext() == QXmlStreamReader::Characters) {
            text += reader.text();
        }
    }
    return reader.hasError() ? QString() : text;
}

} // namespace

class TestProtocol : public QObject
{
    Q_OBJECT

private slots:

    // --- the noise ---

    void jitterIsTheDeviationAroundTheTrend()
    {
        const CurveComparison result = compare({curve(1, 0.1)}, {curve(2, 0.2)});
        QVERIFY2(std::abs(result.fp32Jitter - 0.1) < 0.015, qPrintable(QString::number(result.fp32Jitter)));
        QVERIFY2(std::abs(result.ampJitter - 0.2) < 0.03, qPrintable(QString::number(result.ampJitter)));
        QCOMPARE(result.blocks.size(), std::size_t {20});
        QCOMPARE(result.blocks.back().lastStep, steps - 1);
    }

    void oneSeedMeasuresNoiseByJitter()
    {
        const CurveComparison result = compare({curve(1, 0.1)}, {curve(2, 0.1)});
        QVERIFY(!result.usesSeeds);
        QVERIFY2(result.noiseEnd >= 0.8 * std::sqrt(2.0) * 0.1 / std::sqrt(15.0) && result.noiseEnd < 0.08,
            qPrintable(QString::number(result.noiseEnd)));
        QVERIFY(result.isEqual());
    }

    void severalSeedsMeasureItBySpread()
    {
        // Quiet curves that lie 0.2 apart from seed to seed: only the spread can tell.
        const std::vector<Series> fp32 {curve(1, 0.01, -0.2), curve(2, 0.01), curve(3, 0.01, 0.2)};
        const CurveComparison equal = compare(fp32, {curve(4, 0.01, -0.1), curve(5, 0.01, 0.1), curve(6, 0.01, 0.3)});
        QVERIFY(equal.usesSeeds);
        QVERIFY2(std::abs(equal.noiseEnd - 0.2) < 0.02, qPrintable(QString::number(equal.noiseEnd)));
        QVERIFY2(std::abs(equal.gap - 0.1) < 0.02, qPrintable(QString::number(equal.gap)));
        QVERIFY(equal.isEqual());
        QVERIFY(!compare({curve(1, 0.01)}, {curve(4, 0.01, 0.1)}).isEqual());
    }

    void aSteadyGapIsSeenAndDated()
    {
        const Series fp32 = curve(1, 0.02);
        const CurveComparison result = compare({fp32}, {shifted(curve(2, 0.02), 0.3, 150)});
        QVERIFY(!result.isEqual());
        QVERIFY2(std::abs(result.gap - 0.3) < 0.02, qPrintable(QString::number(result.gap)));
        // The jump itself is jitter of the difference; a few stretches later it no longer excuses anything.
        QVERIFY2(result.apartSince >= 135 && result.apartSince <= 210, qPrintable(QString::number(result.apartSince)));
        QVERIFY(compare({fp32}, {shifted(curve(2, 0.02), -0.3)}).gap < 0);
    }

    void whatIsNilAgainstWhatWasLearntIsEqual()
    {
        const Series fp32 = curve(1, 0);
        QVERIFY(compare({fp32}, {shifted(fp32, 0.015)}).isEqual()); // FP32 learnt 2
        QVERIFY(!compare({fp32}, {shifted(fp32, 0.03)}).isEqual());
    }

    void lossesThatAreNotFiniteAreApart()
    {
        const Series fp32 = curve(1, 0.02);
        Series amp = fp32;
        amp.resize(200);
        QVERIFY(std::isinf(compare({fp32}, {amp}).gap));
        amp = fp32;
        std::fill(amp.begin() + 200, amp.end(), missing);
        QVERIFY(!compare({fp32}, {amp}).isEqual());
        amp = fp32;
        amp[250] = missing; // one of them is no end
        QVERIFY(compare({fp32}, {amp}).isEqual());
        amp.assign(300, missing);
        QVERIFY(std::isnan(compare({amp}, {amp}).fp32End));
    }

    // --- the verdict on constructed records ---

    void twinsAreHealthy()
    {
        const ProtocolResult result = judgeProtocol(runsOf({curve(1, 0.05)}, {curve(2, 0.05)}));
        QCOMPARE(verdictOf(result), QString("healthy"));
        QCOMPARE(levelOf(result, "scale"), QString("fine"));
        QVERIFY(checkOf(result, "scale").answer.find("stays at 2^16") != std::string::npos);
        QCOMPARE(result.speedUp(), 2.0);
        QCOMPARE(result.memoryShare(), 250.0 / 400);
        QCOMPARE(result.amp.validationAccuracy, 0.9);
    }

    void aFarGapIsAProblemAndASmallOneACaution()
    {
        const Series fp32 = curve(1, 0.01);
        QCOMPARE(verdictOf(judgeProtocol(runsOf({fp32}, {shifted(curve(2, 0.01), 0.5)}))), QString("problem"));
        const ProtocolResult small = judgeProtocol(runsOf({fp32}, {shifted(curve(2, 0.01), 0.05)}));
        QCOMPARE(verdictOf(small), QString("caution"));
        QVERIFY(checkOf(small, "curves").answer.find("Several seeds") != std::string::npos);
        const ProtocolResult lower = judgeProtocol(runsOf({fp32}, {shifted(curve(2, 0.01), -0.2)}));
        QCOMPARE(levelOf(lower, "curves"), QString("caution"));
    }

    void anUnsteadyLossIsACaution()
    {
        const ProtocolResult result = judgeProtocol(runsOf({curve(1, 0.05)}, {curve(2, 0.15)}));
        QCOMPARE(levelOf(result, "jitter"), QString("caution"));
        QVERIFY(result.verdict != ProtocolVerdict::Healthy);
        // Threefold, but nothing against what was learnt.
        QCOMPARE(levelOf(judgeProtocol(runsOf({curve(1, 0.001)}, {curve(2, 0.003)})), "jitter"), QString("fine"));
    }

    void skipsAreJudgedByWhereTheyAre()
    {
        ProtocolRuns runs = runsOf({curve(1, 0.05)}, {curve(2, 0.05)});
        skip(runs.amp[0], 0, 3);
        const ProtocolResult leading = judgeProtocol(runs);
        QCOMPARE(levelOf(leading, "skips"), QString("fine"));
        QVERIFY(checkOf(leading, "scale").answer.find("settles at 2^12 after 4 skipped") != std::string::npos);
        QCOMPARE(leading.amp.skipped, 4);

        runs = runsOf({curve(1, 0.05)}, {curve(2, 0.05)});
        skip(runs.amp[0], 280, 299);
        const ProtocolResult falling = judgeProtocol(runs);
        QCOMPARE(levelOf(falling, "skips"), QString("caution"));
        QCOMPARE(levelOf(falling, "scale"), QString("caution"));
        QVERIFY(falling.verdict != ProtocolVerdict::Healthy);

        runs = runsOf({curve(1, 0.05)}, {curve(2, 0.05)});
        skip(runs.amp[0], 0, 299);
        QCOMPARE(levelOf(judgeProtocol(runs), "skips"), QString("problem"));
    }

    void whatIsNotTheSameTrainingIsSaid()
    {
        ProtocolRuns runs = runsOf({curve(1, 0.05)}, {curve(2, 0.05)});
        runs.amp[0].initialWeightsHash = "other";
        QCOMPARE(levelOf(judgeProtocol(runs), "start"), QString("problem"));
        runs = runsOf({curve(1, 0.05)}, {curve(2, 0.05)});
        runs.amp[0].records.back().batchHash = 7;
        QVERIFY(checkOf(judgeProtocol(runs), "start").answer.find("batches differ") != std::string::npos);
    }

    void whatFp32SuffersTooIsNoCaution()
    {
        // A spike of the loss in one step: a warning of the diagnosis.
        const auto spiked = [](Series series) {
            series[150] = 20;
            return series;
        };
        const ProtocolResult both = judgeProtocol(runsOf({spiked(curve(1, 0.02))}, {spiked(curve(2, 0.02))}));
        QCOMPARE(both.findings.at(0).finding.rule, std::string("loss_spike"));
        QVERIFY(both.findings.at(0).isInAmp && both.findings.at(0).isInFp32);
        QCOMPARE(levelOf(both, "findings"), QString("note"));
        QCOMPARE(
            levelOf(judgeProtocol(runsOf({curve(1, 0.02)}, {spiked(curve(2, 0.02))})), "findings"), QString("caution"));
        const ProtocolResult waiting = [] {
            ProtocolRuns runs = runsOf({curve(1, 0.05)}, {curve(2, 0.05)});
            for (StepRecord& record : runs.amp[0].records) {
                record.timeMs.dataMs = 5;
                record.timeMs.waitMs = 5;
            }
            return judgeProtocol(std::move(runs));
        }();
        QVERIFY(hasFinding(waiting, "waits_for_data"));
        QCOMPARE(verdictOf(waiting), QString("healthy"));
    }

    void aReferenceThatBreaksIsTheProblem()
    {
        ProtocolRuns runs = runsOf({curve(1, 0.05)}, {curve(2, 0.05)});
        runs.fp32[0].summary.status = RunStatus::Diverged;
        const ProtocolResult result = judgeProtocol(runs);
        QCOMPARE(levelOf(result, "fp32"), QString("problem"));
        QCOMPARE(verdictOf(result), QString("problem"));
        const Series flat(300, 2.3);
        QCOMPARE(levelOf(judgeProtocol(runsOf({flat}, {flat})), "fp32"), QString("caution"));
    }

    // --- real runs ---

    void aHealthyFp16RunIsHealthy()
    {
        for (const int seeds : {1, 3}) {
            const ProtocolResult result = train(digits(), {.seeds = seeds});
            QVERIFY2(result.verdict == ProtocolVerdict::Healthy,
                QByteArray::fromStdString(protocolWords(result).summary).constData());
            QCOMPARE(result.runs.amp.size(), static_cast<std::size_t>(seeds));
            QCOMPARE(result.runs.amp.back().config.seed, static_cast<std::uint64_t>(seeds));
            QCOMPARE(levelOf(result, "start"), QString("fine"));
            QVERIFY(result.amp.casts > 0);
            QVERIFY(result.amp.bytes.activations < result.fp32.bytes.activations);
            QVERIFY(result.speedUp() > 0);
        }
    }

    void clippingBeforeUnscalingIsAProblem()
    {
        const ProtocolResult result = train(digits({{"optimizer", {{"kind", "sgd"}, {"lr", 0.1}}},
            {"clip", {{"order", "clip-then-unscale"}, {"max_norm", 1}}}}));
        QCOMPARE(verdictOf(result), QString("problem"));
        QVERIFY(hasFinding(result, "clip_before_unscale"));
        QCOMPARE(levelOf(result, "curves"), QString("problem"));
        QCOMPARE(levelOf(result, "fp32"), QString("fine")); // without a scale the order does no harm
    }

    void aForgottenScalerIsAProblem()
    {
        const ProtocolResult result = train(digits({{"loss_weight", 1e-6}, {"optimizer", {{"epsilon", 1e-15}}},
            {"lanes", {{{"name", "no scaler"}, {"precision", {{"policy", "fp16"}}}}}}}));
        QCOMPARE(verdictOf(result), QString("problem"));
        QVERIFY(hasFinding(result, "underflow_without_scaler"));
        QVERIFY(result.amp.gradNorm < 0.5 * result.fp32.gradNorm);
        QCOMPARE(levelOf(result, "fp32"), QString("fine"));
    }

    void aRateThatIsTooHighIsFp32sProblemToo()
    {
        const ProtocolResult result = train(digits({{"optimizer", {{"kind", "sgd"}, {"lr", 1000}}}}));
        QCOMPARE(verdictOf(result), QString("problem"));
        QCOMPARE(levelOf(result, "fp32"), QString("problem"));
    }

    // --- what is trained ---

    void theReferenceIsTheLaneInFp32()
    {
        const Experiment experiment = digits(
            {{"lanes",
                 {{{"name", "first"}, {"optimizer", {{"lr", 0.5}}}},
                     {{"name", "half"}, {"precision", {{"policy", "pure-bf16"}, {"overrides", {{"fc1", "fp32"}}}}},
                         {"optimizer", {{"lr", 0.25}, {"state_format", "bf16"}}},
                         {"ema", {{"decay", 0.9}, {"format", "bf16"}}}}}},
                {"events",
                    {{{"step", 5}, {"lane", "half"}, {"set", {{"optimizer.lr", 0.125}}}},
                        {{"step", 6}, {"lane", "first"}, {"set", {{"optimizer.lr", 0.1}}}},
                        {{"step", 7}, {"set", {{"precision.policy", "fp16"}}}}}}});
        const ProtocolPair pair = protocolPair(experiment, {.lane = "half", .steps = 50, .seed = 7}, 2);
        const LaneConfig& fp32 = pair.fp32.lanes.at(0);
        const LaneConfig& amp = pair.amp.lanes.at(0);
        QCOMPARE(fp32.precision.policy, std::string("fp32"));
        QCOMPARE(fp32.precision.weights, std::string("master"));
        QVERIFY(fp32.precision.overrides.empty());
        QVERIFY(!fp32.scaler);
        QVERIFY(fp32.optimizer.stateFormat != "bf16");
        QCOMPARE(fp32.ema.format, std::string("fp32"));
        QCOMPARE(fp32.ema.decay, 0.9);
        QCOMPARE(amp.precision.policy, std::string("pure-bf16"));
        for (const LaneConfig* lane : {&fp32, &amp}) {
            QCOMPARE(lane->optimizer.lr, 0.25);
            QCOMPARE(lane->steps, std::int64_t {50});
            QCOMPARE(lane->seed, std::uint64_t {9});
        }
        QCOMPARE(pair.amp.events.size(), std::size_t {2}); // the other lane's is not its own
        QCOMPARE(pair.fp32.events.size(), std::size_t {1}); // and FP32 has no precision to change
    }

    void withoutAnAmpLaneItTakesFp16WithAScaler()
    {
        const ProtocolPair pair = protocolPair(digits({{"lanes", {{{"name", "only"}}}}}), {});
        QCOMPARE(pair.amp.lanes.at(0).precision.policy, std::string("fp16"));
        QVERIFY(pair.amp.lanes.at(0).scaler.has_value());
        QCOMPARE(pair.amp.lanes.at(0).name, std::string("FP16 AMP"));
    }

    void saysWhatCannotBe()
    {
        const Experiment experiment = digits();
        QVERIFY(messageOf([&] { protocolPair(experiment, {.lane = "AMPP"}); }).contains("did you mean \"AMP\"?"));
        QVERIFY(messageOf([&] { protocolPair(experiment, {.lane = "FP32"}); }).contains("runs in FP32"));
        QVERIFY(messageOf([&] { protocolPair(experiment, {.steps = 5}); }).contains("5 steps are too few"));
        QVERIFY(messageOf([&] {
            int asked = 0;
            runProtocol(experiment, {.steps = 100000}, [&asked](const ProtocolProgress&) { return ++asked < 3; });
        }).contains("cancelled"));
    }

    // --- reports ---

    void theJsonHoldsWhatTheResultDoes()
    {
        const ProtocolResult result
            = judgeProtocol(runsOf({curve(1, 0.05), curve(3, 0.05)}, {curve(2, 0.05), curve(4, 0.05)}));
        const auto report = json::parse(protocolJson(result).dump());
        QCOMPARE(report["verdict"].get<std::string>(), std::string("healthy"));
        QCOMPARE(report["seeds"].get<int>(), 2);
        QCOMPARE(report["curves"]["noise_from"].get<std::string>(), std::string("seeds"));
        QCOMPARE(report["curves"]["blocks"].size(), std::size_t {20});
        QCOMPARE(report["checks"].size(), result.checks.size());
        QCOMPARE(report["numbers"]["speed_up"].get<double>(), 2.0);
        QCOMPARE(report["runs"].size(), std::size_t {4});
    }

    void thePageIsSelfContainedAndSaysTheSame()
    {
        ProtocolRuns runs = runsOf({curve(1, 0.05)}, {shifted(curve(2, 0.05), 1)});
        skip(runs.amp[0], 0, 2);
        const ProtocolResult result = judgeProtocol(runs);
        const std::string page = protocolHtml(result);
        QVERIFY(page.find("Problem.") != std::string::npos);
        QVERIFY(page.find("constructed &lt;&amp;&gt;") != std::string::npos);
        for (const ProtocolCheck& check : result.checks) {
            QVERIFY(page.find(markupEscaped(check.answer)) != std::string::npos);
        }
        for (const char* outside : {"<script", "<link", "src=", "@import", "url("}) {
            QVERIFY2(page.find(outside) == std::string::npos, outside);
        }
        const ProtocolPictures pictures = protocolPictures(result);
        QVERIFY(textOfXml(pictures.loss.svg).contains("FP32"));
        QVERIFY(textOfXml(pictures.scale.svg).contains("skipped step"));
        QVERIFY(!textOfXml(pictures.gradNorm.svg).isEmpty());
        for (const ProtocolPicture* picture : {&pictures.loss, &pictures.gradNorm, &pictures.scale}) {
            QVERIFY(page.find(picture->svg) != std::string::npos);
            QVERIFY(picture->svg.find("nan") == std::string::npos && picture->svg.find("inf") == std::string::npos);
        }
    }

    void aPlotDrawsWhatCanBeDrawn()
    {
        SvgPlot plot {.title = "t", .yAxis = SvgPlot::Axis::Log10, .xLast = 4};
        plot.lines.push_back({.name = "a", .points = {{0, 1}, {1, 10}, {2, 0}, {3, missing}, {4, 100}}});
        const QString whole = QString::fromStdString(svgOf(plot));
        QVERIFY(!textOfXml(whole.toStdString()).isEmpty());
        const QRegularExpression moves(
            "<path d=\"(M[^\"]*)\" fill=\"none\" stroke=\"#000000\" stroke-width=\"1.5\" stroke-opacity");
        const QString path = moves.match(whole).captured(1);
        QCOMPARE(path.count('M'), 2); // zero and NaN break the line
        QCOMPARE(path.count('L'), 1);
        plot.lines[0].points.clear();
        for (int i = 0; i < 100000; ++i) {
            plot.lines[0].points.push_back({i / 25000.0, i == 50000 ? 1000.0 : 1.0 + i % 7});
        }
        const std::string thin = svgOf(plot);
        QVERIFY(thin.size() < 60000);
        QVERIFY(textOfXml(thin).contains("1000")); // the peak is kept
        plot.lines.clear();
        QVERIFY(!textOfXml(svgOf(plot)).isEmpty()); // an empty plot is one too
    }
};

QTEST_APPLESS_MAIN(TestProtocol)
#include "tst_protocol.moc"
