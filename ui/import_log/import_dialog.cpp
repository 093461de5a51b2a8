#include "ui/import_log/import_dialog.h"

#include "engine/core/readable_text.h"
#include "ui/import_log/import_job.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

namespace mantissa {

namespace {

constexpr int gap = 4;
constexpr int permille = 1000;
constexpr std::size_t mostColumns = 60; // of the preview

/// Those that people log under many names. The rest is guessed.
constexpr std::array asked {LogField::Step, LogField::Run, LogField::Loss, LogField::GradNorm, LogField::Scale,
    LogField::LearningRate, LogField::Skipped, LogField::FoundInf, LogField::ValidationLoss,
    LogField::ValidationAccuracy};

QString fieldName(LogField field)
{
    switch (field) {
    case LogField::Step:
        return ImportDialog::tr("Step");
    case LogField::Run:
        return ImportDialog::tr("Name of the run");
    case LogField::Loss:
        return ImportDialog::tr("Training loss");
    case LogField::GradNorm:
        return ImportDialog::tr("Gradient norm");
    case LogField::Scale:
        return ImportDialog::tr("Loss scale");
    case LogField::LearningRate:
        return ImportDialog::tr("Learning rate");
    case LogField::Skipped:
        return ImportDialog::tr("Step skipped");
    case LogField::FoundInf:
        return ImportDialog::tr("Gradient not finite");
    case LogField::ValidationLoss:
        return ImportDialog::tr("Validation loss");
    case LogField::ValidationAccuracy:
        return ImportDialog::tr("Validation accuracy");
    default: {
        const std::string_view words = wordsFor(field);
        return QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
    }
    }
}

QString formatName(const std::string& format)
{
    return format == "tfevents" ? ImportDialog::tr("TensorBoard events")
        : format == "csv"       ? ImportDialog::tr("CSV")
        : format == "jsonl"     ? ImportDialog::tr("JSON lines")
                                : ImportDialog::tr("JSON");
}

QString text(const std::string& words)
{
    return QString::fromStdString(words);
}

} // namespace

ImportDialog::ImportDialog(std::filesystem::path log, std::filesystem::path database, QWidget* parent)
    : QDialog(parent)
    , m_log(std::move(log))
    , m_database(std::move(database))
    , m_timer(new QTimer(this))
    , m_summary(new QLabel)
    , m_preview(new QTableWidget)
    , m_name(new QLineEdit)
    , m_watch(new QCheckBox(tr("&Watch this file: go on with what is appended to it")))
    , m_message(new QLabel)
    , m_progress(new QProgressBar)
    , m_import(new QPushButton(tr("&Import")))
{
    setWindowTitle(tr("Import log"));
    build();
    updateButton();
    m_summary->setText(tr("Looking into %1\u2026").arg(text(m_log.string())));
    m_survey = std::async(std::launch::async, [path = m_log] { return surveyLog(path); });
    constexpr int lookMs = 30;
    m_timer->setInterval(lookMs);
    connect(m_timer, &QTimer::timeout, this, &ImportDialog::lookForSurvey);
    m_timer->start();
}

ImportDialog::~ImportDialog() = default;

void ImportDialog::build()
{
    m_summary->setWordWrap(true);
    m_summary->setTextFormat(Qt::PlainText);
    auto* fields = new QHBoxLayout;
    fields->setSpacing(4 * gap);
    for (QFormLayout** form : {&m_left, &m_right}) {
        *form = new QFormLayout;
        (*form)->setHorizontalSpacing(2 * gap);
        (*form)->setVerticalSpacing(gap);
        fields->addLayout(*form, 1);
    }
    auto* naming = new QFormLayout;
    naming->addRow(tr("&Name"), m_name);
    m_name->setPlaceholderText(tr("after the file"));
    m_name->setToolTip(tr("Of the run, or in front of the names of several"));
    m_preview->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_preview->setAccessibleName(tr("First rows of the log"));
    m_preview->setFont(tabularFont(m_preview->font()));
    m_preview->verticalHeader()->hide();
    m_preview->verticalHeader()->setDefaultSectionSize(m_preview->fontMetrics().height() + gap);
    m_preview->setMinimumHeight(m_preview->fontMetrics().height() * 9);
    m_message->setWordWrap(true);
    m_message->setTextFormat(Qt::PlainText);
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_message->hide();
    m_progress->setRange(0, permille);
    m_progress->setAccessibleName(tr("How much of the log is read"));
    m_progress->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    buttons->addButton(m_import, QDialogButtonBox::AcceptRole);
    m_import->setDefault(true);
    connect(buttons, &QDialogButtonBox::accepted, this, &ImportDialog::begin);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);

    auto* column = new QVBoxLayout(this);
    column->setSpacing(2 * gap);
    column->addWidget(m_summary);
    column->addLayout(fields);
    column->addLayout(naming);
    column->addWidget(m_preview, 1);
    column->addWidget(m_watch);
    column->addWidget(m_message);
    column->addWidget(m_progress);
    column->addWidget(buttons);
    resize(fontMetrics().averageCharWidth() * 100, fontMetrics().height() * 36);
}

void ImportDialog::lookForSurvey()
{
    if (m_survey.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        return;
    }
    m_timer->stop();
    try {
        m_found = m_survey.get();
        display();
    } catch (const std::exception& error) {
        m_summary->setText(text(m_log.string()));
        say(QString::fromUtf8(error.what()));
    }
    updateButton();
}

void ImportDialog::display()
{
    const LogSurvey& survey = *m_found;
    QString summary = tr("%1: %2, %3, columns: %4")
                          .arg(text(m_log.filename().empty() ? m_log.string() : m_log.filename().string()),
                              formatName(survey.format), text(bytesText(survey.bytes)))
                          .arg(survey.columns.size());
    if (survey.runs.size() > 1) {
        summary += tr(", runs: %1").arg(survey.runs.size());
    }
    m_summary->setText(summary + QLatin1Char('.'));
    std::vector<LogField> fields(asked.begin(), asked.end());
    std::erase_if(fields, [&survey](LogField field) {
        const bool isGiven = survey.hasSteps && (field == LogField::Step || field == LogField::Run);
        return isGiven || (field == LogField::Run && survey.runs.size() > 1);
    });
    for (std::size_t i = 0; i < fields.size(); ++i) {
        addCombo(fields[i], i < (fields.size() + 1) / 2 ? m_left : m_right);
    }
    // What means something comes first.
    for (std::uint32_t column = 0; column < survey.columns.size(); ++column) {
        m_shown.push_back(column);
    }
    std::ranges::stable_sort(m_shown, {}, [&survey](std::uint32_t column) {
        const auto field = survey.map.fieldOf(column);
        return field ? static_cast<int>(*field) : static_cast<int>(logFieldCount);
    });
    m_shown.resize(std::min(m_shown.size(), mostColumns));
    const int offset = survey.hasSteps ? 1 : 0;
    m_preview->setColumnCount(static_cast<int>(m_shown.size()) + offset);
    m_preview->setRowCount(static_cast<int>(survey.preview.size()));
    for (std::size_t row = 0; row < survey.preview.size(); ++row) {
        if (survey.hasSteps) {
            m_preview->setItem(static_cast<int>(row), 0, new QTableWidgetItem(formatCount(survey.previewSteps[row])));
        }
        for (std::size_t i = 0; i < m_shown.size(); ++i) {
            const auto& cells = survey.preview[row];
            const QString cell = m_shown[i] < cells.size() ? text(cells[m_shown[i]]) : QString();
            m_preview->setItem(static_cast<int>(row), static_cast<int>(i) + offset, new QTableWidgetItem(cell));
        }
    }
    labelPreview();
    QStringList notes;
    for (const std::string& note : survey.notes) {
        notes << text(note);
    }
    if (!notes.isEmpty()) {
        say(notes.join(QLatin1Char('\n')));
    }
}

void ImportDialog::addCombo(LogField field, QFormLayout* form)
{
    auto* combo = new QComboBox;
    combo->addItem(tr("none"), -1);
    for (std::size_t column = 0; column < m_found->columns.size(); ++column) {
        combo->addItem(text(m_found->columns[column].name), static_cast<int>(column));
    }
    const auto guess = m_found->map.columnOf(field);
    combo->setCurrentIndex(guess ? static_cast<int>(*guess) + 1 : 0);
    combo->setAccessibleName(fieldName(field));
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(16);
    form->addRow(fieldName(field), combo);
    m_combos[field] = combo;
    connect(combo, &QComboBox::currentIndexChanged, this, [this, field] { chosen(field); });
}

/// A column means one thing.
void ImportDialog::chosen(LogField field)
{
    const int column = m_combos.at(field)->currentData().toInt();
    for (const auto& [other, combo] : m_combos) {
        if (other != field && column >= 0 && combo->currentData().toInt() == column) {
            const QSignalBlocker blocker(combo);
            combo->setCurrentIndex(0);
        }
    }
    labelPreview();
    updateButton();
}

void ImportDialog::labelPreview()
{
    QStringList titles;
    if (m_found->hasSteps) {
        titles << tr("step");
    }
    for (const std::uint32_t column : m_shown) {
        QString title = text(m_found->columns[column].name);
        bool isAsked = false;
        for (const auto& [field, combo] : m_combos) {
            if (combo->currentData().toInt() == static_cast<int>(column)) {
                title += QLatin1Char('\n') + fieldName(field);
                isAsked = true;
            }
        }
        const auto guess = m_found->map.fieldOf(column);
        if (!isAsked && guess && !m_combos.contains(*guess)) {
            title += QLatin1Char('\n') + fieldName(*guess);
        }
        titles << title;
    }
    m_preview->setHorizontalHeaderLabels(titles);
    m_preview->resizeColumnsToContents();
}

ColumnMap::Choices ImportDialog::choices() const
{
    ColumnMap::Choices choices;
    for (const auto& [field, combo] : m_combos) {
        const int column = combo->currentData().toInt();
        const auto guess = m_found->map.columnOf(field);
        if (column != (guess ? static_cast<int>(*guess) : -1)) {
            choices[field] = column < 0 ? std::string() : m_found->columns[static_cast<std::size_t>(column)].name;
        }
    }
    return choices;
}

QComboBox* ImportDialog::comboOf(LogField field) const
{
    const auto found = m_combos.find(field);
    return found == m_combos.end() ? nullptr : found->second;
}

QString ImportDialog::summary() const
{
    return m_summary->text() + (m_message->isHidden() ? QString() : QLatin1Char('\n') + m_message->text());
}

void ImportDialog::updateButton()
{
    const auto hasColumn = [](const auto& each) {
        return each.first != LogField::Step && each.first != LogField::Run && each.second->currentIndex() > 0;
    };
    const bool canImport = m_found && m_job == nullptr && std::ranges::any_of(m_combos, hasColumn);
    m_import->setEnabled(canImport);
    m_import->setDefault(true); // a disabled button hands that on
    m_import->setToolTip(canImport || !m_found ? QString() : tr("Say which column is the loss or the scale"));
    m_watch->setEnabled(m_job == nullptr);
    m_name->setEnabled(m_job == nullptr);
    for (const auto& [field, combo] : m_combos) {
        combo->setEnabled(m_job == nullptr);
    }
}

void ImportDialog::begin()
{
    if (!m_import->isEnabled()) {
        return;
    }
    LogImportOptions options;
    options.columns = choices();
    options.name = m_name->text().trimmed().toStdString();
    options.follows = m_watch->isChecked();
    m_job = new ImportJob(m_log, std::move(options), m_database, this);
    updateButton();
    m_message->hide();
    m_progress->setValue(0);
    m_progress->show();
    connect(m_job, &ImportJob::progressed, this,
        [this](double share) { m_progress->setValue(static_cast<int>(share * permille)); });
    connect(m_job, &ImportJob::failed, this, [this](const QString& why) {
        m_progress->hide();
        say(why);
    });
    connect(m_job, &ImportJob::imported, this, [this](const QList<RunId>& runs, const QStringList& notes) {
        ImportJob* job = m_job->isWatching() ? m_job : nullptr;
        disconnect(m_job, nullptr, this, nullptr);
        if (job != nullptr) {
            job->setParent(nullptr);
            m_job = nullptr;
        }
        emit imported(runs, notes, job);
        accept();
    });
    connect(m_job, &ImportJob::ended, this, [this] {
        m_job->deleteLater();
        m_job = nullptr;
        m_progress->hide();
        updateButton();
    });
}

void ImportDialog::done(int result)
{
    if (m_job != nullptr) {
        m_job->stop();
    }
    QDialog::done(result);
}

void ImportDialog::say(const QString& words)
{
    m_message->setText(words);
    m_message->show();
}

} // namespace mantissa
