/// Walks through a lesson: what to predict and to do at each step, and on demand what to see and to ask.
#pragma once

#include "engine/lesson/lesson.h"

#include <QWidget>

#include <optional>

class QComboBox;
class QLabel;
class QPushButton;
class QTextBrowser;

namespace mantissa {

class ReferenceView;

class LessonPanel : public QWidget
{
    Q_OBJECT
public:
    explicit LessonPanel(QWidget* parent = nullptr);

    /// Begins at its first step.
    void begin(Lesson lesson);
    void end();

    [[nodiscard]] const std::optional<Lesson>& lesson() const { return m_lesson; }

    [[nodiscard]] int step() const { return m_step; }

    [[nodiscard]] bool isRevealed() const { return m_isRevealed; }

    [[nodiscard]] bool hasNext() const;
    [[nodiscard]] bool hasBack() const;

    /// What is on the page.
    [[nodiscard]] QString text() const;

    [[nodiscard]] ReferenceView* reference() const { return m_reference; }

    [[nodiscard]] QPushButton* nextButton() const { return m_next; }

    [[nodiscard]] QPushButton* backButton() const { return m_back; }

    [[nodiscard]] QPushButton* revealButton() const { return m_reveal; }

    [[nodiscard]] QPushButton* leaveButton() const { return m_leave; }

public slots:
    void next();
    void back();
    void go(int step);
    void reveal();

signals:
    void stepEntered(const mantissa::LessonStep& step); ///< its experiment is to be opened, its controls locked
    void leaveRequested();
    void changed(); ///< step, or whether it is revealed

protected:
    void changeEvent(QEvent* event) override;

private:
    void show();

    std::optional<Lesson> m_lesson;
    int m_step = 0;
    bool m_isRevealed = false;
    bool m_isFilling = false;
    QLabel* m_name;
    QComboBox* m_steps;
    QLabel* m_time;
    QTextBrowser* m_text;
    ReferenceView* m_reference;
    QPushButton* m_back;
    QPushButton* m_reveal;
    QPushButton* m_next;
    QPushButton* m_leave;
};

} // namespace mantissa
