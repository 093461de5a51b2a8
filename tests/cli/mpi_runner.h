/// Ranks of a run under mpirun, for tests.
#pragma once

#include "cli_runner.h"

#include <QDir>
#include <QFile>

#include <sys/types.h>

namespace mantissa::tests {

/// Starts `program` with `arguments` as so many ranks, in the folder of `cli`.
inline void startRanks(QProcess& process, const Cli& cli, int ranks, const QString& program,
    const QStringList& arguments, QProcessEnvironment environment)
{
    environment.insert("XDG_DATA_HOME", cli.path("data"));
    environment.insert("ASAN_OPTIONS", "detect_leaks=0"); // of Open MPI there would be many
    environment.insert("OMPI_ALLOW_RUN_AS_ROOT", "1");
    environment.insert("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(cli.path({}));
    process.start("mpirun",
        QStringList {"--oversubscribe", "--bind-to", "none", "-n", QString::number(ranks), program} + arguments);
}

/// The process of a rank that trains `file`; 0 if there is none yet.
inline pid_t processOf(int rank, const QString& file)
{
    const QByteArray mark = "OMPI_COMM_WORLD_RANK=" + QByteArray::number(rank);
    for (const QString& entry : QDir("/proc").entryList({"[0-9]*"}, QDir::Dirs)) {
        const auto contents = [&](const char* name) {
            QFile info("/proc/" + entry + "/" + name);
            return info.open(QIODevice::ReadOnly) ? info.readAll() : QByteArray();
        };
        if (contents("environ").split('\0').contains(mark) && contents("cmdline").split('\0').contains(file.toUtf8())) {
            return entry.toInt();
        }
    }
    return 0;
}

} // namespace mantissa::tests
