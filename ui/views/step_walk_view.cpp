#include "ui/views/step_walk_view.h"

#include "ui/language/language.h"
#include "ui/session/session_controller.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/views/lane_words.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QTimer>
#include <QVBoxLayout>

namespace mantissa {

namespace {

constexpr double large = 1.7; // of the application's type
constexpr double larger = 2;
constexpr double largest = 3;
constexpr int lookEveryMs = 16;

QFont scaled(const QFont& base, double factor, bool isBold = false)
{
    QFont font = base;
    font.setPointSizeF(base.pointSizeF() * factor);
    font.setBold(isBold);
    return font;
}

} // namespace

StepWalkView::StepWalkView(SessionController* controller, std::uint32_t lane, QWidget* parent)
    : QDialog(parent)
    , m_controller(controller)
    , m_lane(lane)
    , m_timer(new QTimer(this))
    , m_title(new QLabel)
    , m_stages(new QLabel)
    , m_heading(new QLabel)
    , m_sentence(new QLabel)
    , m_table(new QTableWidget)
    , m_back(new QPushButton(tr("Back")))
    , m_next(new QPushButton(tr("Next")))
{
    setWindowTitle(tr("Step through"));
    setWindowFlag(Qt::WindowMaximizeButtonHint);
    setAttribute(Qt::WA_DeleteOnClose);
    m_title->setFont(scaled(font(), large));
    m_title->setTextFormat(Qt::PlainText);
    m_stages->setFont(scaled(font(), large));
    m_stages->setWordWrap(true);
    m_stages->setTextFormat(Qt::RichText);
    m_stages->setAccessibleName(tr("Stages"));
    m_heading->setFont(scaled(font(), largest, true));
    m_sentence->setFont(scaled(font(), larger));
    m_sentence->setWordWrap(true);
    m_sentence->setAccessibleName(tr("What happens"));
    m_table->setFont(scaled(tabularFont(font()), large));
    m_table->horizontalHeader()->setFont(scaled(font(), large));
    m_table->verticalHeader()->hide();
    m_table->setShowGrid(false);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setFocusPolicy(Qt::NoFocus);
    m_table->setFrameShape(QFrame::NoFrame);
    QPalette plain = m_table->palette();
    plain.setColor(QPalette::Base, palette().color(QPalette::Window));
    m_table->setPalette(plain);
    m_table->setAccessibleName(tr("The tensors most concerned"));
    QSizePolicy keepsPlace = m_table->sizePolicy();
    keepsPlace.setRetainSizeWhenHidden(true); // nothing else moves from page to page
    m_table->setSizePolicy(keepsPlace);
    m_back->setToolTip(tr("The stage before (left)"));
    m_next->setToolTip(tr("The next stage; from the last one, the next step (Space, right)"));
    for (QPushButton* button : {m_back, m_next}) {
        button->setFont(scaled(font(), large));
        button->setFocusPolicy(Qt::NoFocus); // a focused button would keep the arrow keys to itself
        button->setAutoDefault(false);
    }

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 16, 24, 16);
    column->setSpacing(12);
    column->addWidget(m_title);
    column->addWidget(m_stages);
    column->addSpacing(8);
    column->addWidget(m_heading);
    column->addWidget(m_sentence);
    column->addWidget(m_table, 1);
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(m_back);
    row->addWidget(m_next);
    column->addLayout(row);

    connect(m_back, &QPushButton::clicked, this, &StepWalkView::goBack);
    connect(m_next, &QPushButton::clicked, this, &StepWalkView::goOn);
    connect(m_timer, &QTimer::timeout, this, &StepWalkView::lookForResult);
    // Another experiment, or fresh lanes: there is nothing to go on with.
    connect(m_controller, &SessionController::sessionReplaced, this, &QDialog::close);
    m_timer->setInterval(lookEveryMs);
    m_controller->pause();
    prepare();
    whenLanguageChanges(this, [this] {
        if (m_shownWalk && !m_pages.empty()) {
            showWalk();
        }
    });
}

/// Asks for the lane's next step.
void StepWalkView::prepare()
{
    m_pages.clear();
    m_page = 0;
    m_isTraining = false;
    m_next->setEnabled(false);
    m_back->setEnabled(false);
    m_title->setText(m_controller->laneName(m_lane));
    m_walk = m_controller->walkStep(m_lane);
    if (m_walk.valid()) {
        m_timer->start();
    } else {
        showProblem(tr("There is no lane to step through."));
    }
}

void StepWalkView::lookForResult()
{
    if (m_isTraining) {
        const LaneStatus* lane = m_controller->laneStatus(m_lane);
        if (lane == nullptr || lane->status != RunStatus::Running || lane->nextStep > m_step) {
            m_timer->stop();
            prepare();
        }
        return;
    }
    if (m_walk.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        return;
    }
    m_timer->stop();
    try {
        m_shownWalk = m_walk.get();
        m_step = m_shownWalk->record.step;
        showWalk();
    } catch (const std::exception& error) {
        showProblem(QString::fromUtf8(error.what()));
    }
}

void StepWalkView::showWalk()
{
    m_pages = walkPages(*m_shownWalk);
    m_title->setText(tr("Step %1 of \u201C%2\u201D").arg(formatCount(m_step), m_controller->laneName(m_lane)));
    showPage();
}

void StepWalkView::goOn()
{
    if (m_page + 1 < m_pages.size()) {
        ++m_page;
        showPage();
    } else if (!m_pages.empty() && !m_isTraining) {
        trainStep();
    }
}

void StepWalkView::goBack()
{
    if (m_page > 0) {
        --m_page;
        showPage();
    }
}

/// Lets the lanes do the step that was shown; they do the same bits.
void StepWalkView::trainStep()
{
    m_isTraining = true;
    m_next->setEnabled(false);
    m_controller->runSteps(1);
    m_timer->start();
}

void StepWalkView::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Space:
    case Qt::Key_Right:
    case Qt::Key_PageDown: // what the buttons of a presenter send
        goOn();
        break;
    case Qt::Key_Left:
    case Qt::Key_PageUp:
        goBack();
        break;
    default:
        QDialog::keyPressEvent(event);
    }
}

// --- showing ---

void StepWalkView::showPage()
{
    const WalkPage& page = m_pages.at(m_page);
    showStages();
    m_heading->setText(page.isAlarming ? signOf(Tone::Problem) + QLatin1Char(' ') + page.title : page.title);
    m_sentence->setText(page.sentence);
    showTable(page);
    m_back->setEnabled(m_page > 0);
    m_next->setEnabled(true);
    m_next->setText(m_page + 1 < m_pages.size() ? tr("Next") : tr("Next step"));
}

void StepWalkView::showStages()
{
    const QString faint = blend(palette().color(QPalette::WindowText), palette().color(QPalette::Window), 0.6).name();
    QStringList words;
    for (std::size_t i = 0; i < m_pages.size(); ++i) {
        const QString title = m_pages[i].title.toHtmlEscaped();
        words << (i == m_page ? QStringLiteral("<b>%1</b>").arg(title)
                              : QStringLiteral("<span style=\"color:%1\">%2</span>").arg(faint, title));
    }
    m_stages->setText(words.join(QStringLiteral(" \u2192 ")));
}

void StepWalkView::showTable(const WalkPage& page)
{
    m_table->clear();
    m_table->setVisible(!page.columns.isEmpty());
    m_table->setColumnCount(static_cast<int>(page.columns.size()));
    m_table->setRowCount(static_cast<int>(page.rows.size()));
    m_table->setHorizontalHeaderLabels(page.columns);
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const QStringList& cells = page.rows[static_cast<std::size_t>(row)];
        for (int i = 0; i < cells.size(); ++i) {
            auto* item = new QTableWidgetItem(cells[i]);
            item->setTextAlignment((i < 2 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
            m_table->setItem(row, i, item);
        }
    }
    for (int i = 0; i < m_table->columnCount(); ++i) {
        m_table->horizontalHeaderItem(i)->setTextAlignment((i < 2 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    if (m_table->columnCount() > 0) {
        m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    }
    m_table->resizeRowsToContents();
}

void StepWalkView::showProblem(const QString& text)
{
    m_stages->clear();
    m_heading->clear();
    m_sentence->setText(text);
    m_table->hide();
}

} // namespace mantissa
