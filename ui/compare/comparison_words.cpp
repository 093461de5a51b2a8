#include "ui/compare/comparison_words.h"

#include "engine/store/store_names.h"
#include "ui/models/run_cells.h"
#include "ui/style/number_format.h"

#include <QCoreApplication>

#include <cmath>

namespace mantissa {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa", text);
}

QString valueText(const nlohmann::json& value)
{
    return value.is_null()          ? tr("none")
        : value.is_number_integer() ? formatCount(value.get<std::int64_t>())
        : value.is_number()         ? formatValue(value.get<double>())
        : value.is_string()         ? QString::fromStdString(value.get<std::string>())
                                    : QString::fromStdString(value.dump());
}

QString accuracyText(double accuracy)
{
    return std::isnan(accuracy) ? tr("none") : percent(accuracy);
}

QString mebibytes(std::uint64_t bytes)
{
    return tr("%1 MiB").arg(formatValue(static_cast<double>(bytes) / (1 << 20), 3));
}

} // namespace

QString verdictOf(const RunComparison& comparison)
{
    if (comparison.steps.size() == 0) {
        return tr("The runs have no step in common.");
    }
    const QString a = runName(comparison.a);
    const QString b = runName(comparison.b);
    const GapAtEnd end = gapAtEnd(comparison);
    if (std::isnan(end.gap())) {
        return tr("At the end a loss is not finite: %1 has %2, %3 has %4.")
            .arg(a, formatValue(end.lossA), b, formatValue(end.lossB));
    }
    const QString gap = end.gap() == 0 ? tr("%1 and %2 end with the same loss, %3.").arg(a, b, formatValue(end.lossA))
        : end.gap() > 0 ? tr("%1 ends %2 above %3, at %4.").arg(b, formatValue(end.gap()), a, formatValue(end.lossB))
                        : tr("%1 ends %2 below %3, at %4.").arg(b, formatValue(-end.gap()), a, formatValue(end.lossB));
    if (std::isnan(end.noise)) {
        return gap + QLatin1Char(' ') + tr("Whether that is more than chance, other seeds would tell.");
    }
    return gap + QLatin1Char(' ')
        + (std::abs(end.gap()) <= end.noise
                ? tr("No more than noise: seeds of %1 differ by up to %2 there.").arg(a, formatValue(end.noise))
                : tr("More than noise: seeds of %1 differ by no more than %2 there.").arg(a, formatValue(end.noise)));
}

QString seedsText(const RunComparison& comparison)
{
    if (comparison.a.imported) {
        return tr("%1 was imported: its settings are not known, so neither is what other seeds would do.")
            .arg(runName(comparison.a));
    }
    if (comparison.noise.empty()) {
        return tr("Stored runs that differ from %1 in the seed alone: %2. Two are needed to know the noise.")
            .arg(runName(comparison.a))
            .arg(comparison.otherSeeds.size());
    }
    QString text = tr("Grey: how far two seeds of %1 lie apart in 19 of 20 cases, from %2 runs.")
                       .arg(runName(comparison.a))
                       .arg(comparison.otherSeeds.size() + 1);
    if (!comparison.pairGap.empty()) {
        text += QLatin1Char(' ')
            + tr("Dashed: the mean difference of %1 pairs, each with one seed.").arg(comparison.pairs.size() + 1);
    }
    return text;
}

std::vector<ComparedRow> rowsOf(const RunComparison& comparison)
{
    std::vector<ComparedRow> rows;
    for (const SettingDifference& each : comparison.settings) {
        const QString path = QString::fromStdString(each.path);
        const bool isChange = each.step > 0;
        const auto text = [isChange](const nlohmann::json& value) {
            return isChange && value.is_null() ? tr("as before") : valueText(value);
        };
        rows.push_back({isChange ? tr("%1, from step %2").arg(path, formatCount(each.step)) : path, text(each.a),
            text(each.b), true});
    }
    const auto add = [&](const QString& what, auto text) {
        rows.push_back({what, text(comparison.a), text(comparison.b)});
    };
    add(tr("status"), [](const RunInfo& run) { return QString::fromStdString(std::string(nameOf(run.status))); });
    add(tr("steps"), [](const RunInfo& run) { return formatCount(run.steps); });
    add(tr("final loss"), [](const RunInfo& run) { return formatValue(run.finalLoss); });
    add(tr("validation loss"), [](const RunInfo& run) {
        return std::isnan(run.validationLoss) ? tr("none") : formatValue(run.validationLoss);
    });
    add(tr("validation accuracy"), [](const RunInfo& run) { return accuracyText(run.validationAccuracy); });
    add(tr("skipped steps"),
        [](const RunInfo& run) { return run.skippedSteps < 0 ? tr("not known") : formatCount(run.skippedSteps); });
    add(tr("final scale"),
        [](const RunInfo& run) { return std::isnan(run.finalScale) ? tr("not known") : formatScale(run.finalScale); });
    if (comparison.a.imported || comparison.b.imported) {
        add(tr("imported from"), [](const RunInfo& run) {
            return run.imported ? QString::fromStdString(run.imported->file) : tr("trained here");
        });
        return rows; // of the rest nothing is known
    }
    add(tr("casts a step"), [](const RunInfo& run) { return formatCount(run.castsPerStep); });
    add(tr("steps a second"), [](const RunInfo& run) { return formatValue(run.stepsPerSecond, 3); });
    add(tr("memory"), [](const RunInfo& run) { return mebibytes(run.bytes.total()); });
    add(tr("initial weights"), [](const RunInfo& run) { return QString::fromStdString(run.initialWeightsHash); });
    add(tr("final weights"), [](const RunInfo& run) {
        return run.weightsHash.empty() ? tr("none") : QString::fromStdString(run.weightsHash);
    });
    return rows;
}

} // namespace mantissa
