#include "ui/views/resume_dialog.h"

#include "ui/session/checkpoint_reader.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/lane_words.h"
#include "ui/views/number_field.h"

#include <QCheckBox>
#include <QDateTime>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr double manySteps = 1e9;
constexpr double usualFactorSteps = 100;

QString fileText(const std::filesystem::path& file)
{
    return QString::fromStdString(file.string());
}

QString timeText(double unixSeconds)
{
    const auto time = QDateTime::fromMSecsSinceEpoch(std::llround(unixSeconds * 1000));
    return QLocale().toString(time, QLocale::ShortFormat);
}

/// What a file's name says already is left out.
QString withoutPath(QString problem, const std::filesystem::path& file)
{
    return problem.replace(fileText(file), QString::fromStdString(file.filename().string()));
}

QString scalerText(const Checkpoint& checkpoint)
{
    const LaneState& state = checkpoint.state;
    const auto scale = state.scaler.find("scale");
    return scale == state.scaler.end() || !scale->is_number()
        ? ResumeDialog::tr("with its state")
        : ResumeDialog::tr("with its state: scale %1").arg(formatScale(scale->get<double>()));
}

} // namespace

ResumeDialog::ResumeDialog(QWidget* parent)
    : QDialog(parent)
    , m_reader(new CheckpointReader(this))
    , m_intro(new QLabel)
    , m_list(new QTreeWidget)
    , m_problems(new QLabel)
    , m_steps(new NumberField)
    , m_end(new QLabel)
    , m_scaler(new QCheckBox)
    , m_factor(new NumberField)
    , m_factorSteps(new NumberField)
    , m_progress(new QProgressBar)
    , m_resume(nullptr)
{
    setObjectName(QStringLiteral("resumeDialog"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(12);
    m_intro->setWordWrap(true);
    column->addWidget(m_intro);

    m_list->setHeaderLabels({tr("Next step"), tr("Written"), tr("File"), tr("State")});
    m_list->setRootIsDecorated(false);
    m_list->setAllColumnsShowFocus(true);
    m_list->setFont(tabularFont(m_list->font()));
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_list->setAccessibleName(tr("Checkpoints"));
    m_list->setMinimumHeight(m_list->fontMetrics().height() * 6);
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_list->header()->setSectionResizeMode(2, QHeaderView::Stretch);
    column->addWidget(m_list, 1);

    m_problems->setWordWrap(true);
    m_problems->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_problems->setAccessibleName(tr("What is wrong"));
    m_problems->hide();
    column->addWidget(m_problems);

    auto* form = new QFormLayout;
    form->setHorizontalSpacing(8);
    form->setVerticalSpacing(8);
    makeForm(form);
    column->addLayout(form);

    m_progress->setRange(0, 0);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Reading"));
    QSizePolicy keepsPlace = m_progress->sizePolicy();
    keepsPlace.setRetainSizeWhenHidden(true);
    m_progress->setSizePolicy(keepsPlace);
    m_progress->setMaximumHeight(4);
    column->addWidget(m_progress);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    m_resume = buttons->addButton(tr("&Resume"), QDialogButtonBox::AcceptRole);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &ResumeDialog::resume);
    connect(buttons, &QDialogButtonBox::rejected, this, &ResumeDialog::reject);
    connect(m_list, &QTreeWidget::itemSelectionChanged, this, &ResumeDialog::showSelected);

    connect(m_reader, &CheckpointReader::found, this, &ResumeDialog::add);
    connect(m_reader, &CheckpointReader::listed, this, &ResumeDialog::finishList);
    connect(m_reader, &CheckpointReader::failed, this, [this](const QString& why) {
        complain(why);
        setReading(false);
    });
    connect(m_reader, &CheckpointReader::loaded, this, [this](const ResumedLane& lane) {
        emit chosen(lane);
        accept();
    });
    setReading(true);
    resize(fontMetrics().averageCharWidth() * 92, fontMetrics().height() * 26);
}

ResumeDialog::ResumeDialog(const std::filesystem::path& database, RunId run, QWidget* parent)
    : ResumeDialog(parent)
{
    setWindowTitle(tr("Resume run %1").arg(run));
    m_intro->setText(tr("A lane resumed from a checkpoint trains to the same bits as if it had never stopped. Run %1 "
                        "stays as it is; what is trained from here is a new run.")
                         .arg(run));
    m_reader->listRun(database, run);
}

ResumeDialog::ResumeDialog(const std::filesystem::path& file, QWidget* parent)
    : ResumeDialog(parent)
{
    setWindowTitle(tr("Open checkpoint"));
    m_intro->setText(
        tr("A lane resumed from a checkpoint trains to the same bits as if it had never stopped, as a new run."));
    m_reader->listFile(file);
}

ResumeDialog::~ResumeDialog() = default;

void ResumeDialog::makeForm(QFormLayout* form)
{
    const int width = fontMetrics().averageCharWidth() * 14;
    const auto addRow = [form](const QString& name, QWidget* buddy, const QList<QWidget*>& parts) {
        auto* row = new QHBoxLayout;
        row->setSpacing(8);
        for (QWidget* part : parts) {
            row->addWidget(part);
        }
        row->addStretch(1);
        auto* label = new QLabel(name);
        label->setBuddy(buddy);
        form->addRow(label, row);
    };
    for (NumberField* field : {m_steps, m_factor, m_factorSteps}) {
        field->setFixedWidth(width);
    }
    const QString wholeNumber = tr("a whole number from 1 to %1").arg(formatCount(static_cast<qint64>(manySteps)));
    m_steps->setInteger(true);
    m_steps->setRange(1, manySteps, wholeNumber);
    m_steps->setAccessibleName(tr("Steps to train on"));
    addRow(tr("Train &on for"), m_steps, {m_steps, m_end});

    m_scaler->setText(tr("with its state"));
    m_scaler->setChecked(true);
    m_scaler->setToolTip(tr("Without it, scale and count of finite steps begin anew: what happens to a training script "
                            "that does not save its scaler"));
    addRow(tr("&Scaler"), m_scaler, {m_scaler});

    m_factor->setRange(0, 1e6, tr("a number from 0 to 1e6"));
    m_factor->setValue(1);
    m_factor->setAccessibleName(tr("Factor of the learning rate"));
    m_factor->setHint(tr("1: as it was. Less than 1 for a while lets a lane settle after the gap"));
    m_factorSteps->setInteger(true);
    m_factorSteps->setRange(1, manySteps, wholeNumber);
    m_factorSteps->setValue(usualFactorSteps);
    m_factorSteps->setAccessibleName(tr("Steps with that factor"));
    addRow(tr("&Learning rate times"), m_factor,
        {m_factor, new QLabel(tr("for")), m_factorSteps, new QLabel(tr("steps"))});

    connect(m_steps, &NumberField::committed, this, &ResumeDialog::showEnd);
    connect(m_factor, &NumberField::committed, this, &ResumeDialog::showEnd);
}

QString ResumeDialog::problems() const
{
    return m_problems->isHidden() ? QString() : m_problems->text();
}

void ResumeDialog::complain(const QString& problem)
{
    const QString before = problems();
    m_problems->setText((before.isEmpty() ? QString() : before + QLatin1Char('\n')) + signOf(Tone::Problem)
        + QLatin1Char(' ') + problem);
    m_problems->show();
}

void ResumeDialog::add(const FoundCheckpoint& found)
{
    const bool isGood = found.summary != nullptr;
    auto* item = new QTreeWidgetItem({isGood ? formatCount(found.summary->state.nextStep) : QStringLiteral("\u2013"),
        timeText(found.unixSeconds), QString::fromStdString(found.file.filename().string()),
        isGood ? signOf(Tone::Good) + QLatin1Char(' ') + tr("good")
               : signOf(Tone::Problem) + QLatin1Char(' ') + tr("unusable")});
    item->setTextAlignment(0, Qt::AlignRight | Qt::AlignVCenter);
    item->setToolTip(2, fileText(found.file));
    m_found.push_back(found);
    if (!isGood) {
        item->setFlags(Qt::NoItemFlags);
        complain(withoutPath(found.problem, found.file));
    }
    m_list->addTopLevelItem(item);
    if (isGood && m_list->selectedItems().isEmpty()) {
        m_list->setCurrentItem(item);
    }
}

void ResumeDialog::finishList()
{
    setReading(false);
    if (m_found.empty()) {
        complain(
            tr("This run has no checkpoints, or they were removed. Checkpoints (Tools menu) says whether the window "
               "writes some by itself; on the command line --checkpoints does."));
    }
}

void ResumeDialog::setReading(bool isReading)
{
    m_isReading = isReading;
    m_progress->setVisible(isReading);
    showSelected();
}

void ResumeDialog::showSelected()
{
    const auto selected = m_list->selectedItems();
    const Checkpoint* checkpoint = selected.isEmpty()
        ? nullptr
        : m_found[static_cast<std::size_t>(m_list->indexOfTopLevelItem(selected.first()))].summary.get();
    const bool hasScaler
        = checkpoint != nullptr && checkpoint->state.config.scaler && !checkpoint->state.scaler.empty();
    m_resume->setEnabled(checkpoint != nullptr && !m_isReading);
    m_steps->setEnabled(checkpoint != nullptr);
    m_scaler->setEnabled(hasScaler);
    m_factor->setEnabled(checkpoint != nullptr);
    if (checkpoint != nullptr) {
        const std::int64_t steps = checkpoint->state.config.steps;
        const std::int64_t left = steps - checkpoint->state.nextStep;
        m_steps->setValue(static_cast<double>(left > 0 ? left : steps));
        m_scaler->setText(hasScaler ? scalerText(*checkpoint) : tr("this lane has none"));
    }
    showEnd();
}

void ResumeDialog::showEnd()
{
    const auto selected = m_list->selectedItems();
    m_factorSteps->setEnabled(m_factor->isEnabled() && m_factor->value() != 1);
    m_end->clear();
    if (!selected.isEmpty()) {
        const auto row = static_cast<std::size_t>(m_list->indexOfTopLevelItem(selected.first()));
        const auto end = m_found[row].summary->state.nextStep + static_cast<std::int64_t>(m_steps->value());
        m_end->setText(tr("steps, to step %1").arg(formatCount(end)));
    }
}

void ResumeDialog::resume()
{
    const auto selected = m_list->selectedItems();
    if (selected.isEmpty() || m_isReading) {
        return;
    }
    const FoundCheckpoint& found = m_found[static_cast<std::size_t>(m_list->indexOfTopLevelItem(selected.first()))];
    const LaneState& state = found.summary->state;
    ResumeChanges changes;
    const std::int64_t last = state.nextStep + static_cast<std::int64_t>(m_steps->value());
    if (last != state.config.steps) {
        changes.steps = last;
    }
    changes.withoutScaler = m_scaler->isEnabled() && !m_scaler->isChecked();
    changes.lrFactor = m_factor->value();
    changes.lrSteps = static_cast<std::int64_t>(m_factorSteps->value());
    setReading(true);
    m_reader->load(found.file, changes);
}

} // namespace mantissa
