#include "ui/views/watch_dialog.h"

#include "engine/train/watchpoint.h"
#include "ui/language/language.h"
#include "ui/session/session_controller.h"
#include "ui/views/watch_field.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include <array>

namespace mantissa {

namespace {

enum Column { On, When, Do, LaneName, columnCount };

constexpr std::array<WatchAction, 4> allActions {
    WatchAction::Pause, WatchAction::Snapshot, WatchAction::Fork, WatchAction::Set};

QString actionText(WatchAction action)
{
    switch (action) {
    case WatchAction::Pause:
        return WatchDialog::tr("pause all lanes");
    case WatchAction::Snapshot:
        return WatchDialog::tr("keep the lane's state");
    case WatchAction::Fork:
        return WatchDialog::tr("copy the lane as it was before the step");
    case WatchAction::Set:
        return WatchDialog::tr("set");
    }
    return {};
}

QString settingText(const Watchpoint& watchpoint)
{
    QStringList settings;
    for (const auto& [path, value] : watchpoint.set) {
        settings << QString::fromStdString(path) + QLatin1Char('=')
                + QString::fromStdString(value.is_string() ? value.get<std::string>() : value.dump());
    }
    return settings.join(QStringLiteral("; "));
}

/// "optimizer.lr=0.01; scaler.scale=64"; what is no JSON is meant as a text. Throws Error.
std::vector<std::pair<std::string, nlohmann::json>> settingsFrom(const QString& text)
{
    std::vector<std::pair<std::string, nlohmann::json>> settings;
    for (const QString& part : text.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
        const auto equals = part.indexOf(QLatin1Char('='));
        if (equals <= 0) {
            throw Error(ErrorCode::InvalidArgument,
                WatchDialog::tr("%1: write a setting and its value, as in optimizer.lr=0.01")
                    .arg(part.trimmed())
                    .toStdString());
        }
        const std::string value = part.mid(equals + 1).trimmed().toStdString();
        const nlohmann::json parsed = nlohmann::json::parse(value, nullptr, false);
        settings.emplace_back(
            part.left(equals).trimmed().toStdString(), parsed.is_discarded() ? nlohmann::json(value) : parsed);
    }
    if (settings.empty()) {
        throw Error(ErrorCode::InvalidArgument,
            WatchDialog::tr("Which setting, and to what? As in optimizer.lr=0.01").toStdString());
    }
    return settings;
}

} // namespace

WatchDialog::WatchDialog(SessionController* controller, QWidget* parent)
    : QDialog(parent)
    , m_controller(controller)
    , m_list(new QTableWidget(0, columnCount))
    , m_condition(new WatchField)
    , m_problem(new QLabel)
    , m_action(new QComboBox)
    , m_setting(new QLineEdit)
    , m_lane(new QComboBox)
    , m_add(new QPushButton(tr("&Add")))
    , m_change(new QPushButton(tr("C&hange")))
    , m_remove(new QPushButton(tr("&Remove")))
{
    keepWords(m_lane);
    setObjectName(QStringLiteral("watchDialog"));
    setWindowTitle(tr("Watchpoints"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(12);

    m_list->setHorizontalHeaderLabels({tr("On"), tr("When"), tr("Do"), tr("Lane")});
    m_list->setAccessibleName(tr("Watchpoints"));
    m_list->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->verticalHeader()->hide();
    m_list->horizontalHeader()->setSectionResizeMode(When, QHeaderView::Stretch);
    column->addWidget(m_list, 1);

    m_condition->setObjectName(QStringLiteral("watchCondition"));
    m_condition->setAccessibleName(tr("Condition"));
    m_condition->setPlaceholderText(QStringLiteral("scale < 1 or skips(50) > 5"));
    m_condition->setToolTip(conditionHelp());
    m_problem->setWordWrap(true);
    m_problem->setAccessibleName(tr("What is wrong with the condition"));
    m_problem->setTextFormat(Qt::PlainText);
    m_problem->setMinimumHeight(m_problem->fontMetrics().lineSpacing() * 2); // nothing below moves as it comes and goes
    m_problem->setAlignment(Qt::AlignTop);
    for (const WatchAction action : allActions) {
        m_action->addItem(actionText(action), static_cast<int>(action));
    }
    m_action->setAccessibleName(tr("Action"));
    m_setting->setPlaceholderText(QStringLiteral("optimizer.lr=0.01"));
    m_setting->setAccessibleName(tr("Settings to change"));
    m_setting->setToolTip(tr("Named as in experiment files; several are separated by ;"));
    m_lane->setAccessibleName(tr("Lane"));
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(8);
    form->setVerticalSpacing(8);
    form->addRow(tr("&When"), m_condition);
    form->addRow(QString(), m_problem);
    form->addRow(tr("&Do"), m_action);
    form->addRow(tr("&Setting"), m_setting);
    form->addRow(tr("&Lane"), m_lane);
    column->addLayout(form);

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    buttons->addButton(m_add, QDialogButtonBox::ActionRole);
    buttons->addButton(m_change, QDialogButtonBox::ActionRole);
    buttons->addButton(m_remove, QDialogButtonBox::ActionRole);
    column->addWidget(buttons);

    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_condition, &QLineEdit::textChanged, this, &WatchDialog::judge);
    connect(m_setting, &QLineEdit::textChanged, this, &WatchDialog::judge);
    connect(m_action, &QComboBox::currentIndexChanged, this, &WatchDialog::judge);
    connect(m_lane, &QComboBox::currentIndexChanged, this, &WatchDialog::judge);
    connect(m_list, &QTableWidget::itemSelectionChanged, this, &WatchDialog::showSelected);
    connect(m_list, &QTableWidget::itemChanged, this, [this](const QTableWidgetItem* item) {
        if (!m_isFilling && item->column() == On) {
            std::vector<Watchpoint> watchpoints = m_controller->document().watchpoints();
            watchpoints.at(static_cast<std::size_t>(item->row())).isOn = item->checkState() == Qt::Checked;
            apply(std::move(watchpoints));
        }
    });
    connect(m_add, &QPushButton::clicked, this, [this] {
        std::vector<Watchpoint> watchpoints = m_controller->document().watchpoints();
        watchpoints.push_back(typed());
        apply(std::move(watchpoints));
        m_list->selectRow(m_list->rowCount() - 1);
    });
    connect(m_change, &QPushButton::clicked, this, [this] {
        std::vector<Watchpoint> watchpoints = m_controller->document().watchpoints();
        Watchpoint& changed = watchpoints.at(*selected());
        const bool isOn = changed.isOn;
        changed = typed();
        changed.isOn = isOn;
        apply(std::move(watchpoints));
    });
    connect(m_remove, &QPushButton::clicked, this, [this] {
        std::vector<Watchpoint> watchpoints = m_controller->document().watchpoints();
        watchpoints.erase(watchpoints.begin() + static_cast<std::ptrdiff_t>(*selected()));
        apply(std::move(watchpoints));
    });
    connect(m_controller, &SessionController::documentChanged, this, &WatchDialog::fillList);
    connect(m_controller, &SessionController::lanesChanged, this, &WatchDialog::fillLanes);
    fillLanes();
    fillList();
    resize(fontMetrics().averageCharWidth() * 84, fontMetrics().height() * 26);
    whenLanguageChanges(this, [this] {
        m_condition->setToolTip(conditionHelp());
        fillList();
        fillLanes();
    });
}

QLineEdit* WatchDialog::conditionField() const
{
    return m_condition;
}

QString WatchDialog::problem() const
{
    return m_problem->text();
}

void WatchDialog::apply(std::vector<Watchpoint> watchpoints)
{
    m_controller->setWatchpoints(watchpoints);
}

std::optional<std::size_t> WatchDialog::selected() const
{
    const QList<QTableWidgetItem*> items = m_list->selectedItems();
    return items.isEmpty() ? std::nullopt : std::optional(static_cast<std::size_t>(items.first()->row()));
}

void WatchDialog::fillList()
{
    const std::vector<Watchpoint>& watchpoints = m_controller->document().watchpoints();
    const int row = m_list->currentRow();
    m_isFilling = true;
    m_list->setRowCount(static_cast<int>(watchpoints.size()));
    for (int i = 0; i < m_list->rowCount(); ++i) {
        const Watchpoint& watchpoint = watchpoints[static_cast<std::size_t>(i)];
        auto* on = new QTableWidgetItem;
        on->setCheckState(watchpoint.isOn ? Qt::Checked : Qt::Unchecked);
        on->setFlags(Qt::ItemIsUserCheckable | Qt::ItemIsEnabled | Qt::ItemIsSelectable);
        m_list->setItem(i, On, on);
        m_list->setItem(i, When, new QTableWidgetItem(QString::fromStdString(watchpoint.when)));
        m_list->setItem(i, Do,
            new QTableWidgetItem(watchpoint.action == WatchAction::Set
                    ? actionText(watchpoint.action) + QLatin1Char(' ') + settingText(watchpoint)
                    : actionText(watchpoint.action)));
        m_list->setItem(i, LaneName,
            new QTableWidgetItem(watchpoint.lane.empty() ? tr("each") : QString::fromStdString(watchpoint.lane)));
    }
    m_list->resizeColumnToContents(On);
    m_list->resizeColumnToContents(Do);
    m_isFilling = false;
    if (row >= 0 && row < m_list->rowCount()) {
        m_list->selectRow(row);
    }
    judge();
}

void WatchDialog::fillLanes()
{
    const QString before = m_lane->currentData().toString();
    m_isFilling = true;
    m_lane->clear();
    m_lane->addItem(tr("each lane by itself"), QString());
    for (const LaneConfig& lane : m_controller->document().lanes()) {
        const QString name = QString::fromStdString(lane.name);
        m_lane->addItem(name, name);
    }
    m_lane->setCurrentIndex(std::max(m_lane->findData(before), 0));
    m_isFilling = false;
    judge();
}

void WatchDialog::showSelected()
{
    if (m_isFilling || !selected()) {
        judge();
        return;
    }
    const Watchpoint watchpoint = m_controller->document().watchpoints().at(*selected());
    m_condition->setText(QString::fromStdString(watchpoint.when));
    m_action->setCurrentIndex(m_action->findData(static_cast<int>(watchpoint.action)));
    m_setting->setText(settingText(watchpoint));
    m_lane->setCurrentIndex(std::max(m_lane->findData(QString::fromStdString(watchpoint.lane)), 0));
    judge();
}

Watchpoint WatchDialog::typed() const
{
    Watchpoint watchpoint {.when = m_condition->text().trimmed().toStdString(),
        .action = static_cast<WatchAction>(m_action->currentData().toInt()),
        .lane = m_lane->currentData().toString().toStdString()};
    if (watchpoint.action == WatchAction::Set) {
        watchpoint.set = settingsFrom(m_setting->text());
    }
    return watchpoint;
}

/// Throws Error for layers and settings that a watched lane does not have.
void WatchDialog::checkAgainstModels(const Watchpoint& watchpoint) const
{
    const WatchExpression expression(watchpoint.when);
    if (const auto status = m_controller->status()) {
        for (const LaneStatus& lane : status->lanes) {
            if (watchpoint.lane.empty() || m_controller->laneName(lane.id).toStdString() == watchpoint.lane) {
                checkLayers(expression, *lane.graph);
            }
        }
    }
    checkWatchpoint(watchpoint, m_controller->document().lanes(), "", "");
}

void WatchDialog::judge()
{
    if (m_isFilling) {
        return;
    }
    const bool isSet = static_cast<WatchAction>(m_action->currentData().toInt()) == WatchAction::Set;
    m_setting->setEnabled(isSet);
    bool isRight = false;
    QString problem;
    if (!m_condition->text().trimmed().isEmpty()) {
        try {
            checkAgainstModels(typed());
            isRight = true;
        } catch (const Error& error) {
            problem = QString::fromUtf8(error.what());
        }
    }
    m_problem->setText(problem);
    m_add->setEnabled(isRight);
    m_change->setEnabled(isRight && selected());
    m_remove->setEnabled(selected().has_value());
}

} // namespace mantissa
