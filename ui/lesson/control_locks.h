/// What a lesson has locked or hidden in the window, and the way back.
#pragma once

#include "engine/lesson/control_group.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QPointer>
#include <QString>
#include <QWidget>

#include <functional>
#include <map>
#include <vector>

class QAction;
class QDockWidget;
class QTabWidget;

namespace mantissa {

class ControlLocks : public QObject
{
    Q_OBJECT
public:
    using Widgets = std::function<QList<QWidget*>()>;

    using QObject::QObject;
    ~ControlLocks() override;

    // What belongs to a group. Nothing that is given here may be hidden or disabled as a whole by anyone else.
    void addWidgets(ControlGroup group, Widgets widgets); ///< those that there are at the moment
    void addAction(ControlGroup group, QAction* action);
    void addTab(ControlGroup group, QTabWidget* tabs, QWidget* page);
    void addDock(ControlGroup group, QDockWidget* dock);

    /// Locked controls are visible, cannot be used, and say `reason` as their tooltip; hidden ones are not there. What
    /// was locked or hidden before and is not any more comes back as it was.
    void apply(const QString& reason, const ControlGroups& locked, const ControlGroups& hidden);
    void reapply(); ///< to widgets that came meanwhile
    void release();
    /// Does the work as if nothing were locked or hidden, so that it sees the window as it will be afterwards.
    void whileReleased(const std::function<void()>& work);

    [[nodiscard]] bool isLocked(ControlGroup group) const; ///< or hidden

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Part;

    struct TakenWidget
    {
        QPointer<QWidget> widget;
        bool wasVisible = true;
        bool isHidden = false;
        bool isDisabled = false;
    };

    struct TakenAction
    {
        QPointer<QAction> action;
        ControlGroup group {};
        bool isTaken = false;
        bool wasEnabled = true;
        QString toolTip {};
        QString statusTip {};
    };

    struct TakenDock
    {
        QPointer<QDockWidget> dock;
        ControlGroup group {};
        bool isTaken = false;
        bool wasVisible = true;
    };

    struct Tab
    {
        ControlGroup group {};
        QPointer<QTabWidget> tabs;
        QPointer<QWidget> page;
        QString toolTip {};
        bool isTaken = false;
    };

    [[nodiscard]] bool isHidden(ControlGroup group) const { return m_hidden.contains(group); }

    void take(QWidget* widget, bool isLocked, bool isHidden);
    void followActions();
    void followDocks();
    void followTabs();

    QString m_reason;
    ControlGroups m_locked;
    ControlGroups m_hidden;
    std::vector<std::pair<ControlGroup, Widgets>> m_widgets;
    std::vector<TakenAction> m_actions;
    std::vector<TakenDock> m_docks;
    std::vector<Tab> m_tabs;
    std::map<QWidget*, TakenWidget> m_taken;
    bool m_isFollowing = false; ///< an action changes because of us
};

} // namespace mantissa
