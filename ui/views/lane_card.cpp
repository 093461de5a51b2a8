#include "ui/views/lane_card.h"

#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/device_choice.h"
#include "ui/views/icon.h"
#include "ui/views/lane_card_values.h"
#include "ui/views/lane_words.h"
#include "ui/views/log_slider.h"
#include "ui/views/name_field.h"
#include "ui/views/number_field.h"

#include <QAction>
#include <QCheckBox>
#include <QColorDialog>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

namespace mantissa {

namespace {

QToolButton* makeButton(const QIcon& icon, const QString& name, const QString& tip)
{
    auto* button = new QToolButton;
    button->setIcon(icon);
    button->setIconSize(QSize(16, 16));
    button->setAutoRaise(true);
    button->setAccessibleName(name);
    button->setToolTip(tip);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

} // namespace

LaneCard::LaneCard(SessionController* controller, std::uint32_t lane, QWidget* parent)
    : QFrame(parent)
    , m_controller(controller)
    , m_lane(lane)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 8, 8);
    column->setSpacing(4);
    column->addWidget(makeHeader());
    m_valuesPart = makeValues();
    column->addWidget(m_valuesPart);
    m_settingsPart = makeSettings();
    m_settingsPart->setObjectName(QStringLiteral("laneSettings"));
    column->addWidget(m_settingsPart);
    connectControls();
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setDetail(Detail::Values);
}

LaneCard::~LaneCard() = default;

QWidget* LaneCard::makeHeader()
{
    auto* header = new QWidget;
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);

    m_swatch = makeButton({}, tr("Lane colour"), tr("Choose this lane's colour"));
    m_swatch->setIconSize(QSize(20, 16));
    m_name = new NameField;
    m_name->setAccessibleName(tr("Lane name"));
    QFont bold = m_name->font();
    bold.setBold(true);
    m_name->setFont(bold);
    QPalette flat = m_name->palette();
    flat.setColor(QPalette::Base, Qt::transparent);
    m_name->setPalette(flat);
    m_loss = new QLabel;
    m_loss->setFont(tabularFont(m_loss->font()));
    m_loss->setAccessibleName(tr("Loss"));
    m_lock = makeButton(lineIcon(QStringLiteral("lock")), tr("Comparison lock"), {});

    m_more = makeButton(lineIcon(QStringLiteral("more")), tr("Lane menu"), tr("Hide, duplicate, compare with, remove"));
    m_more->setObjectName(QStringLiteral("laneMenu"));
    m_more->setPopupMode(QToolButton::InstantPopup);
    m_more->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
    auto* menu = new QMenu(m_more);
    m_showAction = menu->addAction(tr("Show curves"), this, [this] { emit visibilityToggled(m_lane); });
    m_showAction->setCheckable(true);
    m_baselineAction
        = menu->addAction(tr("Compare others with this lane"), this, [this] { m_controller->setBaseline(m_lane); });
    menu->addAction(tr("Choose colour\u2026"), this, &LaneCard::chooseColor);
    m_deviceMenu = menu->addMenu(tr("Device"));
    m_deviceMenu->setToolTipsVisible(true);
    connect(m_deviceMenu, &QMenu::aboutToShow, this, &LaneCard::fillDeviceMenu);
    menu->addSeparator();
    menu->addAction(lineIcon(QStringLiteral("copy")), tr("Duplicate as it stands"), this,
        [this] { m_controller->duplicateLane(m_lane); });
    menu->addAction(tr("Go back\u2026"), this, [this] { emit goBackWanted(m_lane); });
    m_removeAction = menu->addAction(
        lineIcon(QStringLiteral("remove")), tr("Remove"), this, [this] { m_controller->removeLane(m_lane); });
    m_more->setMenu(menu);
    m_fold = makeButton(lineIcon(QStringLiteral("expand")), tr("Fold card"), {});

    row->addWidget(m_swatch);
    row->addWidget(m_name, 1);
    row->addWidget(m_loss);
    row->addWidget(m_lock);
    row->addWidget(m_more);
    row->addWidget(m_fold);
    return header;
}

void LaneCard::fillDeviceMenu()
{
    m_deviceMenu->clear();
    const LaneStatus* const lane = m_controller->laneStatus(m_lane);
    const auto add = [this, lane](const QString& text, const QString& device, const QString& tip) {
        QAction* action = m_deviceMenu->addAction(text, this, [this, device] { emit deviceWanted(m_lane, device); });
        action->setToolTip(tip);
        action->setCheckable(true);
        action->setChecked(lane != nullptr && lane->config->device == device.toStdString());
        return action;
    };
    add(tr("As the run bar says"), QStringLiteral("session"), tr("On the device that is chosen for all lanes"));
    for (const DeviceChoice& choice : deviceChoices()) {
        add(choice.device, choice.device, choice.tip + QLatin1Char('\n') + tr("Starts all lanes afresh."))
            ->setEnabled(choice.isAvailable);
    }
}

QWidget* LaneCard::makeValues()
{
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(4, 0, 4, 0);
    column->setSpacing(4);
    m_values = std::make_unique<CardValues>();
    column->addLayout(m_values->makeLayout());
    m_sentence = new QLabel;
    m_sentence->setWordWrap(true);
    m_sentence->setAccessibleName(tr("Lane state"));
    m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_sentence);
    m_summary = new QToolButton;
    m_summary->setAutoRaise(true);
    m_summary->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_summary->setFocusPolicy(Qt::TabFocus);
    m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_summary->setAccessibleName(tr("Settings of this lane"));
    m_summary->setIconSize(QSize(12, 12));
    column->addWidget(m_summary);
    return part;
}

void LaneCard::setLook(const QColor& color, Qt::PenStyle style, bool isShown)
{
    m_color = color;
    m_style = style;
    m_isShown = isShown;
    updateLook();
}

void LaneCard::updateLook()
{
    if (!m_swatch || !m_color.isValid()) {
        return;
    }
    m_swatch->setIcon(laneSwatch(m_color, m_style, m_isShown, QSize(20, 16), devicePixelRatioF()));
    m_showAction->setChecked(m_isShown);
    const QString name = m_controller->laneName(m_lane);
    m_name->setName(name);
    setAccessibleName(tr("Lane %1").arg(name));
    update();
}

void LaneCard::setDetail(Detail detail)
{
    m_detail = detail;
    m_valuesPart->setVisible(detail != Detail::Line);
    m_settingsPart->setVisible(detail == Detail::Settings);
    m_loss->setVisible(detail == Detail::Line);
    const bool isFolded = detail == Detail::Line;
    m_fold->setIcon(lineIcon(isFolded ? QStringLiteral("collapse") : QStringLiteral("expand")));
    m_fold->setToolTip(isFolded ? tr("Unfold this card") : tr("Fold this card to one line"));
    m_summary->setIcon(lineIcon(detail == Detail::Settings ? QStringLiteral("expand") : QStringLiteral("collapse")));
    m_summary->setToolTip(detail == Detail::Settings ? tr("Hide the settings") : tr("Show the settings"));
    emit detailChanged();
}

void LaneCard::setSelected(bool isSelected)
{
    m_isSelected = isSelected;
    update();
}

void LaneCard::setRemovable(bool isRemovable)
{
    m_removeAction->setEnabled(isRemovable);
    m_removeAction->setToolTip(isRemovable ? QString() : tr("The last lane stays."));
}

int LaneCard::widthWanted() const
{
    const QMargins margins = layout()->contentsMargins();
    const int inner = std::max(m_settingsPart->minimumSizeHint().width(), m_values->widthWanted(fontMetrics()));
    return inner + margins.left() + margins.right();
}

void LaneCard::chooseColor()
{
    const QColor chosen = QColorDialog::getColor(m_color, this, tr("Colour of %1").arg(m_controller->laneName(m_lane)));
    if (chosen.isValid()) {
        m_controller->recolorLane(m_lane, chosen.name());
    }
}

void LaneCard::mousePressEvent(QMouseEvent* event)
{
    emit chosen(m_lane);
    QFrame::mousePressEvent(event);
}

void LaneCard::mouseDoubleClickEvent(QMouseEvent* event)
{
    setDetail(m_detail == Detail::Line ? Detail::Values : Detail::Line);
    QFrame::mouseDoubleClickEvent(event);
}

void LaneCard::paintEvent(QPaintEvent*)
{
    // One shade sets a card off from its neighbours; the selected one has its lane's colour at the edge.
    QPainter painter(this);
    const QColor ground = palette().color(QPalette::Base);
    painter.fillRect(rect(), m_isSelected ? blend(palette().color(QPalette::Highlight), ground, 0.12) : ground);
    painter.fillRect(QRect(0, 0, m_isSelected ? 4 : 2, height()), m_isShown ? m_color : blend(m_color, ground, 0.3));
}

void LaneCard::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && m_name) {
        QPalette flat = palette();
        flat.setColor(QPalette::Base, Qt::transparent);
        m_name->setPalette(flat);
        updateLook();
    }
    if (event->type() == QEvent::LanguageChange && m_fold) {
        m_filledFrom.reset();
        followSettings();
        refreshValues();
        updateLook();
    }
    if (event->type() == QEvent::FontChange && m_fold) {
        const int side = fontMetrics().height();
        for (QToolButton* button : {m_lock, m_more, m_fold}) {
            button->setIconSize(QSize(side, side));
        }
    }
    QFrame::changeEvent(event);
}

void LaneCard::refreshValues()
{
    const auto status = m_controller->status();
    const LaneStatus* lane = m_controller->laneStatus(m_lane);
    if (!lane) {
        return;
    }
    const LaneFacts& facts = m_controller->facts(m_lane);
    m_values->show(*lane, facts);
    m_loss->setText(facts.last ? formatColumn(facts.last->loss) : QString());

    const Sentence sentence = laneSentence(*lane, facts, status->state);
    const QString sign = signOf(sentence.tone);
    m_sentence->setText(sign.isEmpty() ? sentence.text : sign + QLatin1Char(' ') + sentence.text);
    setToolTip(m_detail == Detail::Line ? m_sentence->text() : QString());

    const auto baseline = m_controller->baseline();
    const bool isBaseline = baseline == m_lane;
    const bool isBroken
        = !isBaseline && (facts.lock == LockState::DataDiffers || facts.lock == LockState::InitialWeightsDiffer);
    const QString words = lockSentence(facts, isBaseline, baseline ? m_controller->laneName(*baseline) : QString());
    if (m_lock->toolTip() != words) {
        m_lock->setIcon(lineIcon(isBroken ? QStringLiteral("lock-broken") : QStringLiteral("lock")));
        m_lock->setToolTip(words);
        m_lock->setAccessibleDescription(words);
    }
    m_lock->setEnabled(isBaseline || facts.lock != LockState::Unknown);
    m_baselineAction->setEnabled(!isBaseline);
    if (!m_scale->slider()->isSliderDown() && m_controller->pendingValue(m_lane, "scaler.scale") == std::nullopt) {
        m_scale->setValue(lane->scale);
    }
    QString summary = settingsSummary(*lane->config, lane->scale, lane->lr > 0 ? lane->lr : lane->config->optimizer.lr);
    if (lane->config->device != "session") {
        summary.prepend(QString::fromStdString(lane->device.backend).toUpper() + QStringLiteral(" \u00B7 "));
    }
    m_summary->setText(
        m_summary->fontMetrics().elidedText(summary, Qt::ElideRight, std::max(40, m_summary->width() - 28)));
    m_summary->setAccessibleDescription(summary);
}

} // namespace mantissa
