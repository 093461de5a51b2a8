#include "ui/ranks/ranks_panel.h"

#include "engine/core/error.h"
#include "ui/language/language.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/picture_file.h"
#include "ui/style/number_format.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int margin = 8;
constexpr int refreshMs = 250;

} // namespace

RanksPanel::RanksPanel(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_lanes(new LaneCombo(tr("Lane whose ranks are shown")))
    , m_measure(new QComboBox)
    , m_chart(new RankChart)
    , m_words(new QLabel)
{
    for (const RankMeasure measure : {RankMeasure::Distance, RankMeasure::Flushed}) {
        m_measure->addItem(titleOf(measure), static_cast<int>(measure));
    }
    m_measure->setAccessibleName(tr("What the third plot shows"));
    m_measure->setToolTip(tr("The third plot: how far each rank's weights are from rank 0's, or which share of its "
                             "gradient the exchange rounded to zero"));
    auto* exportButton = new QToolButton;
    exportButton->setText(tr("Export"));
    exportButton->setAutoRaise(true);
    exportButton->setPopupMode(QToolButton::InstantPopup);
    auto* exports = new QMenu(exportButton);
    exports->addAction(tr("Copy picture"), this, &RanksPanel::copyPicture);
    exports->addAction(tr("Save as PNG, PDF, SVG or CSV\u2026"), this, &RanksPanel::showExportDialog);
    exportButton->setMenu(exports);
    m_words->setWordWrap(true);
    m_words->setContentsMargins(margin, 2, margin, 2);
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_words->setAccessibleName(tr("What the ranks say"));

    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(margin, 4, 4, 4);
    controls->setSpacing(margin);
    controls->addWidget(m_lanes);
    controls->addWidget(m_measure);
    controls->addStretch(1);
    controls->addWidget(exportButton);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(controls);
    column->addWidget(m_chart, 1);
    column->addWidget(m_words);

    connect(m_lanes, &LaneCombo::laneChosen, this, [this](std::uint32_t lane) {
        setLane(lane);
        emit laneChosen(lane);
    });
    connect(m_measure, &QComboBox::activated, this, &RanksPanel::follow);
    connect(m_chart, &RankChart::stepChosen, this, &RanksPanel::stepChosen);
    connect(controller, &SessionController::rankRecordsTaken, this, [this](const std::vector<RankRecord>& records) {
        for (const RankRecord& record : records) {
            m_histories[record.lane].add(record);
        }
    });
    connect(controller, &SessionController::sessionReplaced, this, [this] {
        m_histories.clear();
        follow();
    });
    m_timer.setInterval(refreshMs);
    connect(&m_timer, &QTimer::timeout, this, &RanksPanel::follow);
    follow();
    whenLanguageChanges(this, [this] { follow(); });
}

void RanksPanel::setLanes(const std::vector<LaneChoice>& lanes)
{
    m_choices = lanes;
    if (const auto shown = m_lanes->setLanes(lanes, m_lane)) {
        setLane(*shown);
    }
}

void RanksPanel::setLane(std::uint32_t lane)
{
    m_lane = lane;
    m_lanes->setLane(lane);
    follow();
}

/// Nothing is drawn that nobody sees.
void RanksPanel::follow()
{
    if (!isVisible()) {
        return;
    }
    const auto choice
        = std::ranges::find_if(m_choices, [this](const LaneChoice& each) { return m_lane && each.id == *m_lane; });
    const LaneStatus* const status = m_lane ? m_controller->laneStatus(*m_lane) : nullptr;
    const auto history = m_lane ? m_histories.find(*m_lane) : m_histories.end();
    if (choice != m_choices.end() && history != m_histories.end()) {
        m_chart->show(
            history->second, choice->name, choice->color, static_cast<RankMeasure>(m_measure->currentData().toInt()));
        m_words->setText(sentenceOf(choice->name, history->second));
        m_chart->setAccessibleDescription(m_words->text());
        return;
    }
    m_words->clear();
    if (!m_controller->isOpen() || status == nullptr) {
        m_chart->showText(tr("No experiment is open. Ctrl+O opens one."));
    } else if (status->config->parallel.isOn()) {
        m_chart->showText(tr("Space trains the lanes; what their ranks do is shown here."));
    } else {
        m_chart->showText(tr("%1 trains on one rank. Set its number of ranks in Setup (parallel.ranks) to see several "
                             "that share each batch.")
                              .arg(m_controller->laneName(*m_lane)));
    }
}

QString RanksPanel::sentence() const
{
    return m_words->text();
}

void RanksPanel::exportTo(const QString& file) const
{
    if (!file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive)) {
        const QSize size = m_chart->size();
        writePicture(file, size, m_words->text(), [this, size](QPainter& painter) { m_chart->paint(painter, size); });
        return;
    }
    writeFile(file, [this](QIODevice& device) {
        QByteArray csv("lane,first_step,steps,rank,grad_norm,scale,distance,flushed,not_finite,found_inf,skipped\n");
        for (const LaneChoice& choice : m_choices) {
            const auto history = m_histories.find(choice.id);
            if (history == m_histories.end()) {
                continue;
            }
            for (const RankHistory::Bucket& bucket : history->second.buckets()) {
                for (std::size_t rank = 0; rank < bucket.ranks.size(); ++rank) {
                    const RankHistory::Span& span = bucket.ranks[rank];
                    QByteArrayList cells {quoted(choice.name, ','), QByteArray::number(qlonglong {bucket.first}),
                        QByteArray::number(qlonglong {history->second.bucketSteps()}),
                        QByteArray::number(static_cast<qulonglong>(rank))};
                    for (const double value : {span.norm, span.scale, span.distance, span.flushed}) {
                        cells << formatExact(value).toLatin1();
                    }
                    for (const std::int32_t count : {span.notFinite, span.foundInf, span.skipped}) {
                        cells << QByteArray::number(count);
                    }
                    csv += cells.join(',') + '\n';
                }
            }
        }
        return device.write(csv) == csv.size();
    });
}

void RanksPanel::showExportDialog()
{
    if (m_chart->isEmpty()) {
        emit notice(tr("There is nothing to export yet."));
        return;
    }
    const QString done = saveByDialog(this, QStringLiteral("ranks.png"),
        tr("Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg);;Numbers (*.csv)"),
        [this](const QString& file) { exportTo(file); });
    if (!done.isEmpty()) {
        emit notice(done);
    }
}

void RanksPanel::copyPicture() const
{
    const QSize size = m_chart->size();
    mantissa::copyPicture(size, [this, size](QPainter& painter) { m_chart->paint(painter, size); });
}

void RanksPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_timer.start();
    follow();
}

void RanksPanel::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_timer.stop();
}

void RanksPanel::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        copyPicture();
    } else {
        QWidget::keyPressEvent(event);
    }
}

} // namespace mantissa
