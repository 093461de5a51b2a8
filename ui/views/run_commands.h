/// Changes of stored runs that can be undone.
#pragma once

#include "ui/models/run_archive.h"

#include <QPointer>
#include <QUndoCommand>

namespace mantissa {

class DeleteRuns : public QUndoCommand
{
public:
    DeleteRuns(RunArchive* archive, QList<RunId> runs);
    void undo() override;
    void redo() override;

private:
    QPointer<RunArchive> m_archive; ///< the stack may outlive it
    QList<RunId> m_runs;
};

class EditTags : public QUndoCommand
{
public:
    EditTags(RunArchive* archive, RunId run, QStringList before, QStringList after);
    void undo() override;
    void redo() override;

private:
    QPointer<RunArchive> m_archive;
    RunId m_run;
    QStringList m_before;
    QStringList m_after;
};

class EditNote : public QUndoCommand
{
public:
    EditNote(RunArchive* archive, RunId run, QString before, QString after);
    void undo() override;
    void redo() override;

private:
    QPointer<RunArchive> m_archive;
    RunId m_run;
    QString m_before;
    QString m_after;
};

} // namespace mantissa
