/// Checkpoints and weights: resuming, saving, starting from a file.
#include "engine/train/checkpoint_folder.h"
#include "engine/train/weights_file.h"
#include "ui/plots/dashboard.h"
#include "ui/session/run_loader.h"
#include "ui/views/checkpoint_dialog.h"
#include "ui/views/experiments_view.h"
#include "ui/views/lane_list.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/resume_dialog.h"
#include "ui/views/runs_view.h"

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QPointer>
#include <QProgressDialog>
#include <QStatusBar>
#include <QThreadPool>

namespace mantissa {

namespace {

constexpr int noticeMs = 8000;
constexpr int patienceMs = 400; // before a progress dialog is worth its flash
const QString weightsTopic = QStringLiteral("weights");
const QString checkpointTopic = QStringLiteral("checkpoint");

QString filter()
{
    return MainWindow::tr("Safetensors (*.safetensors);;All files (*)");
}

} // namespace

bool MainWindow::isTensorFile(const QString& file)
{
    return file.endsWith(QStringLiteral(".safetensors"), Qt::CaseInsensitive);
}

void MainWindow::openCheckpoint(const QString& file)
{
    askHowToResume(new ResumeDialog(std::filesystem::path(file.toStdString()), this), std::nullopt);
}

void MainWindow::chooseCheckpoint()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Open checkpoint"), checkpointsHome(), filter());
    if (!file.isEmpty()) {
        openCheckpoint(file);
    }
}

QString MainWindow::checkpointsHome() const
{
    const QString folder = QString::fromStdString(checkpointsFolder(m_controller->database()).string());
    return QDir(folder).exists() ? folder : QString();
}

void MainWindow::resumeRun(RunId run)
{
    askHowToResume(new ResumeDialog(m_controller->database(), run, this), run);
}

void MainWindow::askHowToResume(ResumeDialog* dialog, std::optional<RunId> run)
{
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setModal(true);
    connect(dialog, &ResumeDialog::chosen, this, [this, run](const ResumedLane& lane) {
        if (!mayDiscard()) {
            return;
        }
        m_controller->resume(lane);
        m_experiments->reload({});
        if (run) {
            // What came before the seam.
            m_runs->setShown(*run, true);
            m_loader->loadColumns(*run);
        }
        const Checkpoint& checkpoint = *lane.checkpoint;
        statusBar()->showMessage(tr("%1 goes on at step %2: Space trains it.")
                                     .arg(QString::fromStdString(checkpoint.initial.name))
                                     .arg(checkpoint.state.nextStep),
            noticeMs);
    });
    dialog->show();
}

void MainWindow::saveCheckpoint()
{
    const auto selected = m_lanes->selected();
    const LaneStatus* lane = selected ? m_controller->laneStatus(*selected) : nullptr;
    if (lane == nullptr) {
        return;
    }
    const QString name
        = QStringLiteral("%1-step-%2.safetensors")
              .arg(m_controller->laneName(*selected).toLower().replace(QLatin1Char(' '), QLatin1Char('-')))
              .arg(lane->nextStep);
    const QString file = QFileDialog::getSaveFileName(this, tr("Save checkpoint"), name, filter());
    if (!file.isEmpty()) {
        m_controller->saveCheckpoint(*selected, file.toStdString());
    }
}

void MainWindow::noteCheckpoint(const Event& event)
{
    if (!event.text.empty()) {
        m_messages->post(checkpointTopic, Tone::Problem, QString::fromStdString(event.text));
        return;
    }
    m_messages->retract(checkpointTopic);
    const std::filesystem::path file = event.path;
    if (file.string().starts_with(checkpointsFolder(m_controller->database()).string())) {
        return; // one that nobody asked for; the list of events has it
    }
    statusBar()->showMessage(
        tr("Step %1 is kept in %2.").arg(event.step).arg(QString::fromStdString(file.filename().string())), noticeMs);
}

void MainWindow::showCheckpointSettings()
{
    auto* dialog = new CheckpointDialog(m_controller->checkpoints(), checkpointsFolder(m_controller->database()), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setModal(true);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        m_controller->setCheckpoints(dialog->settings());
        if (m_remembersState) {
            writeCheckpointSettings(dialog->settings());
        }
    });
    dialog->show();
}

// --- weights from elsewhere ---

void MainWindow::chooseWeights()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Start from weights"), {}, filter());
    if (!file.isEmpty()) {
        startFromWeights(file);
    }
}

void MainWindow::startFromWeights(const QString& file)
{
    std::vector<std::shared_ptr<const Graph>> graphs;
    if (const auto status = m_controller->status()) {
        for (const LaneStatus& lane : status->lanes) {
            graphs.push_back(lane.graph);
        }
    }
    auto* progress = new QProgressDialog(tr("Reading %1").arg(file), tr("Cancel"), 0, 0, this);
    progress->setAttribute(Qt::WA_DeleteOnClose);
    progress->setMinimumDuration(patienceMs);
    // What does not fit is told before the lanes that are there are given up.
    QThreadPool::globalInstance()->start(
        [window = QPointer<MainWindow>(this), progress = QPointer<QProgressDialog>(progress),
            graphs = std::move(graphs), file] {
            QString problem;
            try {
                const WeightsFile weights = readWeights(file.toStdString());
                for (const auto& graph : graphs) {
                    fitWeights(weights, *graph, {});
                }
            } catch (const std::exception& error) {
                problem = QString::fromUtf8(error.what());
            }
            QMetaObject::invokeMethod(qApp, [window, progress, file, problem] {
                const bool isWanted = !progress.isNull() && !progress->wasCanceled();
                delete progress.data();
                if (!window.isNull() && isWanted) {
                    window->useWeights(file, problem);
                }
            });
        });
}

void MainWindow::useWeights(const QString& file, const QString& problem)
{
    if (!problem.isEmpty()) {
        m_messages->post(weightsTopic, Tone::Problem, problem);
        return;
    }
    m_messages->retract(weightsTopic);
    ExperimentDocument document = m_controller->document();
    const std::string path = QFileInfo(file).absoluteFilePath().toStdString();
    document.setForAll({{"model.weights", path}, {"model.weights_hash", nullptr}});
    restart(std::move(document), tr("start from weights"));
    statusBar()->showMessage(tr("Every lane starts from %1. Setup shows and changes it.").arg(file), noticeMs);
}

} // namespace mantissa
