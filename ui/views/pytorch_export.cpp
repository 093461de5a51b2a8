#include "ui/views/pytorch_export.h"

#include "engine/pytorch/export.h"
#include "ui/views/message_bar.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QPointer>
#include <QThreadPool>

#include <algorithm>

namespace mantissa {

namespace {

PytorchExportResult writeFolder(const Experiment& experiment, const std::string& lane, const QString& folder)
{
    PytorchExportResult result {.folder = folder, .problem = {}, .notes = {}};
    try {
        const auto found = std::ranges::find(experiment.lanes, lane, &LaneConfig::name);
        const PytorchExport written = exportToPytorch(experiment, *found, folder.toStdString());
        for (const std::string& note : written.notes) {
            result.notes.append(QString::fromStdString(note));
        }
    } catch (const std::exception& error) {
        result.problem = QString::fromUtf8(error.what());
    }
    return result;
}

} // namespace

void startPytorchExport(const Experiment& experiment, const std::string& lane, const QString& folder, QObject* owner,
    std::function<void(const PytorchExportResult&)> done)
{
    QThreadPool::globalInstance()->start(
        [experiment, lane, folder, owner = QPointer<QObject>(owner), done = std::move(done)] {
            const PytorchExportResult result = writeFolder(experiment, lane, folder);
            QMetaObject::invokeMethod(qApp, [owner, result, done] {
                if (!owner.isNull()) {
                    done(result);
                }
            });
        });
}

void choosePytorchFolder(const Experiment& experiment, const QString& lane, MessageBar* messages)
{
    const QString folder = QFileDialog::getSaveFileName(messages,
        QCoreApplication::translate("PytorchExport", "New folder for \u201C%1\u201D in PyTorch").arg(lane),
        lane.toLower().replace(QLatin1Char(' '), QLatin1Char('-')), {}, nullptr, QFileDialog::DontConfirmOverwrite);
    if (folder.isEmpty()) {
        return;
    }
    startPytorchExport(experiment, lane.toStdString(), folder, messages, [messages](const PytorchExportResult& result) {
        const QString topic = QStringLiteral("pytorch");
        if (!result.problem.isEmpty()) {
            messages->post(topic, Tone::Problem, result.problem);
            return;
        }
        QString text = QCoreApplication::translate("PytorchExport", "%1 is written. Its README says how to run it.")
                           .arg(result.folder);
        for (const QString& note : result.notes) {
            text += QLatin1Char('\n') + note;
        }
        messages->post(topic, Tone::Notice, text);
    });
}

} // namespace mantissa
