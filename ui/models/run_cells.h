/// What the cells of the table of runs say.
#pragma once

#include "engine/store/run_store.h"
#include "ui/models/run_list_model.h"

#include <QString>
#include <QVariant>

namespace mantissa {

QString runColumnTitle(RunListModel::Column column);
QString runColumnExplanation(RunListModel::Column column);
bool isNumberColumn(RunListModel::Column column);

/// For people: four significant digits, the language's format.
QString runCellText(const RunInfo& run, RunListModel::Column column);
/// The full value, or what the text leaves out.
QString runCellDetail(const RunInfo& run, RunListModel::Column column);
/// For the clipboard: every digit, C locale.
QString runCellCopy(const RunInfo& run, RunListModel::Column column);
/// What the column sorts by.
QVariant runCellValue(const RunInfo& run, RunListModel::Column column);
/// "FP16 AMP (run 12)"
QString runName(const RunInfo& run);
QStringList runTags(const RunInfo& run);

} // namespace mantissa
