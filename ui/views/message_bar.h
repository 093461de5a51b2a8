/// A line above the plots that says what went wrong and what to do, without stopping anything. Several messages queue;
/// a sign and a word tell how much each matters.
#pragma once

#include "ui/views/lane_words.h"

#include <QFrame>
#include <QList>

class QLabel;
class QToolButton;

namespace mantissa {

class MessageBar : public QFrame
{
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);

    /// A message with the same `topic` replaces the one before.
    void post(const QString& topic, Tone tone, const QString& text);
    void retract(const QString& topic);
    [[nodiscard]] QString text() const; ///< the message shown; empty if none

protected:
    void changeEvent(QEvent* event) override;

private:
    struct Message
    {
        QString topic;
        Tone tone = Tone::Notice;
        QString text;
    };

    void showFirst();

    QLabel* m_sign;
    QLabel* m_text;
    QToolButton* m_close;
    QList<Message> m_messages;
};

} // namespace mantissa
