// Imported logs with the faults of field reports: the right finding is named; healthy ones have no problem, and nothing
// is said that needs settings or numbers that a log does not have.
#include "engine/core/error.h"
#include "engine/diagnose/diagnose.h"
#include "engine/diagnose/stored_run.h"
#include "log_files.h"

#include <cmath>
#include <functional>

using namespace mantissa;
using logtest::Logs;

namespace {

/// What a training logs of one step.
struct Logged
{
    double loss = 1;
    double scale = 65536;
    bool isSkipped = false;
};

/// A scaler of PyTorch's kind over the steps that overflow.
std::vector<Logged> train(
    int steps, int interval, const std::function<bool(int step, double scale)>& overflows, double scale = 65536)
{
    std::vector<Logged> log;
    int clean = 0;
    for (int step = 0; step < steps; ++step) {
        Logged& row = log.emplace_back();
        row.loss = 2 * std::exp(-step / 150.0) + 0.2 + 0.02 * ((step * 7919) % 13 - 6) / 6.0;
        row.scale = scale;
        row.isSkipped = overflows(step, scale);
        clean = row.isSkipped ? 0 : clean + 1;
        if (row.isSkipped) {
            scale /= 2;
        } else if (clean == interval) {
            scale *= 2;
            clean = 0;
        }
    }
    return log;
}

enum class Kind { Full, ScaleAlone, EveryTenth, LossAlone };

QByteArray textOf(const std::vector<Logged>& log, Kind kind)
{
    const bool hasScale = kind != Kind::LossAlone;
    QByteArray text = QByteArray("step,train/loss") + (hasScale ? ",loss_scale" : "")
        + (kind == Kind::Full ? ",skipped" : "") + '\n';
    for (std::size_t step = 0; step < log.size(); step += kind == Kind::EveryTenth ? 10 : 1) {
        text += QByteArray::number(static_cast<qulonglong>(step)) + ',' + QByteArray::number(log[step].loss, 'g', 17);
        text += hasScale ? ',' + QByteArray::number(log[step].scale, 'g', 17) : QByteArray();
        text += kind == Kind::Full ? (log[step].isSkipped ? ",1" : ",0") : "";
        text += '\n';
    }
    return text;
}

std::vector<Finding> findingsOn(const QByteArray& text)
{
    const Logs logs;
    const auto ids = logs.import(logs.write("log.csv", text));
    const RunStore store(logs.database(), StoreAccess::ReadOnly);
    return diagnose(readStoredRun(store, ids.at(0)).view());
}

std::map<std::string, Severity> rulesIn(const std::vector<Finding>& findings)
{
    std::map<std::string, Severity> rules;
    for (const Finding& finding : findings) {
        rules[finding.rule] = finding.severity;
    }
    return rules;
}

QByteArray named(const std::vector<Finding>& findings)
{
    QByteArray text;
    for (const Finding& finding : findings) {
        text += QByteArray::fromStdString(finding.rule + ": " + finding.title + '\n');
    }
    return text;
}

} // namespace

class TestImportedFindings : public QObject
{
    Q_OBJECT

    static void addKinds(std::initializer_list<Kind> kinds, const char* name, const char* rule, const char* severity,
        const std::vector<Logged>& log)
    {
        const char* names[] = {"full", "scale alone", "every tenth step", "loss alone"};
        for (const Kind kind : kinds) {
            QTest::newRow(qPrintable(QString("%1, %2").arg(name, names[static_cast<int>(kind)])))
                << textOf(log, kind) << rule << severity;
        }
    }

private slots:

    void faultsOfFieldReportsAreNamed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("rule");
        QTest::addColumn<QString>("severity");
        const auto all = {Kind::Full, Kind::ScaleAlone, Kind::EveryTenth};
        // R01: a NaN weight; the scale is halved for ever.
        auto collapse = train(260, 2000, [](int step, double) { return step >= 100; });
        addKinds(all, "R01 the scale collapses", "scale_collapse", "problem", collapse);
        // R01 with a loss that is NaN too: no scale can help.
        for (std::size_t step = 100; step < collapse.size(); ++step) {
            collapse[step].loss = NAN;
        }
        addKinds({Kind::Full, Kind::ScaleAlone}, "R01 and the loss is NaN", "scale_collapse", "problem", collapse);
        addKinds({Kind::LossAlone}, "the loss is NaN to the end", "non_finite", "problem", collapse);
        // R03: at its floor of 1 every step is skipped.
        auto floor = train(300, 2000, [](int, double) { return true; });
        for (Logged& row : floor) {
            row.scale = std::max(row.scale, 1.0);
            row.loss = 1e12;
        }
        addKinds({Kind::Full}, "R03 at the floor", "scale_collapse", "problem", floor);
        // A short growth interval: into overflow again and again.
        addKinds({Kind::Full, Kind::ScaleAlone}, "oscillation", "scale_oscillates", "warning",
            train(
                600, 20, [](int, double scale) { return scale > 1024; }, 1024));
        // R16: every 16th step is skipped.
        addKinds({Kind::Full}, "R16 a rhythm", "skips_in_a_rhythm", "problem",
            train(400, 8, [](int step, double) { return step % 16 == 15; }));
        // Skips of no pattern, often.
        auto often = train(500, 2000, [](int step, double) { return step > 10 && (step * 7919) % 11 < 2; });
        for (Logged& row : often) {
            row.scale = 1024; // a fixed one
        }
        addKinds({Kind::Full}, "skips often", "skips_often", "warning", often);
        // R07: training diverges.
        auto diverging = train(300, 2000, [](int, double) { return false; });
        for (std::size_t step = 100; step < diverging.size(); ++step) {
            diverging[step].loss = 2 * std::exp(static_cast<double>(step - 100) / 50);
        }
        addKinds({Kind::Full, Kind::LossAlone, Kind::EveryTenth}, "R07 diverges", "diverges", "problem", diverging);
        // One bad batch.
        auto batch = train(200, 2000, [](int, double) { return false; });
        batch[77].loss = INFINITY;
        addKinds({Kind::Full, Kind::LossAlone}, "a bad batch", "bad_batch", "warning", batch);
        auto spike = train(200, 2000, [](int, double) { return false; });
        spike[90].loss = 60;
        addKinds({Kind::LossAlone}, "a spike", "loss_spike", "warning", spike);
        // R42, and a scaler whose state was not in the checkpoint: the scale starts again at 65536.
        auto lost = train(400, 2000, [](int, double scale) { return scale > 512; });
        const auto again = train(100, 2000, [](int, double scale) { return scale > 512; });
        std::copy(again.begin(), again.end(), lost.begin() + 300);
        for (std::size_t step = 300; step < lost.size(); ++step) {
            lost[step].loss = 0.5;
        }
        addKinds(
            {Kind::Full, Kind::ScaleAlone}, "the scaler's state is missing", "resumed_without_scaler", "warning", lost);
        // A BF16 run whose scaler has nothing to find.
        addKinds({Kind::Full, Kind::ScaleAlone}, "the scale runs away", "scale_runs_away", "warning",
            train(900, 10, [](int, double) { return false; }));
        // R08: a fixed scale that is no power of two.
        auto odd = train(
            100, 2000, [](int, double) { return false; }, 1000);
        addKinds({Kind::ScaleAlone}, "R08 no power of two", "scale_not_a_power_of_two", "info", odd);
    }

    void faultsOfFieldReportsAreNamed()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, rule);
        QFETCH(QString, severity);
        const auto findings = findingsOn(text);
        const auto rules = rulesIn(findings);
        QVERIFY2(rules.contains(rule.toStdString()), named(findings));
        QCOMPARE(QString::fromStdString(std::string(nameOf(rules.at(rule.toStdString())))), severity);
        for (const Finding& finding : findings) {
            QVERIFY(finding.fix.empty()); // what is not known cannot be mended
            QVERIFY2(finding.severity != Severity::Problem || finding.rule == rule.toStdString(), named(findings));
        }
    }

    void seamsOfARestartedLogAreJudged()
    {
        const auto first = train(200, 2000, [](int, double scale) { return scale > 512; });
        QByteArray text = textOf(first, Kind::ScaleAlone);
        for (int step = 150; step < 260; ++step) { // from the checkpoint of step 150, and the loss is up
            text += QByteArray::number(step) + ",3.5,65536\n";
        }
        const auto findings = findingsOn(text);
        const auto rules = rulesIn(findings);
        QVERIFY2(rules.contains("loss_jumps_at_resume"), named(findings));
        QVERIFY2(rules.contains("resumed_without_scaler"), named(findings));
    }

    void sharesOfARecorderAreJudged()
    {
        QByteArray text = "step,loss,scale,flushed,grad_norm\n";
        for (int step = 0; step < 100; ++step) {
            text += QByteArray::number(step) + ",2.3,1,0.66,0.01\n";
        }
        const auto findings = findingsOn(text);
        QVERIFY2(rulesIn(findings).contains("underflow"), named(findings));
    }

    void healthyLogsHaveNoProblem_data()
    {
        QTest::addColumn<QByteArray>("text");
        const auto add = [](const char* name, const std::vector<Logged>& log) {
            const char* kinds[] = {"full", "scale alone", "every tenth step", "loss alone"};
            for (const Kind kind : {Kind::Full, Kind::ScaleAlone, Kind::EveryTenth, Kind::LossAlone}) {
                QTest::newRow(qPrintable(QString("%1, %2").arg(name, kinds[static_cast<int>(kind)])))
                    << textOf(log, kind);
            }
        };
        add("no overflow", train(400, 2000, [](int, double) { return false; }));
        // R18: the first skips find the scale, then one per growth.
        add("R18 finds its scale",
            train(
                6000, 2000, [](int, double scale) { return scale > 4096; }, 1 << 24));
        add("a scale below 1 that holds", train(500, 2000, [](int, double scale) { return scale > 0.25; }));
        // Losses that are negative, as of reinforcement learning.
        auto negative = train(300, 2000, [](int, double) { return false; });
        for (std::size_t step = 0; step < negative.size(); ++step) {
            negative[step].loss = -1 + 0.5 * static_cast<double>(step) / 300;
        }
        add("a negative loss", negative);
        // A fine-tuning whose loss hardly moves is none of our business: what it began with is not known.
        auto flat = train(300, 2000, [](int, double) { return false; });
        for (std::size_t step = 0; step < flat.size(); ++step) {
            flat[step].loss = 2.3 + 0.01 * static_cast<double>(step % 7);
        }
        add("a flat loss", flat);
    }

    void healthyLogsHaveNoProblem()
    {
        QFETCH(QByteArray, text);
        const auto findings = findingsOn(text);
        for (const Finding& finding : findings) {
            QVERIFY2(finding.severity == Severity::Info, named(findings));
        }
    }

    void aLogOfLossesIsNotJudgedByWhatItDoesNotHave()
    {
        QByteArray text = "step,loss\n";
        for (int step = 0; step < 300; ++step) {
            text += QByteArray::number(step) + ",2.3\n";
        }
        const Logs logs;
        const auto ids = logs.import(logs.write("log.csv", text));
        const RunStore store(logs.database(), StoreAccess::ReadOnly);
        const StoredRun run = readStoredRun(store, ids.at(0));
        QCOMPARE(run.known, static_cast<unsigned>(KnownLosses));
        QVERIFY2(diagnose(run.view()).empty(), named(diagnose(run.view())));
    }
};

QTEST_GUILESS_MAIN(TestImportedFindings)
#include "tst_imported_findings.moc"
