#include "ui/time/time_panel.h"

#include "engine/core/error.h"
#include "ui/language/language.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/picture_file.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/time/phase_painter.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int margin = 8;
constexpr int gap = 4;
constexpr int refreshMs = 250;

class BarDelegate : public QStyledItemDelegate
{
public:
    BarDelegate(const LaneTimesModel* times, const QSortFilterProxyModel* order, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_times(times)
        , m_order(order)
    {
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::paint(painter, option, index);
        const LaneTimes& row = m_times->rows()[static_cast<std::size_t>(m_order->mapToSource(index).row())];
        PhasePainter(row.color, option.palette)
            .bar(*painter, QRectF(option.rect).adjusted(gap, gap, -gap, -gap), row.summary.mean, m_times->longest());
    }

private:
    const LaneTimesModel* m_times;
    const QSortFilterProxyModel* m_order;
};

} // namespace

TimePanel::TimePanel(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_lanes(new LaneCombo(tr("Lane whose steps are shown")))
    , m_span(new QComboBox)
    , m_times(new LaneTimesModel(this))
    , m_order(new QSortFilterProxyModel(this))
    , m_table(new QTableView)
    , m_chart(new TimeChart)
    , m_words(new QLabel)
    , m_gpus(new QLabel)
{
    for (const std::int64_t steps : {0, 1000, 100}) {
        m_span->addItem(
            steps == 0 ? tr("Means of all steps") : tr("Means of the last %1").arg(formatCount(steps)), qint64 {steps});
    }
    m_span->setAccessibleName(tr("Steps that the table is about"));
    m_span->setToolTip(tr("Which steps the numbers of the table are means of"));
    auto* exportButton = new QToolButton;
    exportButton->setText(tr("Export"));
    exportButton->setAutoRaise(true);
    exportButton->setPopupMode(QToolButton::InstantPopup);
    auto* exports = new QMenu(exportButton);
    exports->addAction(tr("Copy table as text"), this, &TimePanel::copyTable);
    exports->addAction(tr("Copy picture"), this, &TimePanel::copyPicture);
    exports->addAction(tr("Save as PNG, PDF, SVG or CSV\u2026"), this, &TimePanel::showExportDialog);
    exportButton->setMenu(exports);

    m_order->setSourceModel(m_times);
    m_order->setSortRole(LaneTimesModel::SortRole);
    m_table->setModel(m_order);
    m_table->setFont(tabularFont(font()));
    m_table->setItemDelegateForColumn(LaneTimesModel::Bar, new BarDelegate(m_times, m_order, m_table));
    m_table->setSortingEnabled(true);
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder); // as the lanes stand
    m_table->horizontalHeader()->setSortIndicatorClearable(true);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->setSelectionBehavior(QTableView::SelectRows);
    m_table->setSelectionMode(QTableView::SingleSelection);
    m_table->setEditTriggers(QTableView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 3 * gap);
    m_table->setAccessibleName(tr("Time of the lanes"));
    const QFontMetrics metrics(m_table->font());
    m_table->setColumnWidth(LaneTimesModel::Name, metrics.horizontalAdvance(QStringLiteral("FP16, no scaler  ")) + 16);
    for (int column = LaneTimesModel::Milliseconds; column < LaneTimesModel::Bar; ++column) {
        const QString title = m_times->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        m_table->setColumnWidth(column, metrics.horizontalAdvance(title) + 8 * gap);
    }
    m_words->setWordWrap(true);
    m_words->setContentsMargins(margin, 2, margin, 2);
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_words->setAccessibleName(tr("What the lane's time says"));
    m_gpus->setWordWrap(true);
    m_gpus->setContentsMargins(margin, 0, margin, 2);
    m_gpus->setFont(tabularFont(font()));
    m_gpus->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_gpus->setAccessibleName(tr("GPUs"));
    m_gpus->setToolTip(tr("What the machine's GPUs do, for all programs together, as the NVIDIA driver tells"));
    m_gpus->hide();

    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(margin, 4, 4, 4);
    controls->setSpacing(margin);
    controls->addWidget(m_lanes);
    controls->addWidget(m_span);
    controls->addStretch(1);
    controls->addWidget(exportButton);
    auto* splitter = new QSplitter(Qt::Vertical);
    splitter->addWidget(m_table);
    splitter->addWidget(m_chart);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 2);
    splitter->setChildrenCollapsible(false);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(controls);
    column->addWidget(splitter, 1);
    column->addWidget(m_words);
    column->addWidget(m_gpus);

    connect(m_lanes, &LaneCombo::laneChosen, this, [this](std::uint32_t lane) {
        setLane(lane);
        emit laneChosen(lane);
    });
    connect(m_span, &QComboBox::activated, this, &TimePanel::follow);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& row) {
        if (row.isValid()) {
            const auto at = static_cast<std::size_t>(m_order->mapToSource(row).row());
            setLane(m_times->rows()[at].lane);
            emit laneChosen(*m_lane);
        }
    });
    connect(m_chart, &TimeChart::stepChosen, this, &TimePanel::stepChosen);
    connect(controller, &SessionController::recordsTaken, this, [this](const std::vector<StepRecord>& records) {
        for (const StepRecord& record : records) {
            m_histories[record.lane].add(record);
        }
    });
    connect(controller, &SessionController::sessionReplaced, this, [this] {
        m_histories.clear();
        follow();
    });
    m_timer.setInterval(refreshMs);
    connect(&m_timer, &QTimer::timeout, this, &TimePanel::follow);
    follow();
    whenLanguageChanges(this, [this] { follow(); });
}

void TimePanel::setLanes(const std::vector<LaneChoice>& lanes)
{
    m_choices = lanes;
    if (const auto shown = m_lanes->setLanes(lanes, m_lane)) {
        setLane(*shown);
    }
}

void TimePanel::setLane(std::uint32_t lane)
{
    m_lane = lane;
    m_lanes->setLane(lane);
    follow();
}

void TimePanel::followTable()
{
    const std::int64_t span = m_span->currentData().toLongLong();
    std::vector<LaneTimes> rows;
    const auto baseline = m_controller->baseline();
    for (const LaneChoice& choice : m_choices) {
        const auto history = m_histories.find(choice.id);
        const LaneStatus* status = m_controller->laneStatus(choice.id);
        if (history == m_histories.end() || status == nullptr) {
            continue;
        }
        LaneTimes row {choice.id, choice.color,
            {.lane = choice.name, .mean = history->second.mean(span), .casts = status->castsPerStep}};
        const auto other = baseline ? m_histories.find(*baseline) : m_histories.end();
        if (other != m_histories.end() && *baseline != choice.id) {
            const double theirs = trainingMs(other->second.mean(span));
            row.summary.baseline = m_controller->laneName(*baseline);
            row.summary.ratio = theirs == 0 ? 0 : trainingMs(row.summary.mean) / theirs;
        }
        rows.push_back(std::move(row));
    }
    m_times->setRows(std::move(rows));
}

void TimePanel::followGpus()
{
    const auto report = m_meter.latest();
    const QString text = report ? sentenceOf(*report) : QString();
    m_gpus->setText(text);
    m_gpus->setVisible(!text.isEmpty());
}

/// Nothing is drawn that nobody sees.
void TimePanel::follow()
{
    if (!isVisible()) {
        return;
    }
    followGpus();
    followTable();
    const auto shown
        = std::ranges::find_if(m_times->rows(), [this](const LaneTimes& row) { return m_lane && row.lane == *m_lane; });
    if (shown == m_times->rows().end()) {
        m_chart->showText(m_controller->isOpen() ? tr("Space trains the lanes; where their time goes is shown here.")
                                                 : tr("No experiment is open. Ctrl+O opens one."));
        m_words->clear();
        return;
    }
    m_chart->show(m_histories.at(*m_lane), shown->summary.lane, shown->color);
    m_words->setText(sentenceOf(shown->summary));
    m_chart->setAccessibleDescription(m_words->text());
}

QString TimePanel::sentence() const
{
    return m_words->text();
}

void TimePanel::exportTo(const QString& file) const
{
    if (!file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)) {
        const QSize size = m_chart->size();
        writePicture(file, size, m_words->text(), [this, size](QPainter& painter) { m_chart->paint(painter, size); });
        return;
    }
    writeFile(file, [this](QIODevice& device) {
        QByteArray csv("lane,first_step,steps");
        for (const StepPhase phase : allStepPhases) {
            csv += ',' + keyOf(phase).toLatin1() + "_ms";
        }
        csv += '\n';
        for (const LaneChoice& choice : m_choices) {
            const auto history = m_histories.find(choice.id);
            if (history == m_histories.end()) {
                continue;
            }
            for (const TimeHistory::Bucket& bucket : history->second.buckets()) {
                csv += quoted(choice.name, ',') + ',' + QByteArray::number(static_cast<qlonglong>(bucket.first)) + ','
                    + QByteArray::number(static_cast<qlonglong>(bucket.steps));
                const PhaseMs mean = bucket.mean();
                for (const StepPhase phase : allStepPhases) {
                    csv += ',' + formatExact(mean[phase]).toLatin1();
                }
                csv += '\n';
            }
        }
        return device.write(csv) == csv.size();
    });
}

void TimePanel::showExportDialog()
{
    if (m_chart->isEmpty()) {
        emit notice(tr("There is nothing to export yet."));
        return;
    }
    const QString done = saveByDialog(this, QStringLiteral("time.png"),
        tr("Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg);;Numbers (*.csv)"),
        [this](const QString& file) { exportTo(file); });
    if (!done.isEmpty()) {
        emit notice(done);
    }
}

void TimePanel::copyPicture() const
{
    const QSize size = m_chart->size();
    mantissa::copyPicture(size, [this, size](QPainter& painter) { m_chart->paint(painter, size); });
}

void TimePanel::copyTable() const
{
    QStringList lines;
    for (int row = -1; row < m_order->rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < LaneTimesModel::Bar; ++column) {
            cells << (row < 0 ? m_order->headerData(column, Qt::Horizontal).toString()
                              : m_order->index(row, column).data().toString());
        }
        lines << cells.join(QLatin1Char('\t'));
    }
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')) + QLatin1Char('\n'));
}

void TimePanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_meter.setResting(false);
    m_timer.start();
    follow();
}

void TimePanel::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_meter.setResting(true);
    m_timer.stop();
}

void TimePanel::keyPressEvent(QKeyEvent* event)
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
