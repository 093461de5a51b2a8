// The loop in PyTorch: it is Python, it names every setting, and it marks what is done wrong.
#include "engine/train/pytorch_loop.h"

#include <QProcess>
#include <QStandardPaths>
#include <QtTest>

using namespace mantissa;

namespace {

using json = nlohmann::json;

QString loopOf(const json& settings)
{
    json document {{"name", "a"}, {"steps", 40}, {"data", {{"batch", 8}}}};
    document.merge_patch(settings);
    return QString::fromStdString(pytorchLoop(parseLane(document, "")));
}

/// Whether one text comes before another; both are there.
bool inOrder(const QString& text, const char* first, const char* second)
{
    const auto a = text.indexOf(QLatin1String(first));
    return a >= 0 && text.indexOf(QLatin1String(second)) > a;
}

} // namespace

class TestPytorchLoop : public QObject
{
    Q_OBJECT

private slots:

    void isPython_data()
    {
        QTest::addColumn<QString>("code");
        const auto row = [](const char* name, const json& settings) { QTest::newRow(name) << loopOf(settings); };
        row("plain", json::object());
        for (const std::string& family : scalerFamilies()) {
            row(("scaler " + family).c_str(), {{"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", family}}}});
        }
        for (const char* order : {"unscale-then-clip", "clip-then-unscale"}) {
            row(order,
                {{"clip", {{"order", order}, {"max_norm", 1}}}, {"accumulation", {{"steps", 4}, {"guard", true}}},
                    {"scaler", {{"family", "fixed"}}}});
        }
        for (const char* kind : {"warmup", "cosine", "step"}) {
            row(kind,
                {{"schedule", {{"kind", kind}, {"warmup_steps", 3}, {"count_skipped", false}}},
                    {"scaler", json::object()}});
        }
        for (const char* policy : {"bf16", "cpu-fp16", "tf-fp16", "O1", "pure-fp16"}) {
            row(policy,
                {{"precision", {{"policy", policy}}}, {"accumulation", {{"guard", true}}},
                    {"optimizer", {{"kind", "sgd"}, {"momentum", 0.9}}}});
        }
    }

    void isPython()
    {
        QFETCH(const QString, code);
        const QString python = QStandardPaths::findExecutable("python3");
        if (python.isEmpty()) {
            QSKIP("no python3 to ask");
        }
        QProcess process;
        process.start(python, {"-c", "import ast, sys; ast.parse(sys.stdin.read())"});
        process.write(code.toUtf8());
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished());
        QVERIFY2(process.exitCode() == 0, qPrintable(code + process.readAllStandardError()));
    }

    void ordersOfClippingAreTold()
    {
        const json right {{"precision", {{"policy", "fp16"}}}, {"scaler", json::object()},
            {"clip", {{"order", "unscale-then-clip"}, {"max_norm", 0.5}}}};
        QVERIFY(inOrder(loopOf(right), "scaler.unscale_(optimizer)", "clip_grad_norm_(model.parameters(), 0.5)"));
        QVERIFY(inOrder(loopOf(right), "clip_grad_norm_", "scaler.step(optimizer)"));
        QVERIFY(!loopOf(right).contains("WRONG"));
        json wrong = right;
        wrong["clip"]["order"] = "clip-then-unscale";
        QVERIFY(inOrder(loopOf(wrong), "clip_grad_norm_", "scaler.unscale_(optimizer)"));
        QVERIFY(inOrder(loopOf(wrong), "# WRONG ORDER", "clip_grad_norm_"));
    }

    void everySettingIsThere()
    {
        const QString code = loopOf({{"seed", 7}, {"loss_weight", 0.25}, {"label_smoothing", 0.1},
            {"optimizer", {{"kind", "adam"}, {"lr", 0.02}, {"beta2", 0.95}, {"epsilon", 1e-6}}},
            {"precision", {{"policy", "bf16"}, {"overrides", {{"linear", "fp32"}}}}}, {"accumulation", {{"steps", 4}}},
            {"scaler", {{"init_scale", 512}, {"growth_interval", 9}, {"frozen", true}}}});
        for (const char* text : {"torch.manual_seed(7)", "loss = loss * 0.25", "label_smoothing=0.1",
                 "torch.optim.Adam(", "lr=0.02", "betas=(0.9, 0.95)", "eps=1e-06",
                 "torch.autocast(\"cuda\", dtype=torch.bfloat16)", "linear in fp32", "for part in range(4):",
                 "loss / 4", "init_scale=512", "growth_interval=9", "scaler.update() is left out"}) {
            QVERIFY2(code.contains(QLatin1String(text)), qPrintable(text + ("\n" + code)));
        }
    }
};

QTEST_APPLESS_MAIN(TestPytorchLoop)
#include "tst_pytorch_loop.moc"
