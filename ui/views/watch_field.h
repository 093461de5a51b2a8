/// A line for a watchpoint's condition, which completes the names of metrics and functions.
#pragma once

#include <QLineEdit>

class QCompleter;

namespace mantissa {

/// What a condition may name, each with a few words: for a tooltip.
QString conditionHelp();

class WatchField : public QLineEdit
{
    Q_OBJECT
public:
    explicit WatchField(QWidget* parent = nullptr);

    /// What could stand where the cursor is.
    [[nodiscard]] QStringList completions() const;

private:
    [[nodiscard]] QString wordBeforeCursor() const;
    void complete();
    void insertName(const QString& name);

    QCompleter* m_completer;
};

} // namespace mantissa
