/// Training logs of other programs: importing, watching, showing.
#include "ui/import_log/import_dialog.h"
#include "ui/import_log/import_job.h"
#include "ui/import_log/log_file.h"
#include "ui/plots/dashboard.h"
#include "ui/session/run_loader.h"
#include "ui/views/findings_panel.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/runs_view.h"

#include <QAction>
#include <QDockWidget>
#include <QFileDialog>
#include <QMenu>
#include <QStatusBar>

namespace mantissa {

namespace {

constexpr int noticeMs = 8000;
const QString importTopic = QStringLiteral("import");

} // namespace

void MainWindow::chooseLog()
{
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Import log"), {}, tr("Training logs (*tfevents* *.csv *.tsv *.jsonl *.json);;All files (*)"));
    if (!file.isEmpty()) {
        openLogFile(file);
    }
}

void MainWindow::openLogFile(const QString& file)
{
    if (m_controller->database().empty()) {
        m_messages->post(importTopic, Tone::Problem,
            tr("Logs are imported into the database of runs, and runs are not being stored."));
        return;
    }
    auto* dialog = new ImportDialog(file.toStdString(), m_controller->database(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setModal(true);
    connect(dialog, &ImportDialog::imported, this,
        [this](const QList<RunId>& runs, const QStringList& notes, ImportJob* job) {
            showImported(runs, notes);
            if (job != nullptr) {
                watchLog(job);
            }
        });
    dialog->show();
}

void MainWindow::showImported(const QList<RunId>& runs, const QStringList& notes)
{
    leaveStart();
    m_runs->refresh();
    for (const RunId run : runs) {
        m_runs->setShown(run, true);
        m_loader->loadColumns(run);
    }
    if (!runs.isEmpty()) {
        m_loader->diagnoseRun(runs.first());
        m_findingsDock->raise();
    }
    statusBar()->showMessage(
        runs.size() == 1 ? tr("Imported as run %1.").arg(runs.first()) : tr("Imported as %1 runs.").arg(runs.size()),
        noticeMs);
    m_messages->retract(importTopic);
    if (!notes.isEmpty()) {
        m_messages->post(importTopic, Tone::Notice, notes.join(QLatin1Char('\n')));
    }
}

void MainWindow::watchLog(ImportJob* job)
{
    job->setParent(this);
    const QString file = QString::fromStdString(job->log().filename().string());
    QAction* stop = m_watchedMenu->addAction(tr("Stop watching %1").arg(file));
    connect(stop, &QAction::triggered, job, &ImportJob::stop);
    m_watchedMenu->setEnabled(true);
    connect(job, &ImportJob::grew, this, [this](const QList<RunId>& runs) {
        for (const RunId run : runs) {
            if (m_dashboard->laneKeys().contains(Dashboard::storedKey(run))) {
                m_loader->loadColumns(run);
            }
            if (m_findings->shownRun() == run) {
                m_loader->diagnoseRun(run);
            }
        }
    });
    connect(job, &ImportJob::restarted, this, [this](const QList<RunId>& runs) {
        showImported(
            runs, {tr("The watched log was begun anew, or went back to an earlier step: it goes on as another run.")});
    });
    connect(job, &ImportJob::failed, this, [this, file](const QString& why) {
        m_messages->post(importTopic, Tone::Problem, tr("%1 is watched no more: %2").arg(file, why));
    });
    connect(job, &ImportJob::ended, this, [this, job, stop] {
        delete stop;
        m_watchedMenu->setEnabled(!m_watchedMenu->isEmpty());
        job->deleteLater();
        m_runs->refresh();
    });
}

} // namespace mantissa
