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
        qobject_cast<QComboBox*>(panel.control("data.kind"))->setCurrentText("copy");
        QVERIFY(panel.offerButton()->isHidden()); // a list may read anything
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

    void everySetIsOfferedAndUsesItsOwnRows()
    {
        SetupPanel panel;
        panel.show(documentWith(R"({"kind": "mlp"})"));
        auto* set = qobject_cast<QComboBox*>(panel.control("data.kind"));
        for (const std::string& name : dataKinds()) {
            set->setCurrentText(QString::fromStdString(name));
            QCOMPARE(set->currentText(), QString::fromStdString(name));
            const DataKind& kind = dataKind(name);
            QCOMPARE(panel.control("data.path")->isEnabled(), kind.path != DataPath::None);
            for (const std::string_view setting : kind.settings) {
                const QWidget* control = panel.control("data." + std::string(setting));
                QVERIFY2(control != nullptr && control->isEnabled(), std::string(setting).c_str());
            }
        }
        set->setCurrentText("text");
        QVERIFY(!panel.control("data.samples")->isEnabled());
        QVERIFY(panel.control("data.samples")->toolTip().contains("No effect on the set text."));
        QVERIFY(!panel.control("data.target")->isEnabled());
        set->setCurrentText("csv");
        QVERIFY(panel.control("data.target")->isEnabled());
        QVERIFY(panel.control("data.target")->toolTip().contains("The column to predict"));
    }

    void rowsOfATableAreApplied()
    {
        SetupPanel panel;
        panel.show(documentWith(R"({"kind": "mlp"})"));
        qobject_cast<QComboBox*>(panel.control("data.kind"))->setCurrentText("csv");
        qobject_cast<QComboBox*>(panel.control("data.header"))->setCurrentText("no");
        QTest::keyClicks(panel.control("data.target"), "price");
        QTest::keyClicks(panel.control("data.path")->focusProxy(), "table.csv");
        qobject_cast<QCheckBox*>(panel.control("data.standardise"))->setChecked(false);
        const LaneConfig changed = applied(panel).lanes().at(1);
        QCOMPARE(changed.data.kind, std::string("csv"));
        QCOMPARE(changed.data.path, std::string("table.csv"));
        QCOMPARE(changed.data.header, std::string("no"));
        QCOMPARE(changed.data.target, std::string("price"));
        QVERIFY(!changed.data.standardise);
    }

    void offersTheModelThatReadsTheData()
    {
        SetupPanel panel;
        panel.show(documentWith(R"({"kind": "mlp"})"));
        QVERIFY(panel.offerButton()->isHidden());
        auto* set = qobject_cast<QComboBox*>(panel.control("data.kind"));
        auto* kind = qobject_cast<QComboBox*>(panel.control("model.kind"));
        set->setCurrentText("modular_addition");
        QVERIFY(!panel.offerButton()->isHidden());
        QCOMPARE(panel.offerButton()->text(), QString("Use gpt"));
        panel.offerButton()->click();
        QCOMPARE(kind->currentText(), QString("gpt"));
        QVERIFY(panel.offerButton()->isHidden());
        const LaneConfig changed = applied(panel).lanes().at(0);
        QCOMPARE(changed.data.kind, std::string("modular_addition"));
        QVERIFY(changed.model == defaultModel("gpt"));

        set->setCurrentText("digits");
        QCOMPARE(panel.offerButton()->text(), QString("Use mlp"));
        QVERIFY(applied(panel).lanes().empty()); // refused
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
