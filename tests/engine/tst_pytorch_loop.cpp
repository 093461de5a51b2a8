// The loop in PyTorch: it is Python, it names every setting, and it marks what is done wrong.
#include "engine/pytorch/training_loop.h"

#include <QProcess>
#include <QStandardPaths>
#include <QtTest>

#include <algorithm>

using namespace mantissa;

namespace {

using json = nlohmann::json;

LaneConfig laneOf(const json& settings)
{
    json document {{"name", "a"}, {"steps", 40}, {"data", {{"batch", 8}}}};
    document.merge_patch(settings);
    return parseLane(document, "");
}

QString loopOf(const json& settings)
{
    return QString::fromStdString(pytorchLoop(laneOf(settings)));
}

/// As a part of an exported script.
QString scriptOf(const json& settings)
{
    return QString::fromStdString(pytorchScript(laneOf(settings)));
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
        const auto row = [](const char* name, const json& settings) {
            QTest::newRow(name) << loopOf(settings) + "\n" + scriptOf(settings);
        };
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
        std::vector<std::string> blocks = namesOf(rightOrder);
        for (int i = 0; i < 6; ++i) {
            std::rotate(blocks.begin(), blocks.begin() + 1, blocks.end());
            row(("order from " + blocks.front()).c_str(),
                {{"order", blocks}, {"scaler", {{"family", i % 2 == 0 ? "pytorch" : "fixed"}}},
                    {"schedule", {{"kind", "cosine"}}}, {"ema", {{"decay", 0.9}}},
                    {"optimizer", {{"extra_step", true}, {"epsilon_format", "fp16"}, {"state_format", "bf16"}}},
                    {"accumulation", {{"steps", 3}, {"divide", false}, {"zero_gradients", false}}}});
        }
        row("per layer", {{"clip", {{"order", "unscale-then-clip"}, {"max_norm", 1}, {"per_layer", true}}}});
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

    void wrongOrdersAreMarked()
    {
        const auto ordered = [](std::initializer_list<const char*> blocks) {
            return loopOf({{"order", blocks}, {"scaler", json::object()}, {"schedule", {{"kind", "cosine"}}}});
        };
        QVERIFY(!ordered({"unscale", "check", "clip", "step", "update", "schedule"}).contains("WRONG"));
        const QString early = ordered({"step", "unscale", "check", "clip", "update", "schedule"});
        QVERIFY(inOrder(early, "# WRONG ORDER: the gradients still carry the scale", "optimizer.step()"));
        QVERIFY(inOrder(early, "optimizer.step()", "scaler.unscale_(optimizer)"));
        QVERIFY(!early.contains("scaler.step"));
        const QString unchecked = ordered({"unscale", "clip", "step", "check", "update", "schedule"});
        QVERIFY(inOrder(unchecked, "nothing has looked for infinity yet", "optimizer.step()"));
        const QString update = ordered({"update", "unscale", "check", "clip", "step", "schedule"});
        QVERIFY(inOrder(update, "scaler.update()", "scaler.unscale_(optimizer)"));
        const QString schedule = ordered({"unscale", "check", "clip", "schedule", "step", "update"});
        QVERIFY(inOrder(schedule, "the rate of the next one", "schedule.step()"));
        QVERIFY(inOrder(schedule, "schedule.step()", "scaler.step(optimizer)"));
    }

    void aScriptRunsOnTheDeviceAskedForAndRecords()
    {
        const json settings {{"precision", {{"policy", "fp16"}}}, {"scaler", json::object()}};
        const QString code = scriptOf(settings);
        for (const char* text : {"model = Model().to(device)", "torch.autocast(device, dtype=torch.float16)",
                 "torch.amp.GradScaler(device, ", "for step in range(options.steps):", "data, target = batch(step)",
                 "recorder = Recorder(options.metrics, model, optimizer, scaler, lane=\"a\")", "recorder.step(loss)"}) {
            QVERIFY2(code.contains(QLatin1String(text)), qPrintable(text + ("\n" + code)));
        }
        // True gradients are recorded, before they are clipped.
        QVERIFY(inOrder(code, "scaler.unscale_(optimizer)", "recorder.gradients()"));
        json clipped = settings;
        clipped["clip"] = {{"order", "unscale-then-clip"}, {"max_norm", 1}};
        QVERIFY(inOrder(scriptOf(clipped), "recorder.gradients()", "clip_grad_norm_"));
        clipped["clip"]["order"] = "clip-then-unscale";
        QVERIFY(inOrder(scriptOf(clipped), "recorder.gradients(scaled=True)", "clip_grad_norm_"));
        QVERIFY(!scriptOf(clipped).contains("recorder.gradients()"));
        json cpu = settings;
        cpu["precision"]["policy"] = "cpu-bf16";
        QVERIFY(scriptOf(cpu).contains("torch.autocast(\"cpu\", dtype=torch.bfloat16)"));
        const QString parts = scriptOf({{"accumulation", {{"steps", 3}, {"guard", true}}}});
        QVERIFY(inOrder(parts, "continue", "losses.append(loss.detach())"));
        QVERIFY(parts.contains("recorder.step(losses)") && parts.contains("zero_grad(set_to_none=False)"));
    }

    void skippedStepsAreToldFromTheOthers()
    {
        const json settings {{"scaler", json::object()}, {"schedule", {{"kind", "cosine"}, {"count_skipped", false}}}};
        QVERIFY(loopOf(settings).contains("if scaler.get_scale() >= scale_before:"));
        // A scale that does not move tells nothing.
        json frozen = settings;
        frozen["scaler"]["frozen"] = true;
        QVERIFY(inOrder(loopOf(frozen), "finite = all(", "if finite:"));
        QVERIFY(!loopOf(frozen).contains("scale_before"));
        json fixed = settings;
        fixed["scaler"] = {{"family", "fixed"}, {"init_scale", 128}};
        QCOMPARE(loopOf(fixed).count("if finite:"), 2);
        // An update makes GradScaler forget what it has found.
        const QString early = loopOf(
            {{"scaler", json::object()}, {"order", {"unscale", "check", "update", "clip", "step", "schedule"}}});
        QVERIFY(inOrder(early, "scaler.update()", "if finite:") && !early.contains("scaler.step("));
        QVERIFY(scriptOf({{"optimizer", {{"extra_step", true}}}}).contains("recorder.step(loss, calls=2)"));
        json average {{"scaler", json::object()}, {"ema", {{"decay", 0.9}}}};
        QVERIFY(!loopOf(average).contains("finite ="));
        average["ema"]["count_skipped"] = false;
        QVERIFY(inOrder(loopOf(average), "if finite:", "    ema.update_parameters(model)"));
        QVERIFY(loopOf({{"schedule", {{"kind", "cosine"}, {"count_skipped", false}}}}).contains("    schedule.step()"));
    }

    void switchesAreTold()
    {
        const QString code = loopOf({{"scaler", json::object()}, {"ema", {{"decay", 0.99}, {"format", "bf16"}}},
            {"optimizer",
                {{"kind", "adam"}, {"extra_step", true}, {"epsilon_format", "fp16"}, {"state_format", "fp16"}}},
            {"accumulation",
                {{"steps", 4}, {"divide", false}, {"scaler_per_micro_batch", true}, {"zero_gradients", false}}}});
        for (const char* text : {"get_ema_multi_avg_fn(0.99)", "kept in bf16", "ema.update_parameters(model)",
                 "WRONG: a second step", "torch.tensor(1e-08, dtype=torch.float16)", "optimizer state in fp16",
                 "WRONG: the loss is not divided by 4", "WRONG: judges every micro-batch", "zero_grad() is missing"}) {
            QVERIFY2(code.contains(QLatin1String(text)), qPrintable(text + ("\n" + code)));
        }
        QCOMPARE(code.count("scaler.update()"), 1);
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
                 "loss / 4", "init_scale=512", "growth_interval=9", "scaler.update(scaler.get_scale())"}) {
            QVERIFY2(code.contains(QLatin1String(text)), qPrintable(text + ("\n" + code)));
        }
    }
};

QTEST_APPLESS_MAIN(TestPytorchLoop)
#include "tst_pytorch_loop.moc"
