#include "ui/models/run_cells.h"

#include "engine/core/clock.h"
#include "ui/style/number_format.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>

#include <cmath>

namespace mantissa {

namespace {

struct Texts
{
    Q_DECLARE_TR_FUNCTIONS(mantissa::RunListModel)
};

/// Where nothing is known.
const QString unknown = QStringLiteral("\u2013");

QString statusText(RunStatus status)
{
    switch (status) {
    case RunStatus::Running:
        return Texts::tr("Running");
    case RunStatus::Finished:
        return Texts::tr("Finished");
    case RunStatus::Stopped:
        return Texts::tr("Stopped");
    case RunStatus::Diverged:
        return Texts::tr("Diverged");
    case RunStatus::Failed:
        return Texts::tr("Failed");
    case RunStatus::Interrupted:
        return Texts::tr("Interrupted");
    }
    return {};
}

QString statusDetail(const RunInfo& run)
{
    QStringList lines;
    if (run.imported) {
        lines << Texts::tr("Imported from %1").arg(QString::fromStdString(run.imported->file));
        if (run.status == RunStatus::Running) {
            lines << Texts::tr("The file is being watched.");
        }
    }
    if (run.status == RunStatus::Interrupted) {
        lines << Texts::tr("Its program ended before the run did. Everything but its last second is here.");
    }
    if (!run.message.empty()) {
        lines << QString::fromStdString(run.message);
    }
    return lines.isEmpty() ? statusText(run.status) : lines.join(QLatin1Char('\n'));
}

QDateTime startOf(const RunInfo& run)
{
    return QDateTime::fromMSecsSinceEpoch(std::llround(run.startedUnixSeconds * 1000));
}

double durationOf(const RunInfo& run)
{
    const double end = run.status == RunStatus::Running ? unixSeconds() : run.endedUnixSeconds;
    return std::max(0.0, end - run.startedUnixSeconds);
}

/// "12.3 s", "4:05", "1:02:03".
QString durationText(double seconds)
{
    if (seconds < 60) {
        return Texts::tr("%1 s").arg(QLocale().toString(seconds, 'f', 1));
    }
    const auto whole = static_cast<qint64>(seconds);
    const auto two = [](qint64 value) { return QStringLiteral("%1").arg(value, 2, 10, QLatin1Char('0')); };
    const QString rest = two(whole % 60);
    return whole < 3600 ? QStringLiteral("%1:%2").arg(whole / 60).arg(rest)
                        : QStringLiteral("%1:%2:%3").arg(whole / 3600).arg(two(whole / 60 % 60), rest);
}

/// A share of samples; a run without one (a regression, an unfinished run) has none to show.
QString accuracyText(double accuracy)
{
    return std::isnan(accuracy) ? unknown : Texts::tr("%1 %").arg(formatValue(accuracy * 100));
}

QString scalerText(const RunInfo& run)
{
    return run.scaler == "none" ? Texts::tr("none") : run.scaler.empty() ? unknown : QString::fromStdString(run.scaler);
}

} // namespace

QStringList runTags(const RunInfo& run)
{
    QStringList tags;
    for (const std::string& tag : run.tags) {
        tags << QString::fromStdString(tag);
    }
    return tags;
}

QString runColumnTitle(RunListModel::Column column)
{
    switch (column) {
    case RunListModel::RunColumn:
        return Texts::tr("Run");
    case RunListModel::StatusColumn:
        return Texts::tr("Status");
    case RunListModel::LaneColumn:
        return Texts::tr("Lane");
    case RunListModel::ExperimentColumn:
        return Texts::tr("Experiment");
    case RunListModel::PolicyColumn:
        return Texts::tr("Policy");
    case RunListModel::ScalerColumn:
        return Texts::tr("Scaler");
    case RunListModel::StepsColumn:
        return Texts::tr("Steps");
    case RunListModel::LossColumn:
        return Texts::tr("Final loss");
    case RunListModel::AccuracyColumn:
        return Texts::tr("Accuracy");
    case RunListModel::SkippedColumn:
        return Texts::tr("Skipped");
    case RunListModel::ScaleColumn:
        return Texts::tr("Final scale");
    case RunListModel::StartedColumn:
        return Texts::tr("Started");
    case RunListModel::DurationColumn:
        return Texts::tr("Duration");
    case RunListModel::TagsColumn:
        return Texts::tr("Tags");
    case RunListModel::NoteColumn:
        return Texts::tr("Note");
    case RunListModel::ColumnCount:
        break;
    }
    return {};
}

QString runColumnExplanation(RunListModel::Column column)
{
    switch (column) {
    case RunListModel::RunColumn:
        return Texts::tr("The run's number, as the command line names it. The check mark shows its curves.");
    case RunListModel::PolicyColumn:
        return Texts::tr("Which format the lane computed in");
    case RunListModel::AccuracyColumn:
        return Texts::tr("Accuracy on the validation set when the run ended");
    case RunListModel::SkippedColumn:
        return Texts::tr("Steps whose update was skipped because a gradient was not finite");
    case RunListModel::ScaleColumn:
        return Texts::tr("What the scaler multiplied the last loss with");
    case RunListModel::TagsColumn:
        return Texts::tr("Words of your own, separated by commas");
    default:
        return runColumnTitle(column);
    }
}

bool isNumberColumn(RunListModel::Column column)
{
    switch (column) {
    case RunListModel::RunColumn:
    case RunListModel::StepsColumn:
    case RunListModel::LossColumn:
    case RunListModel::AccuracyColumn:
    case RunListModel::SkippedColumn:
    case RunListModel::ScaleColumn:
    case RunListModel::DurationColumn:
        return true;
    default:
        return false;
    }
}

QString runCellText(const RunInfo& run, RunListModel::Column column)
{
    switch (column) {
    case RunListModel::RunColumn:
        return QString::number(run.id);
    case RunListModel::StatusColumn:
        return run.imported && run.status == RunStatus::Finished ? Texts::tr("Imported") : statusText(run.status);
    case RunListModel::LaneColumn:
        return QString::fromStdString(run.lane);
    case RunListModel::ExperimentColumn:
        return QString::fromStdString(run.experimentName);
    case RunListModel::PolicyColumn:
        return run.policy.empty() ? unknown : QString::fromStdString(run.policy).toUpper();
    case RunListModel::ScalerColumn:
        return scalerText(run);
    case RunListModel::StepsColumn:
        return formatCount(run.steps);
    case RunListModel::LossColumn:
        return run.imported && !run.imported->knows("loss") ? unknown : formatColumn(run.finalLoss);
    case RunListModel::AccuracyColumn:
        return accuracyText(run.validationAccuracy);
    case RunListModel::SkippedColumn:
        return run.skippedSteps < 0 ? unknown : formatCount(run.skippedSteps);
    case RunListModel::ScaleColumn:
        return run.scaler == "none" || std::isnan(run.finalScale) ? unknown : formatPowerOfTwo(run.finalScale);
    case RunListModel::StartedColumn:
        return QLocale().toString(startOf(run), QLocale::ShortFormat);
    case RunListModel::DurationColumn:
        return durationText(durationOf(run));
    case RunListModel::TagsColumn:
        return runTags(run).join(QStringLiteral(", "));
    case RunListModel::NoteColumn:
        return QString::fromStdString(run.note).simplified();
    case RunListModel::ColumnCount:
        break;
    }
    return {};
}

QString runCellDetail(const RunInfo& run, RunListModel::Column column)
{
    switch (column) {
    case RunListModel::StatusColumn:
        return statusDetail(run);
    case RunListModel::ScaleColumn:
        return std::isnan(run.finalScale) ? unknown : formatScale(run.finalScale);
    case RunListModel::StartedColumn:
        return QLocale().toString(startOf(run), QLocale::LongFormat);
    case RunListModel::NoteColumn:
        return QString::fromStdString(run.note);
    case RunListModel::LossColumn:
    case RunListModel::AccuracyColumn:
    case RunListModel::DurationColumn:
        return runCellCopy(run, column);
    default:
        return runCellText(run, column);
    }
}

QString runCellCopy(const RunInfo& run, RunListModel::Column column)
{
    switch (column) {
    case RunListModel::StatusColumn: {
        const std::string_view name = nameOf(run.status);
        return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    }
    case RunListModel::PolicyColumn:
        return QString::fromStdString(run.policy);
    case RunListModel::ScalerColumn:
        return QString::fromStdString(run.scaler);
    case RunListModel::StepsColumn:
        return QString::number(run.steps);
    case RunListModel::LossColumn:
        return formatExact(run.finalLoss);
    case RunListModel::AccuracyColumn:
        return formatExact(run.validationAccuracy);
    case RunListModel::SkippedColumn:
        return run.skippedSteps < 0 ? QString() : QString::number(run.skippedSteps);
    case RunListModel::ScaleColumn:
        return formatExact(run.finalScale);
    case RunListModel::StartedColumn:
        return startOf(run).toString(Qt::ISODateWithMs);
    case RunListModel::DurationColumn:
        return formatExact(durationOf(run));
    default:
        return runCellText(run, column);
    }
}

QVariant runCellValue(const RunInfo& run, RunListModel::Column column)
{
    switch (column) {
    case RunListModel::RunColumn:
        return QVariant::fromValue<qint64>(run.id);
    case RunListModel::StepsColumn:
        return QVariant::fromValue<qint64>(run.steps);
    case RunListModel::LossColumn:
        return run.finalLoss;
    case RunListModel::AccuracyColumn:
        return run.validationAccuracy;
    case RunListModel::SkippedColumn:
        return QVariant::fromValue<qint64>(run.skippedSteps);
    case RunListModel::ScaleColumn:
        return run.finalScale;
    case RunListModel::StartedColumn:
        return run.startedUnixSeconds;
    case RunListModel::DurationColumn:
        return durationOf(run);
    default:
        return runCellText(run, column);
    }
}

QString runName(const RunInfo& run)
{
    return RunListModel::tr("%1 (run %2)").arg(QString::fromStdString(run.lane)).arg(run.id);
}

} // namespace mantissa
