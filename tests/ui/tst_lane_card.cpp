/// A lane's card: what a person types, drags and chooses becomes the lane's setting, and nothing else does.
#include "tests/ui/small_experiment.h"
#include "ui/views/lane_list.h"
#include "ui/views/lane_words.h"
#include "ui/views/log_slider.h"
#include "ui/views/number_field.h"
#include "ui/views/scaler_form.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

using namespace mantissa;
using mantissa::test::smallExperiment;

namespace {

constexpr int patienceMs = 60'000;

template <typename Widget> Widget* named(QWidget* parent, const QString& accessibleName)
{
    for (auto* widget : parent->findChildren<Widget*>()) {
        if (widget->accessibleName() == accessibleName) {
            return widget;
        }
    }
    return nullptr;
}

void type(QLineEdit* field, const QString& text)
{
    field->setFocus();
    field->selectAll();
    QTest::keyClick(field, Qt::Key_Delete);
    QTest::keyClicks(field, text);
    QTest::keyClick(field, Qt::Key_Return);
}

void choose(QComboBox* combo, const QString& data)
{
    combo->setCurrentIndex(combo->findData(data));
    emit combo->activated(combo->currentIndex());
}

} // namespace

class TestLaneCard : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void numbersParse_data();
    void numbersParse();
    void fieldRefusesWhatIsOutOfRange();
    void escapeTakesTypingBack();
    void sliderCommitsOnceWhenReleased();
    void touchingASliderKeepsAnExactValue();

    void typedScaleReachesTheScaler();
    void precisionAndScalerCanBeChosen();
    void everyFamilyShowsItsOwnParameters();
    void parametersAreSentByTheirKeys();
    void weightsFollowThePrecision();
    void clipOrderBringsAThreshold();
    void rateCanBeTyped();
    void controlsWithoutEffectSayWhy();
    void wheelOverAnUnfocusedKnobDoesNothing();
    void cardFoldsToOneLine();
    void nameCanBeEdited();
    void everyControlHasANameAndEveryLabelABuddy();

    void sentences_data();
    void sentences();

private:
    [[nodiscard]] const LaneConfig& config(std::size_t index) const
    {
        return *m_controller->status()->lanes.at(index).config;
    }

    [[nodiscard]] LaneCard* card(std::size_t index) const
    {
        return m_list->card(m_controller->status()->lanes.at(index).id);
    }

    std::unique_ptr<SessionController> m_controller;
    std::unique_ptr<LaneList> m_list;
};

void TestLaneCard::init()
{
    m_controller = std::make_unique<SessionController>(std::filesystem::path());
    m_list = std::make_unique<LaneList>(m_controller.get());
    m_list->resize(360, 900);
    m_list->show();
    m_controller->open(ExperimentDocument(smallExperiment()));
    QTRY_VERIFY_WITH_TIMEOUT(
        m_controller->status() && m_controller->status()->state == SessionState::Ready, patienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(m_list->lanes().size(), std::size_t {2}, patienceMs);
}

void TestLaneCard::cleanup()
{
    m_list.reset();
    m_controller.reset();
}

void TestLaneCard::numbersParse_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<double>("value");
    QTest::newRow("plain") << QStringLiteral("65536") << 65536.0;
    QTest::newRow("grouped") << QStringLiteral("65,536") << 65536.0;
    QTest::newRow("power") << QStringLiteral("2^16") << 65536.0;
    QTest::newRow("negative power") << QStringLiteral("2^-3") << 0.125;
    QTest::newRow("exponent") << QStringLiteral(" 1e-3 ") << 1e-3;
}

void TestLaneCard::numbersParse()
{
    QFETCH(QString, text);
    QFETCH(double, value);
    const auto parsed = parseNumber(text);
    QVERIFY(parsed.has_value());
    QCOMPARE(*parsed, value);
    QVERIFY(!parseNumber(QStringLiteral("2^")).has_value());
    QVERIFY(!parseNumber(QStringLiteral("2^9999")).has_value());
    QVERIFY(!parseNumber(QStringLiteral("many")).has_value());
    QVERIFY(!parseNumber(QStringLiteral("inf")).has_value());
}

void TestLaneCard::fieldRefusesWhatIsOutOfRange()
{
    NumberField field;
    field.setRange(0, 1, QStringLiteral("a share"));
    field.setValue(0.5);
    QSignalSpy committed(&field, &NumberField::committed);
    type(&field, QStringLiteral("2"));
    QCOMPARE(committed.count(), 0);
    QCOMPARE(field.value(), 0.5);
    QCOMPARE(field.text(), QStringLiteral("0.5"));
    type(&field, QStringLiteral("0.25"));
    QCOMPARE(committed.count(), 1);
    QCOMPARE(committed.first().first().toDouble(), 0.25);
}

void TestLaneCard::escapeTakesTypingBack()
{
    NumberField field;
    field.show();
    field.setValue(3);
    field.setFocus();
    field.selectAll();
    QTest::keyClicks(&field, QStringLiteral("77"));
    QTest::keyClick(&field, Qt::Key_Escape);
    QCOMPARE(field.text(), QStringLiteral("3"));
    QCOMPARE(field.value(), 3.0);
}

void TestLaneCard::sliderCommitsOnceWhenReleased()
{
    LogSlider slider(LogSlider::Kind::PowersOfTwo, QStringLiteral("Scale"));
    slider.setValue(65536);
    QCOMPARE(slider.slider()->value(), 16);
    QSignalSpy committed(&slider, &LogSlider::committed);
    slider.slider()->setSliderDown(true);
    slider.slider()->setValue(12);
    slider.slider()->setValue(10);
    QCOMPARE(committed.count(), 0);
    slider.slider()->setSliderDown(false);
    QCOMPARE(committed.count(), 1);
    QCOMPARE(committed.first().first().toDouble(), 1024.0);

    LogSlider rate(LogSlider::Kind::Rates, QStringLiteral("Rate"));
    rate.setValue(1e-3);
    QSignalSpy moved(&rate, &LogSlider::committed);
    QTest::keyClick(rate.slider(), Qt::Key_Right);
    QCOMPARE(moved.count(), 1);
    QCOMPARE(moved.first().first().toDouble(), 1.3e-3);
}

void TestLaneCard::touchingASliderKeepsAnExactValue()
{
    LogSlider slider(LogSlider::Kind::PowersOfTwo, QStringLiteral("Scale"));
    slider.setValue(1000);
    QSignalSpy committed(&slider, &LogSlider::committed);
    slider.slider()->setSliderDown(true);
    slider.slider()->setSliderDown(false);
    QCOMPARE(committed.count(), 0);
    QCOMPARE(slider.value(), 1000.0);
}

void TestLaneCard::typedScaleReachesTheScaler()
{
    auto* field = named<NumberField>(card(1), QStringLiteral("Scale"));
    QVERIFY(field && field->isEnabled());
    type(field, QStringLiteral("2^9"));
    QVERIFY(field->isPending());
    QTRY_COMPARE_WITH_TIMEOUT(m_controller->status()->lanes.at(1).scale, 512.0, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(!field->isPending(), patienceMs);
    QCOMPARE(field->value(), 512.0);
    // Before the first step it is also where the lane starts after a reset.
    QTRY_COMPARE_WITH_TIMEOUT(config(1).scaler->parameters.at("init_scale"), 512.0, patienceMs);
}

void TestLaneCard::precisionAndScalerCanBeChosen()
{
    choose(named<QComboBox>(card(0), QStringLiteral("Precision")), QStringLiteral("bf16"));
    QTRY_COMPARE_WITH_TIMEOUT(config(0).precision.policy, std::string("bf16"), patienceMs);
    choose(named<QComboBox>(card(0), QStringLiteral("Scaler")), QStringLiteral("fixed"));
    QTRY_VERIFY_WITH_TIMEOUT(config(0).scaler.has_value(), patienceMs);
    QCOMPARE(config(0).scaler->family, std::string("fixed"));
    choose(named<QComboBox>(card(1), QStringLiteral("Scaler")), QStringLiteral("none"));
    QTRY_VERIFY_WITH_TIMEOUT(!config(1).scaler || config(1).scaler->family == "none", patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(!named<NumberField>(card(1), QStringLiteral("growth_interval")), patienceMs);
}

void TestLaneCard::everyFamilyShowsItsOwnParameters()
{
    auto* families = named<QComboBox>(card(1), QStringLiteral("Scaler"));
    QCOMPARE(families->count(), static_cast<int>(scalerFamilies().size()));
    const int width = card(1)->widthWanted();
    for (const ScalerFamily* family : scalerFamilyTable()) {
        choose(families, QString::fromStdString(std::string(family->name)));
        QTRY_COMPARE_WITH_TIMEOUT(config(1).scaler->family, std::string(family->name), patienceMs);
        auto* form = card(1)->findChild<ScalerForm*>();
        for (const ScalerParameter& parameter : family->parameters) {
            const QString name = QString::fromUtf8(parameter.ownName.data(), std::ssize(parameter.ownName));
            const auto shown = [&]() -> QWidget* {
                if (parameter.kind == ScalerParameterKind::Flag) {
                    for (auto* box : form->findChildren<QCheckBox*>()) {
                        if (box->text() == name) {
                            return box;
                        }
                    }
                    return nullptr;
                }
                return named<NumberField>(form, name);
            };
            if (parameter.key == "init_scale") {
                QVERIFY(!shown());
                continue;
            }
            QTRY_VERIFY2_WITH_TIMEOUT(shown(), qPrintable(name), patienceMs);
            QVERIFY2(shown()->toolTip().contains(QStringLiteral("Default: ")), qPrintable(shown()->toolTip()));
            if (auto* field = qobject_cast<NumberField*>(shown())) {
                const auto value = valueOf(*config(1).scaler, parameter.key);
                QTRY_VERIFY_WITH_TIMEOUT(value ? field->value() == *value : field->text().isEmpty(), patienceMs);
            }
        }
        QCOMPARE(card(1)->widthWanted(), width);
    }
}

void TestLaneCard::parametersAreSentByTheirKeys()
{
    choose(named<QComboBox>(card(1), QStringLiteral("Scaler")), QStringLiteral("deepspeed"));
    QTRY_VERIFY_WITH_TIMEOUT(named<NumberField>(card(1), QStringLiteral("loss_scale_window")), patienceMs);
    auto* window = named<NumberField>(card(1), QStringLiteral("loss_scale_window"));
    type(window, QStringLiteral("77"));
    QTRY_COMPARE_WITH_TIMEOUT(valueOf(*config(1).scaler, "growth_interval"), std::optional(77.0), patienceMs);
    // Out of range, and half a step: taken back.
    type(window, QStringLiteral("0"));
    QCOMPARE(window->text(), QStringLiteral("77"));
    type(window, QStringLiteral("1.5"));
    QCOMPARE(window->text(), QStringLiteral("77"));
    // Emptied: the default again.
    type(window, QString());
    QTRY_COMPARE_WITH_TIMEOUT(valueOf(*config(1).scaler, "growth_interval"), std::optional(1000.0), patienceMs);
    QTRY_COMPARE_WITH_TIMEOUT(window->value(), 1000.0, patienceMs);
    for (auto* box : card(1)->findChildren<QCheckBox*>()) {
        if (box->text() == QStringLiteral("consecutive_hysteresis")) {
            box->click();
        }
    }
    QTRY_COMPARE_WITH_TIMEOUT(valueOf(*config(1).scaler, "consecutive_hysteresis"), std::optional(1.0), patienceMs);
    // A limit that there need not be.
    choose(named<QComboBox>(card(1), QStringLiteral("Scaler")), QStringLiteral("apex"));
    QTRY_VERIFY_WITH_TIMEOUT(named<NumberField>(card(1), QStringLiteral("scale_window")), patienceMs);
    auto* floor = named<NumberField>(card(1), QStringLiteral("min_loss_scale"));
    QVERIFY(floor->text().isEmpty());
    QCOMPARE(floor->placeholderText(), QStringLiteral("none"));
    QCOMPARE(named<NumberField>(card(1), QStringLiteral("max_loss_scale"))->text(), QStringLiteral("2^24"));
    type(floor, QStringLiteral("4"));
    QTRY_COMPARE_WITH_TIMEOUT(valueOf(*config(1).scaler, "min_scale"), std::optional(4.0), patienceMs);
    type(floor, QString());
    QTRY_VERIFY_WITH_TIMEOUT(!valueOf(*config(1).scaler, "min_scale"), patienceMs);
}

void TestLaneCard::weightsFollowThePrecision()
{
    auto* precision = named<QComboBox>(card(0), QStringLiteral("Precision"));
    auto* weights = named<QComboBox>(card(0), QStringLiteral("Weights"));
    QVERIFY(!weights->isEnabled());
    QVERIFY2(weights->toolTip().contains(QStringLiteral("no 16-bit format")), qPrintable(weights->toolTip()));
    choose(precision, QStringLiteral("pure-bf16"));
    QTRY_COMPARE_WITH_TIMEOUT(config(0).precision.weights, std::string("half"), patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(weights->isEnabled(), patienceMs);
    QCOMPARE(weights->currentData().toString(), QStringLiteral("half"));
    choose(weights, QStringLiteral("master"));
    QTRY_COMPARE_WITH_TIMEOUT(config(0).precision.weights, std::string("master"), patienceMs);
    // 16-bit weights that were asked for do not stand in the way of FP32.
    choose(weights, QStringLiteral("half"));
    QTRY_COMPARE_WITH_TIMEOUT(config(0).precision.weights, std::string("half"), patienceMs);
    choose(precision, QStringLiteral("fp32"));
    QTRY_COMPARE_WITH_TIMEOUT(config(0).precision.policy, std::string("fp32"), patienceMs);
    QCOMPARE(config(0).precision.weights, std::string("master"));
}

void TestLaneCard::clipOrderBringsAThreshold()
{
    auto* threshold = named<NumberField>(card(1), QStringLiteral("Clip threshold"));
    QVERIFY(!threshold->isEnabled());
    choose(named<QComboBox>(card(1), QStringLiteral("Clip order")), QStringLiteral("clip-then-unscale"));
    QTRY_VERIFY_WITH_TIMEOUT(config(1).clip.order == ClipOrder::ClipThenUnscale, patienceMs);
    QCOMPARE(config(1).clip.maxNorm.value_or(0), 1.0);
    QTRY_VERIFY_WITH_TIMEOUT(threshold->isEnabled(), patienceMs);
    type(threshold, QStringLiteral("0.25"));
    QTRY_COMPARE_WITH_TIMEOUT(config(1).clip.maxNorm.value_or(0), 0.25, patienceMs);
    choose(named<QComboBox>(card(1), QStringLiteral("Clip order")), QStringLiteral("unscale-then-clip"));
    QTRY_VERIFY_WITH_TIMEOUT(config(1).clip.order == ClipOrder::UnscaleThenClip, patienceMs);
    QCOMPARE(config(1).clip.maxNorm.value_or(0), 0.25);
}

void TestLaneCard::rateCanBeTyped()
{
    type(named<NumberField>(card(0), QStringLiteral("Learning rate")), QStringLiteral("0.0123"));
    QTRY_COMPARE_WITH_TIMEOUT(config(0).optimizer.lr, 0.0123, patienceMs);
    QCOMPARE(config(1).optimizer.lr, 0.002);
}

void TestLaneCard::controlsWithoutEffectSayWhy()
{
    auto* scale = named<NumberField>(card(0), QStringLiteral("Scale"));
    QVERIFY(!scale->isEnabled());
    QVERIFY2(scale->toolTip().contains(QStringLiteral("no scaler")), qPrintable(scale->toolTip()));
    QVERIFY(!named<NumberField>(card(0), QStringLiteral("growth_factor")));
    auto* frozen = card(1)->findChild<QCheckBox*>();
    QVERIFY(frozen->isEnabled());
    frozen->click();
    QTRY_VERIFY_WITH_TIMEOUT(config(1).scaler->frozen, patienceMs);
    auto* growth = named<NumberField>(card(1), QStringLiteral("growth_factor"));
    QTRY_VERIFY_WITH_TIMEOUT(!growth->isEnabled(), patienceMs);
    QVERIFY2(growth->toolTip().contains(QStringLiteral("frozen")), qPrintable(growth->toolTip()));
}

void TestLaneCard::wheelOverAnUnfocusedKnobDoesNothing()
{
    auto* combo = named<QComboBox>(card(1), QStringLiteral("Precision"));
    combo->clearFocus();
    const QPointF middle = QRectF(combo->rect()).center();
    QWheelEvent wheel(middle, combo->mapToGlobal(middle), {}, QPoint(0, -120), Qt::NoButton, Qt::NoModifier,
        Qt::NoScrollPhase, false);
    QApplication::sendEvent(combo, &wheel);
    QCOMPARE(combo->currentData().toString(), QStringLiteral("fp16"));
    QVERIFY(!m_controller->pendingValue(card(1)->lane(), "precision.policy").has_value());
}

void TestLaneCard::cardFoldsToOneLine()
{
    LaneCard* shown = card(1);
    shown->setDetail(LaneCard::Detail::Settings);
    const int full = shown->sizeHint().height();
    shown->setDetail(LaneCard::Detail::Values);
    const int values = shown->sizeHint().height();
    shown->setDetail(LaneCard::Detail::Line);
    const int line = shown->sizeHint().height();
    QVERIFY(line < values && values < full);
    QVERIFY(line < 3 * shown->fontMetrics().height());
    QTest::mouseClick(named<QToolButton>(shown, QStringLiteral("Fold card")), Qt::LeftButton);
    QVERIFY(shown->detail() == LaneCard::Detail::Values);
}

void TestLaneCard::nameCanBeEdited()
{
    type(named<QLineEdit>(card(0), QStringLiteral("Lane name")), QStringLiteral("Reference"));
    QCOMPARE(m_controller->laneName(card(0)->lane()), QStringLiteral("Reference"));
    QCOMPARE(m_controller->document().lanes().front().name, std::string("Reference"));
    type(named<QLineEdit>(card(0), QStringLiteral("Lane name")), QStringLiteral("FP16 AMP"));
    QCOMPARE(m_controller->laneName(card(0)->lane()), QStringLiteral("FP16 AMP 2"));
}

void TestLaneCard::everyControlHasANameAndEveryLabelABuddy()
{
    for (QWidget* control : card(1)->findChildren<QWidget*>()) {
        const bool isControl = qobject_cast<QComboBox*>(control) || qobject_cast<QSlider*>(control)
            || (qobject_cast<QLineEdit*>(control) && !qobject_cast<QComboBox*>(control->parentWidget()))
            || qobject_cast<QToolButton*>(control);
        if (isControl) {
            QVERIFY2(!control->accessibleName().isEmpty(), control->metaObject()->className());
        }
    }
    int buddies = 0;
    for (const QLabel* label : card(1)->findChildren<QLabel*>()) {
        buddies += label->buddy() ? 1 : 0;
    }
    QCOMPARE(buddies, 11);
}

void TestLaneCard::sentences_data()
{
    QTest::addColumn<int>("skips");
    QTest::addColumn<int>("steps");
    QTest::addColumn<double>("flushed");
    QTest::addColumn<bool>("isFinite");
    QTest::addColumn<QString>("expected");
    QTest::newRow("finding its scale") << 3 << 10 << 0.0 << true
                                       << QStringLiteral("Skipped 3 steps while finding its scale (normal).");
    QTest::newRow("one skip") << 1 << 10 << 0.0 << true
                              << QStringLiteral("Skipped 1 step while finding its scale (normal).");
    QTest::newRow("overflow everywhere")
        << 60 << 60 << 0.0 << true
        << QStringLiteral("60 steps skipped in a row: the gradient overflows at every scale tried.");
    QTest::newRow("underflow") << 0 << 10 << 0.66 << true
                               << QStringLiteral("66 % of its gradient flushes to zero: it has no scaler to lift it.");
    QTest::newRow("not finite") << 0 << 5 << 0.0 << false << QStringLiteral("Its loss is not finite since step 0.");
    QTest::newRow("nothing to say") << 0 << 5 << 0.001 << true << QStringLiteral("Training.");
}

void TestLaneCard::sentences()
{
    QFETCH(int, skips);
    QFETCH(int, steps);
    QFETCH(double, flushed);
    QFETCH(bool, isFinite);
    QFETCH(QString, expected);
    LaneFacts facts;
    StepRecord last;
    last.step = steps - 1;
    last.flushed = flushed;
    last.skipped = skips == steps;
    last.lossFinite = isFinite;
    facts.last = last;
    facts.skipped = skips;
    facts.firstSkip = skips > 0 ? 0 : -1;
    facts.lastSkip = skips - 1;
    facts.lastApplied = skips == steps ? -1 : steps - 1;
    facts.nonFiniteSince = isFinite ? -1 : 0;
    LaneStatus lane;
    lane.config = std::make_shared<LaneConfig>();
    QCOMPARE(laneSentence(lane, facts, SessionState::Running).text, expected);
}

QTEST_MAIN(TestLaneCard)
#include "tst_lane_card.moc"
