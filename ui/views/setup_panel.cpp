#include "ui/views/setup_panel.h"

#include "engine/core/error.h"
#include "engine/train/setting_checks.h"
#include "ui/language/language.h"
#include "ui/views/lane_words.h"
#include "ui/views/number_field.h"
#include "ui/views/quiet_wheel.h"
#include "ui/views/setup_field.h"

#include <QCheckBox>
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
#include <array>
#include <optional>
#include <utility>

namespace mantissa {

namespace {

/// The settings the panel shows, as JSON under the experiment file's names.
nlohmann::json valuesOf(const LaneConfig& lane)
{
    return {{"model.kind", lane.model.kind}, {"model.hidden", lane.model.hidden},
        {"model.activation", lane.model.activation}, {"model.dropout", lane.model.dropout},
        {"model.init_gain", lane.model.initGain}, {"model.width", lane.model.width}, {"model.depth", lane.model.depth},
        {"model.stages", lane.model.stages}, {"model.batch_norm", lane.model.batchNorm},
        {"model.heads", lane.model.heads}, {"model.patch", lane.model.patch}, {"model.pooling", lane.model.pooling},
        {"model.fused_attention", lane.model.fusedAttention}, {"model.tied_head", lane.model.tiedHead},
        {"model.weights", lane.model.weights}, {"data.kind", lane.data.kind}, {"data.batch", lane.data.batch},
        {"data.path", lane.data.path}, {"data.samples", lane.data.samples}, {"data.noise", lane.data.noise},
        {"data.classes", lane.data.classes}, {"data.features", lane.data.features}, {"data.header", lane.data.header},
        {"data.target", lane.data.target}, {"data.standardise", lane.data.standardise},
        {"data.context", lane.data.context}, {"data.stride", lane.data.stride}, {"data.modulus", lane.data.modulus},
        {"data.length", lane.data.length}, {"data.symbols", lane.data.symbols}, {"data.prefetch", lane.data.prefetch},
        {"data.throttle_ms", lane.data.throttleMs}, {"data.validation_share", lane.data.validationShare},
        {"accumulation.steps", lane.accumulation.steps}, {"accumulation.guard", lane.accumulation.guard},
        {"model.checkpointing", lane.model.checkpointing}, {"evaluation.every", lane.evaluation.every},
        {"evaluation.policy", lane.evaluation.policy}, {"steps", lane.steps}, {"seed", lane.seed}, {"loss", lane.loss},
        {"loss_form", lane.lossForm}, {"label_smoothing", lane.labelSmoothing}, {"loss_weight", lane.lossWeight},
        {"optimizer.kind", lane.optimizer.kind}, {"optimizer.lr", lane.optimizer.lr},
        {"optimizer.momentum", lane.optimizer.momentum}, {"optimizer.beta1", lane.optimizer.beta1},
        {"optimizer.beta2", lane.optimizer.beta2}, {"optimizer.epsilon", lane.optimizer.epsilon},
        {"optimizer.weight_decay", lane.optimizer.weightDecay}, {"schedule.kind", lane.schedule.kind},
        {"schedule.warmup_steps", lane.schedule.warmupSteps}, {"parallel.ranks", lane.parallel.ranks},
        {"parallel.shards", lane.parallel.shards}, {"parallel.communication", lane.parallel.communication},
        {"parallel.divide", lane.parallel.divide}, {"parallel.gradients", lane.parallel.gradients},
        {"parallel.scaler", lane.parallel.scaler}, {"parallel.every_micro_batch", lane.parallel.everyMicroBatch},
        {"parallel.batch_norm", lane.parallel.batchNorm}};
}

/// Settings whose defaults another kind of model changes.
constexpr std::array dependsOnKind {"model.activation", "model.width", "model.depth", "model.stages"};

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
    , m_offer(new QPushButton)
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
    makeRankFields();

    m_explanation->setWordWrap(true);
    m_explanation->setContentsMargins(12, 0, 12, 0);
    m_explanation->setAccessibleName(tr("What Apply does"));
    column->addWidget(m_explanation);
    auto* offer = new QHBoxLayout;
    offer->setContentsMargins(12, 0, 12, 0);
    offer->addWidget(m_offer);
    offer->addStretch(1);
    column->addLayout(offer);
    connect(m_offer, &QPushButton::clicked, this, [this] {
        const QString kind = QString::fromStdString(modelFor(present("data.kind"), present("model.kind")));
        qobject_cast<QComboBox*>(control("model.kind"))->setCurrentText(kind);
    });
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(12, 0, 12, 8);
    buttons->setSpacing(8);
    buttons->addWidget(m_apply, 1);
    buttons->addWidget(m_revert);
    column->addLayout(buttons);
    connect(m_apply, &QPushButton::clicked, this, &SetupPanel::apply);
    connect(m_revert, &QPushButton::clicked, this, [this] { show(m_document); });
    edited();
    whenLanguageChanges(this, [this] {
        for (const auto& field : m_fields) {
            field->tip = inPresentLanguage(field->tip, {metaObject()->className()});
        }
        updateRelevance();
    });
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
    keepWords(combo);
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

void SetupPanel::addFlag(const std::string& path, const QString& name, const QString& tip)
{
    auto* box = new QCheckBox;
    Field& field = addField(path, name, tip, box);
    field.fill = [box](const nlohmann::json& value) { box->setChecked(value.get<bool>()); };
    field.read = [box] { return std::optional<nlohmann::json>(box->isChecked()); };
    field.label->setBuddy(box);
    m_form->addRow(field.label, box);
    connect(box, &QCheckBox::toggled, this, [this, &field] {
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

void SetupPanel::addPath(const std::string& path, const QString& name, const QString& tip,
    const std::function<QString(const QString& before)>& choose)
{
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    auto* line = new QLineEdit;
    auto* browse = new QToolButton;
    browse->setText(QStringLiteral("\u2026"));
    browse->setAccessibleName(tr("Choose: %1").arg(name));
    browse->setToolTip(tr("Choose file or folder"));
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
    connect(browse, &QToolButton::clicked, this, [choose, line, touch] {
        const QString chosen = choose(line->text());
        if (!chosen.isEmpty()) {
            line->setText(chosen);
            touch();
        }
    });
}

QString SetupPanel::chooseData(const QString& before)
{
    const std::string set = present("data.kind");
    if (dataKind(set).path == DataPath::Folder) {
        return QFileDialog::getExistingDirectory(this, tr("Folder with the data files"), before);
    }
    return QFileDialog::getOpenFileName(this, tr("Data file"), before,
        set == "csv" ? tr("Tables (*.csv *.tsv *.txt *.gz);;All files (*)")
                     : tr("Texts (*.txt *.md *.gz);;All files (*)"));
}

QString SetupPanel::chooseWeights(const QString& before)
{
    return QFileDialog::getOpenFileName(this, tr("Weights"), before, tr("Safetensors (*.safetensors);;All files (*)"));
}

void SetupPanel::addText(const std::string& path, const QString& name, const QString& tip)
{
    auto* line = new QLineEdit;
    Field& field = addField(path, name, tip, line);
    field.fill
        = [line](const nlohmann::json& value) { line->setText(QString::fromStdString(value.get<std::string>())); };
    field.read = [line] { return std::optional<nlohmann::json>(line->text().toStdString()); };
    field.label->setBuddy(line);
    m_form->addRow(field.label, line);
    connect(line, &QLineEdit::textEdited, this, [this, &field] {
        field.isTouched = true;
        edited();
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
    m_shownKind = present("model.kind");
    m_isFilling = false;
    edited();
}

std::vector<std::pair<std::string, nlohmann::json>> SetupPanel::changes() const
{
    std::vector<std::pair<std::string, nlohmann::json>> result;
    if (isKindChanged()) {
        // A new kind begins with its own defaults, and without the list of layers that another was built from.
        result.emplace_back("model.layers", nullptr);
        for (const char* path : dependsOnKind) {
            result.emplace_back(path, nullptr);
        }
    }
    for (const auto& field : m_fields) {
        if (!field->isTouched) {
            continue;
        }
        const auto value = field->read();
        if (value && (*value != field->shown || !field->isShared)) {
            result.emplace_back(field->path, *value);
            if (field->path == "model.weights") {
                result.emplace_back("model.weights_hash", nullptr); // that of the file before
            }
        }
    }
    return result;
}

bool SetupPanel::isKindChanged() const
{
    const Field* kind = find("model.kind");
    return kind->isTouched && (!kind->isShared || *kind->read() != kind->shown);
}

void SetupPanel::showDefaultsOfKind()
{
    if (std::exchange(m_shownKind, present("model.kind")) == present("model.kind")) {
        return;
    }
    LaneConfig lane;
    if (isKindChanged()) {
        lane.model = defaultModel(present("model.kind"));
    } else if (!m_document.lanes().empty()) {
        lane = m_document.lanes().front();
    }
    const nlohmann::json values = valuesOf(lane);
    m_isFilling = true;
    for (const char* path : dependsOnKind) {
        if (Field* field = find(path); !field->isTouched) {
            field->fill(values.at(path));
        }
    }
    m_isFilling = false;
}

bool SetupPanel::isEdited() const
{
    return !changes().empty();
}

SetupPanel::Field* SetupPanel::find(const std::string& path) const
{
    const auto found
        = std::find_if(m_fields.begin(), m_fields.end(), [&path](const auto& field) { return field->path == path; });
    return found == m_fields.end() ? nullptr : found->get();
}

QWidget* SetupPanel::control(const std::string& path) const
{
    const Field* field = find(path);
    return field == nullptr ? nullptr : field->control;
}

std::string SetupPanel::present(const std::string& path) const
{
    const Field* field = find(path);
    const auto value = field == nullptr ? std::nullopt : field->read();
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

void SetupPanel::edited()
{
    if (m_isFilling) {
        return;
    }
    showDefaultsOfKind();
    const auto edits = changes();
    const bool isMoreStepsOnly = edits.size() == 1 && edits.front().first == "steps" && !m_document.lanes().empty()
        && edits.front().second.get<std::int64_t>() > m_document.lanes().front().steps;
    m_apply->setEnabled(!edits.empty());
    m_revert->setEnabled(!edits.empty());
    m_apply->setText(isMoreStepsOnly ? tr("Apply (trains on)") : tr("Apply (starts new runs)"));
    explain(edits, isMoreStepsOnly);
    updateRelevance();
}

void SetupPanel::explain(const std::vector<std::pair<std::string, nlohmann::json>>& edits, bool isMoreStepsOnly)
{
    if (offerModel()) {
        return;
    }
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
}

bool SetupPanel::offerModel()
{
    const std::string set = present("data.kind");
    const std::string model = present("model.kind");
    const std::string better = modelFor(set, model);
    m_offer->setVisible(!better.empty());
    if (better.empty()) {
        return false;
    }
    const QString words = dataKind(set).isTokens
        ? tr("%1 is sequences of tokens, which a model of the kind %2 does not read.")
        : tr("%1 is numbers; a model of the kind %2 reads sequences of tokens.");
    m_explanation->setText(words.arg(QString::fromStdString(set), QString::fromStdString(model)));
    m_explanation->setVisible(true);
    m_offer->setText(tr("Use %1").arg(QString::fromStdString(better)));
    return true;
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
