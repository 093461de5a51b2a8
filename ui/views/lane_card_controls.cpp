/// The controls of a lane card: what they show, when they are disabled and why, and which commands they send.
#include "engine/autocast/policy.h"
#include "ui/style/number_format.h"
#include "ui/views/lane_card.h"
#include "ui/views/lane_words.h"
#include "ui/views/log_slider.h"
#include "ui/views/name_field.h"
#include "ui/views/number_field.h"
#include "ui/views/pending_mark.h"
#include "ui/views/quiet_wheel.h"
#include "ui/views/scaler_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSlider>
#include <QToolButton>

#include <array>
#include <utility>

namespace mantissa {

namespace {

constexpr double defaultMaxNorm = 1.0;

QComboBox* makeCombo(const QString& name, std::initializer_list<std::pair<QString, QString>> choices)
{
    auto* combo = new QComboBox;
    combo->setAccessibleName(name);
    for (const auto& [text, data] : choices) {
        combo->addItem(text, data);
    }
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(8);
    keepWheelForScrolling(combo);
    return combo;
}

/// Shows `value`, adding it as a choice of its own if the combo has none such.
void select(QComboBox* combo, const QString& value)
{
    int index = combo->findData(value);
    if (index < 0) {
        combo->addItem(value, value);
        index = combo->count() - 1;
    }
    combo->setCurrentIndex(index);
}

void setUsable(QWidget* control, bool isUsable, const QString& tip, const QString& whyNot)
{
    control->setEnabled(isUsable);
    const QString words = isUsable ? tip : whyNot;
    control->setToolTip(words);
    control->setAccessibleDescription(words);
}

QString orderName(ClipOrder order)
{
    switch (order) {
    case ClipOrder::Off:
        return QStringLiteral("off");
    case ClipOrder::UnscaleThenClip:
        return QStringLiteral("unscale-then-clip");
    case ClipOrder::ClipThenUnscale:
        return QStringLiteral("clip-then-unscale");
    }
    return {};
}

} // namespace

void LaneCard::addRow(QGridLayout* grid, const QString& name, QWidget* control)
{
    const int row = grid->rowCount();
    auto* label = new QLabel(name);
    label->setBuddy(control);
    grid->addWidget(label, row, 0);
    grid->addWidget(control, row, 1);
}

QWidget* LaneCard::makeSettings()
{
    auto* part = new QWidget;
    auto* grid = new QGridLayout(part);
    grid->setContentsMargins(4, 4, 4, 4);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);

    m_precision = makeCombo(tr("Precision"), {});
    for (const std::string& policy : policyNames()) {
        m_precision->addItem(policyLabel(policy), QString::fromStdString(policy));
    }
    m_precision->setToolTip(tr("The format that autocast gives to matrix products, and whose lists say what follows"));
    m_weights = makeCombo(tr("Weights"),
        {{weightsLabel("master"), QStringLiteral("master")}, {weightsLabel("half"), QStringLiteral("half")},
            {weightsLabel("half-stochastic"), QStringLiteral("half-stochastic")},
            {weightsLabel("half-kahan"), QStringLiteral("half-kahan")}});
    m_scaler = makeCombo(tr("Scaler"), {});
    for (const std::string& family : scalerFamilies()) {
        m_scaler->addItem(scalerTitle(family), QString::fromStdString(family));
        m_scaler->setItemData(m_scaler->count() - 1, scalerSummary(family), Qt::ToolTipRole);
    }
    m_scale = new LogSlider(LogSlider::Kind::PowersOfTwo, tr("Scale"));
    m_parameters = new ScalerForm(ScalerForm::FirstScale::Hidden); // the scale has a row of its own
    m_frozen = new QCheckBox(tr("frozen"));
    m_frozen->setFocusPolicy(Qt::TabFocus);
    m_clipOrder = makeCombo(tr("Clip order"),
        {{tr("off"), QStringLiteral("off")}, {tr("unscale, then clip"), QStringLiteral("unscale-then-clip")},
            {tr("clip, then unscale"), QStringLiteral("clip-then-unscale")}});
    m_clipNorm = new NumberField;
    m_clipNorm->setAccessibleName(tr("Clip threshold"));
    m_clipNorm->setRange(1e-30, 1e30, tr("a threshold above 0"));
    m_rate = new LogSlider(LogSlider::Kind::Rates, tr("Learning rate"));
    for (QWidget* slider : {static_cast<QWidget*>(m_scale->slider()), static_cast<QWidget*>(m_rate->slider())}) {
        keepWheelForScrolling(slider);
    }

    addRow(grid, tr("Precision"), m_precision);
    addRow(grid, tr("Weights"), m_weights);
    addRow(grid, tr("Scaler"), m_scaler);
    addRow(grid, tr("Scale"), m_scale);
    grid->addWidget(m_parameters, grid->rowCount(), 0, 1, 2);
    addRow(grid, tr("Update"), m_frozen);
    addRow(grid, tr("Clip order"), m_clipOrder);
    addRow(grid, tr("Threshold"), m_clipNorm);
    addRow(grid, tr("Rate"), m_rate);
    return part;
}

void LaneCard::connectControls()
{
    connect(m_swatch, &QToolButton::clicked, this, &LaneCard::chooseColor);
    connect(m_name, &NameField::renamed, this, [this](const QString& name) {
        m_controller->renameLane(m_lane, name);
        m_name->setName(m_controller->laneName(m_lane));
    });
    connect(m_fold, &QToolButton::clicked, this,
        [this] { setDetail(m_detail == Detail::Line ? Detail::Values : Detail::Line); });
    connect(m_summary, &QToolButton::clicked, this, [this] {
        setDetail(m_detail == Detail::Settings ? Detail::Values : Detail::Settings);
        emit chosen(m_lane);
    });

    connect(m_precision, &QComboBox::activated, this, &LaneCard::changePolicy);
    connect(m_weights, &QComboBox::activated, this,
        [this] { send("precision.weights", m_weights->currentData().toString().toStdString()); });
    connect(m_scaler, &QComboBox::activated, this, &LaneCard::changeScaler);
    connect(m_scale, &LogSlider::committed, this, &LaneCard::changeScale);
    connect(m_parameters, &ScalerForm::edited, this,
        [this](const std::string& key, const nlohmann::json& value) { send("scaler." + key, value); });
    connect(m_frozen, &QCheckBox::clicked, this, [this](bool isOn) { send("scaler.frozen", isOn); });
    connect(m_clipOrder, &QComboBox::activated, this, &LaneCard::changeClipOrder);
    connect(m_clipNorm, &NumberField::committed, this, [this](double v) {
        const bool isByValue = m_filledFrom && m_filledFrom->clip.maxValue.has_value();
        send(isByValue ? "clip.max_value" : "clip.max_norm", v);
    });
    connect(m_rate, &LogSlider::committed, this, [this](double v) { send("optimizer.lr", v); });
}

void LaneCard::send(const std::string& path, const nlohmann::json& value)
{
    if (!m_isFilling) {
        m_controller->set(m_lane, path, value);
    }
}

void LaneCard::changePolicy(int index)
{
    const std::string policy = m_precision->itemData(index).toString().toStdString();
    const bool hasHalfWeights = m_filledFrom && m_filledFrom->precision.hasHalfWeights();
    if (hasHalfWeights && policyNamed(policy).lower == DType::Float32) {
        // 16-bit weights without a 16-bit format would be refused, so they go in the same change.
        send("precision", {{"policy", policy}, {"weights", nullptr}});
    } else {
        send("precision.policy", policy);
    }
}

void LaneCard::changeScaler(int index)
{
    send("scaler.family", m_scaler->itemData(index).toString().toStdString());
}

void LaneCard::changeScale(double scale)
{
    const LaneStatus* lane = m_controller->laneStatus(m_lane);
    if (lane && lane->nextStep == 0) {
        // Before the first step the scale is also where the lane starts, now and after every reset.
        send("scaler.init_scale", scale);
    }
    send("scaler.scale", scale);
}

void LaneCard::changeClipOrder(int index)
{
    const QString order = m_clipOrder->itemData(index).toString();
    const bool hasThreshold
        = m_filledFrom && (m_filledFrom->clip.maxNorm.has_value() || m_filledFrom->clip.maxValue.has_value());
    if (order == QLatin1String("off") || hasThreshold) {
        send("clip.order", order.toStdString());
    } else {
        // An order without a threshold would be refused, so both go in one change.
        send("clip", {{"order", order.toStdString()}, {"max_norm", defaultMaxNorm}});
    }
}

void LaneCard::followSettings()
{
    const LaneStatus* lane = m_controller->laneStatus(m_lane);
    if (lane && lane->config != m_filledFrom) {
        refreshSettings();
    }
}

void LaneCard::refreshSettings()
{
    const LaneStatus* lane = m_controller->laneStatus(m_lane);
    if (!lane) {
        return;
    }
    m_isFilling = true;
    const LaneConfig& config = *lane->config;
    const auto pending = [this](const std::string& path) { return m_controller->pendingValue(m_lane, path); };
    const auto fillField = [&pending](auto* field, const std::string& path, double present) {
        const auto waiting = pending(path);
        field->setValue(waiting && waiting->is_number() ? waiting->get<double>() : present);
        field->setPending(waiting.has_value());
    };
    const auto fillCombo = [&pending](QComboBox* combo, const std::string& path, const std::string& present) {
        const auto waiting = pending(path);
        const std::string shown = waiting && waiting->is_string() ? waiting->get<std::string>() : present;
        if (combo->currentData().toString().toStdString() != shown) {
            select(combo, QString::fromStdString(shown));
        }
        markPending(combo, waiting.has_value());
    };
    if (!pending("precision")) {
        fillCombo(m_precision, "precision.policy", config.precision.policy);
        fillCombo(m_weights, "precision.weights", config.precision.weights);
    }
    setUsable(m_weights, policyNamed(config.precision.policy).lower != DType::Float32,
        tr("What the optimizer updates: FP32 masters, cast in each step, or 16-bit weights alone, which lose small "
           "updates unless they are rounded at random or compensated (Kahan)"),
        tr("No effect: this precision has no 16-bit format."));
    fillCombo(m_scaler, "scaler.family", config.scaler ? config.scaler->family : "none");
    fillField(m_scale, "scaler.scale", lane->scale);
    const ScalerConfig scaler = config.scaler.value_or(ScalerConfig {.family = "none"});
    m_parameters->display(scaler, [&pending](const std::string& key) { return pending("scaler." + key); });
    const auto frozen = pending("scaler.frozen");
    m_frozen->setChecked(frozen && frozen->is_boolean() ? frozen->get<bool>() : scaler.frozen);
    markPending(m_frozen, frozen.has_value());
    if (!pending("clip")) {
        fillCombo(m_clipOrder, "clip.order", orderName(config.clip.order).toStdString());
    }
    const bool isByValue = config.clip.maxValue.has_value();
    fillField(m_clipNorm, isByValue ? "clip.max_value" : "clip.max_norm",
        config.clip.maxValue.value_or(config.clip.maxNorm.value_or(defaultMaxNorm)));
    fillField(m_rate, "optimizer.lr", config.optimizer.lr);
    m_filledFrom = lane->config;
    updateScalerControls(config);
    updateClipControls(config);
    m_isFilling = false;
}

void LaneCard::updateScalerControls(const LaneConfig& config)
{
    const std::string family = config.scaler ? config.scaler->family : "none";
    const bool hasScaler = family != "none";
    const bool isDynamic = hasScaler && family != "fixed";
    const bool isFrozen = isDynamic && config.scaler->frozen;
    const QString noScaler = tr("No effect: this lane has no scaler.");
    const QString fixed = tr("No effect: a fixed scale never moves.");
    const QString whyNotDynamic = hasScaler ? fixed : noScaler;
    m_scale->setEnabled(hasScaler);
    m_scale->setHint(hasScaler ? tr("The factor on the loss; a power of two costs no rounding") : noScaler);

    m_parameters->setUsable(!isFrozen, tr("No effect: the update is frozen."));
    m_scaler->setToolTip(tr("What multiplies the loss and checks the gradients. %1: %2")
                             .arg(scalerTitle(family), scalerSummary(family)));
    setUsable(m_frozen, isDynamic, tr("Judges and skips as before, but the scale stays"), whyNotDynamic);
}

void LaneCard::updateClipControls(const LaneConfig& config)
{
    const bool isOn = config.clip.order != ClipOrder::Off;
    m_clipOrder->setToolTip(config.clip.order == ClipOrder::ClipThenUnscale
            ? tr("Clipping scaled gradients: the true threshold is the one below divided by the scale")
            : tr("When gradients are clipped: after unscaling is right"));
    m_clipNorm->setEnabled(isOn);
    const bool isByValue = config.clip.maxValue.has_value();
    m_clipNorm->setHint(!isOn ? tr("No effect: clipping is off.")
            : isByValue       ? tr("Largest magnitude of a gradient element (clip_value)")
                              : tr("Largest norm of the whole gradient (max_norm)"));
}

} // namespace mantissa
