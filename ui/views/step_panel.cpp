#include "ui/views/step_panel.h"

#include "engine/graph/graph.h"
#include "engine/train/setting_table.h"
#include "ui/language/language.h"
#include "ui/session/session_controller.h"
#include "ui/views/number_field.h"
#include "ui/views/order_strip.h"
#include "ui/views/order_words.h"
#include "ui/views/pending_mark.h"
#include "ui/views/quiet_wheel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace mantissa {

namespace {

QString faultLabel(FaultKind fault)
{
    switch (fault) {
    case FaultKind::NanSample:
        return StepPanel::tr("NaN samples");
    case FaultKind::HugeSample:
        return StepPanel::tr("a huge sample");
    case FaultKind::LossSpike:
        return StepPanel::tr("a loss spike");
    case FaultKind::GradientInf:
        return StepPanel::tr("infinity in a gradient");
    case FaultKind::LrJump:
        return StepPanel::tr("a jump of the rate");
    case FaultKind::ExplodingInit:
        return StepPanel::tr("exploding initial weights");
    case FaultKind::Saturation:
        return StepPanel::tr("saturation");
    case FaultKind::Rank:
        return StepPanel::tr("the rank for what follows");
    }
    return {};
}

QString faultHint(FaultKind fault)
{
    switch (fault) {
    case FaultKind::NanSample:
        return StepPanel::tr("How many samples of the next batch are NaN");
    case FaultKind::HugeSample:
        return StepPanel::tr("Factor on the first sample of the next batch");
    case FaultKind::LossSpike:
        return StepPanel::tr("Factor on the loss of the next step, and with it on every gradient");
    case FaultKind::GradientInf:
        return StepPanel::tr("The layer in whose gradient one element becomes infinite in the next step");
    case FaultKind::LrJump:
        return StepPanel::tr("Factor on the learning rate of the next step");
    case FaultKind::ExplodingInit:
        return StepPanel::tr("All weights become what the seed draws, times this factor");
    case FaultKind::Saturation:
        return StepPanel::tr("Factor on the weights of the first layer, from the next step on");
    case FaultKind::Rank:
        return StepPanel::tr("The rank of a data-parallel lane that the faults injected after this befall, in the next "
                             "step");
    }
    return {};
}

QLabel* heading(const QString& text)
{
    auto* label = new QLabel(text);
    QFont font = label->font();
    font.setBold(true);
    label->setFont(font);
    return label;
}

} // namespace

StepPanel::StepPanel(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_title(new QLabel)
{
    auto* inner = new QWidget;
    auto* column = new QVBoxLayout(inner);
    column->setContentsMargins(8, 4, 8, 8);
    column->setSpacing(8);
    m_title->setTextFormat(Qt::PlainText);
    m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* top = new QHBoxLayout;
    top->addWidget(m_title, 1);
    top->addWidget(makeFaults());
    column->addLayout(top);
    column->addWidget(makeOrder());
    column->addWidget(makeSwitches());
    column->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setWidget(inner);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(scroll);
    chooseFault();
    connect(m_controller, &SessionController::pendingChanged, this, [this](std::uint32_t changed) {
        if (m_lane == changed) {
            m_shown.reset();
            follow();
        }
    });
}

const LaneStatus* StepPanel::lane() const
{
    return m_lane ? m_controller->laneStatus(*m_lane) : nullptr;
}

QWidget* StepPanel::makeOrder()
{
    auto* part = new QWidget;
    auto* grid = new QGridLayout(part);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(0, 1);
    m_strip = new OrderStrip;
    m_right = new QToolButton;
    m_right->setText(tr("Right order"));
    m_right->setToolTip(tr("Puts every block back where it belongs"));
    m_notes = new QLabel;
    m_notes->setWordWrap(true);
    m_notes->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_notes->setAccessibleName(tr("What the order does"));
    grid->addWidget(m_strip, 0, 0);
    grid->addWidget(m_right, 0, 1);
    grid->addWidget(m_notes, 1, 0, 1, 2);
    connect(m_strip, &OrderStrip::reordered, this, [this](const StepOrder& order) { send("order", namesOf(order)); });
    connect(m_right, &QToolButton::clicked, this, [this] { send("order", namesOf(rightOrder)); });
    return part;
}

QWidget* StepPanel::makeFaults()
{
    auto* part = new QWidget;
    auto* row = new QHBoxLayout(part);
    row->setContentsMargins(0, 0, 0, 0);
    m_fault = new QComboBox;
    for (const FaultInfo& fault : faultTable()) {
        m_fault->addItem(faultLabel(fault.kind), static_cast<int>(fault.kind));
        m_fault->setItemData(m_fault->count() - 1, faultHint(fault.kind), Qt::ToolTipRole);
    }
    m_fault->setAccessibleName(tr("Fault"));
    m_faultNumber = new NumberField;
    m_faultNumber->setAccessibleName(tr("Size of the fault"));
    m_faultLayer = new QComboBox;
    keepWords(m_faultLayer);
    m_faultLayer->setAccessibleName(tr("Layer"));
    m_faultValue = new QStackedWidget;
    m_faultValue->addWidget(m_faultNumber);
    m_faultValue->addWidget(m_faultLayer);
    m_faultValue->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_inject = new QPushButton(tr("Inject"));
    m_inject->setToolTip(tr("Happens before the next step, is noted as an event, and is repeated by a replay"));
    for (QComboBox* combo : {m_fault, m_faultLayer}) {
        keepWheelForScrolling(combo);
    }
    auto* label = new QLabel(tr("Fault"));
    label->setBuddy(m_fault);
    row->addWidget(label);
    row->addWidget(m_fault);
    row->addWidget(m_faultValue);
    row->addWidget(m_inject);
    connect(m_fault, &QComboBox::currentIndexChanged, this, &StepPanel::chooseFault);
    connect(m_inject, &QPushButton::clicked, this, &StepPanel::inject);
    return part;
}

QWidget* StepPanel::makeSwitches()
{
    auto* part = new QWidget;
    auto* columns = new QHBoxLayout(part);
    columns->setContentsMargins(0, 0, 0, 0);
    columns->setSpacing(24);
    const auto addColumn = [columns](const QString& title) {
        auto* grid = new QGridLayout;
        grid->setVerticalSpacing(4);
        grid->setHorizontalSpacing(8);
        grid->addWidget(heading(title), 0, 0, 1, 2);
        auto* column = new QVBoxLayout;
        column->addLayout(grid);
        column->addStretch(1);
        columns->addLayout(column);
        return grid;
    };
    const std::vector<std::pair<QString, QString>> formats {{tr("FP32"), QStringLiteral("fp32")},
        {tr("FP16"), QStringLiteral("fp16")}, {tr("BF16"), QStringLiteral("bf16")}};
    std::vector<std::pair<QString, QString>> stateFormats = formats;
    stateFormats.insert(stateFormats.begin(), {tr("as the weights"), QStringLiteral("weights")});

    QGridLayout* optimizer = addColumn(tr("Optimizer"));
    addChoice(optimizer, "optimizer.state_format", tr("State"), tr("The format of momentum and moments"), stateFormats);
    addChoice(optimizer, "optimizer.epsilon_format", tr("Epsilon"), tr("The format that Adam's epsilon is rounded to"),
        formats);
    addBox(optimizer, "clip.per_layer", tr("clip each layer by itself"),
        tr("The threshold holds for the norm of each layer's gradient, not of the whole one"));
    addBox(optimizer, "optimizer.extra_step", tr("stray second step"),
        tr("A mistake: optimizer.step() once more behind the scaler's, on the same gradients"));
    addBox(optimizer, "schedule.count_skipped", tr("schedule counts skipped steps"),
        tr("Whether a skipped step advances the learning rate; in PyTorch's usual loop it does"));

    QGridLayout* accumulation = addColumn(tr("Accumulation"));
    addNumber(accumulation, "accumulation.steps", tr("Micro-batches"), tr("Per step"), 1, 4096,
        tr("a whole number from 1 to 4096"));
    addBox(accumulation, "accumulation.divide", tr("divide the loss by their number"),
        tr("Without it the gradient is the sum over micro-batches, not their mean"));
    addBox(accumulation, "accumulation.guard", tr("drop one with a non-finite loss"),
        tr("A bad micro-batch then costs its share, not the whole step"));
    addBox(accumulation, "accumulation.scaler_per_micro_batch", tr("update the scaler after each"),
        tr("A mistake: the scale may move within a step"));
    addBox(accumulation, "accumulation.zero_gradients", tr("zero the gradients before a step"),
        tr("Without it, a mistake, each step adds to what the last one left"));

    QGridLayout* average = addColumn(tr("Average of the weights"));
    addNumber(average, "ema.decay", tr("Decay"), tr("0 keeps no average; 0.999 averages over a thousand steps or so"),
        0, 0.9999999, tr("a number from 0 to below 1"));
    addChoice(average, "ema.format", tr("Format"), tr("That the average is stored in"), formats);
    addBox(average, "ema.count_skipped", tr("counts skipped steps"), tr("Whether a skipped step averages too"));
    addChoice(average, "evaluation.weights", tr("Judge"), tr("Which weights held-out data is answered with"),
        {{tr("the weights"), QStringLiteral("trained")}, {tr("their average"), QStringLiteral("ema")}});
    columns->addStretch(1);
    return part;
}

void StepPanel::addBox(QGridLayout* grid, const char* path, const QString& text, const QString& hint)
{
    auto* box = new QCheckBox(text);
    box->setToolTip(hint);
    grid->addWidget(box, grid->rowCount(), 0, 1, 2);
    connect(box, &QCheckBox::clicked, this, [this, key = std::string(path)](bool isOn) { send(key, isOn); });
    m_switches.push_back({.path = path, .box = box});
}

void StepPanel::addChoice(QGridLayout* grid, const char* path, const QString& name, const QString& hint,
    const std::vector<std::pair<QString, QString>>& choices)
{
    auto* choice = new QComboBox;
    for (const auto& [label, value] : choices) {
        choice->addItem(label, value);
    }
    choice->setToolTip(hint);
    choice->setAccessibleName(name);
    keepWheelForScrolling(choice);
    auto* label = new QLabel(name);
    label->setBuddy(choice);
    const int row = grid->rowCount();
    grid->addWidget(label, row, 0);
    grid->addWidget(choice, row, 1);
    connect(choice, &QComboBox::activated, this,
        [this, choice, key = std::string(path)] { send(key, choice->currentData().toString().toStdString()); });
    m_switches.push_back({.path = path, .choice = choice});
}

void StepPanel::addNumber(QGridLayout* grid, const char* path, const QString& name, const QString& hint, double lowest,
    double highest, const QString& requirement)
{
    auto* number = new NumberField;
    number->setRange(lowest, highest, requirement);
    number->setInteger(lowest == 1);
    number->setHint(hint);
    number->setAccessibleName(name);
    auto* label = new QLabel(name);
    label->setBuddy(number);
    const int row = grid->rowCount();
    grid->addWidget(label, row, 0);
    grid->addWidget(number, row, 1);
    connect(
        number, &NumberField::committed, this, [this, key = std::string(path), isWhole = lowest == 1](double value) {
            send(key, isWhole ? nlohmann::json(static_cast<std::int64_t>(value)) : nlohmann::json(value));
        });
    m_switches.push_back({.path = path, .number = number});
}

void StepPanel::send(const std::string& path, const nlohmann::json& value)
{
    if (m_lane) {
        m_controller->set(*m_lane, path, value);
    }
}

// --- showing ---

void StepPanel::setLane(std::optional<std::uint32_t> lane)
{
    if (lane != m_lane) {
        m_lane = lane;
        m_shown.reset();
        m_shownGraph.reset();
    }
    follow();
}

void StepPanel::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::LanguageChange) {
        m_shown.reset();
        follow();
    }
    QWidget::changeEvent(event);
}

void StepPanel::follow()
{
    const LaneStatus* const now = lane();
    setEnabled(now != nullptr);
    if (now == nullptr) {
        m_title->clear();
        m_notes->clear();
        return;
    }
    m_title->setText(tr("The step of \u201C%1\u201D").arg(m_controller->laneName(*m_lane)));
    if (now->graph != m_shownGraph) {
        showLayers(*now);
        m_shownGraph = now->graph;
    }
    if (now->config == m_shown && now->scale == m_shownScale) {
        return;
    }
    showSwitches(*now);
    showOrder(*now);
    m_shown = now->config;
    m_shownScale = now->scale;
}

void StepPanel::showSwitches(const LaneStatus& lane)
{
    for (const Switch& control : m_switches) {
        const auto waiting = m_controller->pendingValue(lane.id, control.path);
        const nlohmann::json value = waiting ? *waiting : findSetting(control.path)->write(*lane.config);
        if (control.box != nullptr) {
            control.box->setChecked(value.is_boolean() && value.get<bool>());
            markPending(control.box, waiting.has_value());
        } else if (control.choice != nullptr && value.is_string()) {
            control.choice->setCurrentIndex(control.choice->findData(QString::fromStdString(value.get<std::string>())));
            markPending(control.choice, waiting.has_value());
        } else if (control.number != nullptr && value.is_number()) {
            control.number->setValue(value.get<double>());
            control.number->setPending(waiting.has_value());
        }
    }
}

void StepPanel::showOrder(const LaneStatus& lane)
{
    if (!m_controller->pendingValue(lane.id, "order")) {
        m_strip->setOrder(lane.config->order);
    }
    const std::vector<OrderNote> notes = orderNotes(*lane.config, lane.scale);
    QStringList lines;
    for (const OrderNote& note : notes) {
        lines << (note.tone == Tone::Plain ? note.text : signOf(note.tone) + QLatin1Char(' ') + note.text);
    }
    const QString nothing = lane.config->order == rightOrder ? tr("The right order.")
                                                             : tr("Not the usual order, but it changes nothing here.");
    m_notes->setText(lines.isEmpty() ? nothing : lines.join(QLatin1Char('\n')));
    for (const StepBlock block : rightOrder) {
        OrderStrip::Mark mark = block == StepBlock::Clip && lane.config->clip.order == ClipOrder::Off
            ? OrderStrip::Mark::Unused
            : OrderStrip::Mark::Right;
        QStringList hints;
        if (mark == OrderStrip::Mark::Unused) {
            hints << tr("Clipping is off.");
        }
        for (const OrderNote& note : notes) {
            if (note.block == block) {
                mark = note.tone == Tone::Problem     ? OrderStrip::Mark::Wrong
                    : mark == OrderStrip::Mark::Wrong ? mark
                                                      : OrderStrip::Mark::Unusual;
                hints << note.text;
            }
        }
        m_strip->setMark(block, mark, hints.join(QLatin1Char('\n')));
    }
    m_right->setEnabled(lane.config->order != rightOrder);
}

void StepPanel::showLayers(const LaneStatus& lane)
{
    const QString before = m_faultLayer->currentText();
    m_faultLayer->clear();
    for (const Value& value : lane.graph->values()) {
        const QString name = QString::fromStdString(value.name);
        const QString layer = name.left(std::max<qsizetype>(name.lastIndexOf(QLatin1Char('.')), 0));
        if (value.kind == ValueKind::Parameter && !layer.isEmpty() && m_faultLayer->findText(layer) < 0) {
            m_faultLayer->addItem(layer);
        }
    }
    m_faultLayer->setCurrentIndex(std::max(m_faultLayer->findText(before), 0));
}

// --- faults ---

void StepPanel::chooseFault()
{
    const FaultInfo& fault = faultTable()[static_cast<std::size_t>(m_fault->currentIndex())];
    const bool isLayer = fault.kind == FaultKind::GradientInf;
    m_faultValue->setCurrentWidget(isLayer ? static_cast<QWidget*>(m_faultLayer) : m_faultNumber);
    m_fault->setToolTip(faultHint(fault.kind));
    m_faultLayer->setToolTip(faultHint(fault.kind));
    m_faultNumber->setHint(faultHint(fault.kind));
    if (!isLayer) {
        const bool isCount = fault.kind == FaultKind::NanSample;
        const bool isRank = fault.kind == FaultKind::Rank;
        m_faultNumber->setInteger(isCount || isRank);
        m_faultNumber->setRange(isRank ? 0
                : isCount              ? 1
                                       : 1e-30,
            isRank        ? 63
                : isCount ? 65536
                          : 1e30,
            isRank        ? tr("a rank of the lane, counted from 0")
                : isCount ? tr("a whole number from 1 to the batch size")
                          : tr("a factor above 0"));
        m_faultNumber->setValue(nlohmann::json::parse(fault.example).get<double>());
    }
}

void StepPanel::inject()
{
    const FaultInfo& fault = faultTable()[static_cast<std::size_t>(m_fault->currentIndex())];
    const std::string path(fault.path);
    if (fault.kind == FaultKind::GradientInf) {
        send(path, m_faultLayer->currentText().toStdString());
    } else if (fault.kind == FaultKind::NanSample || fault.kind == FaultKind::Rank) {
        send(path, static_cast<std::int64_t>(m_faultNumber->value()));
    } else {
        send(path, m_faultNumber->value());
    }
}

} // namespace mantissa
