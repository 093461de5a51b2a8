#include "ui/views/setup_panel.h"

#include "engine/core/error.h"
#include "ui/views/lane_words.h"
#include "ui/views/number_field.h"
#include "ui/views/quiet_wheel.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <optional>

namespace mantissa {

struct SetupPanel::Field
{
    std::string path;
    QString tip;
    QWidget* control = nullptr; ///< what is focused and disabled
    QLabel* label = nullptr;
    std::function<void(const nlohmann::json&)> fill;
    std::function<std::optional<nlohmann::json>()> read; ///< no value: what is typed makes no sense yet
    nlohmann::json shown; ///< the value filled in
    bool isShared = true; ///< all lanes have it
    bool isTouched = false; ///< a person changed it
};

namespace {

/// The settings the panel shows, as JSON under the experiment file's names.
nlohmann::json valuesOf(const LaneConfig& lane)
{
    return {{"model.kind", lane.model.kind}, {"model.hidden", lane.model.hidden},
        {"model.activation", lane.model.activation}, {"model.dropout", lane.model.dropout},
        {"model.init_gain", lane.model.initGain}, {"data.kind", lane.data.kind}, {"data.batch", lane.data.batch},
        {"data.path", lane.data.path}, {"data.samples", lane.data.samples}, {"data.noise", lane.data.noise},
        {"data.classes", lane.data.classes}, {"data.features", lane.data.features}, {"steps", lane.steps},
        {"seed", lane.seed}, {"loss", lane.loss}, {"loss_weight", lane.lossWeight},
        {"optimizer.kind", lane.optimizer.kind}, {"optimizer.lr", lane.optimizer.lr},
        {"optimizer.momentum", lane.optimizer.momentum}, {"optimizer.beta1", lane.optimizer.beta1},
        {"optimizer.beta2", lane.optimizer.beta2}, {"optimizer.epsilon", lane.optimizer.epsilon},
        {"optimizer.weight_decay", lane.optimizer.weightDecay}, {"schedule.kind", lane.schedule.kind},
        {"schedule.warmup_steps", lane.schedule.warmupSteps}};
}

std::optional<nlohmann::json> parseWidths(const QString& text)
{
    nlohmann::json widths = nlohmann::json::array();
    for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        bool isNumber = false;
        const qlonglong width = part.trimmed().toLongLong(&isNumber);
        if (!isNumber || width < 1) {
            return std::nullopt;
        }
        widths.push_back(width);
    }
    return widths;
}

QString widthsText(const nlohmann::json& widths)
{
    QStringList parts;
    for (const nlohmann::json& width : widths) {
        parts << QString::number(width.get<std::int64_t>());
    }
    return parts.join(QStringLiteral(", "));
}

} // namespace

SetupPanel::SetupPanel(QWidget* parent)
    : QWidget(parent)
    , m_form(nullptr)
    , m_explanation(new QLabel)
    , m_apply(new QPushButton(tr("Apply (starts new runs)")))
    , m_revert(new QPushButton(tr("Revert")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* content = new QWidget;
    m_form = new QFormLayout(content);
    m_form->setContentsMargins(12, 8, 12, 8);
    m_form->setHorizontalSpacing(8);
    m_form->setVerticalSpacing(4);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_form->setLabelAlignment(Qt::AlignLeft);
    scroll->setWidget(content);
    column->addWidget(scroll, 1);

    makeModelFields();
    makeDataFields();
    makeTrainingFields();
    makeOptimizerFields();

    m_explanation->setWordWrap(true);
    m_explanation->setContentsMargins(12, 0, 12, 0);
    m_explanation->setAccessibleName(tr("What Apply does"));
    column->addWidget(m_explanation);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(12, 0, 12, 8);
    buttons->setSpacing(8);
    buttons->addWidget(m_apply, 1);
    buttons->addWidget(m_revert);
    column->addLayout(buttons);
    connect(m_apply, &QPushButton::clicked, this, &SetupPanel::apply);
    connect(m_revert, &QPushButton::clicked, this, [this] { show(m_document); });
    edited();
}

SetupPanel::~SetupPanel() = default;

void SetupPanel::addHeading(const QString& text)
{
    auto* heading = new QLabel(text);
    QFont bold = heading->font();
    bold.setBold(true);
    heading->setFont(bold);
    heading->setContentsMargins(0, m_fields.empty() ? 0 : 8, 0, 0);
    m_form->addRow(heading);
}

SetupPanel::Field& SetupPanel::addField(
    const std::string& path, const QString& name, const QString& tip, QWidget* control)
{
    auto field = std::make_unique<Field>();
    field->path = path;
    field->tip = tip;
    field->control = control;
    field->label = new QLabel(name);
    control->setAccessibleName(name);
    control->setToolTip(tip);
    field->label->setToolTip(tip);
    m_fields.push_back(std::move(field));
    return *m_fields.back();
}

void SetupPanel::addCombo(const std::string& path, const QString& name, const QString& tip, const QStringList& choices)
{
    auto* combo = new QComboBox;
    combo->addItems(choices);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(6);
    keepWheelForScrolling(combo);
    Field& field = addField(path, name, tip, combo);
    field.fill = [combo](const nlohmann::json& value) {
        const QString text = QString::fromStdString(value.get<std::string>());
        if (combo->findText(text) < 0) {
            combo->addItem(text);
        }
        combo->setCurrentText(text);
    };
    field.read = [combo] { return std::optional<nlohmann::json>(combo->currentText().toStdString()); };
    field.label->setBuddy(combo);
    m_form->addRow(field.label, combo);
    connect(combo, &QComboBox::currentIndexChanged, this, [this, &field] {
        field.isTouched = field.isTouched || !m_isFilling;
        edited();
    });
}

void SetupPanel::addNumber(const std::string& path, const QString& name, const QString& tip, bool isInteger,
    double minimum, double maximum, const QString& requirement)
{
    auto* number = new NumberField;
    number->setInteger(isInteger);
    number->setRange(minimum, maximum, requirement);
    Field& field = addField(path, name, tip, number);
    number->setHint(tip);
    field.fill = [number](const nlohmann::json& value) { number->setValue(value.get<double>()); };
    field.read = [number, isInteger] {
        return std::optional<nlohmann::json>(
            isInteger ? nlohmann::json(static_cast<std::int64_t>(number->value())) : nlohmann::json(number->value()));
    };
    field.label->setBuddy(number);
    m_form->addRow(field.label, number);
    connect(number, &NumberField::committed, this, [this, &field] {
        field.isTouched = true;
        edited();
    });
}

void SetupPanel::addFolder(const std::string& path, const QString& name, const QString& tip)
{
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    auto* line = new QLineEdit;
    auto* browse = new QToolButton;
    browse->setText(QStringLiteral("\u2026"));
    browse->setAccessibleName(tr("Choose folder"));
    browse->setToolTip(tr("Choose folder"));
    layout->addWidget(line, 1);
    layout->addWidget(browse);
    row->setFocusProxy(line);
    Field& field = addField(path, name, tip, row);
    line->setAccessibleName(name);
    field.fill
        = [line](const nlohmann::json& value) { line->setText(QString::fromStdString(value.get<std::string>())); };
    field.read = [line] { return std::optional<nlohmann::json>(line->text().toStdString()); };
    field.label->setBuddy(line);
    m_form->addRow(field.label, row);
    const auto touch = [this, &field] {
        field.isTouched = true;
        edited();
    };
    connect(line, &QLineEdit::textEdited, this, touch);
    connect(browse, &QToolButton::clicked, this, [this, line, touch] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder with the data files"), line->text());
        if (!folder.isEmpty()) {
            line->setText(folder);
            touch();
        }
    });
}

void SetupPanel::addHidden(const std::string& path, const QString& name, const QString& tip)
{
    auto* line = new QLineEdit;
    Field& field = addField(path, name, tip, line);
    field.fill = [line](const nlohmann::json& value) {
        line->setText(widthsText(value));
        line->setCursorPosition(0);
    };
    field.read = [line] { return parseWidths(line->text()); };
    field.label->setBuddy(line);
    m_form->addRow(field.label, line);
    connect(line, &QLineEdit::textEdited, this, [this, &field] {
        field.isTouched = true;
        edited();
    });
}

void SetupPanel::makeModelFields()
{
    addHeading(tr("Model"));
    addCombo("model.kind", tr("Kind"), tr("Multilayer perceptron"), {QStringLiteral("mlp")});
    addHidden("model.hidden", tr("Hidden"), tr("Widths of the hidden layers, separated by commas"));
    addCombo("model.activation", tr("Activation"), tr("Between the layers"),
        {QStringLiteral("relu"), QStringLiteral("gelu"), QStringLiteral("gelu_tanh"), QStringLiteral("silu"),
            QStringLiteral("tanh"), QStringLiteral("sigmoid")});
    addNumber("model.dropout", tr("Dropout"), tr("Share of activations set to zero while training"), false, 0, 0.999,
        tr("a share from 0 to below 1"));
    addNumber("model.init_gain", tr("Init gain"), tr("Multiplies PyTorch's default initial weights"), false, 1e-30,
        1e30, tr("a number above 0"));
}

void SetupPanel::makeDataFields()
{
    addHeading(tr("Data"));
    addCombo("data.kind", tr("Set"), tr("What to learn"),
        {QStringLiteral("digits"), QStringLiteral("spirals"), QStringLiteral("moons"), QStringLiteral("regression"),
            QStringLiteral("mnist"), QStringLiteral("fashion_mnist")});
    addNumber("data.batch", tr("Batch"), tr("Samples per step"), true, 1, 1e6, tr("a whole number, 1 or more"));
    addFolder("data.path", tr("Folder"), tr("Where the IDX files are"));
    addNumber(
        "data.samples", tr("Samples"), tr("Size of a generated set"), true, 1, 1e7, tr("a whole number, 1 or more"));
    addNumber("data.noise", tr("Noise"), tr("Of a generated set"), false, 0, 1e6, tr("0 or more"));
    addNumber("data.classes", tr("Classes"), tr("Arms of the spirals"), true, 2, 1000, tr("a whole number, 2 or more"));
    addNumber(
        "data.features", tr("Features"), tr("Inputs of the regression"), true, 1, 1e5, tr("a whole number, 1 or more"));
}

void SetupPanel::makeTrainingFields()
{
    addHeading(tr("Training"));
    addNumber("steps", tr("Steps"), tr("Optimizer steps until a lane is finished"), true, 1, 1e9,
        tr("a whole number, 1 or more"));
    addNumber("seed", tr("Seed"), tr("Decides initial weights, batches and dropout"), true, 0, 9e15,
        tr("a whole number, 0 or more"));
    addCombo("loss", tr("Loss"), tr("What is minimised"),
        {QStringLiteral("cross_entropy"), QStringLiteral("mse"), QStringLiteral("bce_with_logits")});
    addNumber("loss_weight", tr("Loss weight"), tr("Multiplies the loss; small values push gradients toward underflow"),
        false, 1e-30, 1e30, tr("a number above 0"));
}

void SetupPanel::makeOptimizerFields()
{
    addHeading(tr("Optimizer"));
    addCombo("optimizer.kind", tr("Kind"), tr("The update rule, on FP32 master weights"),
        {QStringLiteral("sgd"), QStringLiteral("adam"), QStringLiteral("adamw")});
    addNumber("optimizer.lr", tr("Rate"),
        tr("Learning rate of all lanes; each lane's card changes its own while it trains"), false, 0, 1e30,
        tr("0 or more"));
    addNumber(
        "optimizer.momentum", tr("Momentum"), tr("Of SGD"), false, 0, 0.9999999, tr("a number from 0 to below 1"));
    addNumber("optimizer.beta1", tr("Beta 1"), tr("Of Adam"), false, 0, 0.9999999, tr("a number from 0 to below 1"));
    addNumber("optimizer.beta2", tr("Beta 2"), tr("Of Adam"), false, 0, 0.9999999, tr("a number from 0 to below 1"));
    addNumber("optimizer.epsilon", tr("Epsilon"), tr("Of Adam"), false, 0, 1e30, tr("0 or more"));
    addNumber(
        "optimizer.weight_decay", tr("Weight decay"), tr("Pulls weights toward zero"), false, 0, 1e30, tr("0 or more"));
    addCombo("schedule.kind", tr("Schedule"), tr("How the rate moves over the steps"),
        {QStringLiteral("constant"), QStringLiteral("warmup"), QStringLiteral("cosine"), QStringLiteral("step")});
    addNumber("schedule.warmup_steps", tr("Warm-up"), tr("Steps over which the rate rises to its full value"), true, 0,
        1e9, tr("a whole number, 0 or more"));
}

void SetupPanel::show(const ExperimentDocument& document)
{
    m_document = document;
    if (document.lanes().empty()) {
        setEnabled(false);
        return;
    }
    setEnabled(true);
    m_isFilling = true;
    const nlohmann::json first = valuesOf(document.lanes().front());
    std::vector<nlohmann::json> others;
    for (const LaneConfig& lane : document.lanes()) {
        others.push_back(valuesOf(lane));
    }
    for (const auto& field : m_fields) {
        field->shown = first.at(field->path);
        field->isTouched = false;
        field->isShared = std::all_of(others.begin(), others.end(),
            [&field](const nlohmann::json& values) { return values.at(field->path) == field->shown; });
        field->fill(field->shown);
        QFont font = field->label->font();
        font.setItalic(!field->isShared);
        field->label->setFont(font);
    }
    m_isFilling = false;
    edited();
}

std::vector<std::pair<std::string, nlohmann::json>> SetupPanel::changes() const
{
    std::vector<std::pair<std::string, nlohmann::json>> result;
    for (const auto& field : m_fields) {
        if (!field->isTouched) {
            continue;
        }
        const auto value = field->read();
        if (value && (*value != field->shown || !field->isShared)) {
            result.emplace_back(field->path, *value);
        }
    }
    return result;
}

bool SetupPanel::isEdited() const
{
    return !changes().empty();
}

QWidget* SetupPanel::control(const std::string& path) const
{
    for (const auto& field : m_fields) {
        if (field->path == path) {
            return field->control;
        }
    }
    return nullptr;
}

std::string SetupPanel::present(const std::string& path) const
{
    for (const auto& field : m_fields) {
        if (field->path == path) {
            const auto value = field->read();
            return value && value->is_string() ? value->get<std::string>() : std::string();
        }
    }
    return {};
}

void SetupPanel::edited()
{
    if (m_isFilling) {
        return;
    }
    const auto edits = changes();
    const bool isMoreStepsOnly = edits.size() == 1 && edits.front().first == "steps" && !m_document.lanes().empty()
        && edits.front().second.get<std::int64_t>() > m_document.lanes().front().steps;
    m_apply->setEnabled(!edits.empty());
    m_revert->setEnabled(!edits.empty());
    m_apply->setText(isMoreStepsOnly ? tr("Apply (trains on)") : tr("Apply (starts new runs)"));
    if (isMoreStepsOnly) {
        m_explanation->setText(tr("More steps need no new runs: the lanes go on where they are."));
    } else if (!edits.empty()) {
        m_explanation->setText(
            tr("These settings shape weights, batches or optimizer state, so every lane starts again "
               "at step 0. The present curves come back with Undo."));
    } else {
        const bool isMixed
            = std::any_of(m_fields.begin(), m_fields.end(), [](const auto& field) { return !field->isShared; });
        m_explanation->setText(
            isMixed ? tr("Names in italics differ between lanes; the first lane's value is shown.") : QString());
    }
    m_explanation->setVisible(!m_explanation->text().isEmpty());
    updateRelevance();
}

void SetupPanel::updateRelevance()
{
    const std::string set = present("data.kind");
    const bool isFromFiles = set == "mnist" || set == "fashion_mnist";
    const bool isGenerated = set == "spirals" || set == "moons" || set == "regression";
    const bool isSgd = present("optimizer.kind") == "sgd";
    const auto use = [this](const std::string& path, bool isUsed, const QString& whyNot) {
        for (const auto& field : m_fields) {
            if (field->path != path) {
                continue;
            }
            field->control->setEnabled(isUsed);
            const QString words = isUsed ? field->tip : whyNot;
            if (auto* number = qobject_cast<NumberField*>(field->control)) {
                number->setHint(words);
            } else {
                field->control->setToolTip(words);
            }
            field->label->setToolTip(words);
        }
    };
    use("data.path", isFromFiles, tr("No effect: this set needs no files."));
    use("data.samples", isGenerated, tr("No effect: this set has a fixed size."));
    use("data.noise", isGenerated, tr("No effect: this set is not generated."));
    use("data.classes", set == "spirals", tr("No effect: only spirals have arms."));
    use("data.features", set == "regression", tr("No effect: only the regression's inputs can be chosen."));
    use("optimizer.momentum", isSgd, tr("No effect: Adam has betas instead."));
    for (const char* path : {"optimizer.beta1", "optimizer.beta2", "optimizer.epsilon"}) {
        use(path, !isSgd, tr("No effect: SGD has none."));
    }
}

void SetupPanel::showProblem(const QString& why)
{
    m_explanation->setText(signOf(Tone::Problem) + QLatin1Char(' ') + why);
    m_explanation->setVisible(true);
}

void SetupPanel::apply()
{
    const auto edits = changes();
    if (edits.empty()) {
        return;
    }
    if (edits.size() == 1 && edits.front().first == "steps"
        && edits.front().second.get<std::int64_t>() > m_document.lanes().front().steps) {
        emit extendWanted(edits.front().second.get<std::int64_t>());
        return;
    }
    ExperimentDocument document = m_document;
    try {
        document.setForAll(edits);
    } catch (const Error& error) {
        showProblem(QString::fromUtf8(error.what()));
        return;
    }
    emit applied(document);
}

} // namespace mantissa
