#include "ui/views/lane_list.h"

#include "engine/core/error.h"
#include "ui/style/theme.h"
#include "ui/views/icon.h"

#include <QEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int valueIntervalMs = 500;
/// With more lanes than this, cards begin with their numbers only.
constexpr std::size_t fewLanes = 2;

} // namespace

LaneList::LaneList(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_scroll(new QScrollArea)
    , m_column(nullptr)
    , m_addMenu(new QMenu(tr("Add lane"), this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);

    auto* content = new QWidget;
    m_column = new QVBoxLayout(content);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(4);
    m_column->addStretch(1);
    m_scroll->setWidget(content);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setAccessibleName(tr("Lanes"));
    column->addWidget(m_scroll, 1);

    auto* add = new QToolButton;
    add->setObjectName(QStringLiteral("addLane"));
    add->setText(tr("Add lane"));
    add->setIcon(lineIcon(QStringLiteral("add")));
    add->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    add->setPopupMode(QToolButton::InstantPopup);
    add->setMenu(m_addMenu);
    add->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    add->setToolTip(tr("A new lane trains from step 0 on the same batches and catches up with the others"));
    column->addWidget(add);
    fillAddMenu();

    connect(controller, &SessionController::lanesChanged, this, &LaneList::rebuild);
    connect(controller, &SessionController::sessionReplaced, this, [this](SessionController::Replacement reason) {
        // After a reset the same lanes come back in a moment; their cards stay as they are.
        if (reason == SessionController::Replacement::Opened) {
            clear();
        }
    });
    connect(controller, &SessionController::statusChanged, this, [this] {
        for (LaneCard* card : m_cards) {
            card->followSettings();
        }
    });
    connect(controller, &SessionController::pendingChanged, this, [this](std::uint32_t lane) {
        if (LaneCard* changed = card(lane)) {
            changed->refreshSettings();
        }
    });
    m_valueTimer.setInterval(valueIntervalMs);
    connect(&m_valueTimer, &QTimer::timeout, this, &LaneList::refreshValues);
    m_valueTimer.start();
}

void LaneList::fillAddMenu()
{
    const nlohmann::json none = nullptr;
    m_addMenu->addAction(tr("FP32"), this, [this, none] {
        addPreset(tr("FP32"), {{"precision", {{"policy", "fp32"}}}, {"scaler", none}});
    });
    m_addMenu->addAction(tr("FP16 without scaler"), this, [this, none] {
        addPreset(tr("FP16 no scaler"), {{"precision", {{"policy", "fp16"}}}, {"scaler", none}});
    });
    m_addMenu->addAction(tr("FP16 with fixed scale"), this, [this] {
        addPreset(tr("FP16 fixed"),
            {{"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "fixed"}, {"init_scale", 65536}}}});
    });
    m_addMenu->addAction(tr("FP16 with PyTorch's scaler"), this, [this] {
        addPreset(tr("FP16 AMP"), {{"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "pytorch"}}}});
    });
    m_addMenu->addAction(tr("BF16"), this, [this, none] {
        addPreset(tr("BF16"), {{"precision", {{"policy", "bf16"}}}, {"scaler", none}});
    });
    m_addMenu->addAction(tr("Pure BF16, no master weights"), this, [this, none] {
        addPreset(tr("Pure BF16"), {{"precision", {{"policy", "pure-bf16"}}}, {"scaler", none}});
    });
}

void LaneList::addPreset(const QString& name, const nlohmann::json& patch)
{
    const std::vector<LaneConfig>& present = m_controller->document().lanes();
    if (present.empty()) {
        return;
    }
    nlohmann::json document = present.front().document;
    document.merge_patch(patch);
    document.erase("color");
    document["name"] = name.toStdString();
    try {
        m_controller->addLane(parseLane(document, {}));
    } catch (const Error& error) {
        emit m_controller->refused(QString::fromUtf8(error.what()));
    }
}

std::vector<std::uint32_t> LaneList::lanes() const
{
    std::vector<std::uint32_t> result;
    for (const LaneCard* card : m_cards) {
        result.push_back(card->lane());
    }
    return result;
}

LaneCard* LaneList::card(std::uint32_t lane) const
{
    const auto found
        = std::find_if(m_cards.begin(), m_cards.end(), [lane](const LaneCard* card) { return card->lane() == lane; });
    return found == m_cards.end() ? nullptr : *found;
}

LaneChoice LaneList::look(std::uint32_t lane) const
{
    const auto all = lanes();
    const auto index = static_cast<int>(std::find(all.begin(), all.end(), lane) - all.begin());
    const QColor chosen(m_controller->laneColor(lane));
    // The application's: while a theme changes, a widget's own may still be the one before.
    const QPalette shown = QGuiApplication::palette();
    const bool isOnDark = isDark(shown);
    return {lane, m_controller->laneName(lane),
        chosen.isValid() ? readableOn(chosen, plotColors(shown).background) : laneColor(index, isOnDark),
        chosen.isValid() ? Qt::SolidLine : laneStyle(index)};
}

std::vector<LaneChoice> LaneList::choices() const
{
    std::vector<LaneChoice> choices;
    for (const std::uint32_t lane : lanes()) {
        choices.push_back(look(lane));
    }
    return choices;
}

void LaneList::clear()
{
    for (LaneCard* card : m_cards) {
        m_column->removeWidget(card);
        card->hide();
        card->deleteLater();
    }
    m_cards.clear();
    m_hidden.clear();
    m_selected.reset();
}

void LaneList::rebuild()
{
    const auto status = m_controller->status();
    std::vector<std::uint32_t> wanted;
    if (status) {
        for (const LaneStatus& lane : status->lanes) {
            wanted.push_back(lane.id);
        }
    }
    const bool isFresh = m_cards.empty();
    for (std::size_t index = m_cards.size(); index-- > 0;) {
        LaneCard* card = m_cards[index];
        if (std::find(wanted.begin(), wanted.end(), card->lane()) == wanted.end()) {
            m_column->removeWidget(card);
            card->hide();
            card->deleteLater();
            m_cards.erase(m_cards.begin() + static_cast<std::ptrdiff_t>(index));
        }
    }
    for (const std::uint32_t lane : wanted) {
        if (card(lane)) {
            continue;
        }
        auto* card = new LaneCard(m_controller, lane);
        card->setDetail(isFresh && wanted.size() <= fewLanes ? LaneCard::Detail::Settings : LaneCard::Detail::Values);
        connect(card, &LaneCard::chosen, this, &LaneList::select);
        connect(card, &LaneCard::visibilityToggled, this, &LaneList::visibilityToggled);
        connect(card, &LaneCard::goBackWanted, this, &LaneList::goBackWanted);
        connect(card, &LaneCard::deviceWanted, this, &LaneList::deviceWanted);
        m_column->insertWidget(static_cast<int>(m_cards.size()), card);
        m_cards.push_back(card);
    }
    if (!m_selected || !card(*m_selected)) {
        m_selected.reset();
        if (!wanted.empty()) {
            m_selected = wanted.front();
        }
    }
    for (LaneCard* card : m_cards) {
        card->setRemovable(m_cards.size() > 1);
        card->setSelected(card->lane() == m_selected);
        card->refreshSettings();
        card->refreshValues();
    }
    applyLooks();
    fitWidth();
}

void LaneList::fitWidth()
{
    // Cards never clip: the list is at least as wide as the widest with all its controls, and a scroll bar.
    int width = 0;
    for (LaneCard* card : m_cards) {
        width = std::max(width, card->widthWanted());
    }
    m_scroll->setMinimumWidth(width + m_scroll->verticalScrollBar()->sizeHint().width());
}

void LaneList::applyLooks()
{
    for (LaneCard* card : m_cards) {
        const LaneChoice shown = look(card->lane());
        card->setLook(shown.color, shown.style, isShown(card->lane()));
    }
}

void LaneList::setShown(std::uint32_t lane, bool isShown)
{
    if (isShown) {
        m_hidden.erase(lane);
    } else {
        m_hidden.insert(lane);
    }
    applyLooks();
}

void LaneList::select(std::uint32_t lane)
{
    LaneCard* chosen = card(lane);
    if (!chosen || m_selected == lane) {
        return;
    }
    m_selected = lane;
    for (LaneCard* card : m_cards) {
        card->setSelected(card == chosen);
    }
    m_scroll->ensureWidgetVisible(chosen, 0, 8);
    emit selectionChanged(lane);
}

void LaneList::foldAll()
{
    for (LaneCard* card : m_cards) {
        card->setDetail(LaneCard::Detail::Line);
    }
}

void LaneList::unfoldAll()
{
    for (LaneCard* card : m_cards) {
        card->setDetail(LaneCard::Detail::Values);
    }
}

void LaneList::refreshValues()
{
    for (LaneCard* card : m_cards) {
        card->refreshValues();
    }
}

void LaneList::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && m_column) {
        applyLooks();
    }
    if (event->type() == QEvent::LanguageChange && m_column) {
        fitWidth();
    }
    if ((event->type() == QEvent::FontChange || event->type() == QEvent::ApplicationFontChange) && m_column) {
        fitWidth();
    }
    QWidget::changeEvent(event);
}

} // namespace mantissa
