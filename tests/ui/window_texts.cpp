#include "tests/ui/window_texts.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSpinBox>
#include <QTabBar>
#include <QTextEdit>
#include <qcustomplot.h>

namespace mantissa::test {

namespace {

QString withoutNumbers(QString text)
{
    static const QRegularExpression number(QStringLiteral("[0-9][0-9.,]*(e[+-]?[0-9]+)?"));
    static const QRegularExpression folder(QStringLiteral("/tmp/tst_language-\\w+"));
    static const QRegularExpression time(QStringLiteral("# *(\u00B5s|ms|s)\\b"));
    return text.remove(folder).replace(number, QStringLiteral("#")).replace(time, QStringLiteral("# time"));
}

/// "MainWindow/QSplitter/LaneCard2": the class, and which of its kind among its siblings.
QString placeOf(const QObject* object, const QObject* window)
{
    if (object == window) {
        return {};
    }
    const QObject* parent = object->parent();
    int number = 0;
    for (const QObject* sibling : parent->children()) {
        if (sibling == object) {
            break;
        }
        number += qstrcmp(sibling->metaObject()->className(), object->metaObject()->className()) == 0 ? 1 : 0;
    }
    const QString name = object->objectName().isEmpty()
        ? QStringLiteral("%1%2").arg(QString::fromLatin1(object->metaObject()->className())).arg(number)
        : object->objectName();
    return placeOf(parent, window) + QLatin1Char('/') + name;
}

class Texts
{
public:
    void add(const QString& place, const char* what, const QString& text)
    {
        if (!text.isEmpty()) {
            m_texts.insert(place + QLatin1Char(' ') + QString::fromLatin1(what), withoutNumbers(text));
        }
    }

    void addItems(const QString& place, const QAbstractItemModel* model, const QModelIndex& parent = {})
    {
        constexpr int most = 200;
        for (int row = 0; row < std::min(most, model->rowCount(parent)); ++row) {
            for (int column = 0; column < model->columnCount(parent); ++column) {
                const QModelIndex index = model->index(row, column, parent);
                const QString cell = QStringLiteral("%1[%2,%3]").arg(place).arg(row).arg(column);
                add(cell, "text", index.data().toString());
                add(cell, "tip", index.data(Qt::ToolTipRole).toString());
                add(cell, "accessible", index.data(Qt::AccessibleTextRole).toString());
            }
            if (model->hasChildren(model->index(row, 0, parent))) {
                addItems(QStringLiteral("%1[%2]").arg(place).arg(row), model, model->index(row, 0, parent));
            }
        }
        if (!parent.isValid()) {
            for (int column = 0; column < model->columnCount(); ++column) {
                const QString cell = QStringLiteral("%1[head %2]").arg(place).arg(column);
                add(cell, "text", model->headerData(column, Qt::Horizontal).toString());
                add(cell, "tip", model->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString());
            }
        }
    }

    void addAction(const QString& place, const QAction* action)
    {
        add(place, "text", action->text());
        add(place, "tip", action->toolTip());
        add(place, "status tip", action->statusTip());
    }

    void addOwn(const QString& place, const QWidget* widget)
    {
        if (const auto* label = qobject_cast<const QLabel*>(widget)) {
            add(place, "text", label->text());
        } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
            add(place, "text", button->text());
        } else if (const auto* group = qobject_cast<const QGroupBox*>(widget)) {
            add(place, "title", group->title());
        } else if (const auto* line = qobject_cast<const QLineEdit*>(widget)) {
            add(place, "placeholder", line->placeholderText());
        } else if (const auto* rich = qobject_cast<const QTextEdit*>(widget)) {
            add(place, "text", rich->toPlainText());
        } else if (const auto* plain = qobject_cast<const QPlainTextEdit*>(widget)) {
            add(place, "text", plain->toPlainText());
        } else if (const auto* combo = qobject_cast<const QComboBox*>(widget)) {
            addItems(place, combo->model());
        } else if (const auto* whole = qobject_cast<const QSpinBox*>(widget)) {
            add(place, "text", whole->prefix() + whole->suffix() + whole->specialValueText());
        } else if (const auto* plot = qobject_cast<const QCustomPlot*>(widget)) {
            for (const QCPAxisRect* rect : const_cast<QCustomPlot*>(plot)->axisRects()) {
                for (const QCPAxis* axis : rect->axes()) {
                    add(place, "axis", axis->label());
                }
            }
        } else if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
            for (int tab = 0; tab < tabs->count(); ++tab) {
                add(QStringLiteral("%1[%2]").arg(place).arg(tab), "text", tabs->tabText(tab));
                add(QStringLiteral("%1[%2]").arg(place).arg(tab), "tip", tabs->tabToolTip(tab));
            }
        } else if (const auto* view = qobject_cast<const QAbstractItemView*>(widget)) {
            if (view->model() != nullptr && qobject_cast<const QHeaderView*>(view) == nullptr) {
                addItems(place, view->model());
            }
        }
    }

    [[nodiscard]] const QMap<QString, QString>& texts() const { return m_texts; }

private:
    QMap<QString, QString> m_texts;
};

} // namespace

QMap<QString, QString> textsOf(const QWidget* window)
{
    Texts texts;
    QList<const QWidget*> widgets {window};
    for (const QWidget* widget : window->findChildren<QWidget*>()) {
        widgets.append(widget);
    }
    for (const QWidget* widget : widgets) {
        const QString place = placeOf(widget, window);
        texts.addOwn(place, widget);
        texts.add(place, "window title", widget->windowTitle());
        texts.add(place, "tip", widget->toolTip());
        texts.add(place, "status tip", widget->statusTip());
        texts.add(place, "what's this", widget->whatsThis());
        texts.add(place, "accessible name", widget->accessibleName());
        texts.add(place, "accessible description", widget->accessibleDescription());
        for (const QAction* action : widget->findChildren<QAction*>(QString(), Qt::FindDirectChildrenOnly)) {
            texts.addAction(placeOf(action, window), action);
        }
    }
    return texts.texts();
}

} // namespace mantissa::test
