#include "ui/views/status_line.h"

#include "ui/language/language.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/lane_words.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QTimer>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int refreshIntervalMs = 500;

constexpr double muchWaiting = 0.2; // share of a step

double waitShare(const PhaseTimes& time)
{
    const double step = static_cast<double>(
        time.dataMs + time.forwardMs + time.backwardMs + time.unscaleMs + time.clipMs + time.optimizerMs);
    return step > 0 ? static_cast<double>(time.waitMs) / step : 0;
}

QString formatWord(FormatSupport support)
{
    return support == FormatSupport::Native ? StatusLine::tr("native") : StatusLine::tr("emulated");
}

} // namespace

StatusLine::StatusLine(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_frames(new QLabel)
    , m_database(new QLabel)
    , m_queue(new QLabel)
    , m_memory(new QLabel)
    , m_device(new QLabel)
    , m_timer(new QTimer(this))
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 8, 0);
    row->setSpacing(16);
    for (QLabel* label : {m_frames, m_database, m_queue, m_memory, m_device}) {
        row->addWidget(label);
    }
    m_frames->setFont(tabularFont(m_frames->font()));
    m_frames->setAccessibleName(tr("Frame times"));
    m_frames->hide();
    m_database->setAccessibleName(tr("Database"));
    m_queue->setFont(tabularFont(m_queue->font()));
    m_queue->setAccessibleName(tr("Data queue"));
    m_memory->setAccessibleName(tr("Memory"));
    m_device->setAccessibleName(tr("Device"));
    m_timer->setInterval(refreshIntervalMs);
    connect(m_timer, &QTimer::timeout, this, &StatusLine::refresh);
    m_timer->start();
    connect(controller, &SessionController::sessionReplaced, this, &StatusLine::refresh);
    whenLanguageChanges(this, [this] { refresh(); });
}

/// A line for each lane that trains elsewhere than the session does.
QString StatusLine::otherDevices(const SessionStatus& status)
{
    QString lines;
    for (const LaneStatus& lane : status.lanes) {
        if (lane.device.name != status.device.name) {
            lines += QLatin1Char('\n')
                + tr("%1 trains on %2")
                      .arg(QString::fromStdString(lane.config->name), QString::fromStdString(lane.device.name));
        }
    }
    return lines;
}

void StatusLine::setFrameTimesVisible(bool isVisible)
{
    m_worstMs = 0;
    m_frames->setVisible(isVisible);
    refresh();
}

void StatusLine::noteFrame()
{
    if (m_sinceFrame.isValid()) {
        m_lastMs = static_cast<double>(m_sinceFrame.nsecsElapsed()) / 1e6;
        m_worstMs = std::max(m_worstMs, m_lastMs);
    }
    m_sinceFrame.start();
}

void StatusLine::showQueue(const SessionStatus& status)
{
    QStringList lines;
    bool isWaiting = false;
    const LaneStatus* emptiest = nullptr;
    for (const LaneStatus& lane : status.lanes) {
        if (!lane.queuedBatches) {
            continue;
        }
        const auto& last = m_controller->facts(lane.id).last;
        const double share = last ? waitShare(last->timeMs) : 0;
        isWaiting = isWaiting
            || (share > muchWaiting && *lane.queuedBatches < lane.config->data.prefetch
                && status.state == SessionState::Running);
        lines.append(tr("%1: %2 of %3 batches ready, waits %4 of a step")
                         .arg(QString::fromStdString(lane.config->name))
                         .arg(*lane.queuedBatches)
                         .arg(lane.config->data.prefetch)
                         .arg(percent(share)));
        if (emptiest == nullptr || *lane.queuedBatches < *emptiest->queuedBatches) {
            emptiest = &lane;
        }
    }
    m_queue->setVisible(emptiest != nullptr);
    if (emptiest != nullptr) {
        const QString text = tr("Data queue %1/%2").arg(*emptiest->queuedBatches).arg(emptiest->config->data.prefetch);
        m_queue->setText(
            isWaiting ? signOf(Tone::Notice) + QLatin1Char(' ') + tr("%1, waiting for data").arg(text) : text);
        m_queue->setToolTip(tr("Batches that lie ready for the next steps, of the lane with the fewest:")
            + QLatin1Char('\n') + lines.join(QLatin1Char('\n')));
    }
}

void StatusLine::refresh()
{
    if (m_frames->isVisible()) {
        m_frames->setText(tr("UI frame %1 ms, worst %2 ms")
                              .arg(QLocale().toString(m_lastMs, 'f', 1), QLocale().toString(m_worstMs, 'f', 1)));
    }
    const auto status = m_controller->status();
    if (!status) {
        return;
    }
    showQueue(*status);
    MemoryBytes sum;
    for (const LaneStatus& lane : status->lanes) {
        sum.weights += lane.bytes.weights;
        sum.copies += lane.bytes.copies;
        sum.gradients += lane.bytes.gradients;
        sum.optimizer += lane.bytes.optimizer;
        sum.activations += lane.bytes.activations;
        sum.workspace += lane.bytes.workspace;
    }
    m_memory->setText(tr("Memory %1").arg(formatBytes(sum.total())));
    m_memory->setToolTip(tr("All lanes together") + QLatin1Char('\n') + memoryText(sum));

    const DeviceInfo& device = status->device;
    if (device.name.empty()) {
        m_device->clear();
    } else {
        m_device->setText(
            tr("%1 \u00B7 FP16 %2 \u00B7 BF16 %3")
                .arg(QString::fromStdString(device.name), formatWord(device.fp16), formatWord(device.bf16)));
        m_device->setToolTip(tr("Instruction set %1; %2 compute threads, %3 per lane")
                                 .arg(QString::fromStdString(device.instructionSet))
                                 .arg(status->threads)
                                 .arg(status->threadsPerLane)
            + (device.note.empty() ? QString()
                                   : QLatin1Char('\n') + inPresentLanguage(QString::fromStdString(device.note)))
            + otherDevices(*status));
    }

    const QString problem = m_controller->databaseProblem();
    m_database->setText(problem.isEmpty() ? (m_controller->database().empty() ? tr("Runs are not stored") : QString())
                                          : signOf(Tone::Problem) + QLatin1Char(' ') + tr("Runs are not being stored"));
    m_database->setToolTip(problem);
    m_database->setVisible(!m_database->text().isEmpty());
}

} // namespace mantissa
