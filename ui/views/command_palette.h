/// Ctrl+K: every action of the window by name; type some letters, press Enter.
#pragma once

#include <QDialog>
#include <QList>
#include <QString>

class QAction;
class QLineEdit;
class QListWidget;

namespace mantissa {

/// An action and where it stands in the menus.
struct Command
{
    QString path; ///< "Run > Reset"
    QAction* action = nullptr;
};

/// All actions below the menus of a menu bar, separators and submenus themselves left out.
QList<Command> collectCommands(const QList<QAction*>& menuActions, const QString& path = {});

class CommandPalette : public QDialog
{
    Q_OBJECT
public:
    CommandPalette(const QList<Command>& commands, QWidget* parent);

    [[nodiscard]] QLineEdit* input() const { return m_input; }

    [[nodiscard]] QListWidget* list() const { return m_list; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter(const QString& text);
    void trigger();

    QList<Command> m_commands;
    QLineEdit* m_input;
    QListWidget* m_list;
};

} // namespace mantissa
