#include "ui/sweep/sweep_panel.h"

#include "engine/core/error.h"
#include "ui/language/language.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/picture_file.h"
#include "ui/session/background_runs.h"
#include "ui/session/session_controller.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/sweep/result_color.h"
#include "ui/sweep/sweep_dialog.h"
#include "ui/sweep/sweep_training.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QSlider>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int gap = 4;
constexpr int margin = 8;
constexpr int followMs = 1000;
constexpr int shareSteps = 100;
constexpr int smoothingSteps = 95; // of a hundredth each
constexpr int usualSmoothing = 60;

} // namespace

SweepPanel::SweepPanel(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_archive(new RunArchive(controller->database(), this))
    , m_loader(new SweepLoader(controller->database(), this))
    , m_training(new BackgroundRuns(this))
    , m_sweeps(new QComboBox)
    , m_color(new QComboBox)
    , m_new(new QPushButton(tr("&New sweep\u2026")))
    , m_open(new QPushButton(tr("&Open sweep\u2026")))
    , m_cancel(new QPushButton(tr("Cancel")))
    , m_export(new QToolButton)
    , m_progress(new QProgressBar)
    , m_state(new QLabel)
    , m_plot(new ParallelPlot)
    , m_curves(new SweepCurves)
    , m_curveSide(new QWidget)
    , m_log(new QCheckBox(tr("Log")))
    , m_smoothing(new QSlider(Qt::Horizontal))
    , m_table(new QTableView)
    , m_model(new SweepModel(this))
    , m_order(new SweepOrder(m_model, this))
{
    keepWords(m_sweeps);
    makeTable();
    makeLayout();
    m_timer.setInterval(followMs);
    connect(&m_timer, &QTimer::timeout, m_archive, &RunArchive::reloadIfChanged);
    connect(m_archive, &RunArchive::loaded, this, &SweepPanel::showRuns);
    connect(m_archive, &RunArchive::loadFailed, this, [this](const QString& why) {
        m_trouble = why;
        m_isLoaded = true;
        showSweep();
    });
    connect(m_loader, &SweepLoader::loaded, this, [this](const SweepLoader::Curves& curves) {
        m_thin.insert(*curves);
        showKept();
    });
    connect(m_training, &BackgroundRuns::progressed, this, [this](int done, int total, double share) {
        m_progress->setRange(0, total * shareSteps);
        m_progress->setValue(done * shareSteps + static_cast<int>(share * shareSteps));
        m_progress->setFormat(tr("point %1 of %2").arg(std::min(done + 1, total)).arg(total));
    });
    connect(m_training, &BackgroundRuns::finished, this, [this](const QString& why) {
        updateTraining();
        if (!why.isEmpty()) {
            emit problem(why);
        }
        m_awaited.clear();
        m_archive->reload();
    });
    connect(m_plot, &ParallelPlot::rowSelected, this, &SweepPanel::select);
    connect(m_curves, &SweepCurves::rowSelected, this, &SweepPanel::select);
    connect(m_plot, &ParallelPlot::keptChanged, this, &SweepPanel::showKept);
    connect(m_model, &SweepModel::showRequested, this, [this](RunId run, bool isWanted) {
        m_model->setShown(run, isWanted);
        emit showRunRequested(run, isWanted);
    });
    connect(m_sweeps, &QComboBox::activated, this, &SweepPanel::showSweep);
    connect(m_color, &QComboBox::currentIndexChanged, this, &SweepPanel::showSweep);
    connect(m_new, &QPushButton::clicked, this, &SweepPanel::newSweep);
    connect(m_open, &QPushButton::clicked, this, &SweepPanel::openSweep);
    connect(m_cancel, &QPushButton::clicked, this, &SweepPanel::cancel);
    connect(m_log, &QCheckBox::toggled, m_curves, &SweepCurves::setLog);
    connect(m_smoothing, &QSlider::valueChanged, m_curves,
        [this](int value) { m_curves->setSmoothing(static_cast<double>(value) / 100); });
    m_log->setChecked(true);
    m_smoothing->setValue(usualSmoothing);
    updateTraining();
    showSweep();
    whenLanguageChanges(this, [this] {
        for (std::size_t i = 0; i < allSweepResults.size(); ++i) {
            m_color->setItemText(static_cast<int>(i), resultTitle(allSweepResults[i]));
        }
        m_model->languageChanged();
        fillSweeps();
        showSweep();
    });
}

SweepPanel::~SweepPanel() = default;

void SweepPanel::makeTable()
{
    m_table->setModel(m_order);
    m_table->setFont(tabularFont(font()));
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(0, Qt::AscendingOrder);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setAccessibleName(tr("Points of the sweep"));
    m_table->setAccessibleDescription(
        tr("One row per run. Enter draws its curves among the lanes, or takes them away."));
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + gap);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setSectionsMovable(true);
    connect(
        m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
            if (!m_isSelecting && current.isValid()) {
                select(m_order->mapToSource(current).row());
            }
        });
    connect(m_table, &QTableView::activated, this, &SweepPanel::toggleShown);
}

void SweepPanel::makeLayout()
{
    m_sweeps->setAccessibleName(tr("Sweep"));
    m_sweeps->setToolTip(tr("Sweeps whose runs are stored, the newest first"));
    m_sweeps->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_sweeps->setMinimumContentsLength(14);
    m_sweeps->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_new->setToolTip(tr("Varies up to three settings of the experiment that is open"));
    m_open->setToolTip(tr("Trains a sweep from its file; points that are stored are not trained again"));
    m_cancel->setToolTip(tr("Stops; the points that are done stay stored"));
    m_progress->setAccessibleName(tr("Progress of the sweep"));
    m_progress->setMaximumWidth(180);
    for (const SweepResult result : allSweepResults) {
        m_color->addItem(resultTitle(result));
    }
    keepWords(m_color); // their titles, in the present language
    m_color->setAccessibleName(tr("Colour by"));
    m_color->setToolTip(tr("The result that the colours of lines and curves tell"));
    m_log->setToolTip(tr("Logarithmic axis of the loss"));
    m_smoothing->setRange(0, smoothingSteps);
    m_smoothing->setAccessibleName(tr("Smoothing"));
    m_smoothing->setToolTip(tr("Smoothing of the curves"));
    m_smoothing->setMaximumWidth(90);
    m_export->setText(tr("Export"));
    m_export->setAutoRaise(true);
    m_export->setPopupMode(QToolButton::InstantPopup);
    auto* exports = new QMenu(m_export);
    exports->addAction(tr("Copy table as text"), this, &SweepPanel::copyTable);
    exports->addAction(tr("Copy picture"), this, &SweepPanel::copyPicture);
    exports->addAction(tr("Save as PNG, PDF, SVG or CSV\u2026"), this, &SweepPanel::showExportDialog);
    m_export->setMenu(exports);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(margin, gap, gap, gap);
    bar->setSpacing(margin);
    bar->addWidget(m_sweeps, 1);
    bar->addWidget(m_new);
    bar->addWidget(m_open);
    bar->addWidget(m_progress);
    bar->addWidget(m_cancel);
    bar->addWidget(m_export);
    auto* tools = new QHBoxLayout;
    tools->setContentsMargins(margin, 0, margin, gap);
    tools->setSpacing(margin);
    auto* colorLabel = new QLabel(tr("Colour by"));
    colorLabel->setBuddy(m_color);
    auto* smoothingLabel = new QLabel(tr("Smoothing"));
    smoothingLabel->setBuddy(m_smoothing);
    m_state->setAccessibleName(tr("State of the sweep"));
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_state->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    tools->addWidget(colorLabel);
    tools->addWidget(m_color);
    tools->addWidget(m_state, 1);
    tools->addWidget(smoothingLabel);
    tools->addWidget(m_smoothing);
    tools->addWidget(m_log);

    auto* curveColumn = new QVBoxLayout(m_curveSide);
    curveColumn->setContentsMargins(0, 0, 0, 0);
    curveColumn->addWidget(m_curves);
    auto* plots = new QSplitter(Qt::Horizontal);
    plots->setChildrenCollapsible(false);
    plots->addWidget(m_plot);
    plots->addWidget(m_curveSide);
    plots->setStretchFactor(0, 3);
    plots->setStretchFactor(1, 2);
    auto* pages = new QSplitter(Qt::Vertical);
    pages->setChildrenCollapsible(false);
    pages->addWidget(plots);
    pages->addWidget(m_table);
    pages->setStretchFactor(0, 3);
    pages->setStretchFactor(1, 2);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(bar);
    column->addLayout(tools);
    column->addWidget(pages, 1);
}

bool SweepPanel::isTraining() const
{
    return m_training->isRunning();
}

void SweepPanel::start(const Sweep& sweep)
{
    if (isTraining() || m_controller->database().empty()) {
        return;
    }
    m_progress->setRange(0, 1);
    m_progress->setValue(0);
    m_progress->setFormat(QString());
    m_training->start(sweepRuns(m_controller->database(), m_controller->device(), sweep));
    updateTraining();
    choose(QString::fromStdString(sweep.points.front().id));
}

void SweepPanel::startFile(const QString& file)
{
    try {
        start(loadSweep(file.toStdString()));
    } catch (const std::exception& error) {
        emit problem(QString::fromUtf8(error.what()));
    }
}

void SweepPanel::newSweep()
{
    if (!m_new->isEnabled()) {
        return;
    }
    auto* dialog = new SweepDialog(m_controller->document().experiment(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        if (dialog->sweep()) {
            start(*dialog->sweep());
        }
    });
    dialog->open();
}

void SweepPanel::openSweep()
{
    if (!m_open->isEnabled()) {
        return;
    }
    const QString file = QFileDialog::getOpenFileName(this, tr("Open sweep"), {}, tr("Sweep (*.json);;All files (*)"));
    if (!file.isEmpty()) {
        startFile(file);
    }
}

void SweepPanel::cancel()
{
    m_training->cancel();
    m_cancel->setEnabled(false);
}

void SweepPanel::updateTraining()
{
    const bool isTraining = m_training->isRunning();
    const bool canStore = !m_controller->database().empty();
    m_progress->setVisible(isTraining);
    m_cancel->setVisible(isTraining);
    m_cancel->setEnabled(isTraining);
    for (QPushButton* button : {m_new, m_open}) {
        button->setVisible(!isTraining);
        button->setEnabled(canStore);
    }
}

void SweepPanel::showRuns(const RunArchive::Runs& runs)
{
    m_trouble.clear();
    m_isLoaded = true;
    m_tables = storedSweeps(*runs);
    fillSweeps();
    showSweep();
}

void SweepPanel::fillSweeps()
{
    const QString before = m_sweeps->currentData().toString();
    const QSignalBlocker blocker(m_sweeps);
    m_sweeps->clear();
    for (const SweepTable& table : m_tables) {
        m_sweeps->addItem(
            tr("%1, %2 runs")
                .arg(QString::fromStdString(table.name), formatCount(static_cast<qint64>(table.rows.size()))),
            QString::fromStdString(table.id));
    }
    const int at = m_sweeps->findData(m_awaited.isEmpty() ? before : m_awaited);
    if (at >= 0) {
        m_awaited.clear();
    }
    // One that has no run yet is waited for, and else the newest is shown.
    m_sweeps->setCurrentIndex(at >= 0 || !m_awaited.isEmpty() ? at : m_tables.empty() ? -1 : 0);
}

void SweepPanel::choose(const QString& id)
{
    m_awaited = id;
    fillSweeps();
    showSweep();
}

const SweepTable* SweepPanel::chosen() const
{
    const int at = m_sweeps->currentIndex();
    return at < 0 || static_cast<std::size_t>(at) >= m_tables.size() ? nullptr
                                                                     : &m_tables[static_cast<std::size_t>(at)];
}

SweepResult SweepPanel::coloredBy() const
{
    return allSweepResults.at(static_cast<std::size_t>(std::max(m_color->currentIndex(), 0)));
}

void SweepPanel::showSweep()
{
    const SweepTable* table = chosen();
    const bool isThere = table != nullptr && m_trouble.isEmpty();
    for (QWidget* control : std::initializer_list<QWidget*> {m_sweeps, m_color, m_smoothing, m_log, m_export}) {
        control->setEnabled(isThere);
    }
    if (!isThere) {
        showNothing();
        return;
    }
    const auto before = m_plot->selected();
    const auto& shown = m_model->table().rows;
    const auto selected = before && *before < shown.size() ? shown[*before].run : std::nullopt;
    const bool isOther = table->id != m_model->table().id || table->columns != m_model->table().columns;
    m_model->show(*table);
    if (isOther) {
        m_table->resizeColumnsToContents();
    }
    const ResultRange range(*table, coloredBy());
    std::vector<QColor> colors;
    for (std::size_t row = 0; row < table->rows.size(); ++row) {
        colors.push_back(range.color(row, palette()));
    }
    m_model->setColors(std::move(colors));
    m_plot->show(*table, range);
    for (QWidget* part : std::initializer_list<QWidget*> {m_curveSide, m_table}) {
        part->show();
    }
    // Rows come in between while it trains: the run stays selected, not its row.
    const auto again = std::ranges::find_if(
        table->rows, [&selected](const SweepRow& row) { return selected && row.run && row.run->id == selected->id; });
    select(again == table->rows.end() ? -1 : static_cast<int>(again - table->rows.begin()));
    loadCurves();
    showKept();
}

void SweepPanel::showNothing()
{
    m_curveSide->hide();
    m_table->hide();
    m_model->show({});
    m_state->clear();
    m_plot->showText(!m_trouble.isEmpty()      ? m_trouble
            : m_controller->database().empty() ? tr("A sweep's runs are stored, and runs are not being stored.")
            : isTraining() || !m_isLoaded      ? tr("Runs appear here as soon as they have trained a step.")
                                               : tr("No sweep yet. \"New sweep\" trains the open experiment with other "
                                                         "rates, precisions, scalers or seeds; "
                                                         "\"Open sweep\" does what a file says."));
}

/// Table and curves have the rows that the axes let pass.
void SweepPanel::showKept()
{
    const SweepTable* table = chosen();
    if (table == nullptr) {
        return;
    }
    m_order->setKept([this](int row) { return m_plot->isKept(static_cast<std::size_t>(row)); });
    const ResultRange range(*table, coloredBy());
    std::vector<SweepCurves::Curve> curves;
    std::size_t kept = 0;
    std::size_t training = 0;
    for (std::size_t row = 0; row < table->rows.size(); ++row) {
        const auto& run = table->rows[row].run;
        training += run && run->status == RunStatus::Running ? 1 : 0;
        if (!m_plot->isKept(row)) {
            continue;
        }
        ++kept;
        if (run && m_thin.contains(run->id)) {
            curves.push_back({static_cast<int>(row), range.color(row, palette()),
                QString::fromStdString(describe(table->rows[row].point)), m_thin.value(run->id)});
        }
    }
    m_curves->show(std::move(curves));
    const auto selected = m_plot->selected();
    m_curves->select(selected ? std::optional(static_cast<int>(*selected)) : std::nullopt);
    const auto count = [](std::size_t number) { return formatCount(static_cast<qint64>(number)); };
    m_state->setText(m_plot->keepsSome() ? tr("%1 of %2 runs kept").arg(count(kept), count(table->rows.size()))
            : training > 0               ? tr("%1 runs, %2 in training").arg(count(kept), count(training))
                                         : tr("%1 runs").arg(count(kept)));
}

/// Of runs whose curves are not known, or have grown.
void SweepPanel::loadCurves()
{
    const SweepTable* table = chosen();
    QList<RunId> wanted;
    for (const SweepRow& row : table->rows) {
        if (row.run && m_thinSteps.value(row.run->id, -1) != row.run->steps) {
            wanted << row.run->id;
        }
    }
    if (wanted.isEmpty()) {
        return;
    }
    for (const SweepRow& row : table->rows) {
        // What was asked for before and has not come yet is asked for again: only the last request is answered.
        if (row.run && !m_thin.contains(row.run->id) && !wanted.contains(row.run->id)) {
            wanted << row.run->id;
        }
        if (row.run) {
            m_thinSteps.insert(row.run->id, row.run->steps);
        }
    }
    m_loader->load(wanted);
}

/// A row of the sweep's table, everywhere; -1: none.
void SweepPanel::select(int row)
{
    m_isSelecting = true;
    m_plot->select(row < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(row)));
    m_curves->select(row < 0 ? std::nullopt : std::optional(row));
    const QModelIndex place = row < 0 ? QModelIndex() : m_order->mapFromSource(m_model->index(row, 0));
    if (place.isValid()) {
        m_table->selectRow(place.row());
        m_table->scrollTo(place);
    } else {
        m_table->clearSelection();
    }
    m_isSelecting = false;
}

void SweepPanel::setShown(RunId run, bool isShown)
{
    m_model->setShown(run, isShown);
}

void SweepPanel::toggleShown()
{
    const QModelIndex place = m_order->mapToSource(m_table->currentIndex());
    if (place.isValid()) {
        const QModelIndex box = place.siblingAtColumn(0);
        const bool isShown = box.data(Qt::CheckStateRole).toInt() == Qt::Checked;
        m_model->setData(box, isShown ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
    }
}

void SweepPanel::paintPlots(QPainter& painter, const QSize& size) const
{
    const QSize left(size.width() * 3 / 5, size.height());
    m_plot->paint(painter, left);
    painter.translate(left.width(), 0);
    m_curves->paint(painter, size - QSize(left.width(), 0));
    painter.translate(-left.width(), 0);
}

void SweepPanel::exportTo(const QString& file) const
{
    if (chosen() == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "There is no sweep to export yet.");
    }
    if (!file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)) {
        const QSize size(m_plot->width() + m_curves->width(), std::max(m_plot->height(), m_curves->height()));
        writePicture(file, size, QString::fromStdString(chosen()->name),
            [this, size](QPainter& painter) { paintPlots(painter, size); });
        return;
    }
    writeFile(file, [this](QIODevice& device) {
        // The columns have the names that settings and --json have, whatever the language.
        static const std::array<const char*, allSweepResults.size()> results {
            "final_loss", "validation_loss", "validation_accuracy", "skipped_steps", "final_scale", "steps_per_second"};
        const SweepTable& table = m_model->table();
        QByteArray csv("run,point");
        for (const std::string& column : table.columns) {
            csv += ',' + quoted(QString::fromStdString(column), ',');
        }
        csv += ",status";
        for (const char* result : results) {
            csv += QByteArray(",") + result;
        }
        csv += '\n';
        for (int row = 0; row < m_order->rowCount(); ++row) {
            const QModelIndex first = m_order->mapToSource(m_order->index(row, 0));
            const SweepRow& of = table.rows[static_cast<std::size_t>(first.row())];
            csv += of.run ? QByteArray::number(static_cast<qlonglong>(of.run->id)) : QByteArray();
            csv += ',' + QByteArray::number(of.point.number);
            for (const std::string& column : table.columns) {
                const auto value = SweepTable::value(of, column);
                csv += ',' + quoted(value ? QString::fromStdString(settingText(*value)) : QString(), ',');
            }
            csv += ',' + (of.run ? QByteArray::fromStdString(std::string(nameOf(of.run->status))) : QByteArray());
            for (const SweepResult result : allSweepResults) {
                csv += ','
                    + (of.run && isKnown(*of.run, result) ? formatExact(resultOf(*of.run, result)).toLatin1()
                                                          : QByteArray());
            }
            csv += '\n';
        }
        return device.write(csv) == csv.size();
    });
}

void SweepPanel::showExportDialog()
{
    if (chosen() == nullptr) {
        emit notice(tr("There is nothing to export yet."));
        return;
    }
    const QString done = saveByDialog(this, QStringLiteral("sweep.png"),
        tr("Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg);;Numbers (*.csv)"),
        [this](const QString& file) { exportTo(file); });
    if (!done.isEmpty()) {
        emit notice(done);
    }
}

void SweepPanel::copyPicture() const
{
    const QSize size(m_plot->width() + m_curves->width(), std::max(m_plot->height(), m_curves->height()));
    mantissa::copyPicture(size, [this, size](QPainter& painter) { paintPlots(painter, size); });
}

void SweepPanel::copyTable() const
{
    QStringList lines;
    const auto line = [this](const auto& cell) {
        QStringList cells;
        for (int column = 0; column < m_model->columnCount(); ++column) {
            cells << cell(column).toString().simplified();
        }
        return cells.join(QLatin1Char('\t'));
    };
    lines << line([this](int column) { return m_model->headerData(column, Qt::Horizontal, Qt::DisplayRole); });
    for (int row = 0; row < m_order->rowCount(); ++row) {
        lines << line([this, row](int column) { return m_order->index(row, column).data(SweepModel::CopyRole); });
    }
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')) + QLatin1Char('\n'));
}

void SweepPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (!m_controller->database().empty()) {
        m_isLoaded ? m_archive->reloadIfChanged() : m_archive->reload();
        m_timer.start();
    }
}

void SweepPanel::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_timer.stop();
}

void SweepPanel::keyPressEvent(QKeyEvent* event)
{
    if (!event->matches(QKeySequence::Copy)) {
        QWidget::keyPressEvent(event);
    } else if (m_table->hasFocus()) {
        copyTable();
    } else {
        copyPicture();
    }
}

void SweepPanel::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange) {
        showSweep();
    }
    QWidget::changeEvent(event);
}

} // namespace mantissa
