#include "ui/layers/layers_panel.h"

#include "engine/core/error.h"
#include "ui/language/language.h"
#include "ui/layers/layer_words.h"
#include "ui/models/run_cells.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/picture_file.h"
#include "ui/style/number_format.h"
#include "ui/style/run_banner.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int margin = 8;
constexpr int refreshMs = 200;

} // namespace

LayersPanel::LayersPanel(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_banner(new RunBanner)
    , m_lanes(new LaneCombo(tr("Lane whose layers are shown")))
    , m_measures(new QComboBox)
    , m_groupings(new QComboBox)
    , m_filter(new QLineEdit)
    , m_look(new QToolButton)
    , m_export(new QToolButton)
    , m_stack(new QStackedWidget)
    , m_emptyPage(new QWidget)
    , m_emptyLabel(new QLabel)
    , m_emptyLook(new QPushButton(tr("Look now")))
    , m_switchOn(new QPushButton)
    , m_layers(new LayerTableModel(this))
    , m_table(new LayerTable(m_layers))
    , m_cell(new QLabel)
    , m_funnel(new SurvivalFunnel)
    , m_ledgerStrip(new LedgerStrip)
    , m_ledgerWords(new QLabel)
{
    buildControls();
    buildEmptyPage();
    auto* content = new QWidget;
    auto* table = new QVBoxLayout(content);
    table->setContentsMargins(0, 0, 0, 0);
    table->setSpacing(0);
    table->addWidget(m_table, 1);
    table->addWidget(new HeatFooter(m_table));
    m_cell->setContentsMargins(margin, 0, margin, 2);
    m_cell->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_cell->setAccessibleName(tr("Chosen cell"));
    // A long sentence must not make the window wider.
    m_cell->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    table->addWidget(m_cell);
    m_stack->addWidget(m_emptyPage);
    m_stack->addWidget(content);
    auto* splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(true);
    splitter->addWidget(m_stack);
    splitter->addWidget(m_funnel);
    splitter->setCollapsible(0, false);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);
    m_ledgerWords->setContentsMargins(margin, 2, margin, 2);
    m_ledgerWords->setWordWrap(true);
    m_ledgerWords->setAccessibleName(tr("Steps taken and skipped, in words"));

    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(margin, 4, 4, 4);
    controls->setSpacing(margin);
    controls->addWidget(m_lanes);
    controls->addWidget(m_measures);
    controls->addWidget(m_groupings);
    controls->addWidget(m_filter, 1);
    controls->addWidget(m_look);
    controls->addWidget(m_export);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addLayout(controls);
    column->addWidget(splitter, 1);
    column->addWidget(m_ledgerWords);
    column->addWidget(m_ledgerStrip);

    connect(m_banner, &RunBanner::closed, this, &LayersPanel::closeStored);
    connect(m_table, &LayerTable::columnChosen, this, &LayersPanel::chooseColumn);
    connect(m_table, &LayerTable::measureWanted, this, &LayersPanel::setMeasure);
    connect(m_table, &LayerTable::hovered, this, [this](std::optional<HeatCell> cell) {
        m_hovered = cell;
        updateCellText();
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &LayersPanel::updateCellText);
    connect(m_ledgerStrip, &LedgerStrip::stepChosen, this, [this](qint64 step) {
        chooseStep(step);
        emit stepChosen(step);
    });
    connect(controller, &SessionController::sampled, this, [this] { m_isStale = true; });
    connect(controller, &SessionController::recordsTaken, this, [this](const std::vector<StepRecord>& records) {
        for (const StepRecord& record : records) {
            m_ledgers[record.lane].add(record);
        }
    });
    connect(controller, &SessionController::eventTaken, this, [this](const Event& event) {
        if (event.lane != Event::allLanes) {
            m_ledgers[event.lane].add(event);
        }
    });
    connect(controller, &SessionController::sessionReplaced, this, [this] {
        m_ledgerStrip->setLedger(nullptr);
        m_ledgers.clear();
        closeStored();
    });
    m_timer.setInterval(refreshMs);
    connect(&m_timer, &QTimer::timeout, this, &LayersPanel::follow);
    showEmpty(tr("No experiment is open. Ctrl+O opens one."), false);
    whenLanguageChanges(this, [this] {
        m_isStale = true;
        follow();
    });
}

void LayersPanel::buildControls()
{
    m_measures->setAccessibleName(tr("What the heat map shows"));
    for (const LayerMeasure measure : allLayerMeasures) {
        m_measures->addItem(titleOf(measure));
        m_measures->setItemData(m_measures->count() - 1, explanationOf(measure), Qt::ToolTipRole);
    }
    m_measures->setMaxVisibleItems(m_measures->count());
    m_measures->setToolTip(explanationOf(m_layers->measure()));
    m_groupings->setAccessibleName(tr("Rows"));
    m_groupings->addItem(tr("Layers"));
    m_groupings->addItem(tr("Tensors"));
    m_groupings->setToolTip(tr("A row per layer, or one per weight and bias"));
    m_filter->setPlaceholderText(tr("Filter layers"));
    m_filter->setAccessibleName(tr("Filter layers"));
    m_filter->setToolTip(tr("Shows the layers whose name contains every word"));
    m_filter->setClearButtonEnabled(true);
    m_look->setText(tr("Look now"));
    m_look->setAutoRaise(true);
    m_look->setToolTip(tr("Looks at the next step of every lane; trains it, if the lanes rest"));
    m_export->setText(tr("Export"));
    m_export->setAutoRaise(true);
    m_export->setPopupMode(QToolButton::InstantPopup);
    auto* exports = new QMenu(m_export);
    exports->addAction(tr("Copy table as text"), m_table, &LayerTable::copyText);
    exports->addAction(tr("Copy picture"), this, &LayersPanel::copyPicture);
    exports->addAction(tr("Save as PNG, PDF or CSV\u2026"), this, &LayersPanel::showExportDialog);
    m_export->setMenu(exports);

    connect(m_lanes, &LaneCombo::laneChosen, this, [this](std::uint32_t lane) {
        setLane(lane);
        emit laneChosen(lane);
    });
    connect(m_measures, &QComboBox::activated, this,
        [this](int index) { setMeasure(allLayerMeasures[static_cast<std::size_t>(index)]); });
    connect(m_groupings, &QComboBox::activated, this,
        [this](int index) { setGrouping(index == 0 ? LayerGrouping::Layers : LayerGrouping::Tensors); });
    connect(m_filter, &QLineEdit::textChanged, m_table->order(), &LayerOrder::setWords);
    connect(m_look, &QToolButton::clicked, m_controller, &SessionController::sampleNow);
}

void LayersPanel::buildEmptyPage()
{
    m_emptyLabel->setWordWrap(true);
    m_emptyLabel->setAlignment(Qt::AlignCenter);
    m_emptyLook->setToolTip(m_look->toolTip());
    m_switchOn->setText(tr("Look at every %1th step").arg(SamplingPlan::usually));
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    buttons->addWidget(m_emptyLook);
    buttons->addWidget(m_switchOn);
    buttons->addStretch();
    auto* page = new QVBoxLayout(m_emptyPage);
    page->addStretch();
    page->addWidget(m_emptyLabel);
    page->addLayout(buttons);
    page->addStretch();
    connect(m_emptyLook, &QPushButton::clicked, m_controller, &SessionController::sampleNow);
    connect(m_switchOn, &QPushButton::clicked, this, [this] {
        SamplingPlan plan = m_controller->sampling();
        plan.every = SamplingPlan::usually;
        m_controller->setSampling(plan);
        follow();
    });
}

void LayersPanel::setLanes(const std::vector<LaneChoice>& lanes)
{
    if (const auto shown = m_lanes->setLanes(lanes, m_lane)) {
        setLane(*shown);
    }
}

void LayersPanel::setLane(std::uint32_t lane)
{
    if (lane != m_lane) {
        m_stored.reset();
        m_banner->hide();
    }
    m_lane = lane;
    m_lanes->setLane(lane);
    m_isStale = true;
    follow();
}

void LayersPanel::showStored(const StoredLookPtr& stored)
{
    m_stored = stored;
    m_storedLedger = {};
    m_storedLedger.setColumns(stored->columns);
    m_banner->showRun(name());
    m_step.reset();
    m_isStale = true;
    follow();
}

void LayersPanel::closeStored()
{
    m_stored.reset();
    m_banner->hide();
    m_step.reset();
    m_isStale = true;
    follow();
}

QString LayersPanel::name() const
{
    return m_stored ? runName(m_stored->info) : m_controller->laneName(*m_lane);
}

void LayersPanel::showLayer(const QString& layer, LayerMeasure measure)
{
    m_filter->clear();
    setGrouping(LayerGrouping::Layers);
    setMeasure(measure);
    const std::vector<std::string>& rows = m_layers->grid().rows();
    const auto found = std::ranges::find(rows, layer.toStdString());
    if (found != rows.end()) {
        const QModelIndex index = m_layers->index(static_cast<int>(found - rows.begin()), LayerTableModel::nameColumn);
        m_table->setCurrentIndex(m_table->order()->mapFromSource(index));
    }
}

void LayersPanel::setMeasure(LayerMeasure measure)
{
    m_measures->setCurrentIndex(static_cast<int>(measure));
    m_measures->setToolTip(explanationOf(measure));
    m_layers->setMeasure(measure);
    m_table->showMeasure(measure);
    m_table->order()->measureChanged();
    m_isStale = true;
    follow();
}

void LayersPanel::setGrouping(LayerGrouping grouping)
{
    m_groupings->setCurrentIndex(grouping == LayerGrouping::Layers ? 0 : 1);
    m_grouping = grouping;
    m_isStale = true;
    follow();
}

void LayersPanel::setColumns(std::uint32_t lane, const RunColumns& columns)
{
    m_ledgers[lane].setColumns(columns);
    followLedger();
}

const LaneStatus* LayersPanel::laneStatus() const
{
    return m_lane && !m_stored ? m_controller->laneStatus(*m_lane) : nullptr;
}

void LayersPanel::follow()
{
    if (!isVisible()) {
        return; // showEvent() catches up
    }
    followLedger();
    const LaneStatus* lane = laneStatus();
    const bool canTrain = lane != nullptr && lane->status == RunStatus::Running;
    m_look->setEnabled(canTrain);
    m_emptyLook->setEnabled(canTrain);
    if (m_isStale || m_layers->grid().columns() == 0) {
        m_isStale = false;
        followSamples();
    }
}

void LayersPanel::followSamples()
{
    static const std::vector<SamplePtr> none;
    const LaneStatus* lane = laneStatus();
    const std::vector<SamplePtr>& samples = m_stored ? m_stored->samples
        : lane == nullptr                            ? none
                                                     : m_controller->samples(*m_lane);
    m_layers->setSamples(samples, m_grouping);
    const LayerGrid& grid = m_layers->grid();
    if (samples.empty()) {
        m_funnel->setSample(nullptr);
        const SamplingPlan& plan = m_controller->sampling();
        if (lane == nullptr) {
            const auto status = m_controller->status();
            const bool hasFailed = status && status->state == SessionState::Failed;
            showEmpty(hasFailed ? tr("This experiment can't be trained, so there are no layers to look at.\n%1")
                                      .arg(QString::fromStdString(status->message))
                                : tr("Preparing\u2026"),
                false);
        } else if (plan.every <= 0) {
            showEmpty(tr("Looking at steps layer by layer is switched off."), true);
        } else {
            showEmpty(tr("No step of %1 was looked at yet. Space trains; one step in %2 is looked at.")
                          .arg(m_controller->laneName(*m_lane), formatCount(plan.every)),
                true);
        }
        return;
    }
    const std::size_t column = m_step ? grid.columnAt(*m_step) : grid.columns() - 1;
    m_layers->setColumn(column);
    m_funnel->setSample(grid.sample(column));
    bool applies = false;
    for (std::size_t row = 0; row < grid.rows().size(); ++row) {
        applies = applies || grid.applies(row, m_layers->measure());
    }
    if (!applies) {
        showEmpty(absenceSentence(m_layers->measure(), isHalf(samples.back()->lower)), false);
        return;
    }
    m_stack->setCurrentIndex(1);
    m_funnel->show();
    m_export->setEnabled(true);
    updateCellText();
}

void LayersPanel::showEmpty(const QString& text, bool canLook)
{
    m_emptyLabel->setText(text);
    m_emptyLook->setVisible(canLook);
    m_switchOn->setVisible(canLook && m_controller->sampling().every <= 0);
    m_stack->setCurrentIndex(0);
    m_funnel->setVisible(m_layers->grid().columns() > 0);
    m_export->setEnabled(false);
}

void LayersPanel::followLedger()
{
    if (!m_lane && !m_stored) {
        return;
    }
    SkipLedger& ledger = m_stored ? m_storedLedger : m_ledgers[*m_lane];
    if (const LaneStatus* lane = laneStatus()) {
        ledger.setCountsSkipped(lane->config->schedule.countSkipped);
    }
    m_ledgerStrip->setLedger(&ledger);
    m_ledgerWords->setText(ledgerSentence(ledger));
}

void LayersPanel::chooseColumn(std::size_t column)
{
    const std::int64_t step = m_layers->grid().step(column);
    chooseStep(step);
    emit stepChosen(step);
}

void LayersPanel::chooseStep(std::int64_t step)
{
    m_ledgerStrip->setStep(step);
    const LayerGrid& grid = m_layers->grid();
    m_step = step;
    if (grid.columns() == 0) {
        return;
    }
    const std::size_t column = grid.columnAt(step);
    if (column + 1 == grid.columns()) {
        m_step.reset(); // whoever goes to the newest wants to stay with it
    }
    m_layers->setColumn(column);
    m_funnel->setSample(grid.sample(column));
    updateCellText();
}

void LayersPanel::updateCellText()
{
    m_cell->setText(cellText());
}

QString LayersPanel::emptyText() const
{
    return m_stack->currentIndex() == 0 ? m_emptyLabel->text() : QString();
}

QString LayersPanel::cellText() const
{
    const LayerGrid& grid = m_layers->grid();
    std::optional<HeatCell> cell = m_hovered;
    if (!cell) {
        if (const auto row = m_table->currentRow()) {
            cell = HeatCell {*row, m_layers->column()};
        }
    }
    if (!cell || cell->row >= grid.rows().size() || cell->column >= grid.columns()) {
        return grid.columns() == 0 ? QString()
                                   : tr("Step %1. A click on a cell or the arrow keys choose layer and step.")
                                         .arg(formatCount(grid.step(m_layers->column())));
    }
    return cellSentence(grid, cell->row, cell->column, m_layers->measure());
}

// --- files ---

HeatPicture LayersPanel::picture() const
{
    HeatPicture picture(m_table->content(), m_table->shownRows(), font(), palette());
    const LaneChoice* const look = m_stored ? nullptr : m_lanes->look();
    const bool isKnown = m_stored || look != nullptr;
    picture.setTitle(isKnown ? tr("%1: %2").arg(name(), titleOf(m_layers->measure())) : QString(),
        look != nullptr ? look->color : QColor(Qt::transparent));
    return picture;
}

void LayersPanel::copyPicture() const
{
    constexpr double sharp = 2;
    if (m_stack->currentIndex() == 1) {
        QApplication::clipboard()->setImage(picture().image(sharp));
    }
}

void LayersPanel::exportTo(const QString& file) const
{
    if (!file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)) {
        picture().write(file);
        return;
    }
    const LayerGrid& grid = m_layers->grid();
    const LayerMeasure measure = m_layers->measure();
    writeFile(file, [&](QIODevice& device) {
        const QByteArray lane = quoted(name(), ',');
        bool ok
            = device.write("lane,step,layer," + QByteArray::fromStdString(std::string(nameOf(measure))) + '\n') >= 0;
        for (std::size_t column = 0; column < grid.columns(); ++column) {
            const QByteArray step = QByteArray::number(static_cast<qlonglong>(grid.step(column)));
            for (const std::size_t row : m_table->shownRows()) {
                const QByteArray line = lane + ',' + step + ',' + quoted(QString::fromStdString(grid.rows()[row]), ',')
                    + ',' + formatExact(grid.value(row, column, measure)).toLatin1() + '\n';
                ok = ok && device.write(line) == line.size();
            }
        }
        return ok;
    });
}

void LayersPanel::showExportDialog()
{
    if (m_stack->currentIndex() != 1) {
        emit notice(tr("There is nothing to export yet."));
        return;
    }
    const QString done = saveByDialog(this, QStringLiteral("layers.png"),
        tr("Picture (*.png);;PDF document (*.pdf);;Numbers (*.csv)"), [this](const QString& file) { exportTo(file); });
    if (!done.isEmpty()) {
        emit notice(done);
    }
}

void LayersPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_timer.start();
    follow();
}

void LayersPanel::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_timer.stop();
}

} // namespace mantissa
