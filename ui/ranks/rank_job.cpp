#include "ui/ranks/rank_job.h"

#include "engine/core/error.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>

#include <utility>

namespace mantissa {

namespace {

constexpr int stopPatienceMs = 15'000; // a step may be long, and a checkpoint large
constexpr int closePatienceMs = 5'000;
constexpr qsizetype mostMessageBytes = 8192;

QString commandLine()
{
    return QDir(QCoreApplication::applicationDirPath()).filePath(QStringLiteral("mantissa-cli"));
}

QString mpirun()
{
    return QStandardPaths::findExecutable(QStringLiteral("mpirun"));
}

/// A path of the experiment's, which starts in its folder.
void makeAbsolute(std::vector<std::pair<std::string, nlohmann::json>>& changes, const std::string& key,
    const std::filesystem::path& path, const std::filesystem::path& folder)
{
    if (!path.empty() && path.is_relative()) {
        changes.emplace_back(key, (std::filesystem::current_path() / folder / path).lexically_normal().string());
    }
}

} // namespace

std::string rankExperiment(const Experiment& experiment, const QStringList& lanes, int ranks)
{
    Experiment spread = experiment;
    const auto isLeftOut = [&](const std::string& lane) { return !lanes.contains(QString::fromStdString(lane)); };
    std::erase_if(spread.lanes, [&](const LaneConfig& lane) { return isLeftOut(lane.name); });
    std::erase_if(
        spread.events, [&](const ScriptedEvent& event) { return !event.lane.empty() && isLeftOut(event.lane); });
    // They act on one process's lanes, and a pause would end the job.
    spread.watchpoints.clear();
    for (LaneConfig& lane : spread.lanes) {
        std::vector<std::pair<std::string, nlohmann::json>> changes;
        changes.emplace_back("parallel.ranks", ranks);
        makeAbsolute(changes, "data.path", lane.data.path, experiment.directory);
        makeAbsolute(changes, "model.weights", lane.model.weights, experiment.directory);
        try {
            lane = withOverrides(lane, changes);
        } catch (const Error& error) {
            throw Error(error.code(), lane.name + ": " + error.what());
        }
    }
    return composeExperiment(spread).dump(2);
}

QString RankJob::obstacle()
{
#ifndef MANTISSA_HAS_MPI
    return tr("This Mantissa was built without MPI. Install Debian's package libopenmpi-dev and build it again.");
#else
    if (mpirun().isEmpty()) {
        return tr("There is no mpirun here. Install Open MPI, Debian's package openmpi-bin.");
    }
    if (!QFileInfo(commandLine()).isExecutable()) {
        return tr("%1 is missing: the processes would run it. Build or install it beside this program.")
            .arg(commandLine());
    }
    return {};
#endif
}

RankJob::RankJob(RankPlan plan, QObject* parent)
    : QObject(parent)
    , m_plan(std::move(plan))
{
    const QString file = m_folder.filePath(QStringLiteral("experiment.json"));
    QFile experiment(file);
    const QByteArray text = QByteArray::fromStdString(m_plan.experiment);
    if (!experiment.open(QIODevice::WriteOnly) || experiment.write(text) != text.size() || !experiment.flush()) {
        m_failures << tr("The experiment could not be written to %1: %2").arg(file, experiment.errorString());
        QTimer::singleShot(0, this, &RankJob::finish);
        return;
    }
    QStringList arguments {QStringLiteral("--oversubscribe"), QStringLiteral("--bind-to"), QStringLiteral("none"),
        QStringLiteral("-n"), QString::number(m_plan.ranks), commandLine(), QStringLiteral("run"), file,
        QStringLiteral("--attached"), QStringLiteral("--json"), QStringLiteral("--device"),
        QString::fromStdString(m_plan.device), QStringLiteral("--db"),
        QString::fromStdString(m_plan.database.string())};
    if (const CheckpointPlan& kept = m_plan.checkpoints; !kept.folder.empty()) {
        arguments << QStringLiteral("--checkpoints") << QString::fromStdString(kept.folder.string())
                  << QStringLiteral("--checkpoints-kept") << QString::number(kept.kept);
        if (kept.everySteps > 0) {
            arguments << QStringLiteral("--checkpoint-every") << QString::number(kept.everySteps);
        }
        if (kept.everySeconds > 0) {
            arguments << QStringLiteral("--checkpoint-seconds") << QString::number(kept.everySeconds);
        }
    }
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &RankJob::readOutput);
    connect(&m_process, &QProcess::readyReadStandardError, this,
        [this] { m_messages = (m_messages + m_process.readAllStandardError()).right(mostMessageBytes); });
    connect(&m_process, &QProcess::finished, this, &RankJob::finish);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            m_failures << tr("mpirun could not be started: %1").arg(m_process.errorString());
            finish();
        }
    });
    m_patience.setSingleShot(true);
    connect(&m_patience, &QTimer::timeout, this, &RankJob::endHarder);
    m_process.start(mpirun(), arguments);
}

RankJob::~RankJob()
{
    m_process.disconnect(this);
    if (m_process.state() != QProcess::NotRunning) {
        m_process.closeWriteChannel();
        if (!m_process.waitForFinished(closePatienceMs)) {
            m_process.terminate();
            m_process.waitForFinished(closePatienceMs);
        }
    }
}

void RankJob::stop()
{
    if (!m_isStopping) {
        m_isStopping = true;
        m_process.closeWriteChannel(); // rank 0 sees its standard input end
        m_patience.start(stopPatienceMs);
    }
}

void RankJob::endHarder()
{
    // mpirun passes the first on to all ranks and ends those that do not mind it.
    m_process.terminate();
    QTimer::singleShot(closePatienceMs, &m_process, &QProcess::kill);
}

void RankJob::readOutput()
{
    m_output += m_process.readAllStandardOutput();
    for (qsizetype end = m_output.indexOf('\n'); end >= 0; end = m_output.indexOf('\n')) {
        const QByteArray line = m_output.left(end);
        m_output.remove(0, end + 1);
        readLine(line);
    }
}

void RankJob::readLine(const QByteArray& line)
{
    const QJsonObject said = QJsonDocument::fromJson(line).object();
    if (said.contains(QStringLiteral("run"))) {
        m_runs << said.value(QStringLiteral("run")).toInteger();
        emit runStarted(m_runs.last(), said.value(QStringLiteral("lane")).toString());
        return;
    }
    if (!said.contains(QStringLiteral("runs"))) {
        return;
    }
    m_hasResult = true;
    const QJsonArray results = said.value(QStringLiteral("runs")).toArray();
    for (const QJsonValue& result : results) {
        if (result[QStringLiteral("status")].toString() == QStringLiteral("failed")) {
            m_failures << tr("%1: %2").arg(
                result[QStringLiteral("lane")].toString(), result[QStringLiteral("message")].toString());
        }
    }
}

QString RankJob::problem() const
{
    if (!m_failures.isEmpty()) {
        return m_failures.join(QLatin1Char('\n'));
    }
    if (m_hasResult && m_process.exitStatus() == QProcess::NormalExit && (m_process.exitCode() == 0 || m_isStopping)) {
        return {};
    }
    // What mantissa-cli said is worth more than what mpirun makes of it.
    QStringList ours;
    QStringList others;
    const QStringList lines = QString::fromUtf8(m_messages).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    for (const QString& line : lines) {
        (line.startsWith(QStringLiteral("mantissa-cli")) ? ours : others) << line.trimmed();
    }
    constexpr qsizetype most = 6;
    const QStringList& said = ours.isEmpty() ? others : ours;
    return said.isEmpty() ? tr("mpirun ended with exit code %1 and said nothing.").arg(m_process.exitCode())
                          : said.last(std::min(most, said.size())).join(QLatin1Char('\n'));
}

void RankJob::finish()
{
    if (m_hasEnded) {
        return;
    }
    m_hasEnded = true;
    m_patience.stop();
    m_messages = (m_messages + m_process.readAllStandardError()).right(mostMessageBytes);
    readOutput();
    emit ended(problem());
}

} // namespace mantissa
