#include "ui/views/run_commands.h"

#include <QCoreApplication>

#include <utility>

namespace mantissa {

namespace {

struct Texts
{
    Q_DECLARE_TR_FUNCTIONS(mantissa::RunsView)
};

} // namespace

DeleteRuns::DeleteRuns(RunArchive* archive, QList<RunId> runs)
    : QUndoCommand(
        runs.size() == 1 ? Texts::tr("delete run %1").arg(runs.first()) : Texts::tr("delete %1 runs").arg(runs.size()))
    , m_archive(archive)
    , m_runs(std::move(runs))
{
}

void DeleteRuns::undo()
{
    if (m_archive) {
        m_archive->restore(m_runs);
    }
}

void DeleteRuns::redo()
{
    if (m_archive) {
        m_archive->remove(m_runs);
    }
}

EditTags::EditTags(RunArchive* archive, RunId run, QStringList before, QStringList after)
    : QUndoCommand(Texts::tr("tags of run %1").arg(run))
    , m_archive(archive)
    , m_run(run)
    , m_before(std::move(before))
    , m_after(std::move(after))
{
}

void EditTags::undo()
{
    if (m_archive) {
        m_archive->setTags(m_run, m_before);
    }
}

void EditTags::redo()
{
    if (m_archive) {
        m_archive->setTags(m_run, m_after);
    }
}

EditNote::EditNote(RunArchive* archive, RunId run, QString before, QString after)
    : QUndoCommand(Texts::tr("note of run %1").arg(run))
    , m_archive(archive)
    , m_run(run)
    , m_before(std::move(before))
    , m_after(std::move(after))
{
}

void EditNote::undo()
{
    if (m_archive) {
        m_archive->setNote(m_run, m_before);
    }
}

void EditNote::redo()
{
    if (m_archive) {
        m_archive->setNote(m_run, m_after);
    }
}

} // namespace mantissa
