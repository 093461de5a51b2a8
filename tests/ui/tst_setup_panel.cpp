// The setup panel's rows for models: which ones a kind uses, and what another kind makes of them.
#include "ui/session/experiment_document.h"
#include "ui/views/number_field.h"
#include "ui/views/setup_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QtTest>

using namespace mantissa;

namespace {

ExperimentDocument documentWith(const char* model)
{
    return ExperimentDocument(parseExperiment(
        std::string(R"({"mantissa": 1, "lanes": [{"name": "A"}, {"name": "B"}], "model": )") + model + "}", "x"));
}

} // namespace

class TestSetupPanel : public QObject
{
    Q_OBJECT

private slots:

    void aKindUsesItsOwnRows()
    {
        SetupPanel panel;
        panel.show(documentWith(R"({"kind": "mlp"})"));
        QVERIFY(panel.control("model.hidden")->isEnabled());
        QVERIFY(!panel.control("model.width")->isEnabled());
        panel.show(documentWith(R"({"kind": "vit"})"));
        QVERIFY(!panel.control("model.hidden")->isEnabled());
        for (const char* path : {"model.width", "model.depth", "model.heads", "model.patch", "model.pooling"}) {
            QVERIFY2(panel.control(path)->isEnabled(), path);
        }
        QVERIFY(!panel.control("model.tied_head")->isEnabled());
        QVERIFY(!panel.isEdited());
    }

    void anotherKindBeginsWithItsDefaults()
    {
        SetupPanel panel;
        panel.show(documentWith(R"({"kind": "cnn", "width": 5, "batch_norm": true, "dropout": 0.25})"));
        auto* kind = qobject_cast<QComboBox*>(panel.control("model.kind"));
        kind->setCurrentText("resnet");
        QVERIFY(panel.isEdited());
        QCOMPARE(qobject_cast<NumberField*>(panel.control("model.width"))->value(), 16.0);
        QCOMPARE(qobject_cast<NumberField*>(panel.control("model.stages"))->value(), 3.0);
        const LaneConfig changed = applied(panel).lanes().at(1);
        ModelConfig expected = defaultModel("resnet");
        expected.batchNorm = true;
        expected.dropout = 0.25;
        QVERIFY(changed.model == expected);
        kind->setCurrentText("cnn");
        QVERIFY(!panel.isEdited());
        QCOMPARE(qobject_cast<NumberField*>(panel.control("model.width"))->value(), 5.0);
    }

    void aListOfLayersIsShownAndLeft()
    {
        SetupPanel panel;
        panel.show(documentWith(R"({"kind": "layers", "layers": ["flatten", "linear"]})"));
        auto* kind = qobject_cast<QComboBox*>(panel.control("model.kind"));
        QCOMPARE(kind->currentText(), QString("layers"));
        QVERIFY(!panel.control("model.activation")->isEnabled());
        kind->setCurrentText("gpt");
        auto* tied = qobject_cast<QCheckBox*>(panel.control("model.tied_head"));
        QVERIFY(tied->isEnabled());
        tied->setChecked(false);
        const LaneConfig changed = applied(panel).lanes().at(0);
        ModelConfig expected = defaultModel("gpt");
        expected.tiedHead = false;
        QVERIFY(changed.model == expected);
    }

private:
    static ExperimentDocument applied(SetupPanel& panel)
    {
        ExperimentDocument result;
        connect(
            &panel, &SetupPanel::applied, &panel, [&result](const ExperimentDocument& document) { result = document; });
        panel.applyButton()->click();
        panel.disconnect();
        return result;
    }
};

QTEST_MAIN(TestSetupPanel)
#include "tst_setup_panel.moc"
