/// A lane of the open experiment, written as a folder that PyTorch can run.
#pragma once

#include "engine/train/experiment.h"

#include <QStringList>

#include <functional>
#include <string>

class QObject;

namespace mantissa {

class MessageBar;

/// What became of it: where it is and what the script leaves out, or why there is none.
struct PytorchExportResult
{
    QString folder;
    QString problem; ///< empty: it is written
    QStringList notes;
};

/// Writes the folder on a thread of the pool, since it reads the lane's data; `done` is called on the thread of
/// `owner`, unless that is gone by then.
void startPytorchExport(const Experiment& experiment, const std::string& lane, const QString& folder, QObject* owner,
    std::function<void(const PytorchExportResult&)> done);

/// Asks for a new folder and writes it; the message bar, which must be in a window, says what became of it.
void choosePytorchFolder(const Experiment& experiment, const QString& lane, MessageBar* messages);

} // namespace mantissa
