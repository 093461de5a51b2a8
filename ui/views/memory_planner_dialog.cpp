#include "ui/views/memory_planner_dialog.h"

#include "engine/core/error.h"
#include "ui/language/language.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/lane_words.h"
#include "ui/views/number_field.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QTableWidget>
#include <QThreadPool>
#include <QVBoxLayout>

#include <array>
#include <exception>

namespace mantissa {

namespace {

constexpr std::array policies {"fp32", "fp16", "bf16", "pure-bf16"};
constexpr double gib = 1024.0 * 1024.0 * 1024.0;

struct Row
{
    const char* title;
    const char* tip;
    std::uint64_t (*bytes)(const MemoryBytes&);
};

constexpr std::array rows {
    Row {QT_TRANSLATE_NOOP("MemoryPlanner", "Weights"), QT_TRANSLATE_NOOP("MemoryPlanner", "The parameters themselves"),
        [](const MemoryBytes& bytes) { return bytes.weights; }},
    Row {QT_TRANSLATE_NOOP("MemoryPlanner", "16-bit copies"),
        QT_TRANSLATE_NOOP("MemoryPlanner", "What autocast makes of FP32 weights and keeps for the step"),
        [](const MemoryBytes& bytes) { return bytes.copies; }},
    Row {QT_TRANSLATE_NOOP("MemoryPlanner", "Gradients"),
        QT_TRANSLATE_NOOP("MemoryPlanner", "One number for each parameter, in the parameter's format"),
        [](const MemoryBytes& bytes) { return bytes.gradients; }},
    Row {QT_TRANSLATE_NOOP("MemoryPlanner", "Optimizer"),
        QT_TRANSLATE_NOOP("MemoryPlanner", "Momentum, or Adam's two moments"),
        [](const MemoryBytes& bytes) { return bytes.optimizer; }},
    Row {QT_TRANSLATE_NOOP("MemoryPlanner", "Activations"),
        QT_TRANSLATE_NOOP("MemoryPlanner", "The peak of what lives between forward and backward pass"),
        [](const MemoryBytes& bytes) { return bytes.activations; }},
    Row {QT_TRANSLATE_NOOP("MemoryPlanner", "Together"), "", [](const MemoryBytes& bytes) { return bytes.total(); }},
};
constexpr int fitsRow = static_cast<int>(rows.size());

QString words(const char* text)
{
    return QCoreApplication::translate("MemoryPlanner", text);
}

QTableWidgetItem* cell(const QString& text)
{
    auto* item = new QTableWidgetItem(text);
    item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return item;
}

} // namespace

MemoryPlannerDialog::MemoryPlannerDialog(QWidget* parent)
    : QDialog(parent)
    , m_parameters(new QLineEdit(QStringLiteral("7B")))
    , m_context(nullptr)
    , m_batch(nullptr)
    , m_vocabulary(nullptr)
    , m_optimizer(new QComboBox)
    , m_fused(new QCheckBox(tr("fused attention")))
    , m_checkpointing(new QCheckBox(tr("activation checkpointing")))
    , m_device(nullptr)
    , m_table(new QTableWidget(fitsRow + 1, static_cast<int>(policies.size())))
    , m_assumptions(new QLabel)
{
    keepWords(m_optimizer);
    setWindowTitle(tr("Memory planner"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(12);
    auto* top = new QHBoxLayout;
    top->setSpacing(24);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(8);
    form->setVerticalSpacing(4);
    top->addLayout(form);
    makeFields(form);

    QStringList titles;
    for (const Row& row : rows) {
        titles << words(row.title);
    }
    m_table->setVerticalHeaderLabels(titles << QString());
    QStringList columns;
    for (const char* policy : policies) {
        columns << policyLabel(policy);
    }
    m_table->setHorizontalHeaderLabels(columns);
    for (int row = 0; row < fitsRow; ++row) {
        m_table->verticalHeaderItem(row)->setToolTip(words(rows[static_cast<std::size_t>(row)].tip));
    }
    m_table->setAccessibleName(tr("Bytes by kind of memory and precision"));
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setFont(tabularFont(m_table->font()));
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->setTabKeyNavigation(false);
    constexpr int padding = 6;
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + padding);
    m_table->setMinimumHeight(m_table->horizontalHeader()->sizeHint().height()
        + (fitsRow + 1) * m_table->verticalHeader()->defaultSectionSize() + 2 * m_table->frameWidth());
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    top->addWidget(m_table, 1);
    column->addLayout(top);

    m_assumptions->setWordWrap(true);
    m_assumptions->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_assumptions->setAccessibleName(tr("Assumptions"));
    column->addWidget(m_assumptions, 1);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QPushButton* copy = buttons->addButton(tr("&Copy table"), QDialogButtonBox::ActionRole);
    copy->setToolTip(tr("Exact bytes, tab-separated"));
    connect(copy, &QPushButton::clicked, this, &MemoryPlannerDialog::copyTable);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    column->addWidget(buttons);
    const QFontMetrics metrics = fontMetrics();
    resize(metrics.averageCharWidth() * 130, metrics.height() * 30);
    ask();
    whenLanguageChanges(this, [this] { ask(); });
}

NumberField* MemoryPlannerDialog::addNumber(
    QFormLayout* form, const QString& name, const QString& tip, double value, double least)
{
    constexpr double most = 1 << 24;
    auto* field = new NumberField;
    field->setAccessibleName(withoutAccessKey(name));
    field->setHint(tip);
    field->setInteger(true);
    field->setRange(least, most, tr("a whole number from %1 to %2").arg(least).arg(static_cast<qint64>(most)));
    field->setValue(value);
    form->addRow(name, field);
    return field;
}

void MemoryPlannerDialog::makeFields(QFormLayout* form)
{
    m_parameters->setAccessibleName(tr("Parameters"));
    m_parameters->setToolTip(tr("How many weights the model has, as in 7B, 125M or 1.3e9"));
    form->addRow(tr("&Parameters"), m_parameters);
    m_context = addNumber(form, tr("Conte&xt"), tr("Tokens in a sample"), 2048, 1);
    m_batch = addNumber(form, tr("&Batch"), tr("Samples in a micro-batch"), 1, 1);
    m_vocabulary = addNumber(form, tr("&Vocabulary"), tr("Tokens there are"), 32000, 2);
    m_optimizer->addItems({QStringLiteral("adamw"), QStringLiteral("adam"), QStringLiteral("sgd")});
    m_optimizer->setAccessibleName(tr("Optimizer"));
    m_optimizer->setToolTip(tr("Adam and AdamW keep two numbers for each weight; SGD with momentum keeps one"));
    form->addRow(tr("&Optimizer"), m_optimizer);
    m_fused->setChecked(true);
    m_fused->setToolTip(tr("The scores, tokens x tokens, are never stored"));
    form->addRow(QString(), m_fused);
    m_checkpointing->setToolTip(tr("Of every layer only the output is kept; the rest is computed again"));
    form->addRow(QString(), m_checkpointing);
    m_device = addNumber(form, tr("&Device, GiB"), tr("Memory of the device that it should fit into"), 80, 1);

    connect(m_parameters, &QLineEdit::textChanged, this, &MemoryPlannerDialog::ask);
    for (NumberField* field : {m_context, m_batch, m_vocabulary}) {
        connect(field, &NumberField::committed, this, &MemoryPlannerDialog::ask);
    }
    connect(m_optimizer, &QComboBox::currentTextChanged, this, &MemoryPlannerDialog::ask);
    connect(m_fused, &QCheckBox::toggled, this, &MemoryPlannerDialog::ask);
    connect(m_checkpointing, &QCheckBox::toggled, this, &MemoryPlannerDialog::ask);
    connect(m_device, &NumberField::committed, this, &MemoryPlannerDialog::showWhatFits);
}

void MemoryPlannerDialog::ask()
{
    ++m_question;
    const std::optional<std::int64_t> parameters = parameterCount(m_parameters->text().trimmed().toStdString());
    if (!parameters) {
        m_assumptions->setText(signOf(Tone::Problem) + QLatin1Char(' ')
            + tr("\u201C%1\u201D is not a number of parameters from 100k to 10T; write 7B, 125M or 1.3e9.")
                  .arg(m_parameters->text()));
        return;
    }
    DecoderTraining training;
    training.batch = static_cast<std::int64_t>(m_batch->value());
    training.optimizer = m_optimizer->currentText().toStdString();
    training.fusedAttention = m_fused->isChecked();
    training.checkpointing = m_checkpointing->isChecked();
    const auto vocabulary = static_cast<std::int64_t>(m_vocabulary->value());
    const auto context = static_cast<std::int64_t>(m_context->value());
    m_assumptions->setText(tr("Planning\u2026"));
    // The largest models take seconds; a dialog that is closed meanwhile is not waited for.
    QThreadPool::globalInstance()->start([dialog = QPointer<MemoryPlannerDialog>(this), question = m_question, training,
                                             parameters = *parameters, vocabulary, context]() mutable {
        Plans plans;
        QString problem;
        try {
            training.shape = decoderOf(parameters, vocabulary, context);
            for (const char* policy : policies) {
                training.policy = policy;
                plans.emplace_back(policy, plannedBytes(training));
            }
        } catch (const std::exception& error) {
            problem = QString::fromUtf8(error.what());
        }
        QMetaObject::invokeMethod(qApp, [dialog, question, training, plans, problem] {
            if (dialog.isNull() || question != dialog->m_question) {
                return;
            }
            if (problem.isEmpty()) {
                dialog->showAnswer(training, plans);
            } else {
                dialog->m_assumptions->setText(signOf(Tone::Problem) + QLatin1Char(' ') + problem);
            }
        });
    });
}

void MemoryPlannerDialog::showAnswer(const DecoderTraining& training, const Plans& plans)
{
    m_plans = plans;
    for (int column = 0; column < m_table->columnCount(); ++column) {
        const MemoryBytes& bytes = plans[static_cast<std::size_t>(column)].second;
        for (int row = 0; row < fitsRow; ++row) {
            m_table->setItem(row, column, cell(formatBytes(rows[static_cast<std::size_t>(row)].bytes(bytes))));
        }
    }
    showWhatFits();
    QString text;
    for (const std::string& assumption : assumptionsOf(training)) {
        text += QStringLiteral("<li>%1</li>").arg(QString::fromStdString(assumption).toHtmlEscaped());
    }
    m_assumptions->setText(tr("These figures rest on:") + QStringLiteral("<ul>%1</ul>").arg(text));
    emit answered();
}

void MemoryPlannerDialog::showWhatFits()
{
    const double device = m_device->value();
    m_table->verticalHeaderItem(fitsRow)->setText(tr("In %1 GiB").arg(device));
    for (std::size_t column = 0; column < m_plans.size(); ++column) {
        const double devices = static_cast<double>(m_plans[column].second.total()) / (device * gib);
        m_table->setItem(fitsRow, static_cast<int>(column),
            cell(devices <= 1 ? signOf(Tone::Good) + QLatin1Char(' ') + tr("fits")
                              : signOf(Tone::Problem) + QLatin1Char(' ')
                        + tr("%1 times as much").arg(locale().toString(devices, 'g', 2))));
    }
}

void MemoryPlannerDialog::copyTable() const
{
    QString text = tr("bytes");
    for (const auto& [policy, bytes] : m_plans) {
        text += QLatin1Char('\t') + QString::fromStdString(policy);
    }
    for (const Row& row : rows) {
        text += QLatin1Char('\n') + words(row.title);
        for (const auto& [policy, bytes] : m_plans) {
            text += QLatin1Char('\t') + QString::number(row.bytes(bytes));
        }
    }
    QApplication::clipboard()->setText(text + QLatin1Char('\n'));
}

} // namespace mantissa
