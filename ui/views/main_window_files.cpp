/// Experiment files, what the window remembers, and how it looks: theme and presenter layout.
#include "engine/lesson/lesson.h"
#include "engine/verify/shipped_experiments.h"
#include "ui/import_log/log_file.h"
#include "ui/lesson/control_locks.h"
#include "ui/lesson/lesson_panel.h"
#include "ui/plots/dashboard.h"
#include "ui/session/app_paths.h"
#include "ui/session/shipped_texts.h"
#include "ui/style/theme.h"
#include "ui/views/events_view.h"
#include "ui/views/experiments_view.h"
#include "ui/views/lane_list.h"
#include "ui/views/lane_words.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/run_bar.h"
#include "ui/views/setup_panel.h"

#include <QAbstractButton>
#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QJsonDocument>
#include <QKeyEvent>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QStatusBar>
#include <QTabWidget>

#include <algorithm>

namespace mantissa {

namespace {

constexpr qreal presenterScale = 1.6;
const QString fileTopic = QStringLiteral("file");

bool isShipped(const std::filesystem::path& file)
{
    std::error_code ignored;
    const std::vector<std::filesystem::path> shipped = shippedExperiments();
    return std::ranges::find(shipped, std::filesystem::canonical(file, ignored)) != shipped.end();
}

} // namespace

bool MainWindow::openFile(const QString& file)
{
    if (isTensorFile(file)) {
        openCheckpoint(file);
        return true;
    }
    if (isLessonFile(file.toStdString())) {
        return openLesson(file);
    }
    if (looksLikeLog(file)) {
        openLogFile(file);
        return true;
    }
    try {
        const std::filesystem::path path = file.toStdString();
        openExperiment(loadInPresentLanguage(path), path);
    } catch (const std::exception& error) {
        m_messages->post(fileTopic, Tone::Problem, QString::fromUtf8(error.what()));
        return false;
    }
    if (m_remembersState && !isShipped(file.toStdString())) {
        addRecentExperiment(file);
    }
    m_experiments->reload(file);
    return true;
}

void MainWindow::openExperiment(Experiment experiment, const std::filesystem::path& file)
{
    if (!mayDiscard()) {
        return;
    }
    m_messages->retract(fileTopic);
    m_controller->open(ExperimentDocument(std::move(experiment), file));
}

void MainWindow::openFirst(const QString& wanted)
{
    if (isTensorFile(wanted) || (!wanted.isEmpty() && looksLikeLog(wanted))) {
        openFirst();
        openFile(wanted);
        return;
    }
    if (isLessonFile(wanted.toStdString())) {
        openFirst();
        openLesson(wanted); // over the default experiment: its first step may have none
        return;
    }
    if (!wanted.isEmpty() && openFile(wanted)) {
        return;
    }
    const QString whyNotWanted = m_messages->text();
    const std::filesystem::path folder = shippedExperimentsFolder();
    if (folder.empty()) {
        m_experiments->reload({});
        m_messages->post(fileTopic, Tone::Problem,
            tr("The shipped experiments were not found. Set MANTISSA_EXPERIMENTS to their folder, or open a file with "
               "%1.")
                .arg(QKeySequence(QKeySequence::Open).toString(QKeySequence::NativeText)));
        return;
    }
    openFile(QString::fromStdString((folder / "default.json").string()));
    if (!whyNotWanted.isEmpty()) {
        m_messages->post(fileTopic, Tone::Problem, whyNotWanted);
    }
}

void MainWindow::newExperiment()
{
    try {
        Experiment experiment = loadInPresentLanguage(shippedExperimentsFolder() / "default.json");
        experiment.name = tr("Untitled").toStdString();
        experiment.text.clear();
        openExperiment(std::move(experiment), {});
        m_experiments->reload({});
    } catch (const std::exception& error) {
        m_messages->post(fileTopic, Tone::Problem, QString::fromUtf8(error.what()));
    }
}

void MainWindow::chooseFile()
{
    const QString present = QString::fromStdString(m_controller->document().file().string());
    const QString file = QFileDialog::getOpenFileName(this, tr("Open an experiment or a lesson"), present,
        tr("Experiments and lessons (*.json *.mantissa-lesson);;All files (*)"));
    if (!file.isEmpty()) {
        openFile(file);
    }
}

bool MainWindow::save()
{
    const std::filesystem::path file = m_controller->document().file();
    // A shipped experiment stays as it was shipped.
    return file.empty() || isShipped(file) ? saveAs() : saveTo(QString::fromStdString(file.string()));
}

bool MainWindow::saveAs()
{
    const QString name = QString::fromStdString(m_controller->document().name());
    const std::filesystem::path file = m_controller->document().file();
    const QString start = file.empty() || isShipped(file)
        ? name.toLower().replace(QLatin1Char(' '), QLatin1Char('-')) + QStringLiteral(".json")
        : QString::fromStdString(file.string());
    const QString chosen = QFileDialog::getSaveFileName(this, tr("Save experiment"), start, tr("Experiments (*.json)"));
    return !chosen.isEmpty() && saveTo(chosen);
}

bool MainWindow::saveTo(const QString& file)
{
    try {
        m_controller->save(file.toStdString());
    } catch (const std::exception& error) {
        m_messages->post(fileTopic, Tone::Problem, QString::fromUtf8(error.what()));
        return false;
    }
    m_messages->retract(fileTopic);
    if (m_remembersState) {
        addRecentExperiment(file);
    }
    m_experiments->reload(file);
    statusBar()->showMessage(tr("Saved %1").arg(file), 5000);
    return true;
}

bool MainWindow::mayDiscard()
{
    // Runs are in the database and a shipped experiment was only played with; a file of one's own is worth a question.
    const ExperimentDocument& document = m_controller->document();
    if (!document.isModified() || document.file().empty() || isShipped(document.file()) || !isVisible()) {
        return true;
    }
    const auto answer = QMessageBox::question(this, tr("Save the experiment?"),
        tr("%1 has changes that are not saved.")
            .arg(QFileInfo(QString::fromStdString(document.file().string())).fileName()),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
    return answer == QMessageBox::Discard || (answer == QMessageBox::Save && save());
}

ShippedText MainWindow::shownTexts() const
{
    const ExperimentDocument& document = m_controller->document();
    return inPresentLanguage(document.file(), {document.name(), document.description()});
}

void MainWindow::updateTitle()
{
    const ExperimentDocument& document = m_controller->document();
    const QString name = QString::fromStdString(shownTexts().name);
    setWindowTitle(name.isEmpty() ? tr("Mantissa") : tr("%1[*]").arg(name));
    setWindowModified(document.isModified() && !name.isEmpty());
    setWindowFilePath(document.file().empty() ? QString() : QString::fromStdString(document.file().string()));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    const bool isLocked = m_locks->isLocked(ControlGroup::Experiments);
    if (urls.size() == 1 && urls.first().isLocalFile() && !isLocked) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty()) {
        openFile(urls.first().toLocalFile());
        event->acceptProposedAction();
    }
}

void MainWindow::setTheme(Theme theme)
{
    switch (theme) {
    case Theme::System:
        QApplication::setPalette(QPalette());
        break;
    case Theme::Light:
        QApplication::setPalette(lightPalette());
        break;
    case Theme::Dark:
        QApplication::setPalette(darkPalette());
        break;
    }
    for (QAction* action : m_themes->actions()) {
        action->setChecked(action->data().toInt() == static_cast<int>(theme));
    }
    if (m_remembersState) {
        openSettings()->setValue(QStringLiteral("theme"), static_cast<int>(theme));
    }
}

QString MainWindow::languageAction(Language language)
{
    return QStringLiteral("language_") + languageCode(language);
}

void MainWindow::setLanguage(Language language)
{
    if (m_remembersState) {
        openSettings()->setValue(QStringLiteral("language"), languageCode(language));
    }
    changeLanguage(language);
}

void MainWindow::setPresenting(bool isPresenting)
{
    if (isPresenting == m_isPresenting) {
        return;
    }
    const bool showedStart = showsStart();
    leaveStart(); // it has a layout of its own
    m_isPresenting = isPresenting;
    m_presenter->setChecked(isPresenting);
    if (isPresenting) {
        m_locks->whileReleased([this] { m_layoutBeforePresenting = saveState(); });
        m_pointSizeBeforePresenting = QApplication::font().pointSizeF();
    }
    if (isPresenting) {
        hideForPresenting();
    }
    menuBar()->setVisible(!isPresenting);
    statusBar()->setVisible(!isPresenting);
    m_runBar->setPresenting(isPresenting);
    QFont font = QApplication::font();
    font.setPointSizeF(m_pointSizeBeforePresenting * (isPresenting ? presenterScale : 1));
    QApplication::setFont(font);
    // Fonts that were set by hand keep their size when the application's changes.
    const qreal factor = isPresenting ? presenterScale : 1 / presenterScale;
    for (QWidget* widget : findChildren<QWidget*>()) {
        QFont own = widget->font();
        if ((own.resolveMask() & QFont::SizeResolved) != 0 && widget->testAttribute(Qt::WA_SetFont)
            && std::abs(own.pointSizeF() - font.pointSizeF()) > 0.1) {
            own.setPointSizeF(own.pointSizeF() * factor);
            widget->setFont(own);
        }
    }
    if (!isPresenting) {
        QMainWindow::restoreState(m_layoutBeforePresenting);
        m_locks->reapply(); // a lesson may have begun or ended meanwhile
    } else {
        m_lanesDock->show();
    }
    m_lessonDock->setVisible(m_lesson->lesson().has_value());
    if (showedStart) {
        showStart();
    }
}

void MainWindow::hideForPresenting()
{
    for (QDockWidget* dock :
        {m_experimentsDock, m_setupDock, m_eventsDock, m_runsDock, m_codeDock, m_stepDock, m_findingsDock}) {
        dock->hide();
    }
}

void MainWindow::restoreState()
{
    const auto state = openState();
    restoreGeometry(state->value(QStringLiteral("window/geometry")).toByteArray());
    QMainWindow::restoreState(state->value(QStringLiteral("window/docks")).toByteArray());
    const QByteArray view = state->value(QStringLiteral("window/plots")).toByteArray();
    if (!view.isEmpty()) {
        m_dashboard->setViewSettings(QJsonDocument::fromJson(view).object());
    }
    m_tabs->setCurrentIndex(state->value(QStringLiteral("window/tab"), 0).toInt());
    const int theme = openSettings()->value(QStringLiteral("theme"), 0).toInt();
    if (theme > 0 && theme <= static_cast<int>(Theme::Dark)) {
        setTheme(static_cast<Theme>(theme));
    }
}

void MainWindow::storeState()
{
    leaveStart();
    setPresenting(false);
    leaveLesson();
    const auto state = openState();
    state->setValue(QStringLiteral("window/geometry"), saveGeometry());
    state->setValue(QStringLiteral("window/docks"), saveState());
    state->setValue(QStringLiteral("window/tab"), m_tabs->currentIndex());
    state->setValue(
        QStringLiteral("window/plots"), QJsonDocument(m_dashboard->viewSettings()).toJson(QJsonDocument::Compact));
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!mayDiscard()) {
        event->ignore();
        return;
    }
    if (m_remembersState) {
        storeState();
    }
    event->accept();
}

void MainWindow::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::ActivationChange) {
        m_controller->setFocused(isActiveWindow());
    }
    if (event->type() == QEvent::PaletteChange && m_lanes && m_controller->status()) {
        followLanes();
    }
    if (event->type() == QEvent::LanguageChange && m_languages) {
        retranslate();
    }
    QMainWindow::changeEvent(event);
}

void MainWindow::retranslate()
{
    for (QAction* action : m_languages->actions()) {
        action->setChecked(action->objectName() == languageAction(chosenLanguage()));
    }
    m_events->model()->retell([](EventModel::Row& row) {
        if (row.event.lane == Event::allLanes) {
            row.lane = tr("all");
        }
        row.what = eventSentence(row.event);
    });
    m_experiments->reload(QString::fromStdString(m_controller->document().file().string()));
    if (m_controller->isOpen()) {
        showTexts();
        followLanes();
        followStatus();
    }
    updateTitle();
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event)
{
    // A button that has the keyboard's focus is pressed by Space; everywhere else Space runs and pauses.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool isButton = qobject_cast<QAbstractButton*>(watched) || qobject_cast<QComboBox*>(watched);
        if (key->key() == Qt::Key_Space && key->modifiers() == Qt::NoModifier && isButton) {
            event->accept();
            return true;
        }
    }
    return QMainWindow::eventFilter(watched, event);
}

} // namespace mantissa
