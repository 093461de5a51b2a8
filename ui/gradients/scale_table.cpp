#include "ui/gradients/scale_table.h"

#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include <chrono>
#include <cmath>

namespace mantissa {

namespace {

constexpr int mostExponent = 24;
constexpr int lookEveryMs = 16;

} // namespace

ScaleTable::ScaleTable(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_button(new QPushButton(tr("Try every scale")))
    , m_note(new QLabel)
    , m_table(new QTableWidget(0, 5))
{
    m_button->setToolTip(tr("Trains the lane's next step on a copy of it, at every power of two from 2^0 to 2^24. The "
                            "lane itself stays as it is; training waits for as long as 25 steps take"));
    m_note->setWordWrap(true);
    m_table->setHorizontalHeaderLabels(
        {tr("Scale"), tr("Overflows"), tr("Flushed"), tr("Subnormal"), tr("Clip factor")});
    const QStringList tips {tr("What the loss is multiplied with"), tr("Whether the step would be skipped"),
        tr("Share of the gradient's elements that rounding flushes to zero"),
        tr("Share that keeps fewer digits, since it is subnormal"),
        tr("What clipping multiplies the gradient by; 1: it does not touch it")};
    for (int column = 0; column < m_table->columnCount(); ++column) {
        m_table->horizontalHeaderItem(column)->setToolTip(tips[column]);
    }
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setAccessibleName(tr("The next step at every scale"));
    m_table->setToolTip(tr("Enter or a double click puts the scale on the slider"));
    int widest = 0;
    for (int i = 0; i < m_table->columnCount(); ++i) {
        widest += fontMetrics().horizontalAdvance(m_table->horizontalHeaderItem(i)->text()) + 16;
    }
    setMinimumWidth(widest + 8);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_note);
    column->addWidget(m_table, 1);
    m_timer.setInterval(lookEveryMs);
    connect(&m_timer, &QTimer::timeout, this, &ScaleTable::look);
    connect(m_button, &QPushButton::clicked, this, &ScaleTable::tryScales);
    connect(m_table, &QTableWidget::cellActivated, this, [this](int row, int) { emit exponentChosen(row); });
    connect(m_controller, &SessionController::sessionReplaced, this, [this] { clear({}); });
    clear({});
}

void ScaleTable::setLane(std::optional<std::uint32_t> lane)
{
    if (lane != m_lane) {
        m_lane = lane;
        clear({});
    }
    m_button->setEnabled(lane.has_value() && !m_timer.isActive());
}

void ScaleTable::clear(const QString& why)
{
    m_timer.stop();
    m_waiting = {};
    m_trials.clear();
    m_table->setRowCount(0);
    m_note->setText(why);
    setVisible(!why.isEmpty());
    m_button->setEnabled(m_lane.has_value());
}

void ScaleTable::tryScales()
{
    if (!m_lane || m_timer.isActive()) {
        return;
    }
    std::vector<double> scales;
    for (int exponent = 0; exponent <= mostExponent; ++exponent) {
        scales.push_back(std::exp2(exponent));
    }
    m_waiting = m_controller->tryScales(*m_lane, std::move(scales));
    if (m_waiting.valid()) {
        m_note->setText(tr("Trying\u2026"));
        setVisible(true);
        m_button->setEnabled(false);
        m_timer.start();
    }
}

void ScaleTable::look()
{
    if (m_waiting.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        return;
    }
    m_timer.stop();
    try {
        m_trials = m_waiting.get();
        fill();
        m_button->setEnabled(true);
    } catch (const std::exception& error) {
        clear(QString::fromUtf8(error.what()));
    }
}

void ScaleTable::fill()
{
    const LaneStatus* lane = m_controller->laneStatus(*m_lane);
    m_note->setText(lane == nullptr ? QString() : tr("Before step %1:").arg(formatCount(lane->nextStep)));
    m_table->setRowCount(static_cast<int>(m_trials.size()));
    const QFont numbers = tabularFont(font());
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const ScaleTrial& trial = m_trials[static_cast<std::size_t>(row)];
        const bool isPresent = lane != nullptr && trial.scale == lane->scale;
        const QStringList texts {
            isPresent ? tr("%1 (now)").arg(formatPowerOfTwo(trial.scale)) : formatPowerOfTwo(trial.scale),
            trial.overflows ? tr("yes, skipped") : tr("no"), exactPercent(trial.flushed), exactPercent(trial.subnormal),
            trial.overflows ? QStringLiteral("\u2013") : formatValue(trial.clipFactor)};
        for (int column = 0; column < texts.size(); ++column) {
            auto* item = new QTableWidgetItem(texts[column]);
            QFont look = numbers;
            look.setBold(isPresent);
            item->setFont(look);
            item->setTextAlignment(column == 1 ? Qt::AlignCenter : Qt::AlignRight | Qt::AlignVCenter);
            m_table->setItem(row, column, item);
        }
    }
}

QString ScaleTable::text() const
{
    QString text = QStringLiteral("scale\toverflows\tflushed\tsubnormal\toverflowed\tgrad_norm\tclip_factor\n");
    for (const ScaleTrial& trial : m_trials) {
        text += QStringList {formatExact(trial.scale), trial.overflows ? QStringLiteral("1") : QStringLiteral("0"),
                    formatExact(trial.flushed), formatExact(trial.subnormal), formatExact(trial.overflowed),
                    formatExact(trial.gradNorm), formatExact(trial.clipFactor)}
                    .join(QLatin1Char('\t'))
            + QLatin1Char('\n');
    }
    return text;
}

void ScaleTable::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy) && !m_trials.empty()) {
        QGuiApplication::clipboard()->setText(text());
    } else {
        QWidget::keyPressEvent(event);
    }
}

} // namespace mantissa
