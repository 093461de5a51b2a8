#include "ui/lesson/lesson_panel.h"

#include "ui/lesson/reference_view.h"
#include "ui/session/shipped_texts.h"
#include "ui/style/number_format.h"

#include <QComboBox>
#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QTextBrowser>
#include <QTextDocument>
#include <QVBoxLayout>

namespace mantissa {

namespace {

QString paragraph(const QString& head, const std::string& text)
{
    return text.empty() ? QString() : QStringLiteral("**%1** %2\n\n").arg(head, QString::fromStdString(text));
}

/// The part of the experiment's own text that explains, which begins behind what to look at.
QString explanationOf(const LessonStep& step)
{
    try {
        const Experiment experiment = withShownTexts(shippedFileOf(step), experimentOf(step));
        const QString text = QString::fromStdString(experiment.text);
        // In English and in Chinese.
        qsizetype begin = -1;
        for (const QString& head :
            {QStringLiteral("**What happened"), QStringLiteral("**\u53D1\u751F\u4E86\u4EC0\u4E48")}) {
            begin = std::max(begin, text.indexOf(head));
        }
        return begin < 0 ? QString() : QStringLiteral("---\n\n") + text.mid(begin);
    } catch (const std::exception&) {
        return {}; // opening the step has said why
    }
}

std::optional<ReferenceRun> runOf(const LessonStep& step)
{
    try {
        return referenceOf(step);
    } catch (const std::exception&) {
        return {};
    }
}

} // namespace

LessonPanel::LessonPanel(QWidget* parent)
    : QWidget(parent)
    , m_name(new QLabel)
    , m_steps(new QComboBox)
    , m_time(new QLabel)
    , m_text(new QTextBrowser)
    , m_reference(new ReferenceView)
    , m_back(new QPushButton(tr("Back")))
    , m_reveal(new QPushButton(tr("Reveal")))
    , m_next(new QPushButton(tr("Next")))
    , m_leave(new QPushButton(tr("Leave")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(4);
    QFont bold = m_name->font();
    bold.setBold(true);
    m_name->setFont(bold);
    m_name->setWordWrap(true);
    m_name->setTextFormat(Qt::PlainText);
    m_name->setAccessibleName(tr("Lesson"));
    m_steps->setAccessibleName(tr("Step of the lesson"));
    m_steps->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_steps->setMinimumContentsLength(8);
    m_time->setAccessibleName(tr("Time"));
    m_time->setWordWrap(true);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenExternalLinks(true);
    m_text->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff); // it wraps; a rule would be wider
    m_text->setAccessibleName(tr("What to say and to do"));
    m_text->document()->setDocumentMargin(4);
    m_back->setToolTip(tr("The step before (Alt+Left)"));
    m_reveal->setToolTip(tr("What to see and to ask, and what should come out (Alt+Down)"));
    m_next->setToolTip(tr("The next step (Alt+Right)"));
    m_leave->setToolTip(tr("Leave the lesson: unlocks everything; the experiment stays open"));
    m_leave->setAccessibleName(tr("Leave lesson"));
    // Two by two: in large type on a small projector three beside each other would take room from the plots.
    auto* buttons = new QGridLayout;
    buttons->setSpacing(4);
    buttons->addWidget(m_reveal, 0, 0);
    buttons->addWidget(m_next, 0, 1);
    buttons->addWidget(m_back, 1, 0);
    buttons->addWidget(m_leave, 1, 1);
    column->addWidget(m_name);
    column->addWidget(m_steps);
    column->addWidget(m_time);
    column->addWidget(m_text, 1);
    column->addWidget(m_reference);
    column->addLayout(buttons);
    connect(m_back, &QPushButton::clicked, this, &LessonPanel::back);
    connect(m_reveal, &QPushButton::clicked, this, &LessonPanel::reveal);
    connect(m_next, &QPushButton::clicked, this, &LessonPanel::next);
    connect(m_leave, &QPushButton::clicked, this, &LessonPanel::leaveRequested);
    connect(m_steps, &QComboBox::currentIndexChanged, this, [this](int step) {
        if (!m_isFilling && step >= 0) {
            go(step);
        }
    });
}

void LessonPanel::begin(Lesson lesson)
{
    m_lesson = std::move(lesson);
    m_isFilling = true;
    m_steps->clear();
    for (std::size_t i = 0; i < m_lesson->steps.size(); ++i) {
        m_steps->addItem(QStringLiteral("%1. %2").arg(i + 1).arg(QString::fromStdString(m_lesson->steps[i].title)));
    }
    m_isFilling = false;
    m_name->setText(QString::fromStdString(m_lesson->name));
    m_name->setToolTip(QString::fromStdString(m_lesson->text));
    go(0);
}

void LessonPanel::end()
{
    m_lesson.reset();
    m_reference->show({});
    emit changed();
}

bool LessonPanel::hasNext() const
{
    return m_lesson && m_step + 1 < static_cast<int>(m_lesson->steps.size());
}

bool LessonPanel::hasBack() const
{
    return m_lesson && m_step > 0;
}

void LessonPanel::next()
{
    if (hasNext()) {
        go(m_step + 1);
    }
}

void LessonPanel::back()
{
    if (hasBack()) {
        go(m_step - 1);
    }
}

void LessonPanel::go(int step)
{
    m_step = step;
    m_isRevealed = false;
    m_isFilling = true;
    m_steps->setCurrentIndex(step);
    m_isFilling = false;
    show();
    emit stepEntered(m_lesson->steps[static_cast<std::size_t>(step)]);
    emit changed();
}

void LessonPanel::reveal()
{
    if (m_lesson && !m_isRevealed) {
        m_isRevealed = true;
        show();
        emit changed();
    }
}

void LessonPanel::show()
{
    const LessonStep& step = m_lesson->steps[static_cast<std::size_t>(m_step)];
    double before = 0;
    for (int i = 0; i < m_step; ++i) {
        before += m_lesson->steps[static_cast<std::size_t>(i)].minutes;
    }
    m_time->setText(
        tr("Step %1 of %2. Minutes %3 to %4 of %5")
            .arg(m_step + 1)
            .arg(m_lesson->steps.size())
            .arg(formatValue(before), formatValue(before + step.minutes), formatValue(m_lesson->minutes())));
    QString text;
    if (m_step == 0 && !m_isRevealed && !m_lesson->text.empty()) {
        text += QString::fromStdString(m_lesson->text) + QStringLiteral("\n\n---\n\n");
    }
    const bool hasMore = !step.see.empty() || !step.ask.empty() || step.hasExperiment();
    if (m_isRevealed) {
        // In the place of what the room has done by now: in large type there is room for one of the two.
        text += paragraph(tr("See."), step.see) + paragraph(tr("Ask."), step.ask);
        text += step.hasExperiment() ? explanationOf(step) : QString();
    } else {
        text += paragraph(tr("Predict."), step.predict) + paragraph(tr("Do."), step.todo);
    }
    m_text->setMarkdown(text);
    m_reference->show(m_isRevealed && step.hasExperiment() ? runOf(step) : std::nullopt);
    m_back->setEnabled(hasBack());
    m_next->setEnabled(hasNext());
    m_reveal->setEnabled(hasMore && !m_isRevealed);
}

QString LessonPanel::text() const
{
    return m_text->toPlainText();
}

void LessonPanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_lesson) {
        show(); // the text's colours are those of when it was set
    }
}

} // namespace mantissa
