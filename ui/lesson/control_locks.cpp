#include "ui/lesson/control_locks.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QHelpEvent>
#include <QTabWidget>
#include <QToolTip>

namespace mantissa {

ControlLocks::~ControlLocks()
{
    if (qApp != nullptr) {
        qApp->removeEventFilter(this);
    }
}

void ControlLocks::addWidgets(ControlGroup group, Widgets widgets)
{
    m_widgets.emplace_back(group, std::move(widgets));
}

void ControlLocks::addAction(ControlGroup group, QAction* action)
{
    m_actions.push_back({.action = action, .group = group});
    // Some are enabled and disabled as the run goes.
    connect(action, &QAction::enabledChanged, this, [this, action, group](bool isEnabled) {
        if (isEnabled && !m_isFollowing && isLocked(group)) {
            m_isFollowing = true;
            action->setEnabled(false);
            m_isFollowing = false;
        }
    });
}

void ControlLocks::addTab(ControlGroup group, QTabWidget* tabs, QWidget* page)
{
    m_tabs.push_back({group, tabs, page});
}

void ControlLocks::addDock(ControlGroup group, QDockWidget* dock)
{
    m_docks.push_back({.dock = dock, .group = group});
}

bool ControlLocks::isLocked(ControlGroup group) const
{
    return m_locked.contains(group) || m_hidden.contains(group);
}

void ControlLocks::apply(const QString& reason, const ControlGroups& locked, const ControlGroups& hidden)
{
    m_reason = reason;
    m_locked = locked;
    m_hidden = hidden;
    qApp->removeEventFilter(this);
    if (!locked.empty()) {
        qApp->installEventFilter(this);
    }
    reapply();
}

void ControlLocks::release()
{
    apply({}, {}, {});
}

void ControlLocks::whileReleased(const std::function<void()>& work)
{
    const QString reason = m_reason;
    const ControlGroups locked = m_locked;
    const ControlGroups hidden = m_hidden;
    release();
    work();
    apply(reason, locked, hidden);
}

void ControlLocks::reapply()
{
    std::erase_if(m_taken, [](const auto& entry) { return entry.second.widget.isNull(); });
    for (const auto& [group, widgets] : m_widgets) {
        for (QWidget* widget : widgets()) {
            take(widget, m_locked.contains(group), isHidden(group));
        }
    }
    followActions();
    followDocks();
    followTabs();
}

void ControlLocks::take(QWidget* widget, bool isLocked, bool isHidden)
{
    if (widget == nullptr) {
        return;
    }
    const auto [found, isNew] = m_taken.try_emplace(widget);
    TakenWidget& taken = found->second;
    taken.widget = widget;
    const bool isDisabled = isLocked || isHidden;
    if (isDisabled != taken.isDisabled) {
        widget->setEnabled(!isDisabled);
        taken.isDisabled = isDisabled;
    }
    if (isHidden && (!taken.isHidden || !widget->isHidden())) {
        taken.wasVisible = taken.isHidden ? taken.wasVisible : !widget->isHidden();
        widget->hide();
    } else if (!isHidden && taken.isHidden && taken.wasVisible) {
        widget->show();
    }
    taken.isHidden = isHidden;
}

void ControlLocks::followActions()
{
    m_isFollowing = true;
    for (TakenAction& taken : m_actions) {
        if (taken.action.isNull()) {
            continue;
        }
        const bool isWanted = isLocked(taken.group);
        if (isWanted && !taken.isTaken) {
            taken.wasEnabled = taken.action->isEnabled();
            taken.toolTip = taken.action->toolTip();
            taken.statusTip = taken.action->statusTip();
        }
        if (isWanted) {
            taken.action->setEnabled(false);
            taken.action->setToolTip(m_reason);
            taken.action->setStatusTip(m_reason);
        } else if (taken.isTaken) {
            taken.action->setEnabled(taken.wasEnabled);
            taken.action->setToolTip(taken.toolTip);
            taken.action->setStatusTip(taken.statusTip);
        }
        taken.isTaken = isWanted;
        taken.action->setVisible(!isHidden(taken.group));
    }
    m_isFollowing = false;
}

void ControlLocks::followDocks()
{
    for (TakenDock& taken : m_docks) {
        if (taken.dock.isNull()) {
            continue;
        }
        take(taken.dock->widget(), m_locked.contains(taken.group), false);
        const bool isWanted = isHidden(taken.group);
        // One that is visible again was shown by whoever restored a layout.
        if (isWanted && (!taken.isTaken || !taken.dock->isHidden())) {
            taken.wasVisible = !taken.dock->isHidden();
        }
        if (isWanted) {
            taken.dock->hide();
        } else if (taken.isTaken && taken.wasVisible) {
            taken.dock->show();
        }
        taken.isTaken = isWanted;
        taken.dock->toggleViewAction()->setVisible(!isWanted);
    }
}

void ControlLocks::followTabs()
{
    for (Tab& tab : m_tabs) {
        if (tab.tabs.isNull() || tab.page.isNull()) {
            continue;
        }
        const int index = tab.tabs->indexOf(tab.page);
        const bool isWanted = m_locked.contains(tab.group);
        take(tab.page, isWanted, false);
        if (isWanted && !tab.isTaken) {
            tab.toolTip = tab.tabs->tabToolTip(index);
        }
        if (isWanted || tab.isTaken) {
            tab.tabs->setTabToolTip(index, isWanted ? m_reason : tab.toolTip);
        }
        tab.isTaken = isWanted;
        tab.tabs->setTabVisible(index, !isHidden(tab.group));
    }
}

bool ControlLocks::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ToolTip && watched->isWidgetType()) {
        for (auto* widget = static_cast<QWidget*>(watched); widget != nullptr; widget = widget->parentWidget()) {
            const auto found = m_taken.find(widget);
            if (found != m_taken.end() && found->second.isDisabled) {
                QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), m_reason);
                return true;
            }
        }
    }
    return QObject::eventFilter(watched, event);
}

} // namespace mantissa
