#include "ui/graph/op_map_panel.h"

#include "engine/core/error.h"
#include "engine/graph/op_def.h"
#include "ui/graph/op_map_picture.h"
#include "ui/graph/op_map_words.h"
#include "ui/language/language.h"
#include "ui/plots/picture_file.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::array formats {DType::Float32, DType::Float16, DType::BFloat16};

/// How each format looks on the map.
class FormatLegend : public QWidget
{
public:
    FormatLegend()
    {
        setAccessibleName(OpMapPanel::tr("Legend: FP32 is blank, FP16 dark, BF16 grey and hatched"));
        setToolTip(accessibleName());
        setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    }

    [[nodiscard]] QSize sizeHint() const override
    {
        return {static_cast<int>(formats.size()) * (tagWidth() + spacing), fontMetrics().height() + 6};
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const OpMapPainter tags(font(), palette());
        QRect place(spacing, 1, tagWidth(), height() - 3);
        for (const DType format : formats) {
            tags.paintTag(painter, place, format, formatLabel(format));
            painter.setPen(plotColors(palette()).axis);
            painter.drawRect(place);
            place.translate(place.width() + spacing, 0);
        }
    }

private:
    static constexpr int spacing = 6;

    [[nodiscard]] int tagWidth() const
    {
        QFont bold = font();
        bold.setBold(true);
        return QFontMetrics(bold).horizontalAdvance(QStringLiteral("FP16")) + 12;
    }
};

} // namespace

OpMapPanel::OpMapPanel(SessionController* controller, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_lanes(new LaneCombo(tr("Lane whose graph is shown")))
    , m_search(new QLineEdit)
    , m_found(new QLabel)
    , m_fold(new QToolButton)
    , m_export(new QToolButton)
    , m_summary(new QLabel)
    , m_trouble(new QLabel)
    , m_view(new OpMapView)
{
    m_search->setPlaceholderText(tr("Find an op by name or kind"));
    m_search->setAccessibleName(tr("Find an op"));
    m_search->setClearButtonEnabled(true);
    m_search->setToolTip(tr("Enter goes to the next one, Shift+Enter to the one before, Esc ends the search"));
    m_fold->setAutoRaise(true);
    m_export->setText(tr("Export"));
    m_export->setAutoRaise(true);
    m_export->setPopupMode(QToolButton::InstantPopup);
    auto* exports = new QMenu(m_export);
    exports->addAction(tr("Copy picture"), this, &OpMapPanel::copyPicture);
    exports->addAction(tr("Save as PNG, PDF or SVG\u2026"), this, &OpMapPanel::showExportDialog);
    m_export->setMenu(exports);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_summary->setWordWrap(true);
    m_summary->setAccessibleName(tr("Summary of the graph"));
    m_trouble->setWordWrap(true);
    m_trouble->setContentsMargins(8, 0, 8, 4);
    m_trouble->hide();

    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(8, 4, 4, 0);
    controls->setSpacing(8);
    controls->addWidget(m_lanes);
    controls->addWidget(m_search, 1);
    controls->addWidget(m_found);
    controls->addWidget(m_fold);
    controls->addWidget(m_export);
    auto* facts = new QHBoxLayout;
    facts->setContentsMargins(8, 4, 4, 4);
    facts->addWidget(m_summary, 1);
    facts->addWidget(new FormatLegend);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(controls);
    column->addLayout(facts);
    column->addWidget(m_trouble);
    column->addWidget(m_view, 1);

    connect(m_lanes, &LaneCombo::laneChosen, this, [this](std::uint32_t lane) {
        setLane(lane);
        emit laneChosen(lane);
    });
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_view->search(text.simplified());
        showMatches();
    });
    m_search->installEventFilter(this);
    connect(m_fold, &QToolButton::clicked, this, &OpMapPanel::foldOrUnfold);
    connect(m_view, &OpMapView::menuWanted, this, &OpMapPanel::showFormatMenu);
    connect(m_view, &OpMapView::mapMenuWanted, this, &OpMapPanel::showMapMenu);
    connect(m_view, &OpMapView::copyWanted, this, &OpMapPanel::copyPicture);
    connect(m_view, &OpMapView::selectionChanged, this, [this] {
        showMatches();
        updateTexts();
    });
    connect(controller, &SessionController::statusChanged, this, &OpMapPanel::follow);
    connect(controller, &SessionController::sessionReplaced, this, [this](SessionController::Replacement reason) {
        m_casts.reset();
        m_castsChange = 0;
        // After a reset the same graph comes back in a moment.
        if (reason == SessionController::Replacement::Opened) {
            showEmpty(tr("Preparing\u2026"));
        }
    });
    connect(controller, &SessionController::pendingChanged, this, [this](std::uint32_t lane) {
        if (lane == m_lane) {
            followPending();
        }
    });
    showEmpty(tr("No experiment is open. Ctrl+O opens one."));
    whenLanguageChanges(this, [this] {
        updateTexts();
        showMatches();
        follow();
    });
}

void OpMapPanel::setLanes(const std::vector<LaneChoice>& lanes)
{
    if (const auto shown = m_lanes->setLanes(lanes, m_lane)) {
        setLane(*shown);
    }
}

void OpMapPanel::setLane(std::uint32_t lane)
{
    if (m_lane != lane) {
        m_lane = lane;
        m_casts.reset();
        m_castsChange = 0;
    }
    m_lanes->setLane(lane);
    follow();
    updateTexts();
}

bool OpMapPanel::showValue(const QString& name)
{
    follow();
    if (!m_shown) {
        return false;
    }
    const std::vector<Node>& nodes = m_shown->nodes();
    const auto found = std::ranges::find_if(nodes, [this, wanted = name.toStdString()](const Node& node) {
        return std::ranges::any_of(node.outputs, [&](ValueId id) { return m_shown->value(id).name == wanted; });
    });
    if (found == nodes.end()) {
        return false;
    }
    m_view->select(static_cast<NodeIndex>(found - nodes.begin()));
    return true;
}

const LaneStatus* OpMapPanel::laneStatus() const
{
    return m_lane ? m_controller->laneStatus(*m_lane) : nullptr;
}

void OpMapPanel::follow()
{
    if (!isVisible()) {
        return; // showEvent() catches up
    }
    const auto status = m_controller->status();
    const LaneStatus* lane = laneStatus();
    if (!lane) {
        if (status && status->state == SessionState::Failed) {
            showEmpty(tr("This experiment can't be trained, so there is no graph.\n%1")
                          .arg(QString::fromStdString(status->message)));
        }
        return;
    }
    const bool hasFailed = lane->status == RunStatus::Failed || lane->status == RunStatus::Diverged;
    m_trouble->setVisible(hasFailed);
    if (hasFailed) {
        m_trouble->setText(tr("! %1 ended at step %2: %3")
                               .arg(m_controller->laneName(lane->id), formatCount(lane->nextStep),
                                   QString::fromStdString(lane->message)));
    }
    if (lane->graph == m_shown) {
        return;
    }
    m_castsChange = m_casts ? lane->castsPerStep - *m_casts : 0;
    m_casts = lane->castsPerStep;
    m_shown = lane->graph;
    m_view->setMap(std::make_shared<const OpMap>(m_shown, lane->config->precision.overrides));
    followPending();
    showMatches();
    updateTexts();
}

void OpMapPanel::showEmpty(const QString& text)
{
    m_view->setEmptyText(text);
    m_shown.reset();
    m_trouble->hide();
    m_view->setMap(nullptr);
    updateTexts();
}

QString OpMapPanel::summaryText() const
{
    const auto& map = m_view->map();
    if (!map) {
        return {};
    }
    QString text = tr("%1 ops, %2 casts per step; %3")
                       .arg(map->count().total())
                       .arg(m_casts.value_or(0))
                       .arg(formatsText(map->count()));
    const auto changed
        = std::ranges::count_if(map->rows(), [&](const MapRow& row) { return map->isOverridden(row.op); });
    if (changed > 0) {
        text += tr("; %1 overridden").arg(changed);
    }
    if (m_castsChange != 0) {
        text += tr(" (last change: %1%2 casts)")
                    .arg(m_castsChange > 0 ? QStringLiteral("+") : QString())
                    .arg(m_castsChange);
    }
    return text;
}

void OpMapPanel::updateTexts()
{
    const LaneChoice* const look = m_lanes->look();
    const bool hasMap = m_view->map() != nullptr;
    m_view->setLaneColor(look == nullptr || !hasMap ? QColor() : look->color);
    const QString summary = summaryText();
    m_summary->setText(summary);
    m_summary->setToolTip(summary);
    m_view->setAccessibleName(look == nullptr ? tr("Op map") : tr("Op map of %1: %2").arg(look->name, summary));
    const bool hasBlocks = hasMap && !m_view->map()->blocks().empty();
    m_fold->setVisible(hasBlocks);
    m_fold->setText(hasFolded() ? tr("Unfold all") : tr("Fold all"));
    m_fold->setToolTip(hasFolded() ? tr("Show the ops of every block") : tr("Show each block as one box"));
    m_search->setEnabled(hasMap);
    m_export->setEnabled(hasMap);
    m_lanes->setEnabled(m_lanes->count() > 0);
}

bool OpMapPanel::hasFolded() const
{
    return m_view->map() && std::ranges::any_of(m_view->map()->blocks(), [this](const MapBlock& block) {
        return m_view->isFolded(block.name);
    });
}

void OpMapPanel::foldOrUnfold()
{
    m_view->setAllFolded(!hasFolded());
    updateTexts();
}

void OpMapPanel::showMatches()
{
    const std::vector<NodeIndex>& matches = m_view->matches();
    if (m_search->text().simplified().isEmpty()) {
        m_found->clear();
        return;
    }
    const auto selected = m_view->selectedNode();
    const auto at = selected ? std::ranges::find(matches, *selected) : matches.end();
    m_found->setText(matches.empty() ? tr("none")
            : at == matches.end()    ? tr("%1 found").arg(matches.size())
                                     : tr("%1 of %2").arg(at - matches.begin() + 1).arg(matches.size()));
}

void OpMapPanel::focusSearch()
{
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
}

bool OpMapPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_search && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            m_view->selectMatch((key->modifiers() & Qt::ShiftModifier) != 0 ? -1 : 1);
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            m_search->clear();
            m_view->setFocus();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

// --- changing formats ---

void OpMapPanel::showFormatMenu(NodeIndex node, const QPoint& globalPosition)
{
    const OpMap& map = *m_view->map();
    const MapRow& row = map.rowOf(node);
    auto* menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("formatMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    // Casts and backward ops follow from the forward op of their row.
    menu->addSection(QStringLiteral("%1: %2").arg(QString::fromStdString(map.node(row.op).name), opName(map, row.op)));
    if (!map.isChoosable(row.op)) {
        menu->addAction(row.isUpdate ? tr("Works on gradients and master weights; no policy chooses its format")
                                     : tr("No policy chooses this op's format"))
            ->setEnabled(false);
        menu->popup(globalPosition);
        return;
    }
    addOpChoices(menu, row.op, {});
    const bool hasSums = map.chosenSumFormat(row.op).has_value();
    if (hasSums) {
        addOpChoices(menu->addMenu(tr("Sums and statistics")), row.op, sumsSuffix);
    }
    const std::size_t count = map.opsOfKind(map.node(row.op).op).size();
    QMenu* all = menu->addMenu(tr("All %1 ops of kind %2").arg(count).arg(opName(map, row.op)));
    addKindChoices(all, row.op, {});
    if (hasSums) {
        addKindChoices(all->addMenu(tr("Sums and statistics")), row.op, sumsSuffix);
    }
    menu->popup(globalPosition);
}

void OpMapPanel::addOpChoices(QMenu* menu, NodeIndex op, std::string_view suffix)
{
    const OpMap& map = *m_view->map();
    const auto own = map.overrideOf(op, suffix);
    const QString unforced = map.kindOverrideOf(op, suffix) ? tr("As all ops of its kind") : tr("As the policy says");
    const DType present = suffix.empty() ? map.formatOf(op) : map.chosenSumFormat(op).value_or(DType::Float32);
    // What an exception hides is not known without another compilation.
    addChoices(menu, own ? unforced : QStringLiteral("%1 (%2)").arg(unforced, formatLabel(present)), own,
        [&](const std::optional<std::string>& format) { return patchOfOp(map, op, format, suffix); });
}

void OpMapPanel::addKindChoices(QMenu* menu, NodeIndex op, std::string_view suffix)
{
    const OpMap& map = *m_view->map();
    addChoices(menu, tr("As the policy says"), map.kindOverrideOf(op, suffix),
        [&](const std::optional<std::string>& format) { return patchOfKind(map, map.node(op).op, format, suffix); });
}

void OpMapPanel::addChoices(QMenu* menu, const QString& unforced, const std::optional<std::string>& present,
    const std::function<nlohmann::json(const std::optional<std::string>&)>& patchFor)
{
    auto* group = new QActionGroup(menu);
    const auto add = [&](const QString& text, const std::optional<std::string>& format) {
        QAction* action = menu->addAction(text);
        action->setCheckable(true);
        action->setChecked(present == format);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, patch = patchFor(format)] { apply(patch); });
    };
    add(unforced, std::nullopt);
    for (const DType format : formats) {
        add(formatLabel(format), std::string(nameOf(format)));
    }
}

void OpMapPanel::apply(const nlohmann::json& patch)
{
    if (m_lane) {
        m_controller->set(*m_lane, overridesPath, patch);
    }
}

void OpMapPanel::followPending()
{
    std::map<NodeIndex, QString> pending;
    const auto patch = m_lane ? m_controller->pendingValue(*m_lane, overridesPath) : std::nullopt;
    if (patch && patch->is_object() && m_view->map()) {
        for (const MapRow& row : m_view->map()->rows()) {
            const QString text = m_view->map()->isChoosable(row.op) ? pendingText(*patch, row.op) : QString();
            if (!text.isEmpty()) {
                pending.emplace(row.op, text);
            }
        }
    }
    m_view->setPending(std::move(pending));
}

QString OpMapPanel::pendingText(const nlohmann::json& patch, NodeIndex op) const
{
    const OpMap& map = *m_view->map();
    for (const std::string_view suffix : {std::string_view(), sumsSuffix}) {
        for (const std::string_view name : {std::string_view(map.node(op).name), opDef(map.node(op).op).name}) {
            const auto found = patch.find(std::string(name).append(suffix));
            if (found == patch.end()) {
                continue;
            }
            const QString format = found->is_string() ? QString::fromStdString(found->get<std::string>()).toUpper()
                                                      : tr("as the policy says");
            return suffix.empty() ? format : tr("sums %1").arg(format);
        }
    }
    return {};
}

// --- pictures ---

OpMapPicture OpMapPanel::picture() const
{
    OpMapPicture picture(*m_view->map(), m_view->layoutOfMap(), font(), palette());
    const LaneChoice* const look = m_lanes->look();
    picture.setTitle(look == nullptr ? QString() : look->name, summaryText(),
        look == nullptr ? QColor(Qt::transparent) : look->color);
    return picture;
}

void OpMapPanel::copyPicture() const
{
    constexpr double sharp = 2;
    if (m_view->map()) {
        QApplication::clipboard()->setImage(picture().image(sharp));
    }
}

void OpMapPanel::exportPicture(const QString& file) const
{
    picture().write(file);
}

void OpMapPanel::showExportDialog()
{
    if (!m_view->map()) {
        return;
    }
    const QString done = saveByDialog(this, QStringLiteral("graph.png"),
        tr("Picture (*.png);;PDF document (*.pdf);;SVG drawing (*.svg)"),
        [this](const QString& file) { exportPicture(file); });
    if (!done.isEmpty()) {
        emit notice(done);
    }
}

void OpMapPanel::showMapMenu(const QPoint& globalPosition)
{
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Fit the width"), m_view, &OpMapView::fit);
    if (m_fold->isVisible()) {
        menu->addAction(m_fold->text(), this, &OpMapPanel::foldOrUnfold);
    }
    menu->addSeparator();
    menu->addActions(m_export->menu()->actions());
    menu->popup(globalPosition);
}

void OpMapPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    follow();
}

} // namespace mantissa
