#include "ui/views/command_palette.h"

#include "ui/language/language.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

QList<Command> collectCommands(const QList<QAction*>& menuActions, const QString& path)
{
    QList<Command> commands;
    for (QAction* action : menuActions) {
        if (action->isSeparator() || action->text().isEmpty()) {
            continue;
        }
        const QString name = withoutAccessKey(action->text());
        const QString here = path.isEmpty() ? name : path + QStringLiteral(" \u203A ") + name;
        if (QMenu* menu = action->menu()) {
            commands += collectCommands(menu->actions(), here);
        } else {
            commands.append({here, action});
        }
    }
    return commands;
}

CommandPalette::CommandPalette(const QList<Command>& commands, QWidget* parent)
    : QDialog(parent, Qt::Popup)
    , m_commands(commands)
    , m_input(new QLineEdit)
    , m_list(new QListWidget)
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Commands"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(8);
    m_input->setPlaceholderText(tr("What do you want to do?"));
    m_input->setAccessibleName(tr("Search commands"));
    m_input->installEventFilter(this);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setAccessibleName(tr("Commands"));
    m_list->setFocusPolicy(Qt::NoFocus);
    column->addWidget(m_input);
    column->addWidget(m_list);
    const QFontMetrics metrics = fontMetrics();
    resize(metrics.averageCharWidth() * 72, metrics.height() * 24);
    if (parent) {
        const QPoint top = parent->mapToGlobal(QPoint((parent->width() - width()) / 2, parent->height() / 8));
        move(top);
    }
    connect(m_input, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::trigger);
    filter({});
    m_input->setFocus();
}

void CommandPalette::filter(const QString& text)
{
    const QStringList words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    m_list->clear();
    for (qsizetype index = 0; index < m_commands.size(); ++index) {
        const Command& command = m_commands[index];
        const bool hasAll = std::all_of(words.begin(), words.end(),
            [&command](const QString& word) { return command.path.contains(word, Qt::CaseInsensitive); });
        if (!hasAll) {
            continue;
        }
        const QString key = command.action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(
            key.isEmpty() ? command.path : QStringLiteral("%1    %2").arg(command.path, key), m_list);
        item->setData(Qt::UserRole, index);
        if (!command.action->isEnabled()) {
            item->setFlags(Qt::NoItemFlags);
        }
        if (command.action->isCheckable()) {
            item->setCheckState(command.action->isChecked() ? Qt::Checked : Qt::Unchecked);
        }
    }
    m_list->setCurrentRow(0);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_input && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const int row = m_list->currentRow();
        switch (key->key()) {
        case Qt::Key_Down:
            m_list->setCurrentRow(std::min(row + 1, m_list->count() - 1));
            return true;
        case Qt::Key_Up:
            m_list->setCurrentRow(std::max(row - 1, 0));
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            trigger();
            return true;
        default:
            break;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void CommandPalette::trigger()
{
    const QListWidgetItem* item = m_list->currentItem();
    if (!item || !(item->flags() & Qt::ItemIsEnabled)) {
        return;
    }
    QAction* action = m_commands[item->data(Qt::UserRole).toInt()].action;
    close();
    // After the popup is gone, so that dialogs and focus belong to the window again.
    QTimer::singleShot(0, action, &QAction::trigger);
}

} // namespace mantissa
