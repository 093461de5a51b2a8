#include "ui/language/retranslate.h"

#include "ui/language/language.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QProgressBar>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QStatusBar>
#include <QTabBar>
#include <QTableWidget>
#include <QTreeWidget>
#include <QWidget>

#include <array>
#include <set>

namespace mantissa {

namespace {

using Contexts = QList<QByteArray>;

/// The classes around an object, the nearest first: where its texts were written. The free functions that word things
/// for several classes use "mantissa".
Contexts contextsOf(const QObject* object)
{
    Contexts contexts;
    for (; object != nullptr; object = object->parent()) {
        for (const QMetaObject* kind = object->metaObject(); kind != nullptr; kind = kind->superClass()) {
            const QByteArray name = kind->className();
            if (name.startsWith('Q')) {
                break;
            }
            contexts.append(name);
        }
    }
    contexts.append("mantissa");
    return contexts;
}

/// Sets what differs only: setting is layout, and some setters forget what they derived from another text.
template <typename Object, typename Get, typename Set>
void turn(Object* object, const Contexts& contexts, Get get, Set set)
{
    const QString before = (object->*get)();
    const QString after = inPresentLanguage(before, contexts);
    if (after != before) {
        (object->*set)(after);
    }
}

void turnAction(QAction* action, const Contexts& contexts)
{
    // Without one of its own it is made of the text, and is to stay so.
    const bool hasIconText = action->iconText() != QAction(action->text()).iconText();
    if (hasIconText) {
        turn(action, contexts, &QAction::iconText, &QAction::setIconText);
    }
    turn(action, contexts, &QAction::text, &QAction::setText);
    turn(action, contexts, &QAction::toolTip, &QAction::setToolTip);
    turn(action, contexts, &QAction::statusTip, &QAction::setStatusTip);
    turn(action, contexts, &QAction::whatsThis, &QAction::setWhatsThis);
}

constexpr std::array<int, 6> textRoles {Qt::DisplayRole, Qt::ToolTipRole, Qt::StatusTipRole, Qt::WhatsThisRole,
    Qt::AccessibleTextRole, Qt::AccessibleDescriptionRole};

/// Models that hold their texts; others are asked anew.
bool holdsTexts(const QAbstractItemModel* model)
{
    return model->inherits("QStandardItemModel") || model->inherits("QListModel") || model->inherits("QTreeModel")
        || model->inherits("QTableModel");
}

void turnItems(QAbstractItemModel* model, const QModelIndex& parent, const Contexts& contexts)
{
    for (int row = 0; row < model->rowCount(parent); ++row) {
        for (int column = 0; column < model->columnCount(parent); ++column) {
            const QModelIndex index = model->index(row, column, parent);
            for (const int role : textRoles) {
                const QVariant before = model->data(index, role);
                if (before.typeId() == QMetaType::QString) {
                    const QString after = inPresentLanguage(before.toString(), contexts);
                    if (after != before.toString()) {
                        model->setData(index, after, role);
                    }
                }
            }
        }
        if (model->hasChildren(model->index(row, 0, parent))) {
            turnItems(model, model->index(row, 0, parent), contexts);
        }
    }
}

void turnModel(QAbstractItemModel* model, const Contexts& contexts)
{
    if (!holdsTexts(model)) {
        if (model->rowCount() > 0 && model->columnCount() > 0) {
            emit model->dataChanged(model->index(0, 0), model->index(model->rowCount() - 1, model->columnCount() - 1));
        }
        for (const Qt::Orientation orientation : {Qt::Horizontal, Qt::Vertical}) {
            const int sections = orientation == Qt::Horizontal ? model->columnCount() : model->rowCount();
            if (sections > 0) {
                emit model->headerDataChanged(orientation, 0, sections - 1);
            }
        }
        return;
    }
    turnItems(model, {}, contexts);
    for (const Qt::Orientation orientation : {Qt::Horizontal, Qt::Vertical}) {
        const int sections = orientation == Qt::Horizontal ? model->columnCount() : model->rowCount();
        for (int section = 0; section < sections; ++section) {
            for (const int role : textRoles) {
                const QVariant before = model->headerData(section, orientation, role);
                if (before.typeId() == QMetaType::QString) {
                    const QString after = inPresentLanguage(before.toString(), contexts);
                    if (after != before.toString()) {
                        model->setHeaderData(section, orientation, after, role);
                    }
                }
            }
        }
    }
}

void turnTabs(QTabBar* tabs, const Contexts& contexts)
{
    for (int tab = 0; tab < tabs->count(); ++tab) {
        const QString text = inPresentLanguage(tabs->tabText(tab), contexts);
        if (text != tabs->tabText(tab)) {
            tabs->setTabText(tab, text);
        }
        const QString tip = inPresentLanguage(tabs->tabToolTip(tab), contexts);
        if (tip != tabs->tabToolTip(tab)) {
            tabs->setTabToolTip(tab, tip);
        }
    }
}

void turnOwnTexts(QWidget* widget, const Contexts& contexts)
{
    if (auto* label = qobject_cast<QLabel*>(widget)) {
        turn(label, contexts, &QLabel::text, &QLabel::setText);
    } else if (auto* button = qobject_cast<QAbstractButton*>(widget)) {
        turn(button, contexts, &QAbstractButton::text, &QAbstractButton::setText);
    } else if (auto* group = qobject_cast<QGroupBox*>(widget)) {
        turn(group, contexts, &QGroupBox::title, &QGroupBox::setTitle);
    } else if (auto* line = qobject_cast<QLineEdit*>(widget)) {
        turn(line, contexts, &QLineEdit::placeholderText, &QLineEdit::setPlaceholderText);
    } else if (auto* combo = qobject_cast<QComboBox*>(widget)) {
        if (!keepsWords(combo)) {
            turnModel(combo->model(), contexts);
        }
        turn(combo, contexts, &QComboBox::placeholderText, &QComboBox::setPlaceholderText);
    } else if (auto* tabs = qobject_cast<QTabBar*>(widget)) {
        turnTabs(tabs, contexts);
    } else if (auto* whole = qobject_cast<QSpinBox*>(widget)) {
        turn(whole, contexts, &QSpinBox::prefix, &QSpinBox::setPrefix);
        turn(whole, contexts, &QSpinBox::suffix, &QSpinBox::setSuffix);
        turn(whole, contexts, &QSpinBox::specialValueText, &QSpinBox::setSpecialValueText);
    } else if (auto* number = qobject_cast<QDoubleSpinBox*>(widget)) {
        turn(number, contexts, &QDoubleSpinBox::prefix, &QDoubleSpinBox::setPrefix);
        turn(number, contexts, &QDoubleSpinBox::suffix, &QDoubleSpinBox::setSuffix);
        turn(number, contexts, &QDoubleSpinBox::specialValueText, &QDoubleSpinBox::setSpecialValueText);
    } else if (auto* progress = qobject_cast<QProgressBar*>(widget)) {
        turn(progress, contexts, &QProgressBar::format, &QProgressBar::setFormat);
    } else if (auto* view = qobject_cast<QAbstractItemView*>(widget); view != nullptr && view->model() != nullptr) {
        // The list of a combo box shows the box's own items.
        const bool isOfCombo = view->parent() != nullptr && view->parent()->inherits("QComboBoxPrivateContainer");
        if (qobject_cast<QHeaderView*>(view) == nullptr && !isOfCombo) {
            turnModel(view->model(), contexts);
        }
    } else if (auto* bar = qobject_cast<QStatusBar*>(widget)) {
        // Speaks of a moment that has passed.
        bar->clearMessage();
    }
}

void turnWidget(QWidget* widget)
{
    const Contexts contexts = contextsOf(widget);
    turnOwnTexts(widget, contexts);
    turn(widget, contexts, &QWidget::windowTitle, &QWidget::setWindowTitle);
    turn(widget, contexts, &QWidget::toolTip, &QWidget::setToolTip);
    turn(widget, contexts, &QWidget::statusTip, &QWidget::setStatusTip);
    turn(widget, contexts, &QWidget::whatsThis, &QWidget::setWhatsThis);
    turn(widget, contexts, &QWidget::accessibleName, &QWidget::setAccessibleName);
    turn(widget, contexts, &QWidget::accessibleDescription, &QWidget::setAccessibleDescription);
    widget->update();
}

} // namespace

void retranslateWindows()
{
    // Buttons take their texts from their actions, so these go first.
    for (QWidget* widget : QApplication::allWidgets()) {
        for (QAction* action : widget->findChildren<QAction*>(QString(), Qt::FindDirectChildrenOnly)) {
            turnAction(action, contextsOf(action));
        }
    }
    for (QWidget* widget : QApplication::allWidgets()) {
        turnWidget(widget);
    }
    // Not through the application, which would only post it: at the end of this call everything is in the new language.
    for (QWidget* window : QApplication::topLevelWidgets()) {
        QEvent event(QEvent::LanguageChange);
        QCoreApplication::sendEvent(window, &event);
    }
}

} // namespace mantissa
