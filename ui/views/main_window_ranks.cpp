/// Lanes trained by several processes on this machine: started, watched, stopped.
#include "ui/plots/dashboard.h"
#include "ui/ranks/rank_job.h"
#include "ui/ranks/ranks_dialog.h"
#include "ui/session/run_loader.h"
#include "ui/views/findings_panel.h"
#include "ui/views/lane_list.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/runs_view.h"

#include <QAction>
#include <QMenu>
#include <QStatusBar>
#include <QTimer>

#include <memory>
#include <set>

namespace mantissa {

namespace {

constexpr int noticeMs = 8000;
constexpr int lookMs = 500; // between looks into the database
const QString ranksTopic = QStringLiteral("ranks");

} // namespace

void MainWindow::askForRanks()
{
    if (!m_controller->isOpen()) {
        return;
    }
    const QString obstacle = m_controller->database().empty()
        ? tr("The processes write their runs into the database, and runs are not being stored.")
        : RankJob::obstacle();
    const auto selected = m_lanes->selected();
    auto* dialog = new RanksDialog(m_controller->document().experiment(),
        selected ? m_controller->laneName(*selected) : QString(), obstacle, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setModal(true);
    connect(
        dialog, &RanksDialog::chosen, this, [this](int ranks, const std::string& experiment, const QStringList& lanes) {
            RankPlan plan {.ranks = ranks,
                .experiment = experiment,
                .device = m_controller->device(),
                .database = m_controller->database(),
                .checkpoints = checkpointPlan(
                    m_controller->checkpoints(), m_controller->database(), m_controller->document().name())};
            watchRanks(new RankJob(std::move(plan), this), lanes.join(QStringLiteral(", ")));
        });
    dialog->show();
}

void MainWindow::watchRanks(RankJob* job, const QString& what)
{
    leaveStart();
    const QString title = tr("%1 on %2 processes").arg(what).arg(job->ranks());
    m_messages->retract(ranksTopic);
    statusBar()->showMessage(tr("Starting %1\u2026").arg(title), noticeMs);
    QAction* stop = m_ranksMenu->addAction(tr("Stop %1").arg(title));
    m_ranksMenu->setEnabled(true);
    connect(stop, &QAction::triggered, job, [stop, job] {
        stop->setEnabled(false);
        job->stop();
    });
    connect(job, &RankJob::runStarted, this, [this, title](RunId run, const QString&) {
        m_runs->refresh();
        m_runs->setShown(run, true);
        m_loader->loadColumns(run);
        statusBar()->showMessage(tr("%1 trains as run %2.").arg(title).arg(run), noticeMs);
    });

    // A run is read again only once it has been read: the reader is shared, and a long run takes it a while.
    auto* timer = new QTimer(job);
    const auto awaited = std::make_shared<std::set<RunId>>();
    connect(m_loader, &RunLoader::columnsLoaded, job, [awaited](const RunInfo& info) { awaited->erase(info.id); });
    connect(m_loader, &RunLoader::failed, job, [awaited] { awaited->clear(); });
    connect(timer, &QTimer::timeout, this, [this, job, awaited] {
        for (const RunId run : job->runs()) {
            if (m_dashboard->laneKeys().contains(Dashboard::storedKey(run)) && awaited->insert(run).second) {
                m_loader->loadColumns(run);
            }
        }
    });
    timer->start(lookMs);

    connect(job, &RankJob::ended, this, [this, job, stop, title](const QString& problem) {
        delete stop;
        m_ranksMenu->setEnabled(!m_ranksMenu->isEmpty());
        m_runs->refresh();
        for (const RunId run : job->runs()) {
            if (m_dashboard->laneKeys().contains(Dashboard::storedKey(run))) {
                m_loader->loadColumns(run);
            }
            if (m_findings->shownRun() == run) {
                m_loader->diagnoseRun(run);
            }
        }
        if (problem.isEmpty()) {
            statusBar()->showMessage(tr("%1: ended.").arg(title), noticeMs);
        } else {
            m_messages->post(ranksTopic, Tone::Problem,
                job->runs().isEmpty()
                    ? tr("%1 could not be trained: %2").arg(title, problem)
                    : tr("%1 failed: %2 What was trained is stored; resume it under Runs.").arg(title, problem));
        }
        job->deleteLater();
    });
}

} // namespace mantissa
