#include "ui/compare/compare_panel.h"

#include "engine/core/error.h"
#include "ui/compare/comparison_words.h"
#include "ui/compare/seed_runs.h"
#include "ui/language/language.h"
#include "ui/models/run_archive.h"
#include "ui/models/run_cells.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/picture_file.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int margin = 8;
constexpr int refreshMs = 500;
constexpr qint64 restFactor = 5; // as long as looking took, it rests so many times
constexpr qint64 soonestMs = 1000;
constexpr std::size_t mostRuns = 200; // in the lists; the Runs panel has them all
constexpr int shareSteps = 100;

} // namespace

ComparePanel::ComparePanel(SessionController* controller, RunLoader* loader, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_loader(loader)
    , m_archive(new RunArchive(controller->database(), this))
    , m_seedRuns(new BackgroundRuns(this))
    , m_a(new QComboBox)
    , m_b(new QComboBox)
    , m_seeds(new QSpinBox)
    , m_train(new QPushButton)
    , m_progress(new QProgressBar)
    , m_chart(new CompareChart)
    , m_table(new QTableWidget(0, 3))
    , m_verdict(new QLabel)
    , m_seedsWords(new QLabel)
{
    keepWords(m_a);
    keepWords(m_b);
    buildControls();
    m_timer.setInterval(refreshMs);
    connect(&m_timer, &QTimer::timeout, this, &ComparePanel::follow);
    connect(m_archive, &RunArchive::loaded, this, [this](const RunArchive::Runs& runs) {
        m_runs = *runs;
        fillCombos();
        follow();
    });
    connect(m_loader, &RunLoader::compared, this, [this](const ComparisonPtr& comparison) { display(comparison); });
    connect(m_loader, &RunLoader::comparisonFailed, this, &ComparePanel::showProblem);
    connect(m_seedRuns, &BackgroundRuns::progressed, this, [this](int done, int total, double share) {
        m_progress->setRange(0, total * shareSteps);
        m_progress->setValue(done * shareSteps + static_cast<int>(share * shareSteps));
        m_progress->setFormat(tr("run %1 of %2").arg(done + 1).arg(total));
    });
    connect(m_seedRuns, &BackgroundRuns::finished, this, [this](const QString& problem) {
        updateTraining();
        if (!problem.isEmpty()) {
            emit notice(problem);
        }
        m_isStale = true;
        m_archive->reload();
    });
    connect(controller, &SessionController::sessionReplaced, this, [this] {
        m_lookedAt = -1;
        m_isStale = true;
        m_archive->reloadIfChanged();
    });
    updateTraining();
    whenLanguageChanges(this, [this] {
        fillCombos();
        m_isStale = true;
        follow();
    });
}

ComparePanel::~ComparePanel() = default;

void ComparePanel::buildControls()
{
    m_a->setAccessibleName(tr("The one that is compared with"));
    m_a->setToolTip(tr("A lane or a stored run; the other one is measured against it"));
    m_b->setAccessibleName(tr("The one that is compared"));
    m_b->setToolTip(tr("A lane or a stored run"));
    for (QComboBox* combo : {m_a, m_b}) {
        combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        combo->setMinimumContentsLength(14);
        combo->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        connect(combo, &QComboBox::activated, this, [this] {
            m_isChosen = true;
            m_isStale = true;
            follow();
        });
    }
    constexpr int mostSeeds = 16;
    m_seeds->setRange(1, mostSeeds);
    m_seeds->setValue(4);
    m_seeds->setAccessibleName(tr("Number of further seeds"));
    m_seeds->setToolTip(tr("How many further seeds to train both with"));
    m_progress->setAccessibleName(tr("Progress of the runs with other seeds"));
    m_progress->setMaximumWidth(160);
    connect(m_train, &QPushButton::clicked, this, &ComparePanel::trainSeeds);
    auto* exportButton = new QToolButton;
    exportButton->setText(tr("Export"));
    exportButton->setAutoRaise(true);
    exportButton->setPopupMode(QToolButton::InstantPopup);
    auto* exports = new QMenu(exportButton);
    exports->addAction(tr("Copy table as text"), this, &ComparePanel::copyTable);
    exports->addAction(tr("Copy picture"), this, &ComparePanel::copyPicture);
    exports->addAction(tr("Save as PNG, PDF, SVG or CSV\u2026"), this, &ComparePanel::showExportDialog);
    exportButton->setMenu(exports);

    m_table->setFont(tabularFont(font()));
    m_table->setEditTriggers(QTableWidget::NoEditTriggers);
    m_table->setSelectionBehavior(QTableWidget::SelectRows);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->horizontalHeader()->setTextElideMode(Qt::ElideRight);
    m_table->setAccessibleName(tr("Settings and results that are compared"));
    for (QLabel* label : {m_verdict, m_seedsWords}) {
        label->setWordWrap(true);
        label->setContentsMargins(margin, 2, margin, 2);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    m_verdict->setAccessibleName(tr("Verdict"));
    m_seedsWords->setAccessibleName(tr("What other seeds say"));

    auto* sides = new QHBoxLayout;
    sides->setContentsMargins(margin, 4, 4, 4);
    sides->setSpacing(margin);
    sides->addWidget(m_a, 1);
    sides->addWidget(new QLabel(tr("and")));
    sides->addWidget(m_b, 1);
    sides->addWidget(exportButton);
    auto* seeds = new QHBoxLayout;
    seeds->setContentsMargins(margin, 0, margin, 4);
    seeds->setSpacing(margin);
    seeds->addWidget(m_seedsWords, 1);
    seeds->addWidget(m_progress);
    seeds->addWidget(m_seeds);
    seeds->addWidget(m_train);
    auto* splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_chart);
    splitter->addWidget(m_table);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(sides);
    column->addWidget(m_verdict);
    column->addLayout(seeds);
    column->addWidget(splitter, 1);
    connect(m_chart, &CompareChart::stepChosen, this, &ComparePanel::stepChosen);
}

void ComparePanel::setLanes(const std::vector<LaneChoice>& lanes)
{
    m_laneChoices = lanes;
    fillCombos();
}

void ComparePanel::fillCombos()
{
    const auto before = [this](const QComboBox* combo) {
        const Choice* choice = chosen(combo);
        return choice == nullptr ? std::nullopt : std::optional(choice->what);
    };
    const std::optional<RunOrLane> beforeA = before(m_a);
    const std::optional<RunOrLane> beforeB = before(m_b);
    m_choices.clear();
    for (const LaneChoice& lane : m_laneChoices) {
        m_choices.push_back({lane.id, lane.name, lane.color, lane.style});
    }
    const std::size_t count = std::min(m_runs.size(), mostRuns);
    for (std::size_t i = 0; i < count; ++i) {
        const RunInfo& run = m_runs[i];
        const QColor color(QString::fromStdString(run.color));
        m_choices.push_back({run.id,
            tr("%1, %2, %3 steps")
                .arg(runName(run), QString::fromStdString(run.experimentName), formatCount(run.steps)),
            color.isValid() ? color : laneColor(static_cast<int>(run.id % 6), isDark(palette())), Qt::DashLine});
    }
    const auto fill = [this](QComboBox* combo, const std::optional<RunOrLane>& present, int otherwise) {
        const QSignalBlocker blocker(combo);
        combo->clear();
        int at = std::min(otherwise, static_cast<int>(m_choices.size()) - 1);
        for (std::size_t i = 0; i < m_choices.size(); ++i) {
            const Choice& choice = m_choices[i];
            combo->addItem(
                laneSwatch(choice.color, choice.style, true, combo->iconSize(), devicePixelRatioF()), choice.name);
            if (m_isChosen && present == choice.what) {
                at = static_cast<int>(i);
            }
        }
        combo->setCurrentIndex(at);
    };
    fill(m_a, beforeA, 0);
    fill(m_b, beforeB, 1);
    m_isStale = m_isStale || before(m_a) != beforeA || before(m_b) != beforeB;
}

void ComparePanel::compare(const RunOrLane& a, const RunOrLane& b)
{
    const auto choose = [this](QComboBox* combo, const RunOrLane& what) {
        const auto found = std::ranges::find(m_choices, what, &Choice::what);
        if (found != m_choices.end()) {
            combo->setCurrentIndex(static_cast<int>(found - m_choices.begin()));
        }
    };
    choose(m_a, a);
    choose(m_b, b);
    m_isChosen = true;
    m_isStale = true;
    follow();
}

const ComparePanel::Choice* ComparePanel::chosen(const QComboBox* combo) const
{
    const int index = combo->currentIndex();
    return index < 0 || static_cast<std::size_t>(index) >= m_choices.size()
        ? nullptr
        : &m_choices[static_cast<std::size_t>(index)];
}

bool ComparePanel::isLive(const Choice& choice) const
{
    return std::holds_alternative<std::uint32_t>(choice.what);
}

/// Nothing is read that nobody sees.
void ComparePanel::follow()
{
    updateTraining();
    if (!isVisible() || m_isLooking) {
        return;
    }
    const Choice* a = chosen(m_a);
    const Choice* b = chosen(m_b);
    const auto status = m_controller->status();
    if (m_controller->database().empty()) {
        showProblem(tr("Comparisons are made of stored runs, and runs are not being stored."));
        return;
    }
    const auto hasTrained = [this](const Choice* choice) {
        return choice != nullptr
            && (!isLive(*choice)
                || (m_controller->writer() && m_controller->writer()->hasRun(std::get<std::uint32_t>(choice->what))));
    };
    if (!hasTrained(a) || !hasTrained(b)) {
        showProblem(tr("Two lanes or stored runs are compared here, as soon as both have trained: Space does."));
        return;
    }
    const bool hasGrown = (isLive(*a) || isLive(*b)) && status && status->step != m_lookedAt
        && (!m_controller->isRunning() || !m_sinceLook.isValid() || m_sinceLook.elapsed() >= m_waitMs);
    if (m_isStale || hasGrown) {
        m_lookedAt = status ? status->step : -1;
        look();
    }
}

void ComparePanel::look()
{
    m_isStale = false;
    m_isLooking = true;
    m_sinceLook.start();
    m_loader->compare(m_controller->writer(), chosen(m_a)->what, chosen(m_b)->what);
}

void ComparePanel::display(const ComparisonPtr& comparison)
{
    m_isLooking = false;
    m_waitMs = std::max(soonestMs, restFactor * m_sinceLook.elapsed());
    if (m_isStale) {
        follow(); // something else was chosen in the meantime
        return;
    }
    const Choice* a = chosen(m_a);
    const Choice* b = chosen(m_b);
    m_chart->show(comparison, a == nullptr ? QColor() : a->color, b == nullptr ? QColor() : b->color);
    m_verdict->setText(verdictOf(*comparison));
    m_seedsWords->setText(seedsText(*comparison));
    const std::vector<ComparedRow> rows = rowsOf(*comparison);
    m_table->show();
    m_table->setHorizontalHeaderLabels({tr("What"), runName(comparison->a), runName(comparison->b)});
    m_table->setRowCount(static_cast<int>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const QString texts[] = {rows[i].what, rows[i].a, rows[i].b};
        for (int column = 0; column < m_table->columnCount(); ++column) {
            auto* item = new QTableWidgetItem(texts[column]);
            item->setToolTip(texts[column]);
            QFont look = m_table->font();
            look.setBold(rows[i].isSetting && column == 0);
            item->setFont(look);
            m_table->setItem(static_cast<int>(i), column, item);
        }
    }
    const int wide = m_table->fontMetrics().averageCharWidth() * 30;
    m_table->setColumnWidth(0, wide);
    m_table->setColumnWidth(1, wide);
    updateTraining();
}

void ComparePanel::showProblem(const QString& text)
{
    m_isLooking = false;
    m_chart->showText(text);
    m_verdict->clear();
    m_seedsWords->clear();
    m_table->setRowCount(0);
    m_table->hide();
    updateTraining();
}

void ComparePanel::updateTraining()
{
    const bool isTraining = m_seedRuns->isRunning();
    m_progress->setVisible(isTraining);
    m_seeds->setVisible(!isTraining && m_chart->comparison());
    m_train->setVisible(isTraining || m_chart->comparison());
    m_train->setText(isTraining ? tr("Cancel") : tr("Train other seeds"));
    const ComparisonPtr& comparison = m_chart->comparison();
    const bool isRunning = m_controller->isRunning();
    const QString whyNot = isTraining ? QString()
        : !comparison                 ? tr("Nothing is compared yet")
        : isRunning                   ? tr("Lanes are training: pause them first")
                                      : QString();
    m_train->setEnabled(whyNot.isEmpty());
    m_train->setToolTip(!whyNot.isEmpty() ? whyNot
            : isTraining                  ? tr("Stops; the runs that are done stay stored")
                         : tr("Trains both runs again, in the background, with as many further seeds, and stores them: "
                              "so it is known how much of the difference is chance"));
}

void ComparePanel::trainSeeds()
{
    if (m_seedRuns->isRunning()) {
        m_seedRuns->cancel();
        return;
    }
    if (const ComparisonPtr& comparison = m_chart->comparison()) {
        m_progress->setValue(0);
        m_seedRuns->start(seedRuns(m_controller->database(), {comparison->a.id, comparison->b.id}, m_seeds->value()));
        updateTraining();
    }
}

QString ComparePanel::verdict() const
{
    return m_verdict->text();
}

void ComparePanel::exportTo(const QString& file) const
{
    const ComparisonPtr& comparison = m_chart->comparison();
    if (!comparison) {
        throw Error(ErrorCode::InvalidArgument, "There is no comparison to export yet.");
    }
    if (!file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)) {
        const QSize size = m_chart->size();
        writePicture(file, size, m_verdict->text(), [this, size](QPainter& painter) { m_chart->paint(painter, size); });
        return;
    }
    writeFile(file, [&comparison](QIODevice& device) {
        const ComparedSteps& steps = comparison->steps;
        QByteArray csv("first_step,steps,loss_a,loss_b,gap,noise,mean_gap,mean_gap_error,scale_a,scale_b,skipped_a,"
                       "skipped_b,weights_distance\n");
        const auto number = [](double value) { return ',' + formatExact(value).toLatin1(); };
        const auto maybe = [&number](const std::vector<double>& values, std::size_t at) {
            return values.empty() ? QByteArray(",") : number(values[at]);
        };
        for (std::size_t i = 0; i < steps.size(); ++i) {
            csv += QByteArray::number(static_cast<qlonglong>(steps.first[i])) + ','
                + QByteArray::number(static_cast<qlonglong>(steps.window)) + number(steps.lossA[i])
                + number(steps.lossB[i]) + number(steps.gap(i)) + maybe(comparison->noise, i)
                + maybe(comparison->pairGap, i) + maybe(comparison->pairError, i) + number(steps.scaleA[i])
                + number(steps.scaleB[i]) + ',' + QByteArray::number(static_cast<qlonglong>(steps.skippedA[i])) + ','
                + QByteArray::number(static_cast<qlonglong>(steps.skippedB[i])) + number(steps.distance[i]) + '\n';
        }
        return device.write(csv) == csv.size();
    });
}

void ComparePanel::showExportDialog()
{
    if (!m_chart->comparison()) {
        emit notice(tr("There is nothing to export yet."));
        return;
    }
    const QString done = saveByDialog(this, QStringLiteral("comparison.png"),
        tr("Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg);;Numbers (*.csv)"),
        [this](const QString& file) { exportTo(file); });
    if (!done.isEmpty()) {
        emit notice(done);
    }
}

void ComparePanel::copyPicture() const
{
    const QSize size = m_chart->size();
    mantissa::copyPicture(size, [this, size](QPainter& painter) { m_chart->paint(painter, size); });
}

void ComparePanel::copyTable() const
{
    QStringList lines;
    if (const ComparisonPtr& comparison = m_chart->comparison()) {
        lines << QStringList {tr("What"), runName(comparison->a), runName(comparison->b)}.join(QLatin1Char('\t'));
        for (const ComparedRow& row : rowsOf(*comparison)) {
            lines << QStringList {row.what, row.a, row.b}.join(QLatin1Char('\t'));
        }
    }
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')) + QLatin1Char('\n'));
}

void ComparePanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_archive->reloadIfChanged();
    m_timer.start();
    follow();
}

void ComparePanel::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_timer.stop();
}

void ComparePanel::keyPressEvent(QKeyEvent* event)
{
    if (!event->matches(QKeySequence::Copy)) {
        QWidget::keyPressEvent(event);
    } else if (m_table->hasFocus()) {
        copyTable();
    } else {
        copyPicture();
    }
}

} // namespace mantissa
