#include "ui/views/run_bar.h"

#include "ui/language/language.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/device_choice.h"
#include "ui/views/icon.h"
#include "ui/views/quiet_wheel.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QSlider>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QTimer>
#include <QToolButton>

#include <cmath>

namespace mantissa {

namespace {

constexpr int stopsPerDecade = 10;
constexpr int fastestDecade = 3; ///< 1000 steps/s; one further stop means unlimited
constexpr int unlimitedPosition = fastestDecade * stopsPerDecade + 1;
constexpr int figureIntervalMs = 500;

double speedAt(int position)
{
    return position >= unlimitedPosition ? 0 : std::pow(10.0, position / static_cast<double>(stopsPerDecade));
}

QString stateName(SessionState state)
{
    switch (state) {
    case SessionState::Preparing:
        return RunBar::tr("preparing");
    case SessionState::Ready:
        return RunBar::tr("ready");
    case SessionState::Running:
        return RunBar::tr("running");
    case SessionState::Paused:
        return RunBar::tr("paused");
    case SessionState::Finished:
        return RunBar::tr("finished");
    case SessionState::Failed:
        return RunBar::tr("failed");
    }
    return {};
}

QLabel* makeFigure(const QString& name, const QString& widest)
{
    auto* label = new QLabel;
    label->setFont(tabularFont(label->font()));
    label->setAccessibleName(name);
    label->setMinimumWidth(label->fontMetrics().horizontalAdvance(widest));
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return label;
}

} // namespace

RunBar::RunBar(SessionController* controller, QWidget* parent)
    : QToolBar(tr("Run controls"), parent)
    , m_controller(controller)
{
    setObjectName(QStringLiteral("runBar"));
    setMovable(false);
    setIconSize(QSize(16, 16));
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    makeActions();
    addAction(m_run);
    addAction(m_step);
    m_stepsHolder = addWidget(makeRunSteps());
    addAction(m_stop);
    addAction(m_reset);
    addSeparator();
    addWidget(makeSpeed());
    m_deviceHolder = addWidget(makeDevice());
    auto* spring = new QWidget;
    spring->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(spring);
    addWidget(makeFigures());

    connect(controller, &SessionController::statusChanged, this, &RunBar::follow);
    connect(controller, &SessionController::sessionReplaced, this, &RunBar::follow);
    m_figureTimer = new QTimer(this);
    m_figureTimer->setInterval(figureIntervalMs);
    connect(m_figureTimer, &QTimer::timeout, this, &RunBar::refreshFigures);
    m_figureTimer->start();
    follow();
    refreshFigures();
    whenLanguageChanges(this, [this] {
        follow();
        refreshFigures();
    });
}

void RunBar::makeActions()
{
    const auto make = [this](const char* icon, const QString& text, const QKeySequence& key, const QString& tip) {
        auto* action = new QAction(lineIcon(QString::fromLatin1(icon)), text, this);
        action->setShortcut(key);
        action->setToolTip(key.isEmpty() ? tip : tr("%1 (%2)").arg(tip, key.toString(QKeySequence::NativeText)));
        return action;
    };
    m_run = make("run", tr("Run"), Qt::Key_Space, tr("Train all lanes, or pause them"));
    m_step = make("step", tr("Step"), Qt::Key_S, tr("Train one step"));
    m_runSteps = make("steps", tr("Run N steps"), {}, tr("Train this many steps, then pause"));
    m_runSteps->setIconText(tr("Run"));
    m_stop = make("stop", tr("Stop"), {}, tr("End all lanes now; their runs are kept as stopped"));
    m_reset = make("reset", tr("Reset"), Qt::Key_R, tr("Back to step 0 with the present settings; can be undone"));
    m_run->setObjectName(QStringLiteral("run"));
    connect(m_run, &QAction::triggered, this, &RunBar::toggleRun);
    connect(m_step, &QAction::triggered, m_controller, [this] { m_controller->runSteps(1); });
    connect(m_runSteps, &QAction::triggered, m_controller, [this] { m_controller->runSteps(m_count->value()); });
    connect(m_stop, &QAction::triggered, m_controller, &SessionController::stop);
    connect(m_reset, &QAction::triggered, this, &RunBar::resetWanted);
}

QWidget* RunBar::makeRunSteps()
{
    auto* group = new QWidget;
    auto* row = new QHBoxLayout(group);
    row->setContentsMargins(4, 0, 4, 0);
    row->setSpacing(0);
    auto* button = new QToolButton;
    button->setDefaultAction(m_runSteps);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setAutoRaise(true);
    m_count = new QSpinBox;
    m_count->setRange(1, 10'000'000);
    m_count->setValue(10);
    m_count->setAccessibleName(tr("Steps to run"));
    m_count->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_count->setAlignment(Qt::AlignRight);
    m_count->setFixedWidth(m_count->fontMetrics().horizontalAdvance(QStringLiteral("000000")) + 12);
    m_count->setToolTip(m_runSteps->toolTip());
    row->addWidget(button);
    row->addWidget(m_count);
    return group;
}

QWidget* RunBar::makeSpeed()
{
    auto* group = new QWidget;
    group->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    auto* row = new QHBoxLayout(group);
    row->setContentsMargins(4, 0, 8, 0);
    row->setSpacing(8);
    auto* label = new QLabel(tr("Speed"));
    m_speed = new QSlider(Qt::Horizontal);
    m_speed->setRange(0, unlimitedPosition);
    m_speed->setValue(unlimitedPosition);
    m_speed->setPageStep(stopsPerDecade / 2);
    m_speed->setFixedWidth(96);
    m_speed->setAccessibleName(tr("Speed limit in steps per second"));
    m_speed->setToolTip(tr("Slows training down for watching; at the right end it is unlimited"));
    keepWheelForScrolling(m_speed);
    label->setBuddy(m_speed);
    m_speedText = makeFigure(tr("Speed limit"), tr("unlimited"));
    m_speedText->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    row->addWidget(label);
    row->addWidget(m_speed);
    row->addWidget(m_speedText);
    connect(m_speed, &QSlider::valueChanged, this, &RunBar::setSpeedPosition);
    setSpeedPosition(unlimitedPosition);
    return group;
}

QWidget* RunBar::makeDevice()
{
    auto* group = new QWidget;
    group->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    auto* row = new QHBoxLayout(group);
    row->setContentsMargins(4, 0, 8, 0);
    row->setSpacing(8);
    auto* label = new QLabel(tr("Device"));
    m_device = new QComboBox;
    m_device->setAccessibleName(tr("Device"));
    m_device->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_device->setMinimumContentsLength(6);
    keepWheelForScrolling(m_device);
    label->setBuddy(m_device);
    m_device->addItem(tr("auto"), QStringLiteral("auto"));
    m_device->setItemData(0, tr("The best device that is available"), Qt::ToolTipRole);
    for (const DeviceChoice& choice : deviceChoices()) {
        m_device->addItem(choice.device, choice.device);
        const int index = m_device->count() - 1;
        m_device->setItemData(index, choice.tip, Qt::ToolTipRole);
        qobject_cast<QStandardItemModel*>(m_device->model())->item(index)->setEnabled(choice.isAvailable);
    }
    m_device->setToolTip(tr("Where lanes train; another one starts them afresh"));
    row->addWidget(label);
    row->addWidget(m_device);
    connect(m_device, &QComboBox::activated, this,
        [this] { m_controller->setDevice(m_device->currentData().toString().toStdString()); });
    return group;
}

QWidget* RunBar::makeFigures()
{
    auto* group = new QWidget;
    group->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    auto* row = new QHBoxLayout(group);
    row->setContentsMargins(4, 0, 8, 0);
    row->setSpacing(16);
    m_stepText = makeFigure(tr("Step"), tr("step %1 / %2").arg(QStringLiteral("00,000"), QStringLiteral("00,000")));
    m_rateText = makeFigure(tr("Steps per second"), tr("%1 steps/s").arg(QStringLiteral("00,000")));
    m_seedText = makeFigure(tr("Seed"), tr("seed %1").arg(0));
    m_seedText->setToolTip(tr("Seed of initial weights, batches and dropout; set it under Setup"));
    row->addWidget(m_stepText);
    row->addWidget(m_rateText);
    row->addWidget(m_seedText);
    return group;
}

void RunBar::toggleRun()
{
    const auto status = m_controller->status();
    if (status && status->state == SessionState::Finished) {
        emit finishedRunWanted();
        return;
    }
    m_controller->toggleRun();
}

void RunBar::setSpeedPosition(int position)
{
    const double limit = speedAt(position);
    m_controller->setSpeedLimit(limit);
    const QString text = limit == 0 ? tr("unlimited") : tr("%1 /s").arg(QLocale().toString(limit, 'g', 2));
    m_speedText->setText(limit >= 100 ? tr("%1 /s").arg(formatCount(std::lround(limit))) : text);
}

void RunBar::setPresenting(bool isPresenting)
{
    m_deviceHolder->setVisible(!isPresenting);
    m_stepsHolder->setVisible(!isPresenting);
    m_seedText->setVisible(!isPresenting);
}

void RunBar::follow()
{
    const auto status = m_controller->status();
    const SessionState state = status ? status->state : SessionState::Preparing;
    const bool isRunning = status && state == SessionState::Running;
    const QString text = isRunning ? tr("Pause") : tr("Run");
    if (m_run->text() != text) {
        m_run->setText(text);
        m_run->setIcon(lineIcon(isRunning ? QStringLiteral("pause") : QStringLiteral("run")));
    }
    const bool canTrain = status && state != SessionState::Failed;
    const bool isFinished = status && state == SessionState::Finished;
    m_run->setEnabled(canTrain);
    m_step->setEnabled(canTrain && !isFinished && !isRunning);
    m_runSteps->setEnabled(canTrain && !isFinished);
    m_stop->setEnabled(canTrain && !isFinished && status->step > 0);
    m_reset->setEnabled(status != nullptr);
}

void RunBar::refreshFigures()
{
    const auto status = m_controller->status();
    if (!status) {
        m_stepText->clear();
        m_rateText->clear();
        m_seedText->clear();
        return;
    }
    m_stepText->setText(tr("step %1 / %2").arg(formatCount(status->step), formatCount(status->totalSteps)));
    m_rateText->setText(status->state == SessionState::Running
            ? tr("%1 steps/s")
                  .arg(status->stepsPerSecond < 10 ? formatValue(status->stepsPerSecond, 2)
                                                   : formatCount(std::lround(status->stepsPerSecond)))
            : stateName(status->state));
    const std::vector<LaneConfig>& lanes = m_controller->document().lanes();
    m_seedText->setText(lanes.empty() ? QString() : tr("seed %1").arg(lanes.front().seed));
}

} // namespace mantissa
